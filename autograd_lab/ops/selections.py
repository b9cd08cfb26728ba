"""Names over other rows: ``index_reduce``, ``diagflat``, ``unravel_index``, ``unsafe_split``, ``nonzero_static``."""

import numpy as np

from ..core.bind import write_out
from ..core.public import public
from ..core.tensor import Tensor, wrap
from .diagonals import diag
from .dims import need_tensor, one_dim
from .joining import chunk, narrow, split
from .layout import _reshaped, expand
from .picking import _places, nonzero
from .regions import scatter_reduce
from .shape import clone


@public("index_reduce", inplace=True)
def index_reduce(input, dim, index, source, reduce, *, include_self=True, out=None):
    """Slices of ``source`` combined into the slices ``index`` of ``input`` by prod, mean, amax or amin.

    Raises: RuntimeError for another ``reduce`` or other slice shapes, IndexError out of range.
    """
    need_tensor(input, "index_reduce")
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    if input._d.dtype != source._d.dtype:
        raise RuntimeError(
            f"index_reduce(): self and source expected to have the same dtype, but got {input.dtype.name} and {source.dtype.name}"
        )
    dim, places = _places("index_reduce", input, dim, index)
    if not input._d.ndim:
        flat = index_reduce(_reshaped(input, (1,)), 0, index, _reshaped(source, (-1,)), reduce, include_self=include_self)
        return _reshaped(flat, ())
    want = (*input._d.shape[:dim], places.size, *input._d.shape[dim + 1 :])
    if source._d.shape != want:
        raise RuntimeError(f"index_reduce(): source must have shape {list(want)}, got {list(source._d.shape)}")
    along = wrap(places.reshape((1,) * dim + (-1,) + (1,) * (input._d.ndim - dim - 1)).astype(np.int64))
    value = scatter_reduce(input, dim, expand(along, want), source, reduce, include_self=include_self)
    return value if out is None else write_out(out, value)


@public("diagflat")
def diagflat(input, offset=0):
    """All elements, in order, on a diagonal of a matrix of zeros."""
    return diag(_reshaped(input, (input._d.size,)), offset)


@public("unravel_index", method=False)
def unravel_index(indices, shape):
    """The coordinates, in a tensor of ``shape``, of elements counted in row-major order, as one tensor per dimension.

    Raises: ValueError for negative sizes, TypeError or RuntimeError for what is not a tensor of whole numbers.
    """
    need_tensor(indices, "unravel_index", 1, "indices")
    if indices._d.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be an integer dtype, but got {indices.dtype.name}")
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if min(shape, default=0) < 0:
        raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    rest, out = indices._array(), []
    for size in reversed(shape):
        out.append(wrap(rest % size))
        rest = rest // size
    return tuple(reversed(out))


@public("narrow_copy")
def narrow_copy(input, dim, start, length):
    """``narrow`` in memory of its own."""
    return clone(narrow(input, dim, start, length))


def _apart(input, parts, dim):
    dim, start, out = one_dim(dim, input._d.ndim), 0, []
    for part in parts:
        length = part._d.shape[dim]
        out.append(narrow(input, dim, start, length))
        start += length
    return tuple(out)


@public("unsafe_split")
def unsafe_split(input, split_size, dim=0):
    """``split`` into views that know nothing of one another, so that each may be changed in place."""
    return _apart(input, split(input, split_size, dim), dim)


@public("unsafe_chunk")
def unsafe_chunk(input, chunks, dim=0):
    """``chunk`` into views that know nothing of one another, so that each may be changed in place."""
    return _apart(input, chunk(input, chunks, dim), dim)


@public("nonzero_static")
def nonzero_static(input, *, size, fill_value=-1):
    """``nonzero`` with exactly ``size`` rows: cut off, or filled up with ``fill_value``."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, got {size}")
    found = nonzero(input)._array()
    out = np.full((size, input._d.ndim), fill_value, np.int64)
    out[: len(found)] = found[:size]
    return wrap(out)
