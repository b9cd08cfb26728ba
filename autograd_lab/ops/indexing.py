"""Indexing: ``x[...]`` and ``x[...] = v`` with ints, slices, None, Ellipsis, lists, index tensors and masks, mixed freely.

Basic indices (ints, slices, None, Ellipsis) make a view; index tensors and masks a copy. In a mixture the basic part is
taken first, so that an int never counts as an index array (NumPy would move its dimension to the front).
"""

import re

import numpy as np

from ..core import bind as core_bind
from ..core.modes import modes
from ..core.public import METHODS
from ..core.storage import storage_of
from ..core.tensor import TENSOR_TYPES, Tensor
from .assign import is_plain, off_memory, region_value
from .index import index_put_row, index_row, slice_view

_FULL = slice(None)


def getitem(self, index):
    """``x[index]``. Raises: IndexError naming the index, the dimension and its size."""
    kind = type(index)
    if kind is int:
        try:
            return slice_view(self, (index, ...))
        except IndexError as error:
            raise _worded(error, self) from None
    if kind is slice:
        return slice_view(self, _slice(index))
    if kind in TENSOR_TYPES:
        d = index._d
        if (d.dtype == np.int64 and d.ndim and self._d.ndim) or (d.dtype == np.bool_ and d.ndim and d.shape == self._d.shape):
            try:
                return index_row(self, (d,))
            except IndexError as error:
                raise _worded(error, self) from None
    basic, advanced = parsed(self, index)
    try:
        view = self if basic is None else slice_view(self, basic)
        return view if advanced is None else index_row(view, advanced)
    except IndexError as error:
        raise _worded(error, self) from None


def setitem(self, index, value):
    """``x[index] = value``: in place, with broadcasting and conversion of the value."""
    kind = type(index)
    if kind is int:
        basic, advanced = (index, ...), None
    elif kind is slice:
        basic, advanced = _slice(index), None
    else:
        basic, advanced = parsed(self, index)
    if isinstance(value, np.ndarray | list | tuple):
        from .create import tensor

        value = tensor(value, dtype=self.dtype)
    tensor_value = type(value) in TENSOR_TYPES or isinstance(value, Tensor)
    try:
        if is_plain(self) and not (tensor_value and value._node is not None and modes.now.grad):
            _write(self, basic, advanced, value._d if tensor_value else value)
        elif advanced is None:
            _set_view(slice_view(self, basic) if basic is not None else self, value)
        else:
            _put(self if basic is None else slice_view(self, basic), advanced, value)
    except IndexError as error:
        raise _worded(error, self) from None


def _write(self, basic, advanced, value):
    """Write into memory that no tape looks at."""
    d = self._array()
    st = storage_of(self)
    if basic is not None and advanced is not None:
        d, basic = d[basic], None
    target = advanced if advanced is not None else (... if basic is None else basic)
    if isinstance(value, np.ndarray) and value.dtype.kind == "c" and d.dtype.kind != "c":
        value = value.real
    try:
        d[target] = value
    except (ValueError, TypeError):
        if not d.flags.writeable:
            raise core_bind.not_writable("x[…] =", d, value) from None
        _write_squeezed(d, target, value)
    st.bump("setitem", None)


def _write_squeezed(d, target, value):
    """Write a value that NumPy refused: without its leading dimensions of size 1. Raises: RuntimeError if it does not fit."""
    want, have = d[target].shape, np.shape(value)
    extra = len(have) - len(want)
    if extra <= 0 or any(s != 1 for s in have[:extra]):
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(have)} cannot be broadcast to indexing result of shape {list(want)}"
        )
    d[target] = value.reshape(have[extra:])


def _set_view(view, value):
    """Write a value into a view whose history matters."""
    core_bind.check_inplace(view, "copy_")
    if not isinstance(value, Tensor):
        from .assign import fill_

        return fill_(view, value)
    if value._st is not None and value._st is view._st and _same_memory(value._d, view._d):
        view._st.bump("setitem", None)  # x[i] += v has written there already
        return view
    from .assign import copy_

    return copy_(view, value)


def _same_memory(a, b):
    return (
        a.shape == b.shape
        and a.strides == b.strides
        and a.dtype == b.dtype
        and a.__array_interface__["data"][0] == b.__array_interface__["data"][0]
    )


def _put(view, advanced, value, accumulate=False):
    """``index_put_`` through the tape."""
    core_bind.check_inplace(view, "index_put_")
    if isinstance(value, Tensor):
        shape = np.empty(view._d.shape, np.bool_)[advanced].shape if value._d.ndim else ()
        while value._d.ndim > len(shape):
            if value._d.shape[0] != 1:
                raise RuntimeError(
                    f"shape mismatch: value tensor of shape {list(value._d.shape)} cannot be broadcast to indexing result of shape "
                    f"{list(shape)}"
                )
            value = slice_view(value, (0, ...))
        value = region_value(value, value._d.shape, view.dtype, "index_put_")
    result = index_put_row(off_memory(view), value, advanced, accumulate)
    core_bind.change(view, result, "index_put_")


# ----- reading an index -----


def _slice(s):
    if s.step is not None and type(s.step) is int and s.step <= 0:
        raise ValueError("step must be greater than zero; to reverse use flip(dim)")
    if isinstance(s.start, int | None) and isinstance(s.stop, int | None) and (s.step is None or isinstance(s.step, int)):
        return s
    return slice(*(None if v is None else _whole(v) for v in (s.start, s.stop, s.step)))


def _whole(value):
    try:
        return value.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"slice indices must be integers or None or have an __index__ method, got {type(value).__name__}") from None


def parsed(self, index):
    """An index as (basic part or None, advanced part or None).

    The advanced part applies to the view that the basic part makes.
    """
    items = index if type(index) is tuple else _as_items(index)
    basic, advanced, plain, used = [], [], True, 0
    ndim = self._d.ndim
    consumed = _dims_used(items)
    if consumed > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    dim = 0
    for item in items:
        kind = type(item)
        if kind is int or (kind not in (slice, bool) and isinstance(item, np.integer)):
            basic.append(int(item))
            dim += 1
        elif kind is slice:
            basic.append(_slice(item))
            advanced.append(_FULL)
            dim += 1
        elif item is None:
            basic.append(None)
            advanced.append(_FULL)
        elif item is Ellipsis:
            basic.append(Ellipsis)
            advanced.extend([_FULL] * (ndim - consumed))
            dim += ndim - consumed
        else:
            array = _index_array(item)
            if array.dtype.kind in "iu" and array.ndim == 0 and array.dtype != np.uint8 and kind is not bool:
                basic.append(int(array))
                dim += 1
                continue
            array = _checked_array(array, self._d.shape, dim, used)
            width = array.ndim if array.dtype.kind == "b" else 1
            if width:
                basic.extend([_FULL] * width)
            else:
                basic.append(None)
                array = np.flatnonzero(array)
            advanced.append(array)
            plain = False
            used += 1
            dim += width
    if plain:
        if basic.count(Ellipsis) > 1:
            raise IndexError("an index can only have a single ellipsis ('...')")
        return (tuple(basic) if Ellipsis in basic else (*basic, Ellipsis)), None
    while advanced and advanced[-1] is _FULL:
        advanced.pop()
    if all(b is Ellipsis or (type(b) is slice and b == _FULL) for b in basic):
        return None, tuple(advanced)
    return (tuple(basic) if Ellipsis in basic else (*basic, Ellipsis)), tuple(advanced)


def _as_items(index):
    """An index that is no tuple as a tuple of one; a list of slices, tensors or lists counts as a tuple."""
    if isinstance(index, list) and any(
        isinstance(i, slice | list | tuple | Tensor | np.ndarray) or i is None or i is Ellipsis for i in index
    ):
        if any(isinstance(i, Tensor) and i._d.ndim == 0 for i in index) and all(isinstance(i, Tensor | int) for i in index):
            return ([int(i) for i in index],)
        return tuple(index)
    return (index,)


def _dims_used(items):
    n = 0
    for item in items:
        if item is None or item is Ellipsis or item is True or item is False:
            continue
        if isinstance(item, Tensor):
            kind = item._d.dtype
            n += item._d.ndim if kind.kind == "b" or kind == np.uint8 else 1
        elif isinstance(item, np.ndarray) and item.dtype.kind == "b":
            n += item.ndim
        elif isinstance(item, list | tuple) and item:
            inner = np.asarray(item) if not any(isinstance(i, Tensor) for i in item) else np.empty(0)
            n += inner.ndim if inner.dtype.kind == "b" else 1
        else:
            n += 1
    return n


def _index_array(item):
    if isinstance(item, Tensor):
        return item._d
    if isinstance(item, np.ndarray | np.generic):
        return item
    if isinstance(item, bool):
        return np.asarray(item)
    if isinstance(item, list | tuple | range):
        array = np.asarray([int(i) if isinstance(i, Tensor) and i._d.ndim == 0 else i for i in item])
        return array if array.size else array.astype(np.int64)
    if hasattr(item, "__index__"):
        return np.int64(item.__index__())
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str'")
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {type(item).__name__})"
    )


def _checked_array(array, shape, dim, place):
    """An index array or mask, checked against the dimensions it reads."""
    array = np.asarray(array)
    kind = array.dtype.kind
    if array.dtype == np.uint8:
        array, kind = array.astype(np.bool_), "b"
    if kind == "b":
        here = shape[dim : dim + array.ndim]
        if array.shape != here:
            raise IndexError(
                f"The shape of the mask {list(array.shape)} at index {place} does not match the shape of the indexed tensor "
                f"{list(shape)} at index {dim}"
            )
        return array
    if kind not in "iu":
        raise IndexError(f"tensors used as indices must be long, int, byte or bool tensors, got {array.dtype}")
    return array


_AXIS = re.compile(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)")


def _worded(error, self):
    """NumPy's IndexError in PyTorch's words."""
    found = _AXIS.search(str(error))
    if found:
        index, axis, size = found.groups()
        return IndexError(
            f"index {index} is out of bounds for dimension {axis} with size {size} (tensor of shape {list(self._d.shape)})"
        )
    if "too many indices" in str(error):
        n = self._d.ndim
        if not n:
            return IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python to convert a 0-dim tensor to a number"
            )
        return IndexError(f"too many indices for tensor of dimension {n}")
    if "shape mismatch" in str(error):
        return IndexError(str(error).replace("indexing arrays", "indexing tensors"))
    return error


def iterate(self):
    """Iterate over dimension 0: each step gives a view. Raises: TypeError for a 0-d tensor."""
    from .joining import unbind

    if not self._d.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(self, 0))


def contains(self, element):
    """Whether some element equals a number (or a tensor's elements)."""
    value = element._d if isinstance(element, Tensor) else element
    return bool((self._d == value).any())


METHODS.update(__getitem__=getitem, __setitem__=setitem, __iter__=iterate, __contains__=contains)
