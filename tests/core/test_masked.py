"""``masked``: values, gradients and errors are PyTorch's."""

import numpy as np
import pytest
import torch

import autograd_lab as lab

REDUCTIONS = ["sum", "prod", "mean", "var", "std", "amax", "amin", "logsumexp", "norm"]
LINES = ["median", "argmax", "argmin", "cumsum", "cumprod", "softmax", "log_softmax", "softmin"]
VALUES = np.random.default_rng(0).standard_normal((3, 4, 5))
HIDDEN = np.random.default_rng(1).random((3, 4, 5)) < 0.4
HIDDEN[1, 2] = True


def both(call, dtype="float64", mask=HIDDEN):
    """Results and gradients of ``call(package, x, mask)`` here and in PyTorch."""
    found = []
    for package in (lab, torch):
        x = package.tensor(VALUES, dtype=getattr(package, dtype), requires_grad=True)
        y = call(package, x, None if mask is None else ~package.tensor(mask))
        if y.requires_grad:
            y.nan_to_num(0.0, 0.0, 0.0).sum().backward()
        found.append((y.detach().numpy(), None if x.grad is None else x.grad.numpy()))
    return found


def same(pair):
    (ours, our_grad), (theirs, their_grad) = pair
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert (our_grad is None) == (their_grad is None)
    if our_grad is not None:
        np.testing.assert_allclose(our_grad, their_grad, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("mask", [HIDDEN, HIDDEN[0], None], ids=["full", "broadcast", "none"])
@pytest.mark.parametrize("dim", [None, 1, -1, (0, 2)])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, dim, mask):
    if mask is not None and name in ("norm", "std") and dim == -1:
        mask = mask & (np.arange(5) != 0)  # where all is hidden PyTorch's gradient is NaN
    same(both(lambda p, x, m: getattr(p.masked, name)(x, dim=dim, mask=m, keepdim=dim == 1), mask=mask))


@pytest.mark.parametrize("mask", [HIDDEN & (np.arange(5) != 0), None], ids=["full", "none"])
@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("name", LINES)
def test_along_one_dimension(name, dim, mask):
    same(both(lambda p, x, m: getattr(p.masked, name)(x, dim, mask=m), mask=mask))


def test_normalize_and_logaddexp():
    same(both(lambda p, x, m: p.masked.normalize(x, 2.0, 1, mask=m)))
    same(both(lambda p, x, m: p.masked._ops.logaddexp(x, -x, input_mask=m, other_mask=~m) if p is torch else
              p.masked.logaddexp(x, -x, input_mask=m, other_mask=~m)))  # fmt: skip


def test_wholly_hidden_lines_give_the_identity_or_nan():
    x, mask = lab.ones(2, 3), lab.tensor([[True, True, False], [False, False, False]])
    assert lab.masked.sum(x, 1, mask=mask).tolist() == [2.0, 0.0]
    assert lab.masked.amax(x, 1, mask=mask).tolist() == [1.0, -np.inf]
    assert lab.masked.mean(x, 1, mask=mask).isnan().tolist() == [False, True]


def test_whole_numbers():
    for package in (lab, torch):
        x, mask = package.tensor([3, 1, 2]), package.tensor([False, True, True])
        assert package.masked.sum(x, mask=mask).item() == 3 and package.masked.amin(x, mask=mask).item() == 1
        assert package.masked.var(x, mask=mask).dtype == package.float32
        with pytest.raises(ValueError, match="Could not infer output dtype"):
            package.masked.mean(x, mask=mask)
        with pytest.raises(IndexError, match="broadcastable mask"):
            package.masked.sum(x, mask=mask[None])
        with pytest.raises(ValueError, match="no fully masked out"):
            package.masked.median(x, 0, mask=mask & ~mask)
