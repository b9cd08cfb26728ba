"""Public functions that join tensors (``cat``, ``stack``) and take them apart (``split``, ``chunk``, ``unbind``)."""

import numpy as np

from ..core.bind import write_out
from ..core.public import public
from ..core.tensor import TENSOR_TYPES, Tensor, wrap
from .dims import need_tensor, one_dim
from .index import index_row, slice_view
from .join import cat_row, split_row, stack_row, unbind_row
from .layout import _reshaped, expand


def _list(tensors, name):
    if isinstance(tensors, Tensor):
        raise TypeError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    tensors = list(tensors)
    if not tensors:
        raise ValueError(f"torch.{name}(): expected a non-empty list of Tensors")
    for i, t in enumerate(tensors):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(t).__name__}")
    return tensors


@public("cat", "concat", "concatenate", method=False)
def cat(tensors, dim=0, *, out=None, axis=None):
    """Tensors one after another along an existing dimension; their other sizes agree. Empty vectors are skipped.

    Raises: RuntimeError naming the tensor whose sizes differ. Example: ``cat([a, b], dim=1)``
    """
    if out is None and axis is None and type(tensors) in (list, tuple) and tensors and type(tensors[0]) in TENSOR_TYPES:
        d = tensors[0]._d
        if d.size and d.ndim and -d.ndim <= dim < d.ndim:
            try:
                return cat_row(tensors, dim % d.ndim)
            except (RuntimeError, ValueError, TypeError, AttributeError):
                pass  # worded below
    tensors = _list(tensors, "cat")
    first = next((t for t in tensors if t._d.shape != (0,)), tensors[0])
    shape = first._d.shape
    if any(not t._d.ndim for t in tensors):
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated; use stack, or reshape(1) first")
    dim = one_dim(dim if axis is None else axis, len(shape))
    try:
        value = cat_row(tensors, dim)
    except (RuntimeError, ValueError):
        raise _sizes_differ(tensors, shape, dim) from None
    return value if out is None else write_out(out, value, tensors)


def _sizes_differ(tensors, shape, dim):
    for i, t in enumerate(tensors):
        have = t._d.shape
        if have == (0,):
            continue
        if len(have) != len(shape):
            return RuntimeError(
                f"Tensors must have same number of dimensions: got {len(shape)} and {len(have)} (tensor number {i})"
            )
        for d, (a, b) in enumerate(zip(shape, have, strict=True)):
            if d != dim and a != b:
                return RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {a} but got size {b} for tensor number "
                    f"{i} in the list."
                )
    return RuntimeError(f"cat: tensors of shapes {[list(t._d.shape) for t in tensors]} cannot be joined along dimension {dim}")


@public("stack", method=False)
def stack(tensors, dim=0, *, out=None, axis=None):
    """Tensors of one shape along a new dimension. Raises: RuntimeError where shapes differ."""
    tensors = _list(tensors, "stack")
    shape = tensors[0]._d.shape
    for i, t in enumerate(tensors):
        if t._d.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and {list(t._d.shape)} at entry {i}"
            )
    value = stack_row(tensors, one_dim(dim if axis is None else axis, len(shape) + 1))
    return value if out is None else write_out(out, value)


def _at_least(tensor, n):
    """With dimensions of size 1 added as ``atleast_nd`` does."""
    shape = tensor._d.shape
    if len(shape) >= n:
        return tensor
    if n == 3 and len(shape) == 2:
        return _reshaped(tensor, (*shape, 1))
    if n == 3:
        return _reshaped(tensor, (1, shape[0] if shape else 1, 1))
    return _reshaped(tensor, (1,) * (n - len(shape)) + shape)


def _atleast(n):
    def atleast(*tensors):
        if len(tensors) == 1 and isinstance(tensors[0], Tensor):
            return _at_least(tensors[0], n)
        if len(tensors) == 1:
            tensors = tensors[0]
        return tuple(_at_least(t, n) for t in tensors)

    atleast.__name__ = atleast.__qualname__ = f"atleast_{n}d"
    atleast.__doc__ = f"The tensors with at least {n} dimension{'s' if n > 1 else ''}."
    return public(f"atleast_{n}d", method=False)(atleast)


atleast_1d, atleast_2d, atleast_3d = _atleast(1), _atleast(2), _atleast(3)


@public("hstack", method=False)
def hstack(tensors, *, out=None):
    """Tensors side by side: along dimension 1, vectors along dimension 0."""
    tensors = [_at_least(t, 1) for t in _list(tensors, "hstack")]
    return cat(tensors, 0 if tensors[0]._d.ndim == 1 else 1, out=out)


@public("vstack", "row_stack", method=False)
def vstack(tensors, *, out=None):
    """Tensors below one another; vectors count as rows."""
    return cat([_at_least(t, 2) for t in _list(tensors, "vstack")], 0, out=out)


@public("dstack", method=False)
def dstack(tensors, *, out=None):
    """Tensors behind one another, along dimension 2."""
    return cat([_at_least(t, 3) for t in _list(tensors, "dstack")], 2, out=out)


@public("column_stack", method=False)
def column_stack(tensors, *, out=None):
    """Vectors as the columns of a matrix."""
    parts = [_reshaped(t, (t._d.size, 1)) if t._d.ndim < 2 else t for t in _list(tensors, "column_stack")]
    return cat(parts, 1, out=out)


# ----- taking apart -----


@public("split")
def split(tensor, split_size_or_sections=None, dim=0, *, split_size=None):
    """Views of consecutive parts along ``dim``: of one size (the last may be shorter) or of the listed sizes.

    Raises: RuntimeError if listed sizes do not add up. Example: ``q, k, v = x.split(64, dim=-1)``
    """
    need_tensor(tensor, "split")
    size = split_size_or_sections if split_size is None else split_size
    if not tensor._d.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    dim = one_dim(dim, tensor._d.ndim)
    length = tensor._d.shape[dim]
    if isinstance(size, list | tuple):
        sections = tuple(int(s) for s in size)
        if sum(sections) != length or min(sections, default=0) < 0:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size at dimension {dim}), "
                f"but got split_sizes={list(sections)}"
            )
        return split_row(tensor, sections, dim)
    if size < 0 or (size == 0 and length):
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    whole, rest = divmod(length, size) if size else (1, 0)
    sections = (size or length,) * whole + ((rest,) if rest or not whole else ())
    return split_row(tensor, sections, dim)


@public("split_with_sizes")
def split_with_sizes(input, split_sizes, dim=0):
    """Views of consecutive parts of the listed sizes."""
    return split(input, list(split_sizes), dim)


@public("chunk")
def chunk(input, chunks, dim=0):
    """Views of at most ``chunks`` parts along ``dim``, all but the last of one size."""
    if not input._d.ndim:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = one_dim(dim, input._d.ndim)
    length = input._d.shape[dim]
    size = -(-length // chunks)
    if not size:
        return split_row(input, (0,) * chunks, dim)
    return split(input, size, dim)


@public("tensor_split")
def tensor_split(input, indices_or_sections=None, dim=0, *, indices=None, sections=None):
    """Views of parts along ``dim``: that many nearly equal ones, or cut before the listed indices."""
    cuts = next(v for v in (indices_or_sections, indices, sections) if v is not None)
    if not input._d.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    dim = one_dim(dim, input._d.ndim)
    length = input._d.shape[dim]
    cuts = cuts.tolist() if isinstance(cuts, Tensor) else cuts
    if isinstance(cuts, int):
        if cuts <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {cuts}")
        small, more = divmod(length, cuts)
        return split_row(input, (small + 1,) * more + (small,) * (cuts - more), dim)
    bounds = [0, *cuts, length]
    return tuple(slice_view(input, (slice(None),) * dim + (slice(a, b), ...)) for a, b in zip(bounds, bounds[1:], strict=False))


def _split_along(name, dim, least):
    def splitter(input, indices_or_sections):
        if input._d.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {input._d.ndim}"
            )
        return tensor_split(input, indices_or_sections, 0 if name == "hsplit" and input._d.ndim == 1 else dim)

    splitter.__name__ = splitter.__qualname__ = name
    splitter.__doc__ = f"``tensor_split`` along dimension {dim}."
    return public(name)(splitter)


hsplit, vsplit, dsplit = _split_along("hsplit", 1, 1), _split_along("vsplit", 0, 2), _split_along("dsplit", 2, 3)


@public("unbind")
def unbind(input, dim=0):
    """Views along ``dim``, which disappears: ``a, b = x.unbind(1)``."""
    need_tensor(input, "unbind")
    if not input._d.ndim:
        raise RuntimeError("Dimension specified as 0 but tensor has no dimensions")
    return unbind_row(input, one_dim(dim, input._d.ndim))


@public("narrow")
def narrow(input, dim, start, length):
    """A view of ``length`` elements from ``start`` along ``dim``. Raises: RuntimeError or IndexError out of range."""
    if not input._d.ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    dim = one_dim(dim, input._d.ndim)
    if isinstance(start, Tensor) and (start._d.ndim or start._d.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    start, length, size = int(start), int(length), input._d.shape[dim]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [-{size}, {size}], but got {start})")
    start += size if start < 0 else 0
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice_view(input, (slice(None),) * dim + (slice(start, start + length), ...))


@public("select")
def select(input, dim, index):
    """A view of place ``index`` along ``dim``, which disappears. Raises: IndexError out of range."""
    if not input._d.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim = one_dim(dim, input._d.ndim)
    index, size = int(index), input._d.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(input._d.shape)} at dimension {dim}")
    return slice_view(input, (slice(None),) * dim + (index, ...))


# ----- repeating and combining -----


@public("repeat_interleave")
def repeat_interleave(input, repeats=None, dim=None, *, output_size=None):
    """Each element repeated in place: ``[1, 2] → [1, 1, 2, 2]``; ``repeats`` is a number or one per element."""
    if repeats is None:
        return wrap(np.repeat(np.arange(input._d.size), input._d))
    if dim is None:
        input, dim = _reshaped(input, (input._d.size,)), 0
    dim = one_dim(dim, input._d.ndim)
    size = input._d.shape[dim] if input._d.ndim else 1
    counts = repeats._d if isinstance(repeats, Tensor) else repeats
    if isinstance(counts, np.ndarray) and counts.ndim == 1 and counts.size not in (1, size):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.size} and {size}"
        )
    if np.any(np.asarray(counts) < 0):
        raise RuntimeError("repeats can not be negative")
    if not input._d.ndim:
        input = _reshaped(input, (1,))
    places = np.repeat(np.arange(size), counts)
    return index_row(input, (slice(None),) * dim + (places,))


@public("meshgrid", method=False)
def meshgrid(*tensors, indexing=None):
    """Grids of coordinates: one tensor per input, each varying along its own dimension.

    ``indexing`` is "ij" (default, the first input along rows) or "xy" (along columns).
    """
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tensors[0]
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    parts = [_reshaped(t, (t._d.size,)) for t in tensors]
    swap = indexing == "xy" and len(parts) >= 2
    if swap:
        parts[0], parts[1] = parts[1], parts[0]
    shape = tuple(t._d.size for t in parts)
    grids = [expand(_reshaped(t, (1,) * i + (t._d.size,) + (1,) * (len(parts) - 1 - i)), shape) for i, t in enumerate(parts)]
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)
