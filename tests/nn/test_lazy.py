"""Lazy modules: shapes and first values from the first input, class, loading, copying."""

import copy
import io

import numpy as np
import pytest
import torch

import autograd_lab as lab

MODULES = [
    ("LazyLinear(5)", (4, 6)), ("LazyLinear(5, bias=False)", (2, 3, 6)), ("LazyConv1d(4, 3, padding=1)", (2, 6, 7)),
    ("LazyConv2d(4, 3, groups=2, stride=2)", (2, 6, 7, 7)), ("LazyConv2d(4, 3)", (6, 7, 7)), ("LazyConv3d(4, 2)", (2, 3, 4, 4, 4)),
    ("LazyConvTranspose1d(4, 3)", (2, 6, 7)), ("LazyConvTranspose2d(4, 3, groups=2)", (2, 6, 5, 5)),
    ("LazyConvTranspose3d(4, 2, bias=False)", (2, 3, 4, 4, 4)), ("LazyBatchNorm1d()", (4, 6)),
    ("LazyBatchNorm2d(affine=False)", (4, 6, 2, 2)),
    ("LazyBatchNorm3d()", (2, 3, 2, 2, 2)), ("LazyInstanceNorm1d()", (4, 6, 3)), ("LazyInstanceNorm2d()", (4, 6, 2, 2)),
    ("LazyInstanceNorm3d(track_running_stats=False)", (2, 3, 2, 2, 2)),
]  # fmt: skip


def make(m, text):
    return eval("m.nn." + text, {"m": m})


@pytest.mark.parametrize("text, shape", MODULES)
def test_first_input_makes_pytorchs_module(text, shape):
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    theirs, ours = make(torch, text), make(lab, text)
    assert repr(ours) == repr(theirs) and list(ours.state_dict()) == list(theirs.state_dict())
    torch.manual_seed(2)
    lab.manual_seed(2)
    a, b = theirs(torch.tensor(x)), ours(lab.tensor(x))
    assert type(ours).__name__ == type(theirs).__name__ and repr(ours) == repr(theirs)
    np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=1e-4, atol=1e-5)
    for key, value in theirs.state_dict().items():
        np.testing.assert_allclose(ours.state_dict()[key].numpy(), value.numpy(), rtol=1e-5, atol=1e-6)
    assert all(type(p) is lab.nn.Parameter for p in ours.parameters())


def test_before_the_first_input():
    layer = lab.nn.LazyBatchNorm1d().double()
    assert layer.has_uninitialized_params() and repr(layer.weight) == "<UninitializedParameter>"
    with pytest.raises(RuntimeError, match="uninitialized"):
        layer.weight.shape  # noqa: B018
    twin = copy.deepcopy(layer)
    twin(lab.zeros(3, 2, dtype=lab.float64))
    assert twin.running_mean.dtype == lab.float64 and layer.has_uninitialized_params()


def test_loading_gives_shapes_both_ways():
    full, lazy = lab.nn.Linear(3, 2), lab.nn.LazyLinear(2)
    lazy.load_state_dict(full.state_dict())
    assert not lazy.has_uninitialized_params()
    x = lab.randn(4, 3)
    np.testing.assert_array_equal(lazy(x).detach().numpy(), full(x).detach().numpy())
    assert repr(lazy) == repr(full)
    norm, lazy = lab.nn.BatchNorm2d(3), lab.nn.LazyBatchNorm2d()
    lazy.load_state_dict(norm.state_dict())
    lazy(lab.randn(2, 3, 4, 4))
    assert repr(lazy) == repr(norm)


def test_it_trains_and_its_state_is_saved():
    model = lab.nn.Sequential(lab.nn.LazyConv2d(2, 3), lab.nn.ReLU(), lab.nn.Flatten(), lab.nn.LazyLinear(1))
    model(lab.randn(2, 1, 5, 5)).sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    file = io.BytesIO()
    lab.save(model.state_dict(), file)
    file.seek(0)
    assert list(lab.load(file)) == list(model.state_dict())
