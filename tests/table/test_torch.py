"""Parity with PyTorch: elementwise rows under torch's names, values and gradients, ordinary and special numbers."""

import numpy as np
import pytest
import torch

import autograd_lab as lab
from autograd_lab.core.op import ROWS

POSITIVE = [0.0, 1e-30, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 1e30, np.inf]
SPECIAL = [-x for x in reversed(POSITIVE)] + POSITIVE + [np.nan]
PAIRED = [-np.inf, -2.0, -1.5, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, np.inf, np.nan]
OTHER_OPERANDS = {"prelu", "dropout", "logit", "airy_ai"}
"""Rows whose public function takes something else than the row: one weight per channel, a probability, ``eps``. And Airy's
function, which PyTorch computes as noise far to the left."""
LOOSER = {"digamma": 1e-8, "bessel_j0": 1e-9, "bessel_y0": 1e-9, "bessel_y1": 1e-9, "sinc": 1e-9, "hardsigmoid": 1e-7}
"""Rows where PyTorch itself is less exact in float64 than SciPy, and how far apart they may be."""
SPACES = [(lab, torch), (lab.nn.functional, torch.nn.functional), (lab.special, torch.special)]


def twin(op):
    """(our public function of the row's name, torch's), or None. Functionals with more to them than a row are left out."""
    for ours, theirs in SPACES:
        if op.name in dir(ours) and hasattr(theirs, op.name) and (ours is not lab.nn.functional or op.arity == 1):
            return getattr(ours, op.name), getattr(theirs, op.name)
    return None


def rows(arity):
    found = [
        op
        for op in ROWS.values()
        if op.kind == "elementwise" and op.arity == arity and twin(op) and op.name not in OTHER_OPERANDS
        and not any(s.params for s in op.samples())
    ]
    return pytest.mark.parametrize("op", found, ids=lambda op: op.name)


def both(op, arrays):
    """(value, gradients…) of the row and of torch's function, for a cotangent of ones."""
    out = []
    for library, function in zip((lab, torch), twin(op), strict=True):
        has_rule = [rule is not None for rule in op.rules] or [False] * 2
        tensors = [library.tensor(a, requires_grad=needs) for a, needs in zip(arrays, has_rule, strict=False)]
        y = function(*tensors)
        if y.requires_grad:
            y.sum().backward()
        out.append([y.detach().numpy(), *(None if t.grad is None else t.grad.numpy(force=True) for t in tensors)])
    return out


def agree(op, ours, theirs, dtype):
    """Same dtype, same special values, and within a few units in the last place elsewhere."""
    assert ours[0].dtype == theirs[0].dtype, f"{op.name}: {ours[0].dtype}, torch gives {theirs[0].dtype}"
    rtol = 1e-5 if dtype == np.float32 else LOOSER.get(op.name, 1e-11)
    for what, a, b in zip(("value", "grad of operand 1", "grad of operand 2"), ours, theirs, strict=False):
        if a is None or b is None:
            assert (a is None or not a.any()) and (b is None or not b.any()), f"{op.name}: {what} is {a}, torch's {b}"
        else:
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol / 10, err_msg=f"{op.name}: {what}")


def of_integers(op):
    """Whether the row takes whole numbers only, by its first sample."""
    return np.asarray(next(iter(op.samples())).operands[0]).dtype.kind in "iu"


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@rows(1)
def test_unary(op, dtype):
    integers = of_integers(op)
    x = np.arange(-3, 4) if integers else np.array(SPECIAL, dtype)
    if integers:
        assert (op.call(lab.tensor(x)).numpy() == twin(op)[1](torch.tensor(x)).numpy()).all()
    else:
        if op.name == "gelu" and dtype is np.float32:
            x = x[np.isfinite(x) & (np.abs(x) < 2)]  # PyTorch's own is 1e-4 off at 3, and NaN at infinity
        agree(op, *both(op, [x]), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@rows(2)
def test_binary(op, dtype):
    if of_integers(op):
        a, b = np.arange(-3, 4)[:, None], np.arange(7)
        assert (op.call(lab.tensor(a), lab.tensor(b)).numpy() == twin(op)[1](torch.tensor(a), torch.tensor(b)).numpy()).all()
        return
    a, b = (np.ascontiguousarray(v) for v in np.broadcast_arrays(np.array(PAIRED, dtype)[:, None], np.array(PAIRED, dtype)))
    agree(op, *both(op, [a, b]), dtype)
