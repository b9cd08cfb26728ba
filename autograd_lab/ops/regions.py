"""Copies with a region replaced (``select_scatter`` …), ``scatter_reduce``, ``put``, quarter turns."""

import numpy as np

from ..core.bind import write_out
from ..core.op import op
from ..core.public import public
from ..core.tensor import wrap
from .compare import where
from .diagonals import flip
from .dims import need_tensor, one_dim, sizes
from .index import _grid, gather_row, index_put_row, slice_view
from .layout import _reshaped, transpose
from .picking import _checked_index, _source_large_enough, scatter_add_row, scatter_row
from .reduce import numpy_dtype
from .reductions import _integers_as_long, sum_
from .samples import Sample, spread
from .shape import cast, cast_to, clone, replace_region, sum_to
from .triangles import diagonal_view

# ----- a region replaced -----


def _with_region(name, input, src, step, shape):
    if src._d.shape != shape:
        raise RuntimeError(
            f"{name}: expected src to have a size equal to the region of input it replaces: {list(src._d.shape)} and {list(shape)}"
        )
    return replace_region(input, cast_to(src, input.dtype), (step,))


@public("select_scatter")
def select_scatter(input, src, dim, index):
    """A copy of ``input`` with ``src`` at ``index`` along ``dim``."""
    dim = one_dim(dim, input._d.ndim)
    size = input._d.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(input._d.shape)} at dimension {dim}")
    place = (slice(None),) * dim + (index % size, ...)
    return _with_region("select_scatter", input, src, (slice_view.op, (place,)), input._d.shape[:dim] + input._d.shape[dim + 1 :])


@public("slice_scatter")
def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """A copy of ``input`` with ``src`` at ``start:end:step`` along ``dim``."""
    dim = one_dim(dim, input._d.ndim)
    if step <= 0:
        raise RuntimeError(f"slice step must be positive, got {step}")
    size = input._d.shape[dim]
    part = slice(*slice(start, end, step).indices(size))
    shape = (*input._d.shape[:dim], len(range(part.start, part.stop, part.step)), *input._d.shape[dim + 1 :])
    place = (slice(None),) * dim + (part, ...)
    return _with_region("slice_scatter", input, src, (slice_view.op, (place,)), shape)


@public("diagonal_scatter")
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy of ``input`` with ``src`` on a diagonal."""
    a, b = one_dim(dim1, input._d.ndim), one_dim(dim2, input._d.ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    shape = input._d.diagonal(offset, a, b).shape
    return _with_region("diagonal_scatter", input, src, (diagonal_view.op, (offset, a, b)), shape)


@public("put", inplace=True)
def put(input, index, source, accumulate=False):
    """A copy of ``input`` with ``source`` at places counted through all elements (added there if ``accumulate``)."""
    need_tensor(input, "put")
    if index._d.dtype != np.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {index.dtype.name}")
    if input._d.dtype != source._d.dtype:
        raise RuntimeError(f"put_(): self and source must have the same dtype, got {input.dtype.name} and {source.dtype.name}")
    n, places = input._d.size, index._array().reshape(-1)
    if places.size != source._d.size:
        raise RuntimeError(f"put_(): source and index must have as many elements, got {source._d.size} and {places.size}")
    if places.size and not (-n <= places.min() and places.max() < n):
        raise IndexError(f"put_(): index out of range: the tensor has {n} elements")
    flat, values = _reshaped(input, (n,)), _reshaped(source, (places.size,))
    return _reshaped(index_put_row(flat, values, (places,), bool(accumulate)), input._d.shape)


# ----- scatter_reduce -----


def _combine(ufunc):
    def forward(xp, x, index, src, dim):
        out = x.copy()
        getattr(xp, ufunc).at(out, _grid(index, dim), src)
        return out

    return forward


def _reduce_samples():
    index = np.array([[0, 1, 2, 0], [1, 1, 0, 2]])
    yield Sample(spread((3, 4), 0.5, 2.0), index, spread((2, 4), 0.5, 2.0, 1), params=(0,), wrt=(0, 2))
    yield Sample(spread((2, 4), 0.5, 2.0), index % 2, spread((2, 4), 0.5, 2.0, 1), params=(1,), wrt=(0, 2))


def _extreme_rule(needs, g, y, x, index, src, dim):
    """Ties share the gradient equally, ``x`` among them."""
    own = cast(x == y, numpy_dtype(g))
    theirs = cast(src == gather_row(y, index, dim), numpy_dtype(g))
    shared = g / scatter_add_row(own, index, theirs, dim)
    return own * shared, None, theirs * gather_row(shared, index, dim)


def _extreme(name, ufunc):
    return op(
        name, _combine(ufunc), joint=_extreme_rule, saves="y x index src", kind="structure", arity=3, dtypes="free",
        grad_name="ScatterReduce", samples=_reduce_samples, ref=lambda x, i, s, d: _combine(ufunc)(np, x, i, s, d),
        formula={"forward": f"{ufunc} of x and src at the index", "rules": ["ḡ where chosen, shared at ties"]},
    )  # fmt: skip


scatter_maximum_row = _extreme("scatter_amax", "maximum")
scatter_minimum_row = _extreme("scatter_amin", "minimum")


def _factors_rule(needs, g, y, x, index, src, dim):
    """Products of the other factors; where exactly one source is 0, it is left out instead of divided by."""
    one = x * 0 + 1
    zero = src == 0
    hits = gather_row(scatter_add_row(x * 0, index, cast(zero, numpy_dtype(g)), dim), index, dim)
    single = zero & (hits == 1)
    without = scatter_product_row(x, index, where(single, 1.0, src), dim)
    rest = where(single, gather_row(without, index, dim), gather_row(y, index, dim) / where(zero, 1.0, src))
    return g * scatter_product_row(one, index, src, dim), None, gather_row(g, index, dim) * rest


scatter_product_row = op(
    "scatter_prod", _combine("multiply"), joint=_factors_rule, saves="y x index src", kind="structure", arity=3, dtypes="free",
    grad_name="ScatterReduce", samples=_reduce_samples, ref=lambda x, i, s, d: _combine("multiply")(np, x, i, s, d),
    formula={"forward": "x times src at the index", "rules": ["ḡ · product of the other factors"]},
)  # fmt: skip
_REDUCTIONS = {
    "sum": (scatter_add_row, 0), "mean": (scatter_add_row, 0), "prod": (scatter_product_row, 1),
    "amax": (scatter_maximum_row, None), "amin": (scatter_minimum_row, None),
}  # fmt: skip


def _lowest(dtype, highest):
    if dtype.kind == "b":
        return highest
    if dtype.kind == "f":
        return np.inf if highest else -np.inf
    return int(np.iinfo(dtype).max if highest else np.iinfo(dtype).min)


@public("scatter_reduce", inplace=True)
def scatter_reduce(input, dim, index, src, reduce, *, include_self=True, out=None):
    """``src`` combined into ``input`` at the index by sum, prod, mean, amax or amin.

    With ``include_self=False`` the elements of ``input`` that are hit do not take part. Raises: RuntimeError for another word.
    """
    need_tensor(input, "scatter_reduce")
    if reduce not in _REDUCTIONS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}.")
    dim = _checked_index("scatter_reduce", input, dim, index)
    if src._d.dtype != input._d.dtype:
        raise RuntimeError(f"scatter(): Expected self.dtype to be equal to src.dtype, got {input.dtype.name} and {src.dtype.name}")
    _source_large_enough(index, src, dim, input)
    value = _scatter_reduced(input, dim, index, src, reduce, include_self) if index._d.size else clone(input)
    return value if out is None else write_out(out, value)


def _scatter_reduced(input, dim, index, src, reduce, include_self):
    shape = input._d.shape
    if not shape:
        input, index, src = (_reshaped(t, (1,)) if not t._d.ndim else t for t in (input, index, src))
    row, neutral = _REDUCTIONS[reduce]
    if src._d.shape != index._d.shape:
        src = slice_view(src, tuple(slice(0, s) for s in index._d.shape))
    base = input
    if not include_self:
        neutral = _lowest(input._d.dtype, reduce == "amin") if neutral is None else neutral
        base = scatter_row(input, index, neutral, dim)
    value = row(base, index, src, dim)
    if reduce == "mean":
        start = np.ones(input._d.shape, np.int64)
        if not include_self:
            start[_grid(index._array(), dim)] = 0
        np.add.at(start, _grid(index._array(), dim), 1)
        count = wrap(np.maximum(start, 1))
        value = value / cast_to(count, value.dtype) if value._d.dtype.kind in "fc" else value // cast_to(count, value.dtype)
    return _reshaped(value, shape) if value._d.shape != shape else value


# ----- turns and sums -----


@public("rot90")
def rot90(input, k=1, dims=(0, 1)):
    """``k`` quarter turns in the plane of two dimensions, from the first towards the second."""
    dims = tuple(dims)
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input._d.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input._d.ndim}")
    a, b = (one_dim(d, input._d.ndim) for d in dims)
    if a == b:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    turns = k % 4
    if turns == 0:
        return clone(input)
    if turns == 2:
        return flip(input, a, b)
    return transpose(flip(input, b if turns == 1 else a), a, b)


@public("sum_to_size", namespace=None)
def sum_to_size(input, *size):
    """Summed over the dimensions that broadcasting ``size`` to the shape would have made. Raises: RuntimeError if it cannot."""
    shape = sizes(size, "size")
    have = input._d.shape
    fits = len(shape) <= len(have) and all(w in (1, h) for h, w in zip(have[len(have) - len(shape) :], shape, strict=True))
    if not fits:
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(have)}}}.")
    if not shape:
        return sum_(input)
    return input if shape == have else sum_to(_integers_as_long(input, None), shape)


@public("fill_diagonal_", namespace=None)
def fill_diagonal_(self, fill_value, wrap=False):
    """Fill the main diagonal with a number, in place; ``wrap`` starts anew below the square part of a tall matrix.

    Raises: RuntimeError below 2 dimensions, or where more than 2 are not of one size.
    """
    shape = self._d.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError(f"all dimensions of input must be of equal length, got {list(shape)}")
    places = [np.arange(min(shape))] * len(shape)
    if wrap and len(shape) == 2 and shape[0] > shape[1] + 1:
        places = np.divmod(np.arange(0, shape[0] * shape[1], shape[1] + 1), shape[1])
    _assign(self, places, fill_value)
    return self


def _assign(target, places, value):
    target[tuple(wrap(p) for p in places)] = value
