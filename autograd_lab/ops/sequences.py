"""Tensors made from numbers: index triangles, ``logspace``, strided memory, ``randint_like``."""

import numpy as np

from ..backend import dtype as dt
from ..core.bind import write_out
from ..core.public import public
from ..core.tensor import Tensor
from . import create
from .dims import need_tensor, number_of


def _triangle_indices(name, function):
    def indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
        if row < 0 or col < 0:
            raise RuntimeError(f"row and col must be non-negative, got {row} and {col}")
        kind = (dtype or dt.int64).numpy
        return create.place(np.stack(function(row, offset, col)).astype(kind), dtype, device)

    indices.__name__ = indices.__qualname__ = name
    side = "below" if name.startswith("tril") else "above"
    indices.__doc__ = f"Rows and columns of the elements on and {side} a diagonal, as a 2×n tensor."
    return public(name, method=False)(indices)


tril_indices = _triangle_indices("tril_indices", np.tril_indices)
triu_indices = _triangle_indices("triu_indices", np.triu_indices)


@public("logspace", method=False)
def logspace(start, end, steps, base=10.0, *, dtype=None, device=None, requires_grad=False, out=None, layout=None):
    """``steps`` powers of ``base`` with evenly spaced exponents from ``start`` to ``end``."""
    for bound in (start, end):
        if isinstance(bound, Tensor) and bound._d.ndim:
            raise RuntimeError("logspace only supports 0-dimensional start and end tensors")
    if isinstance(steps, float):
        raise TypeError("logspace() received an invalid combination of arguments: steps must be a whole number")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    kind = (dtype or (dt.default_complex() if any(isinstance(v, complex) for v in (start, end)) else dt.get_default_dtype())).numpy
    exponents = np.linspace(number_of(start), number_of(end), steps)
    if kind.kind in "iu":
        step = (int(number_of(end)) - int(number_of(start))) / (steps - 1) if steps > 1 else 0
        exponents = int(number_of(start)) + step * np.arange(steps)
    value = create.place(np.power(base, exponents).astype(kind), dtype, device, requires_grad)
    return value if out is None else write_out(out, value)


@public("empty_strided", method=False)
def empty_strided(size, stride, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor of the given sizes and strides with whatever memory held."""
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise RuntimeError(f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})")
    kind = (dtype or dt.get_default_dtype()).numpy
    span = 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if 0 not in size else 0
    array = np.ndarray(size, kind, np.empty(max(span, 1), kind), 0, tuple(s * kind.itemsize for s in stride))
    return create.place(array, dtype, device, requires_grad)


@public("new_empty_strided", namespace=None)
def new_empty_strided(input, size, stride, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """``empty_strided`` in the dtype of ``input``."""
    return empty_strided(size, stride, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)


@public("empty_permuted", method=False)
def empty_permuted(size, physical_layout, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor whose memory holds the dimensions in the order ``physical_layout``, with whatever was there."""
    size, order = tuple(size), tuple(physical_layout)
    if sorted(order) != list(range(len(size))):
        raise RuntimeError(f"Number of dimensions in size does not match the physical layout: {list(size)} and {list(order)}")
    stride, step = [0] * len(size), 1
    for d in reversed(order):
        stride[d], step = step, step * max(size[d], 1)
    return empty_strided(size, stride, dtype=dtype, device=device, requires_grad=requires_grad)


@public("randint_like", method=False)
def randint_like(
    input, low, high=None, *, generator=None, dtype=None, device=None, requires_grad=False, memory_format=None, layout=None
):
    """Whole numbers from [low, high) in the shape and dtype of ``input``; ``randint_like(x, high)`` starts at 0."""
    need_tensor(input, "randint_like")
    low, high = (0, low) if high is None else (low, high)
    bounds = [number_of(v) for v in (low, high)]
    return create.randint(
        *bounds, tuple(input._d.shape), generator=generator, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad
    )
