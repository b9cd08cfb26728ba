"""Sampling at a grid's places against PyTorch, to second order."""

import numpy as np
import pytest
import torch

import autograd_lab as lab


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(("n", "mode"), [(2, "bilinear"), (3, "bilinear"), (2, "nearest"), (3, "nearest"), (2, "bicubic")])
def test_grid_sample(n, mode, padding, align):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 3, 5, 4, 3)[: n + 2])
    grid = rng.uniform(-1.8, 1.8, (2, 3, 2, 4)[: n + 1] + (n,))
    found = []
    for m in (torch, lab):
        a, b = m.tensor(x, requires_grad=True), m.tensor(grid, requires_grad=True)
        y = m.nn.functional.grid_sample(a, b, mode, padding, align)
        (y * y).sum().backward()
        found.append((y.detach().numpy(), a.grad.numpy(), np.zeros_like(grid) if b.grad is None else b.grad.numpy()))
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.filterwarnings("ignore:Since version 1.3.0")
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("size", [(2, 3, 4, 5), (2, 1, 3, 1), (2, 1, 2, 3, 4)])
def test_affine_grid(size, align):
    n = len(size) - 2
    theta = np.random.default_rng(1).standard_normal((2, n, n + 1))
    found = []
    for m in (torch, lab):
        t = m.tensor(theta, requires_grad=True)
        y = m.nn.functional.affine_grid(t, size, align_corners=align)
        (y * y).sum().backward()
        found.append((y.detach().numpy(), t.grad.numpy()))
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_second_order():
    rng = np.random.default_rng(1)
    x, grid = lab.tensor(rng.standard_normal((1, 2, 4, 4)), requires_grad=True), rng.uniform(-1.2, 1.2, (1, 2, 3, 2))
    grid = lab.tensor(grid, requires_grad=True)
    assert lab.autograd.gradgradcheck(lambda a, b: lab.nn.functional.grid_sample(a, b), (x, grid))


def test_bad_input_is_refused():
    x, grid = lab.zeros(1, 1, 3, 3), lab.zeros(1, 2, 2, 2)
    for options in ({"mode": "cubic"}, {"padding_mode": "wrap"}):
        with pytest.raises(ValueError, match="expected"):
            lab.nn.functional.grid_sample(x, grid, **options)
    with pytest.raises(RuntimeError, match="sizes"):
        lab.nn.functional.grid_sample(x, lab.zeros(2, 2, 2, 2))
    with pytest.raises(ValueError, match="affine"):
        lab.nn.functional.affine_grid(lab.zeros(1, 2, 2), (1, 1, 3, 3))
