"""Public functions that pick and place elements by index or mask: gather, scatter, index_select, masked_fill, where, nonzero…"""

import numpy as np

from ..backend import dtype as dt
from ..core.bind import write_out
from ..core.op import op
from ..core.public import METHODS, public
from ..core.tensor import Tensor, wrap
from . import compare
from .assign import off_memory
from .dims import need_tensor, one_dim
from .index import _grid, embed_slice, gather_row, index_put_row, index_row, slice_view
from .indexing import _put, parsed
from .layout import _reshaped, broadcast_tensors, expand
from .samples import Sample, spread
from .shape import cast_to, clone

_FULL = slice(None)

# ----- rows -----


def _masked(xp, x, mask, value):
    return xp.where(mask, value, x)


def _masked_samples():
    a = spread((3, 4))
    yield Sample(a, a > 0, 2.5, wrt=(0,))
    yield Sample(a, a[0] > 0, spread((), seed=3), wrt=(0, 2), note="tensor value")


masked_fill_row = op(
    "masked_fill", _masked, lambda g, y, x, mask, value: compare.where(mask, 0.0, g), None,
    lambda g, y, x, mask, value: compare.where(mask, g, 0.0), saves="mask", dtypes="free", kind="structure",
    samples=_masked_samples, ref=lambda x, m, v: np.where(m, v, x),
    formula={"forward": "value where mask, else x", "rules": ["0 where mask, else ḡ", "", "Σ ḡ where mask"]},
)  # fmt: skip


def _cut(src, index):
    """The part of ``src`` that an index of its own shape reads."""
    if not hasattr(src, "shape") or src.shape == index.shape or not src.ndim:
        return src
    return src[tuple(slice(s) for s in index.shape)]


def _scatter(xp, x, index, src, dim):
    out = x.copy() if x.ndim else np.array(x)
    out[_grid(index, dim) if x.ndim else ...] = _cut(src, index) if x.ndim else np.reshape(src, -1)[-1:].sum()
    return out


def _from_source(g, src, index, dim):
    """The cotangent of scatter's source: what lies at the index, zeros for what was not read."""
    picked = gather_row(g, index, dim)
    if not hasattr(src, "shape"):
        return picked
    return picked if picked.shape == src.shape else embed_slice(picked, src.shape, tuple(slice(s) for s in index.shape))


def _scatter_samples():
    index = np.array([[0, 2, 1, 0], [1, 1, 0, 2]])
    yield Sample(spread((3, 4)), np.array([[0, 2, 1, 0]]), spread((1, 4), seed=1), params=(0,), wrt=(0, 2))
    yield Sample(spread((2, 4)), index[:, :2] * 1 + np.array([[0, 1], [0, 1]]), spread((2, 3), seed=1), params=(1,), wrt=(0, 2))
    yield Sample(spread((2, 4)), np.array([[1], [3]]), 0.5, params=(1,), wrt=(0,), note="number")


scatter_row = op(
    "scatter", _scatter, lambda g, y, x, index, src, dim: scatter_row(g, index, 0.0, dim), None,
    lambda g, y, x, index, src, dim: _from_source(g, src, index, dim), saves=("index", "", "index src.shape"),
    kind="structure", dtypes="free",
    samples=_scatter_samples, ref=lambda x, i, s, d: _scatter(np, x, i, s, d),
    formula={"forward": "x with src at the index", "rules": ["ḡ with the index 0", "", "ḡ[index]"]},
)  # fmt: skip


def _scatter_add(xp, x, index, src, dim):
    out = x.copy() if x.ndim else np.array(x)
    if x.ndim:
        xp.add.at(out, _grid(index, dim), _cut(src, index))
    else:
        out[...] = out + np.sum(src)
    return out


scatter_add_row = op(
    "scatter_add", _scatter_add, lambda g, y, x, index, src, dim: g, None,
    lambda g, y, x, index, src, dim: _from_source(g, src, index, dim), saves=("", "", "index src.shape"), kind="structure",
    dtypes="free", samples=_scatter_samples, ref=lambda x, i, s, d: _scatter_add(np, x, i, s, d),
    formula={"forward": "x with src added at the index", "rules": ["ḡ", "", "ḡ[index]"]},
)  # fmt: skip


def _scatter_multiply(xp, x, index, src, dim):
    out = x.copy()
    xp.multiply.at(out, _grid(index, dim), _cut(src, index))
    return out


scatter_multiply_row = op(
    "scatter_multiply", _scatter_multiply, arity=3, kind="structure", dtypes="free",
    samples=lambda: (Sample(*s.operands, params=s.params, order=0) for s in _scatter_samples()),
    ref=lambda x, i, s, d: _scatter_multiply(np, x, i, s, d),
)  # fmt: skip

# ----- checks -----


def _checked_index(name, input, dim, index, check=True):
    need_tensor(index, name, 3, "index")
    if index._d.dtype.kind not in "iu":
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index, got {index.dtype.name}")
    have, want = index._d.shape, input._d.shape
    dim = one_dim(dim, len(want))
    if len(have or (1,)) != len(want or (1,)) and index._d.size:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    if len(have) == len(want):
        for d, (a, b) in enumerate(zip(have, want, strict=True)):
            if d != dim and a > b:
                raise RuntimeError(
                    f"Size does not match at dimension {d} expected index {list(have)} to be no larger than self {list(want)} "
                    f"apart from dimension {dim}"
                )
    if check:
        _in_range(index._d, want[dim] if want else 1, dim, RuntimeError)
    elif index._d.size and np.minimum.reduce(index._d, axis=None) < 0:
        raise RuntimeError(f"index {int(index._d.min())} is out of bounds for dimension {dim} with size {want[dim] if want else 1}")
    return dim


def _in_range(index, size, dim, error, negative=False):
    if not index.size:
        return
    low, high = int(index.min()), int(index.max())
    if high >= size or low < (-size if negative else 0):
        raise error(f"index {high if high >= size else low} is out of bounds for dimension {dim} with size {size}")


# ----- along a dimension -----


@public("gather")
def gather(input, dim, index, *, sparse_grad=False, out=None):
    """``out[i][j] = input[index[i][j]][j]`` for ``dim=0``; likewise along other dimensions.

    Raises: RuntimeError where an index is out of range. Example: ``logits.gather(1, labels[:, None])``
    """
    need_tensor(input, "gather")
    dim = _checked_index("gather", input, dim, index, not input._d.ndim)
    if not index._d.size and index._d.ndim != input._d.ndim:
        value = _reshaped(slice_view(_reshaped(input, (input._d.size,)), slice(0, 0)), index._d.shape)
    else:
        try:
            value = gather_row(input, index, dim)
        except IndexError:
            _in_range(index._d, input._d.shape[dim], dim, RuntimeError)
            raise
    if out is not None and out.dtype is not input.dtype:
        raise RuntimeError(f"gather(): Expected out tensor to have dtype {input.dtype.name}, but got {out.dtype.name} instead")
    return value if out is None else write_out(out, value, (input, index))


@public("scatter", inplace=True)
def scatter(input, dim, index, src=None, *, value=None, reduce=None, out=None):
    """``out[index[i][j]][j] = src[i][j]`` for ``dim=0``; ``src`` is a tensor or a number.

    Raises: RuntimeError where an index is out of range or ``src`` is too small.
    """
    need_tensor(input, "scatter")
    dim = _checked_index("scatter", input, dim, index)
    src = value if src is None else src
    if isinstance(src, Tensor):
        if src._d.dtype != input._d.dtype:
            raise RuntimeError(
                f"scatter(): Expected self.dtype to be equal to src.dtype, got {input.dtype.name} and {src.dtype.name}"
            )
        _source_large_enough(index, src, dim, input)
    if not index._d.size:
        result = clone(input)
    elif reduce is None:
        result = scatter_row(input, index, src, dim)
    elif reduce in ("add", "multiply"):
        src = src if isinstance(src, Tensor) else wrap(np.full(index._d.shape, src, input._d.dtype))
        result = (scatter_add_row if reduce == "add" else scatter_multiply_row)(input, index, src, dim)
    else:
        raise RuntimeError("reduce argument must be either add or multiply.")
    return result if out is None else write_out(out, result)


def _source_large_enough(index, src, dim, input):
    have, want = src._d.shape or (1,), index._d.shape or (1,)
    if index._d.size and (len(have) != len(want) or any(a < b for a, b in zip(have, want, strict=True))):
        raise RuntimeError(f"Expected index {list(want)} to be no larger than self {list(input._d.shape)} and src {list(have)}")


@public("scatter_add", inplace=True)
def scatter_add(input, dim, index, src, *, out=None):
    """``out[index[i][j]][j] += src[i][j]`` for ``dim=0``."""
    dim = _checked_index("scatter_add", input, dim, index)
    if src._d.dtype != input._d.dtype:
        raise RuntimeError(f"scatter(): Expected self.dtype to be equal to src.dtype, got {input.dtype.name} and {src.dtype.name}")
    _source_large_enough(index, src, dim, input)
    value = scatter_add_row(input, index, src, dim) if index._d.size else clone(input)
    return value if out is None else write_out(out, value)


def _places(name, input, dim, index):
    """An index tensor for whole slices along a dimension: (dim, checked array)."""
    need_tensor(index, name, 3, "index")
    dim = one_dim(dim, input._d.ndim)
    if index._d.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector, got shape {list(index._d.shape)}")
    if index._d.dtype.kind not in "iu":
        raise RuntimeError(f"{name}(): Expected dtype int32 or int64 for index but got: {index.dtype.name}")
    array = index._d.reshape(-1)
    _in_range(array, input._d.shape[dim] if input._d.ndim else 1, dim, IndexError)
    return dim, array


@public("index_select", inplace=False)
def index_select(input, dim, index, *, out=None):
    """The slices ``index`` (a vector of places) along ``dim``. Raises: IndexError out of range."""
    need_tensor(input, "index_select")
    dim, array = _places("index_select", input, dim, index)
    if not input._d.ndim:
        if array.size != 1:
            raise IndexError("index_select(): Index to scalar can have only 1 value")
        value = clone(input)
    else:
        value = index_row(input, (_FULL,) * dim + (array,))
    return value if out is None else write_out(out, value, (input, index))


def _put_slices(input, dim, index, source, accumulate, name):
    dim, array = _places(name, input, dim, index)
    if not input._d.ndim:
        flat = _reshaped(input, (1,))
        src = _reshaped(source, (source._d.size,)) if isinstance(source, Tensor) else source
        return _reshaped(index_put_row(flat, src, (array,), accumulate), ())
    if isinstance(source, Tensor):
        have, want = source._d.shape, input._d.shape
        if source._d.ndim and (len(have) != len(want) or have[dim] != array.size):
            raise RuntimeError(
                f"{name}(): Number of indices ({array.size}) should be equal to source.size(dim), got source of shape {list(have)}"
            )
        if have[:dim] + have[dim + 1 :] != want[:dim] + want[dim + 1 :] and source._d.ndim:
            raise RuntimeError(
                f"{name}(): Source/destination tensor must have same slice shapes. Got {list(have)} and {list(want)}"
            )
        if source._d.dtype != input._d.dtype:
            raise RuntimeError(
                f"{name}(): self and source expected to have the same dtype, but got {input.dtype.name} and {source.dtype.name}"
            )
    return index_put_row(input, source, (_FULL,) * dim + (array,), accumulate)


@public("index_add", inplace=True)
def index_add(input, dim, index, source, *, alpha=1, out=None):
    """``alpha · source`` added to the slices ``index`` along ``dim``."""
    value = _put_slices(input, dim, index, source if alpha == 1 else source * alpha, True, "index_add")
    return value if out is None else write_out(out, value)


@public("index_copy", inplace=True)
def index_copy(input, dim, index, source, *, out=None):
    """``source`` in place of the slices ``index`` along ``dim``."""
    value = _put_slices(input, dim, index, source, False, "index_copy")
    return value if out is None else write_out(out, value)


@public("index_fill", inplace=True)
def index_fill(input, dim, index, value):
    """One number (or 0-d tensor) in place of the slices ``index`` along ``dim``."""
    if isinstance(value, Tensor):
        if value._d.ndim:
            raise RuntimeError(
                f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._d.ndim} dimension(s)."
            )
        value = cast_to(value, input.dtype)
    places = wrap(np.unique(index._d)) if isinstance(value, Tensor) else index  # a repeated place is filled once
    return _put_slices(input, dim, places, value, False, "index_fill")


@public("take")
def take(input, index):
    """Elements of the flattened tensor at ``index``."""
    _in_range(index._d, input._d.size, 0, IndexError, negative=True)
    return index_row(_reshaped(input, (input._d.size,)), (index._d,))


@public("take_along_dim")
def take_along_dim(input, indices, dim=None, *, out=None):
    """``gather`` with broadcasting; without ``dim`` from the flattened tensor."""
    if dim is None:
        value = gather(_reshaped(input, (input._d.size,)), 0, _reshaped(indices, (indices._d.size,)))
    else:
        dim = one_dim(dim, input._d.ndim)
        if input._d.ndim != indices._d.ndim:
            raise RuntimeError("torch.take_along_dim(): input and indices should have the same number of dimensions")
        size = input._d.shape[dim]
        indices = wrap(np.where(indices._d < 0, indices._d + size, indices._d))
        shape = list(np.broadcast_shapes(*(t._d.shape[:dim] + (1,) + t._d.shape[dim + 1 :] for t in (input, indices))))
        shape[dim] = size
        spread_input = expand(input, tuple(shape))
        shape[dim] = indices._d.shape[dim]
        value = gather(spread_input, dim, expand(indices, tuple(shape)))
    return value if out is None else write_out(out, value)


# ----- masks -----


@public("masked_fill", inplace=True)
def masked_fill(input, mask, value):
    """``value`` (a number or 0-d tensor) where ``mask`` is True, else ``input``.

    Raises: RuntimeError for a mask that is not bool.
    """
    need_tensor(input, "masked_fill")
    need_tensor(mask, "masked_fill", 2, "mask")
    if mask._d.dtype.kind != "b":
        raise RuntimeError(f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype.name}")
    if isinstance(value, Tensor):
        if value._d.ndim:
            raise RuntimeError(
                f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {value._d.ndim} dimension(s)."
            )
        if value._d.dtype.kind == "c" and input._d.dtype.kind != "c":
            raise RuntimeError(f"value cannot be converted to type {input.dtype.name} without overflow")
        value = cast_to(value, input.dtype)
    elif input._d.dtype.kind in "iub":
        value = bool(value) if input._d.dtype.kind == "b" else int(value)
    elif isinstance(value, complex) and input._d.dtype.kind != "c":
        raise RuntimeError(f"value cannot be converted to type {input.dtype.name} without overflow: {value}")
    return masked_fill_row(input, mask, value)


@public("masked_select")
def masked_select(input, mask, *, out=None):
    """The elements where ``mask`` is True, as a vector."""
    if mask._d.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    given = (input, mask)
    if input._d.shape != mask._d.shape:
        input, mask = broadcast_tensors(input, mask)
    value = index_row(input if input._d.ndim else _reshaped(input, (1,)), (mask._d.reshape(input._d.shape or (1,)),))
    return value if out is None else write_out(out, value, given)


@public("masked_scatter", inplace=True)
def masked_scatter(input, mask, source):
    """The elements of ``source``, in order, where ``mask`` is True, else ``input``."""
    if mask._d.dtype.kind != "b":
        raise RuntimeError("masked_scatter_ only supports boolean masks")
    if input._d.dtype != source._d.dtype:
        raise RuntimeError(
            f"masked_scatter: expected self and source to have same dtypes but got {input.dtype.name} and {source.dtype.name}"
        )
    mask = np.broadcast_to(mask._d, np.broadcast_shapes(mask._d.shape, input._d.shape))
    if mask.shape != input._d.shape:
        input = clone(expand(input, mask.shape))
    n = int(np.count_nonzero(mask))
    if source._d.size < n:
        raise RuntimeError("masked_scatter: expected number of elements of source to be at least the number of ones in the mask")
    part = slice_view(_reshaped(source, (source._d.size,)), slice(0, n))
    if not input._d.ndim:
        return _reshaped(index_put_row(_reshaped(input, (1,)), part, (mask.reshape(1),), False), ())
    return index_put_row(input, part, (mask,), False)


@public("nonzero")
def nonzero(input, *, out=None, as_tuple=False):
    """Places of the elements that are not 0: one row per element, or with ``as_tuple`` one vector per dimension."""
    need_tensor(input, "nonzero")
    d = input._d
    found = np.nonzero(d) if d.ndim else np.nonzero(np.reshape(d, 1))
    if as_tuple:
        return tuple(wrap(a) for a in found)
    value = wrap(np.stack(found, 1) if d.ndim else np.zeros((found[0].size, 0), np.int64))
    return value if out is None else write_out(out, value)


@public("argwhere")
def argwhere(input):
    """``nonzero(input)``."""
    return nonzero(input)


def _number_tensor(value):
    return wrap(dt.of_number(value).numpy.type(value))


@public("where")
def where(condition, input=None, other=None, *, out=None):
    """``input`` where ``condition`` holds, else ``other``; with the condition alone ``nonzero(condition, as_tuple=True)``.

    Raises: RuntimeError for a condition that is not bool. Example: ``where(x > 0, x, 0.1 * x)``
    """
    need_tensor(condition, "where", 1, "condition")
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if condition._d.dtype.kind != "b":
        if condition._d.dtype != np.uint8:
            raise RuntimeError(
                f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype.name}"
            )
        condition = cast_to(condition, dt.bool_)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input, other = _number_tensor(input), _number_tensor(other)
    value = compare.where(condition, input, other)
    return value if out is None else write_out(out, value)


def _where_method(self, condition, other):
    """``self`` where ``condition`` holds, else ``other``."""
    return where(condition, self, other)


METHODS["where"] = _where_method


@public("index_put")
def index_put(input, indices, values, accumulate=False):
    """A copy with ``values`` at the index tensors ``indices``; with ``accumulate`` they are added."""
    made = clone(input)
    return index_put_(made, indices, values, accumulate)


def index_put_(self, indices, values, accumulate=False):
    """``self[indices] = values``, or ``+=`` (counting repeated places) with ``accumulate``; in place."""
    basic, advanced = parsed(self, tuple(indices))
    view = self if basic is None else slice_view(self, basic)
    _put(view, advanced, values, accumulate)
    return self


METHODS["index_put_"] = index_put_
__all__ = ["gather", "masked_fill", "off_memory", "scatter", "where"]
