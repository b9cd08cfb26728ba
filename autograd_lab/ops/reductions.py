"""Public reductions: PyTorch's arguments normalised and checked, then one row."""

import numpy as np

from ..backend import dtype as dt
from ..core.bind import write_out
from ..core.public import public
from ..core.tensor import TENSOR_TYPES, wrap
from . import reduce as rows
from . import return_types
from .compare import ne, where
from .dims import is_floating, need_tensor, one_dim, scalar_name, some_dims
from .elementwise import maximum, minimum
from .shape import cast_to

_FLOATS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))


def _dims(input, dim):
    """Dimensions of a reduction where an empty list means all of them."""
    if dim is None or (type(dim) in (tuple, list) and not dim):
        return None
    return some_dims(dim, input._d.ndim)


def _integers_as_long(input, dtype):
    """``input`` in ``dtype``, or whole numbers and bools in int64."""
    if dtype is not None:
        return cast_to(input, dtype)
    if input._d.dtype.kind in "iub":
        return cast_to(input, dt.int64)
    return input


@public("sum")
def sum_(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=None, keepdims=False):
    """Sum of all elements, or over the dimensions ``dim`` (also ``axis``, ``keepdims``).

    Whole numbers and bools are summed in int64. Raises: IndexError if a dimension is out of range.
    Example: ``x.sum(dim=1, keepdim=True)``
    """
    if type(input) in TENSOR_TYPES and dtype is None and out is None and axis is None:
        if input._d.dtype in _FLOATS:
            if dim is None:
                return rows.sum_row(input, None, keepdim)
            return rows.sum_row(input, _dims(input, dim), keepdim or keepdims)
        if dim is None and input._d.dtype.kind == "b" and not keepdim:
            return wrap(np.int64(np.count_nonzero(input._d)))
    need_tensor(input, "sum")
    dims = _dims(input, dim if axis is None else axis)
    result = rows.sum_row(_integers_as_long(input, dtype), dims, keepdim or keepdims)
    return result if out is None else write_out(out, result)


@public("nansum")
def nansum(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """``sum`` that counts NaN as 0."""
    x = where(ne(input, input), 0.0, input) if is_floating(input) else input
    return sum_(x, dim, keepdim, dtype=dtype, out=out)


@public("mean")
def mean(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=None, keepdims=False):
    """Mean of all elements, or over the dimensions ``dim``.

    Raises: RuntimeError for whole numbers unless ``dtype`` says otherwise. Example: ``loss = ((y - t) ** 2).mean()``
    """
    if type(input) in TENSOR_TYPES and dtype is None and out is None and axis is None and input._d.dtype in _FLOATS:
        return rows.mean_row(input, None if dim is None else _dims(input, dim), keepdim or keepdims)
    need_tensor(input, "mean")
    if dtype is not None:
        input = cast_to(input, dtype)
    if not is_floating(input):
        which = "Input" if dtype is None else "Optional"
        raise RuntimeError(
            f"mean(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. "
            f"Got: {scalar_name(input.dtype)}. Convert with .float() first, or pass dtype=torch.float32"
        )
    result = rows.mean_row(input, _dims(input, dim if axis is None else axis), keepdim or keepdims)
    return result if out is None else write_out(out, result)


@public("nanmean")
def nanmean(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """Mean of the values that are not NaN."""
    if not is_floating(input):
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {scalar_name(input.dtype)}")
    count = sum_(input == input, dim, keepdim)
    result = nansum(input, dim, keepdim, dtype=dtype) / count
    return result if out is None else write_out(out, result)


def _real_only(input, name):
    if input._d.dtype.kind == "c":
        raise NotImplementedError(f"{name}: not implemented for complex numbers, which have no order")


def _extremum(name, pair_row, all_row, dim_row, result):
    def extremum(input, dim=None, keepdim=False, *, out=None, axis=None, keepdims=False, other=None):
        need_tensor(input, name)
        if type(dim) in TENSOR_TYPES or other is not None:
            return pair_row(input, dim if other is None else other, out=out)
        if axis is not None:
            dim, keepdim = axis, keepdim or keepdims
        _real_only(input, name)
        d = input._d
        if dim is None:
            if not d.size:
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                    "'dim' argument."
                )
            value = all_row(input, None, False)
            return value if out is None else write_out(out, value)
        dim = one_dim(dim, d.ndim)
        if d.ndim and not d.shape[dim]:
            raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
        pair = result(dim_row(input, dim, keepdim))
        return pair if out is None else result((write_out(out[0], pair[0]), write_out(out[1], pair[1])))

    extremum.__name__ = extremum.__qualname__ = name
    extremum.__doc__ = (
        f"``{name}(x)``: the {name}imum of all elements. ``{name}(x, dim)``: along a dimension, a result with ``values`` and "
        f"``indices``. ``{name}(x, other)``: elementwise, with broadcasting.\n\n"
        "    At a tie ``dim`` picks the first; without ``dim`` the tied elements share the gradient."
    )
    return public(name)(extremum)


max_ = _extremum("max", maximum, rows.amax_row, rows.max_dim_row, return_types.max)
min_ = _extremum("min", minimum, rows.amin_row, rows.min_dim_row, return_types.min)


def _amax(name, row):
    def extremum(input, dim=(), keepdim=False, *, out=None):
        _real_only(input, name)
        dims = _dims(input, dim)
        shape = input._d.shape
        if not input._d.size and (dims is None or not all(shape[i] for i in dims)):
            raise IndexError(f"{name}(): Expected reduction dim to have non-zero size, got shape {list(shape)}")
        value = row(input, dims, keepdim)
        return value if out is None else write_out(out, value)

    extremum.__name__ = extremum.__qualname__ = name
    extremum.__doc__ = f"The {name[1:]}imum over the dimensions ``dim``; tied elements share the gradient."
    return public(name)(extremum)


amax = _amax("amax", rows.amax_row)
amin = _amax("amin", rows.amin_row)


@public("aminmax")
def aminmax(input, *, dim=None, keepdim=False):
    """Minimum and maximum at once."""
    dim = () if dim is None else dim
    return return_types.aminmax((amin(input, dim, keepdim), amax(input, dim, keepdim)))


def _position(name, row):
    def position(input, dim=None, keepdim=False, *, out=None, axis=None, keepdims=False):
        need_tensor(input, name)
        d = input._d
        dim, keepdim = (dim if axis is None else axis), keepdim or keepdims
        _real_only(input, name)
        if d.dtype.kind == "b":
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'; convert with .int() first")
        if dim is not None:
            dim = one_dim(dim, d.ndim) if d.ndim else _flat(one_dim(dim, 0))
            if dim is not None and not d.shape[dim]:
                raise IndexError(f"{name}(): Expected reduction dim {dim} to have non-zero size.")
        elif not d.size:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        value = row(input, dim, keepdim)
        return value if out is None else write_out(out, value)

    position.__name__ = position.__qualname__ = name
    position.__doc__ = f"The index of the {name[3:]}imum along ``dim``, or in the flattened tensor; the first at a tie."
    return public(name)(position)


def _flat(checked):
    return None


argmax = _position("argmax", rows.argmax_row)
argmin = _position("argmin", rows.argmin_row)


def _truth(name, row):
    def truth(input, dim=None, keepdim=False, *, out=None, axis=None, keepdims=False):
        need_tensor(input, name)
        dims = some_dims(dim if axis is None else axis, input._d.ndim)
        value = row(input, dims, keepdim or keepdims)
        if input._d.dtype == np.uint8:
            value = cast_to(value, dt.uint8)
        return value if out is None else write_out(out, value)

    truth.__name__ = truth.__qualname__ = name
    truth.__doc__ = f"Whether {name} of the elements are nonzero, over all or over the dimensions ``dim``."
    return public(name)(truth)


all_ = _truth("all", rows.all_row)
any_ = _truth("any", rows.any_row)


def _spread(row, name, input, dim, unbiased, keepdim, correction, axis, keepdims):
    if type(dim) is bool:
        dim, unbiased = None, dim
    need_tensor(input, name)
    if not is_floating(input):
        raise RuntimeError("std and var only support floating point and complex dtypes; convert with .float() first")
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    return row(input, _dims(input, dim if axis is None else axis), correction, keepdim or keepdims)


@public("var")
def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None, axis=None, keepdims=False):
    """Variance Σ (x − mean)² / (n − correction), over all or over ``dim``; correction is 1 unless said otherwise."""
    value = _spread(rows.var_row, "var", input, dim, unbiased, keepdim, correction, axis, keepdims)
    return value if out is None else write_out(out, value)


@public("std")
def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None, axis=None, keepdims=False):
    """Standard deviation: the square root of ``var``."""
    value = _spread(rows.std_row, "std", input, dim, unbiased, keepdim, correction, axis, keepdims)
    return value if out is None else write_out(out, value)


@public("var_mean", method=False)
def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """Variance and mean at once."""
    dims = None if type(dim) is bool else dim
    return var(input, dim, unbiased, keepdim, correction=correction), mean(input, dims, keepdim)


@public("std_mean", method=False)
def std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """Standard deviation and mean at once."""
    dims = None if type(dim) is bool else dim
    return std(input, dim, unbiased, keepdim, correction=correction), mean(input, dims, keepdim)


@public("prod")
def prod(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=None, keepdims=False):
    """Product of all elements, or along one dimension. Whole numbers are multiplied in int64."""
    need_tensor(input, "prod")
    dim = dim if axis is None else axis
    dims = None if dim is None else some_dims(one_dim(dim, input._d.ndim), input._d.ndim)
    value = rows.prod_row(_integers_as_long(input, dtype), dims, keepdim or keepdims)
    return value if out is None else write_out(out, value)


@public("cumsum", inplace=True)
def cumsum(input, dim, *, dtype=None, out=None):
    """Running sum along ``dim``."""
    need_tensor(input, "cumsum")
    value = rows.cumsum_row(_integers_as_long(input, dtype), one_dim(dim, input._d.ndim))
    return value if out is None else write_out(out, value)


@public("logsumexp", namespace=("torch", "special"))
def logsumexp(input, dim, keepdim=False, *, out=None):
    """ln Σ exp x over the dimensions ``dim``, safe from overflow."""
    need_tensor(input, "logsumexp")
    if not is_floating(input):
        input = cast_to(input, dt.get_default_dtype())
    value = rows.logsumexp_row(input, _dims(input, dim), keepdim)
    return value if out is None else write_out(out, value)


@public("count_nonzero")
def count_nonzero(input, dim=None):
    """How many elements are not 0, in all or over ``dim``."""
    return sum_(ne(input, 0), dim)
