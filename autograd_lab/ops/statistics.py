"""Statistics: quantiles, the median without NaN, the most frequent value, histograms, covariance and correlation."""

import math

import numpy as np

from ..core.bind import write_out
from ..core.public import public
from ..core.tensor import Tensor, wrap
from . import return_types
from .compare import where
from .dims import need_tensor, one_dim, scalar_name
from .index import gather_row
from .layout import _reshaped, movedim, squeeze, unsqueeze
from .matmul import mm
from .norms import vector_norm
from .reductions import sum_
from .shape import cast_to, to_float
from .sorting import _no_complex, order, sort

# ----- places in the order -----

_BETWEEN = ("linear", "lower", "higher", "midpoint", "nearest")


def _checked_fractions(name, input, q, interpolation):
    need_tensor(input, name)
    if input._d.dtype not in (np.float32, np.float64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype, got {input.dtype.name}")
    if not input._d.size:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    if interpolation not in _BETWEEN:
        raise RuntimeError(f"{name}() interpolation must be one of {', '.join(_BETWEEN)}, but got {interpolation}")
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{name}() q must be in the range [0, 1] but got {q}")
        return wrap(np.asarray(q, input._d.dtype))
    if q._d.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor, got shape {list(q._d.shape)}")
    if q._d.dtype != input._d.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor: {q.dtype.name} and {input.dtype.name}")
    if not ((q._d >= 0) & (q._d <= 1)).all():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]")
    return q


def _quantile(name, input, q, dim, keepdim, interpolation, out):
    q = _checked_fractions(name, input, q, interpolation)
    x = _reshaped(input, (input._d.size,)) if dim is None else movedim(input, one_dim(dim, input._d.ndim), -1)
    x = x if x._d.ndim else _reshaped(x, (1,))
    values = sort(x, -1).values
    gone = np.isnan(values._d)
    count = (~gone).sum(-1, keepdims=True) if name == "nanquantile" else np.where(gone.any(-1, keepdims=True), 0, gone.shape[-1])
    most = np.where(count == 0, gone.shape[-1] - 1, count - 1)  # NaN stands last: a row with one answers NaN
    fractions = _reshaped(q, (1,) * (x._d.ndim - 1) + (-1 if q._d.ndim else 1,)) if q._d.size else _reshaped(q, (0,))
    ranks = fractions * wrap(most.astype(q._d.dtype))
    if (count == 0).any():
        ranks = where(wrap(count == 0), wrap(most.astype(q._d.dtype)), ranks)
    value = _between(values, ranks, interpolation)
    if q._d.ndim:
        value = movedim(value, -1, 0)
        value = _kept(value, input, dim, 1) if keepdim else value
    else:
        value = squeeze(value, -1)
        value = _kept(value, input, dim, 0) if keepdim else value
    return value if out is None else write_out(out, value)


def _kept(value, input, dim, lead):
    if dim is None:
        return _reshaped(value, (*value._d.shape[:lead], *(1,) * input._d.ndim))
    return unsqueeze(value, one_dim(dim, input._d.ndim) + lead) if input._d.ndim else value


def _between(values, ranks, how):
    """The values at fractional places of the last dimension."""
    d = ranks._d
    if how == "lower":
        ranks = wrap(np.floor(d))
    elif how == "higher":
        ranks = wrap(np.ceil(d))
    elif how == "nearest":
        ranks = wrap(np.round(d))
    low = np.floor(ranks._d)
    below = gather_row(values, wrap(low.astype(np.int64)), values._d.ndim - 1)
    if how in ("lower", "higher", "nearest"):
        return below
    above = gather_row(values, wrap(np.ceil(ranks._d).astype(np.int64)), values._d.ndim - 1)
    weight = ranks - wrap(low) if how == "linear" else 0.5
    return below + (above - below) * weight


@public("quantile")
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """The values below which a share ``q`` (a number or vector in [0, 1]) lies; NaN where a row has one.

    Raises: RuntimeError for whole numbers, and for ``q`` out of range or of another dtype.
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, out)


@public("nanquantile")
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """``quantile`` of the values that are not NaN."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, out)


def _at(input, places, dim, keepdim, result):
    """Values and indices at one place per line."""
    indices = wrap(places)
    values = gather_row(input, indices, dim)
    if not keepdim:
        values, indices = squeeze(values, dim), squeeze(indices, dim)
    return result((values, indices))


@public("nanmedian")
def nanmedian(input, dim=None, keepdim=False, *, out=None):
    """The middle value (the lower of two) of those that are not NaN: of all, or along ``dim`` with its index."""
    need_tensor(input, "nanmedian")
    _no_complex(input, "nanmedian")
    if dim is None:
        flat = _reshaped(input, (input._d.size,))
        return nanmedian(flat, 0).values if input._d.size else wrap(np.asarray(np.nan, input._d.dtype))
    dim = one_dim(dim, input._d.ndim)
    if not input._d.ndim:
        return return_types.nanmedian((input.clone(), wrap(np.zeros((), np.int64))))
    if not input._d.shape[dim]:
        raise IndexError(f"nanmedian(): Expected reduction dim {dim} to have non-zero size.")
    d = input._array()
    count = (d == d).sum(dim, keepdims=True)
    places = np.take_along_axis(order(d, dim, False), np.maximum(count - 1, 0) // 2, dim)
    return _at(input, places, dim, keepdim, return_types.nanmedian)


@public("mode")
def mode(input, dim=-1, keepdim=False, *, out=None):
    """The most frequent value along ``dim`` (the smallest at a tie) and an index of it."""
    need_tensor(input, "mode")
    dim = one_dim(dim, input._d.ndim)
    if not input._d.ndim:
        return return_types.mode((input.clone(), wrap(np.zeros((), np.int64))))
    if not input._d.shape[dim]:
        raise IndexError(f"mode(): Expected reduction dim {dim} to have non-zero size.")
    d = np.moveaxis(input._array(), dim, -1)
    by_size = order(d, d.ndim - 1, False)
    ordered = np.take_along_axis(d, by_size, -1)
    begins = np.concatenate([np.ones((*d.shape[:-1], 1), bool), ordered[..., 1:] != ordered[..., :-1]], -1)
    place = np.arange(d.shape[-1])
    length = place - np.maximum.accumulate(np.where(begins, place, 0), -1)
    places = np.take_along_axis(by_size, length.argmax(-1, keepdims=True), -1)
    return _at(input, np.moveaxis(places, -1, dim), dim, keepdim, return_types.mode)


# ----- histograms -----


def _range(d, low, high, name, margin):
    """The range as given, or the data's own, made wider by ``margin`` where it holds one number only."""
    if low == high and d.size:
        low, high = d.min().item(), d.max().item()
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"{name}: range of [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"{name}: max must be larger than min, got [{low}, {high}]")
    return (low - margin, high + margin) if low == high else (low, high)


@public("histc")
def histc(input, bins=100, min=0, max=0, *, out=None):
    """How many elements lie in each of ``bins`` equal parts of [min, max] (of the data's own range if both are equal)."""
    need_tensor(input, "histc")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins}")
    d = input._array()
    if d.dtype.kind not in "f":
        raise RuntimeError(f"\"histogram_cpu\" not implemented for '{scalar_name(input.dtype)}'")
    counts = _counts(d, bins, *_range(d, min, max, "histc", 1))
    value = wrap(counts.astype(d.dtype))
    return value if out is None else write_out(out, value)


def _counts(d, bins, low, high, weights=None):
    flat = d.reshape(-1)
    inside = (flat >= low) & (flat <= high)
    places = ((flat[inside] - low) / (high - low) * bins).astype(np.int64)
    weights = None if weights is None else weights.reshape(-1)[inside]
    return np.bincount(np.minimum(places, bins - 1), weights, bins)


_histogram_result = return_types.result_type("histogram", "hist", "bin_edges")


@public("histogram")
def histogram(input, bins, *, range=None, weight=None, density=False, out=None):
    """Counts (or sums of ``weight``, or densities) between edges: ``bins`` is a number of equal parts or the edges themselves."""
    need_tensor(input, "histogram")
    d = input._array()
    if d.dtype.kind != "f":
        raise RuntimeError(f"\"histogram_cpu\" not implemented for '{scalar_name(input.dtype)}'")
    weights = None if weight is None else weight._array()
    if weights is not None and weights.dtype != d.dtype:
        raise RuntimeError("torch.histogram(): input tensor and weight tensor should have the same dtype")
    if isinstance(bins, Tensor):
        edges = bins._array()
        if range is not None:
            raise TypeError("histogram() got range= together with a tensor of edges")
        inside = d.reshape(-1)[(d.reshape(-1) >= edges[0]) & (d.reshape(-1) <= edges[-1])]
        places = np.minimum(np.searchsorted(edges, inside, "right") - 1, len(edges) - 2)
        if weights is not None:
            weights = weights.reshape(-1)[(d.reshape(-1) >= edges[0]) & (d.reshape(-1) <= edges[-1])]
        counts = np.bincount(places, weights, len(edges) - 1)
    else:
        low, high = _range(d, *((0, 0) if range is None else range), "histogram", 0.5) if d.size else (range or (0.0, 1.0))
        edges = np.linspace(low, high, bins + 1, dtype=d.dtype)
        counts = _counts(d, bins, low, high, weights)
    counts = counts.astype(d.dtype)
    if density:
        counts = counts / (counts.sum() * np.diff(edges)).astype(d.dtype)
    pair = _histogram_result((wrap(counts), wrap(edges.copy())))
    return pair if out is None else _histogram_result((write_out(out[0], pair[0]), write_out(out[1], pair[1])))


# ----- covariance -----


def _weights(name, weights, n, kinds, words):
    if weights._d.ndim > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {weights._d.ndim}")
    if weights._d.dtype.kind not in kinds:
        raise RuntimeError(f"cov(): expected {name} to have {words} dtype but got {name} with {scalar_name(weights.dtype)} dtype")
    if weights._d.size != n:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations: {weights._d.size} and {n}")
    if (weights._d < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return weights


@public("cov")
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariance matrix of variables in rows and observations in columns.

    ``fweights`` counts observations, ``aweights`` weighs them. Raises: RuntimeError above 2 dimensions.
    """
    if input._d.ndim > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got {input._d.ndim}")
    if input._d.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = to_float(input if input._d.ndim == 2 else _reshaped(input, (1, -1 if input._d.size else 0)))
    n = x._d.shape[1]
    weights = None
    if fweights is not None:
        weights = _weights("fweights", fweights, n, "iu", "integral")
    if aweights is not None:
        aweights = _weights("aweights", aweights, n, "f", "floating point")
        weights = aweights if weights is None else weights * aweights
    total = n if weights is None else sum_(weights)
    mean = sum_(x if weights is None else x * weights, 1, True) / total
    if weights is not None and aweights is not None and correction:
        norm = total - correction * sum_(weights * aweights) / total
    else:
        norm = total - correction
    norm = norm.clamp(min=0) if isinstance(norm, Tensor) else float(max(norm, 0))
    centred = x - mean
    weighted = centred if weights is None else centred * weights
    value = mm(weighted, (centred.conj() if x._d.dtype.kind == "c" else centred).T) / norm
    return squeeze(value) if input._d.ndim < 2 or value._d.size == 1 else value


@public("corrcoef")
def corrcoef(input):
    """The matrix of correlation coefficients of variables in rows."""
    if input._d.ndim > 2:
        raise RuntimeError(f"corrcoef(): expected input to have two or fewer dimensions but got {input._d.ndim} dimensions")
    c = cov(input)
    if not c._d.ndim:
        return c / c
    deviation = c.diagonal().real.sqrt() if c._d.dtype.kind == "c" else c.diagonal().sqrt()
    return (c / unsqueeze(deviation, 1)) / unsqueeze(deviation, 0)


@public("renorm", inplace=True)
def renorm(input, p, dim, maxnorm, *, out=None):
    """Each slice along ``dim`` scaled down to a ``p``-norm of at most ``maxnorm``."""
    if input._d.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {input._d.ndim} dimensions")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    dim = one_dim(dim, input._d.ndim)
    norm = vector_norm(input, p, tuple(i for i in range(input._d.ndim) if i != dim), True)
    # Nothing but 0 has a norm of at most 0: the slope is 0 everywhere, in a slice of zeros too (PyTorch says 1 there).
    value = input * (where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0) if maxnorm else 0.0)
    value = value if value._d.dtype == input._d.dtype else cast_to(value, input.dtype)
    return value if out is None else write_out(out, value)
