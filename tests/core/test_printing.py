"""Tensors print as PyTorch prints them: hand-picked cases, and arrays made at random."""

import math
from contextlib import contextmanager

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograd_lab.core import printing
from autograd_lab.core.printing import get_printoptions, set_printoptions, tensor_text

NAN, INF = math.nan, math.inf
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool)


def ours(t):
    """The text that our printer gives for PyTorch's tensor."""
    plain = t.detach()
    array = plain.float().numpy().astype(ml_dtypes.bfloat16) if t.dtype == torch.bfloat16 else plain.numpy()
    return tensor_text(
        array,
        dtype_name=str(t.dtype).removeprefix("torch."),
        default_dtype_name=str(torch.get_default_dtype()).removeprefix("torch."),
        requires_grad=t.is_leaf and t.requires_grad,
        grad_fn_name=None if t.grad_fn is None else t.grad_fn.name(),
        is_parameter=isinstance(t, torch.nn.Parameter),
    )


@contextmanager
def options(**chosen):
    set_printoptions(**chosen)
    torch.set_printoptions(**chosen)
    try:
        yield
    finally:
        set_printoptions(profile="default")
        torch.set_printoptions(profile="default")


T = torch.tensor
CASES = {
    "scalars": [
        T(v) for v in (1.0, 1.5, 1e-5, 123456789.0, 1e8, NAN, INF, -INF, -0.0, 3, True, 1 + 2j, complex(1e-9, NAN))
    ],
    "whole": [
        T(v) for v in ([1.0, -3.0], [1.0, NAN], [1.0, INF, -INF], [-0.0, 1.0], [0.0, 1e5], [1.0, 1e9], [1.0, 2e3])
    ],
    "non-finite": [T(v) for v in ([NAN, NAN], [1.5, NAN, INF], [NAN, 0.0, -INF], [0.0, 0.0], [-0.0, 1.5])],
    "scientific": [
        T(v) for v in ([1e8, 1.5], [1e-3, 1.5], [1e-3, 0.999], [1e-4], [9.9e-5], [0.0, 1e-9], [1.5, 1501.0])
    ],
    "doubles": [torch.tensor(v, dtype=torch.float64) for v in ([1e300], [1e-310], [1e100, 1.0], [1 / 3], 1.5)],
    "halves": [torch.tensor([65504.0, 6e-8], dtype=torch.float16), torch.tensor([1.5, 0.1], dtype=torch.bfloat16)],
    "integers": [T([-(2**63), 2**63 - 1]), T([-1, 10, -100]), T([1, 2], dtype=torch.uint8), T([True, False])],
    "complex": [
        T(v)
        for v in (
            [1 + 10j, 10 + 1j],
            [1.5 + 10j, -10 + 1j],
            [complex(1.5, NAN), -10 + 1j],
            [complex(-1.5, -100.25), complex(0, 1e-9)],
            [complex(INF, -INF), complex(NAN, NAN)],
            [0j, -0.5j],
        )
    ],
    "empty": [torch.zeros(s, dtype=d) for s in ((0,), (0, 3), (2, 0, 3)) for d in (*FLOATS, *WHOLE, torch.complex64)],
    "wrapped": [torch.arange(100), torch.arange(30) / 7, torch.arange(18.0, dtype=torch.float64)],
    "nested": [torch.zeros(2, 2, 2), torch.zeros(2, 2, 1, 2), torch.zeros(1, 1, 1, 1, 1)],
    "summarised": [
        torch.arange(1000),
        torch.arange(1001),
        torch.arange(2000.0).reshape(2, 1000),
        torch.arange(3000).reshape(1000, 3),
        torch.zeros(20, 20, 20),
        torch.rand(7, 7, 7, 7),
        torch.zeros(1001, 1),
        torch.arange(2000).to(torch.complex64) + 1.5j,
        torch.zeros(2000, dtype=torch.bool),
    ],
    "graph": [
        torch.zeros(2, requires_grad=True),
        torch.zeros(2, requires_grad=True) * 2,
        torch.zeros(0, 3, requires_grad=True),
        torch.zeros(0, 3, requires_grad=True) * 2,
        torch.arange(18.0, requires_grad=True) + 0,
        torch.rand(3, 18, dtype=torch.float64, requires_grad=True).tanh(),
    ],
    "parameters": [
        torch.nn.Parameter(torch.zeros(2, 2)),
        torch.nn.Parameter(torch.zeros(0)),
        torch.nn.Parameter(torch.zeros(2, dtype=torch.float64), requires_grad=False),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_chosen_cases(name):
    for t in CASES[name]:
        assert ours(t) == repr(t)


@pytest.mark.parametrize("default", FLOATS, ids=str)
def test_the_usual_dtype_follows_the_default(default):
    before = torch.get_default_dtype()
    torch.set_default_dtype(default)
    try:
        for kind in (*FLOATS, *WHOLE, torch.complex64, torch.complex128):
            for t in (torch.ones(2, dtype=kind), torch.zeros(0, dtype=kind), torch.ones((), dtype=kind)):
                assert ours(t) == repr(t)
    finally:
        torch.set_default_dtype(before)


def test_other_devices_are_named():
    text = tensor_text(np.ones(2), dtype_name="float64", default_dtype_name="float32", device="cuda:0")
    assert text == "tensor([1., 1.], device='cuda:0', dtype=torch.float64)"


OPTIONS = [
    {"precision": 2},
    {"precision": 0},
    {"sci_mode": True},
    {"sci_mode": False},
    {"edgeitems": 1, "threshold": 5},
    {"edgeitems": 0, "threshold": 5},
    {"linewidth": 20},
    {"linewidth": 5},
    {"linewidth": 133, "threshold": 0},
    {"profile": "short"},
    {"profile": "full"},
    {"profile": "short", "precision": 7},
    {"profile": "unknown"},
    {"threshold": INF},
]


@pytest.mark.parametrize("chosen", OPTIONS, ids=str)
def test_options(chosen):
    with options(**chosen):
        assert get_printoptions() == torch._tensor_str.get_printoptions()
        for name, tensors in CASES.items():
            for t in tensors:
                if t.numel() < 1001 or name == "graph":
                    assert ours(t) == repr(t)


def test_a_call_without_sci_mode_resets_it():
    with options(sci_mode=True):
        set_printoptions(precision=3)
        assert get_printoptions() == {**printing._PROFILES["default"], "precision": 3, "sci_mode": None}
        get_printoptions()["precision"] = 9
        assert get_printoptions()["precision"] == 3


NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, NAN, INF, -INF, 1.0, -1.0, 1000.0, 1e-3, 1e-4, 1e8, 99999.5, 0.99995]),
    st.integers(-2000, 2000).map(float),
    st.floats(-10, 10, width=32),
    st.floats(width=32),
)
SHAPES = st.lists(st.integers(0, 7), max_size=4).map(tuple)


@st.composite
def tensors(draw):
    """A tensor of any dtype and up to four dimensions, filled from a few numbers of mixed sizes."""
    shape = draw(st.one_of(SHAPES, st.tuples(st.integers(0, 60)), st.tuples(st.integers(1, 4), st.integers(1, 500))))
    kind = draw(st.sampled_from((*FLOATS, *WHOLE, torch.complex64, torch.complex128)))
    numbers = draw(st.lists(NUMBERS, min_size=1, max_size=6))
    if kind in WHOLE:
        numbers = [int(v) if math.isfinite(v) and abs(v) < 2**31 else 0 for v in numbers]
    elif kind.is_complex:
        numbers = [complex(v, w) for v, w in zip(numbers, draw(st.permutations(numbers)), strict=True)]
    picks = np.random.default_rng(draw(st.integers(0, 99))).integers(0, len(numbers), math.prod(shape))
    values = torch.tensor(numbers, dtype=torch.int64 if kind in WHOLE else None).to(kind)[torch.from_numpy(picks)]
    t = values.reshape(shape)
    if kind not in WHOLE and draw(st.booleans()):
        t.requires_grad_()
        t = t + 1 if draw(st.booleans()) else t
    return t


@given(tensors())
@settings(max_examples=600, deadline=None)
def test_any_tensor(t):
    assert ours(t) == repr(t)


@given(
    tensors(),
    st.fixed_dictionaries(
        {
            "precision": st.integers(0, 8),
            "threshold": st.integers(0, 60),
            "edgeitems": st.integers(0, 4),
            "linewidth": st.integers(1, 130),
            "sci_mode": st.sampled_from((None, True, False)),
        }
    ),
)
@settings(max_examples=500, deadline=None)
def test_any_tensor_under_any_options(t, chosen):
    with options(**chosen):
        assert ours(t) == repr(t)
