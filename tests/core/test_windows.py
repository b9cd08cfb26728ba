"""``signal.windows`` and the older window functions: PyTorch's values and errors; draws that have PyTorch's numbers."""

import numpy as np
import pytest
import torch

import autograd_lab as lab

WINDOWS = {
    "bartlett": {}, "blackman": {}, "cosine": {}, "exponential": {"tau": 2.5}, "gaussian": {"std": 0.7},
    "general_cosine": {"a": [0.46, 0.23, 0.31]}, "general_hamming": {"alpha": 0.6}, "hamming": {}, "hann": {},
    "kaiser": {"beta": 8.0}, "nuttall": {},
}  # fmt: skip
CLASSICS = ["hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name, sym, dtype):
    for length in (0, 1, 2, 5, 16):
        ours, theirs = (
            getattr(p.signal.windows, name)(length, sym=sym, dtype=getattr(p, dtype), **WINDOWS[name]).numpy() for p in (lab, torch)
        )
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, atol=1e-6 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("name", CLASSICS)
def test_older_windows(name, periodic):
    for length in (0, 1, 2, 7, 16):
        ours, theirs = (getattr(p, name)(length, periodic).numpy() for p in (lab, torch))
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda w: w.hann(-1),
        lambda w: w.gaussian(5, std=-1.0),
        lambda w: w.exponential(5, tau=0),
        lambda w: w.exponential(5, center=1),
        lambda w: w.kaiser(5, beta=-1),
        lambda w: w.general_cosine(5, a=[]),
        lambda w: w.general_cosine(5, a=1),
    ],
)
def test_bad_arguments(call):
    errors = []
    for package in (lab, torch):
        with pytest.raises((TypeError, ValueError)) as raised:
            call(package.signal.windows)
        errors.append((raised.type, str(raised.value)))
    assert errors[0] == errors[1]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "fill", [lambda x: x.cauchy_(), lambda x: x.cauchy_(1.5, 2.0), lambda x: x.geometric_(0.3)], ids=["cauchy", "both", "geometric"]
)
def test_draws_are_pytorchs(fill, dtype):
    found = []
    for package in (lab, torch):
        package.manual_seed(3)
        found.append(fill(package.empty(200, dtype=getattr(package, dtype))).numpy())
    assert np.array_equal(*found)


@pytest.mark.parametrize("fill", [lambda x: x.cauchy_(0, -1), lambda x: x.geometric_(0.0), lambda x: x.int().cauchy_()])
def test_draws_refuse_what_pytorchs_refuse(fill):
    for package in (lab, torch):
        with pytest.raises(RuntimeError):
            fill(package.zeros(3))
