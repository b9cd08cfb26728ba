"""Public functions that change how elements are laid out: shapes, dimension order, repeats. Views wherever PyTorch's are."""

import math

import numpy as np

from ..core import bind as core_bind
from ..core.public import METHODS, public, publish
from ..core.tape import LEAF
from ..core.tensor import wrap
from .dims import need_tensor, one_dim, sizes, some_dims
from .shape import (
    _viewable,
    clone,
    contiguous_copy,
    expand_view,
    full_shape,
    permute_view,
    transpose_view,
    unsafe_reshape,
)
from .shape import view as view_row

# ----- shapes -----


def _reshaped(input, shape):
    d = input._array()
    if d.flags.c_contiguous or _viewable(d, shape):
        return view_row(input, shape)
    return unsafe_reshape(input, shape)


@public("reshape")
def reshape(input, *sizes_, shape=None):
    """The elements in another shape; one size may be -1. A view where the memory allows, else a copy.

    Raises: RuntimeError if the sizes do not multiply to the number of elements. Example: ``x.reshape(2, -1)``
    """
    need_tensor(input, "reshape")
    if len(sizes_) == 1 and type(sizes_[0]) is int and sizes_[0] == -1:
        return _reshaped(input, (input._d.size,))
    return _reshaped(input, full_shape(sizes(sizes_ if shape is None else (shape,)), input._d.size))


@public("view", namespace=None)
def view(input, *shape, dtype=None):
    """The elements in another shape, sharing memory; ``view(dtype)`` reads the same bytes as another dtype.

    Raises: RuntimeError if the memory does not allow it: use ``reshape``, which copies then.
    """
    if dtype is None and len(shape) == 1 and hasattr(shape[0], "numpy") and hasattr(shape[0], "category"):
        dtype = shape[0]
    if dtype is not None:
        return _same_bytes(input, dtype)
    if not shape:
        raise TypeError("view() received an invalid combination of arguments: give the sizes, such as view(-1, 4)")
    shape = full_shape(sizes(shape), input._d.size)
    d = input._array()
    if not d.flags.c_contiguous and not _viewable(d, shape):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
            f"subspaces): shape {list(d.shape)}, strides {input.stride()}. Use .reshape(...) instead."
        )
    return view_row(input, shape)


def _same_bytes(input, dtype):
    t = wrap(input._array().view(dtype.numpy))
    t._st = core_bind.storage_of(input)
    return t


@public("view_as", namespace=None)
def view_as(input, other):
    """``input.view(other.shape)``."""
    return view(input, other._d.shape)


@public("reshape_as", namespace=None)
def reshape_as(input, other):
    """``input.reshape(other.shape)``."""
    return reshape(input, other._d.shape)


@public("flatten")
def flatten(input, start_dim=0, end_dim=-1):
    """Dimensions ``start_dim`` to ``end_dim`` joined into one. Example: ``images.flatten(1)``

    Raises: IndexError out of range, RuntimeError if ``start_dim`` comes after ``end_dim``.
    """
    need_tensor(input, "flatten")
    shape = input._d.shape
    start, end = one_dim(start_dim, len(shape)), one_dim(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return view_row(input, (1,))
    if start == end:
        return input
    return _reshaped(input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


@public("ravel")
def ravel(input):
    """All elements in one dimension."""
    return _reshaped(input, (input._d.size,))


@public("unflatten")
def unflatten(input, dim, sizes):
    """Dimension ``dim`` unfolded into several; one of ``sizes`` may be -1."""
    shape = input._d.shape
    dim = one_dim(dim, len(shape))
    if not len(sizes):
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        inner = full_shape(sizes, shape[dim] if shape else 1)
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) in the input tensor"
        ) from None
    return _reshaped(input, (*shape[:dim], *inner, *shape[dim + 1 :]))


@public("squeeze")
def squeeze(input, dim=None):
    """Without its dimensions of size 1: all of them, one, or those of a tuple."""
    need_tensor(input, "squeeze")
    shape = input._d.shape
    if dim is None:
        return view_row(input, tuple([s for s in shape if s != 1]))
    dims = some_dims(dim, len(shape)) or ()
    return view_row(input, tuple([s for i, s in enumerate(shape) if s != 1 or i not in dims]))


@public("unsqueeze")
def unsqueeze(input, dim):
    """With a new dimension of size 1 before ``dim``. Raises: IndexError out of range."""
    need_tensor(input, "unsqueeze")
    shape = input._d.shape
    dim = one_dim(dim, len(shape) + 1)
    return view_row(input, (*shape[:dim], 1, *shape[dim:]))


# ----- order of dimensions -----


@public("transpose", "swapaxes", "swapdims")
def transpose(input, dim0, dim1):
    """Dimensions ``dim0`` and ``dim1`` swapped."""
    need_tensor(input, "transpose")
    ndim = input._d.ndim
    a, b = one_dim(dim0, ndim), one_dim(dim1, ndim)
    return transpose_view(input, a, b) if ndim else view_row(input, ())


def _swap_methods():
    """``swapaxes`` names its arguments axis0 and axis1."""

    def swapaxes(input, axis0, axis1):
        """Dimensions ``axis0`` and ``axis1`` swapped."""
        return transpose(input, axis0, axis1)

    publish(swapaxes, ("swapaxes",))


_swap_methods()


@public("permute")
def permute(input, *places, dims=None):
    """Dimensions in the order ``dims``. Raises: RuntimeError unless every dimension is named once."""
    need_tensor(input, "permute")
    ndim = input._d.ndim
    dims = sizes(places if dims is None else (dims,), "dims")
    if len(dims) != ndim:
        raise RuntimeError(
            "permute: number of dimensions in the tensor input does not match the length of the desired ordering of dimensions "
            f"i.e. input.dim() = {ndim} is not equal to len(dims) = {len(dims)}"
        )
    order = tuple([one_dim(d, ndim) for d in dims])
    if len(set(order)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return permute_view(input, order)


@public("t")
def t(input):
    """The transpose of a matrix; a vector as it is. Raises: RuntimeError for more than 2 dimensions."""
    need_tensor(input, "t")
    ndim = input._d.ndim
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D; use .mT or transpose(…)")
    return transpose_view(input, 0, 1) if ndim == 2 else view_row(input, input._d.shape)


def _reversed_dims(input):
    """All dimensions in reverse order."""
    return permute_view(input, tuple(range(input._d.ndim - 1, -1, -1)))


def _matrix_transpose(input):
    """The last two dimensions swapped. Raises: RuntimeError for fewer than two."""
    ndim = input._d.ndim
    if ndim < 2:
        raise RuntimeError(f"tensor.mT is only supported on matrices or batches of matrices. Got {ndim}-D tensor.")
    return transpose_view(input, ndim - 2, ndim - 1)


def _adjoint(input):
    """The conjugate transpose of the last two dimensions."""
    return _matrix_transpose(input).conj()


def _matrix_adjoint(input):
    """The conjugate transpose of a matrix."""
    if input._d.ndim not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {input._d.ndim}-D tensor.")
    return _reversed_dims(input).conj()


METHODS.update(T=property(_reversed_dims), mT=property(_matrix_transpose), mH=property(_adjoint), H=property(_matrix_adjoint))
publish(_adjoint, ("adjoint",))


@public("movedim", "moveaxis")
def movedim(input, source, destination):
    """Dimensions ``source`` moved to the places ``destination``; the others keep their order."""
    ndim = input._d.ndim
    source = some_dims(source if isinstance(source, tuple | list) else (source,), ndim) or ()
    destination = some_dims(destination if isinstance(destination, tuple | list) else (destination,), ndim) or ()
    if len(source) != len(destination):
        raise RuntimeError("movedim: Invalid source or destination dims: they must contain the same number of dimensions")
    order = [d for d in range(ndim) if d not in source]
    for place, d in sorted(zip(destination, source, strict=True)):
        order.insert(place, d)
    return permute_view(input, tuple(order))


# ----- repeats -----


@public("expand", namespace=None)
def expand(input, *sizes_, size=None, implicit=False):
    """Dimensions of size 1 repeated to a larger size without copying; -1 keeps a size, new dimensions come first.

    Raises: RuntimeError where a size is neither 1 nor the wanted one.
    """
    have, want = input._d.shape, sizes(sizes_ if size is None else (size,))
    extra = len(want) - len(have)
    if extra < 0:
        raise RuntimeError(
            f"expand({list(want)}, size={list(have)}): the number of sizes provided ({len(want)}) must be greater or equal to the "
            f"number of dimensions in the tensor ({len(have)})"
        )
    shape = []
    for i, size_ in enumerate(want):
        old = have[i - extra] if i >= extra else None
        if size_ == -1 and old is not None:
            size_ = old
        elif size_ < 0:
            raise RuntimeError(f"The expanded size of the tensor ({size_}) isn't allowed in a leading, non-existing dimension {i}")
        elif old is not None and old != 1 and old != size_:
            raise RuntimeError(
                f"The expanded size of the tensor ({size_}) must match the existing size ({old}) at non-singleton dimension {i}.  "
                f"Target sizes: {list(want)}.  Tensor sizes: {list(have)}"
            )
        shape.append(size_)
    return expand_view(input, tuple(shape))


@public("expand_as", namespace=None)
def expand_as(input, other):
    """``input.expand(other.shape)``."""
    return expand(input, other._d.shape)


@public("broadcast_to")
def broadcast_to(input, size):
    """``input.expand(size)``."""
    return expand(input, size)


@public("broadcast_tensors", method=False)
def broadcast_tensors(*tensors):
    """The tensors expanded to their common shape."""
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        tensors = tensors[0]
    shape = broadcast_shapes(*(t._d.shape for t in tensors))
    return tuple(expand(t, shape) for t in tensors)


@public("broadcast_shapes", method=False)
def broadcast_shapes(*shapes):
    """The common shape of these shapes. Raises: RuntimeError where they do not broadcast."""
    from ..core.size import Size

    try:
        return Size(np.broadcast_shapes(*((s,) if isinstance(s, int) else tuple(s) for s in shapes)))
    except ValueError:
        raise RuntimeError(f"Shape mismatch: objects cannot be broadcast to a single shape: {[list(s) for s in shapes]}") from None


@public("repeat", namespace=None)
def repeat(input, *times, repeats=None):
    """The tensor written ``repeats`` times along each dimension; more repeats than dimensions make new ones in front.

    Raises: RuntimeError for fewer repeats than dimensions. Example: ``x.repeat(2, 1)``
    """
    repeats = sizes(times if repeats is None else (repeats,), "repeats")
    have = input._d.shape
    extra = len(repeats) - len(have)
    if extra < 0:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: "
            f"{len(repeats)} repeats for shape {list(have)}"
        )
    if min(repeats, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(repeats)}: {list(repeats)}")
    shape = (1,) * extra + have
    if not repeats:
        return clone(input)
    split = tuple(s for size in shape for s in (1, size))
    wide = tuple(s for r, size in zip(repeats, shape, strict=True) for s in (r, size))
    final = tuple(r * size for r, size in zip(repeats, shape, strict=True))
    result = unsafe_reshape(expand_view(_reshaped(input, split), wide), final)
    # NumPy's reshape needs no copy where only sizes of 1 are repeated; what repeat gives has memory of its own.
    return clone(result) if np.may_share_memory(result._d, input._d) else result


@public("tile")
def tile(input, *times, dims=None):
    """``repeat`` that fills missing repeats with 1 in front."""
    dims = sizes(times if dims is None else (dims,), "dims")
    return repeat(input, (1,) * (input._d.ndim - len(dims)) + dims)


# ----- copies -----


@public("clone")
def clone_(input, *, memory_format=None):
    """A copy with its own memory, on the tape."""
    need_tensor(input, "clone")
    return clone(input)


@public("contiguous", namespace=None)
def contiguous(input, memory_format=None):
    """The tensor itself if its elements lie in row-major order, else a copy that does."""
    return input if input._array().flags.c_contiguous else contiguous_copy(input)


# ----- in place: the tensor's own shape changes -----


def _reshaping_in_place(function, name):
    def call(self, *args):
        core_bind.check_inplace(self, name)
        source = wrap(self._array())
        source._node, source._st = self._node, self._st
        made = function(source, *args)
        self._d, self._st = made._d, made._st
        if self._node is not LEAF and made._node is not None:
            self._node = made._node
        if self._base is not None:
            self._spec = (*self._spec, made._spec[-1])
        made._st.bump(name, None)
        return self

    call.__name__ = name
    call.__doc__ = f"``{name[:-1]}`` that changes this tensor's own shape."
    METHODS[name] = call


for _function in (squeeze, unsqueeze, transpose, t):
    _reshaping_in_place(_function, _function.__name__ + "_")
for _name in ("swapaxes_", "swapdims_"):
    METHODS[_name] = METHODS["transpose_"]


def resize_(self, *size, memory_format=None):
    """Change the sizes in place, keeping the elements in order; new elements hold whatever memory held.

    Raises: RuntimeError for a tensor that requires grad.
    """
    if self._node is not None:
        raise RuntimeError("cannot resize variables that require grad")
    shape = sizes(size)
    flat, n = self._array().reshape(-1), math.prod(shape)
    if n > flat.size:
        flat = np.concatenate([flat, np.empty(n - flat.size, flat.dtype)])
    self._d = flat[:n].reshape(shape)
    return self


def resize_as_(self, other):
    """Change to the shape of ``other`` in place, as ``resize_`` does."""
    return resize_(self, other._d.shape)


METHODS["resize_"] = resize_
METHODS["resize_as_"] = resize_as_
