"""``torch.masked``: reductions and normalisations that leave out what a mask hides.

A hidden element (False in ``mask``) is replaced by the operation's identity, which changes no result. The mask's shape
broadcasts to the input's; where a whole line is hidden the result is the identity, or NaN where there is none.
"""

import math

import numpy as np

from ..backend import dtype as dt
from ..core.public import public
from ..core.tensor import wrap
from . import reductions
from .compare import where
from .dims import is_floating, one_dim, some_dims
from .elementwise import maximum
from .norms import vector_norm
from .scans import cumprod as running_product
from .shape import cast_to
from .signs import logaddexp as plain_logaddexp
from .softmax import log_softmax as plain_log_softmax
from .softmax import softmax as plain_softmax
from .statistics import nanmedian


def _least(dtype):
    return -math.inf if dtype.is_floating_point else np.iinfo(dtype.numpy).min


def _most(dtype):
    return math.inf if dtype.is_floating_point else np.iinfo(dtype.numpy).max


def _mask_of(input, mask):
    """The mask as bools of the input's shape."""
    if mask._d.ndim > input._d.ndim:
        raise IndexError(
            f"_input_mask expected broadcastable mask (got mask dimensionality higher than of the input): {list(mask._d.shape)} "
            f"for {list(input._d.shape)}"
        )
    try:
        return wrap(np.broadcast_to(mask._array().astype(bool), input._d.shape))
    except ValueError:
        raise RuntimeError(
            f"The expanded size of the mask, shape {list(mask._d.shape)}, must match the input's shape {list(input._d.shape)}"
        ) from None


def _shown(input, mask, identity, name):
    """``input`` with what the mask hides replaced by ``identity`` (a number, or a function of the dtype)."""
    if mask is None:
        return input
    if callable(identity):
        if input._d.dtype.kind in "bc":
            raise NotImplementedError(f"identity of {name} on {input.dtype} input")
        identity = identity(input.dtype)
    return where(_mask_of(input, mask), input, wrap(np.asarray(identity, input._d.dtype)))


def _dims(input, dim):
    """All reduced dimensions in order; None and () mean every one."""
    if dim is None or dim == ():
        return tuple(range(input._d.ndim))
    return tuple(sorted(some_dims((dim,) if isinstance(dim, int) else tuple(dim), input._d.ndim) or ()))


def _one(input, dim):
    return one_dim(dim, input._d.ndim)


def _summed_dtype(input, dtype):
    return dtype or (dt.int64 if input._d.dtype.kind in "iub" else input.dtype)


# ----- reductions -----


@public("sum", method=False, namespace="masked")
def sum_(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Sum of the elements that the mask shows; 0 where it shows none.

    Example: ``masked.sum(x, 1, mask=x > 0)``
    """
    shown = _shown(input, mask, 0, "sum")
    return reductions.sum_(shown, _dims(input, dim), bool(keepdim), dtype=_summed_dtype(input, dtype))


@public("prod", method=False, namespace="masked")
def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Product of the elements that the mask shows; 1 where it shows none."""
    result = cast_to(_shown(input, mask, 1, "prod"), _summed_dtype(input, dtype))
    for d in reversed(_dims(input, dim)):
        result = reductions.prod(result, d, bool(keepdim))
    return result


def _count(input, dim, keepdim, mask):
    inside = wrap(np.ones(input._d.shape, bool)) if mask is None else _mask_of(input, mask)
    return reductions.sum_(inside, _dims(input, dim), bool(keepdim))


@public("mean", method=False, namespace="masked")
def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """Mean of the elements that the mask shows; NaN where it shows none.

    Raises: ValueError for whole numbers unless ``dtype`` is floating.
    """
    target = dtype or input.dtype
    if target.category < dt.CATEGORY_FLOAT:
        source = "Input" if dtype is None else "Optional"
        raise ValueError(
            f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype. Got: {target}"
        )
    total = sum_(input, dim, keepdim=keepdim, dtype=target, mask=mask)
    return total / _count(input, dim, keepdim, mask)


@public("median", method=False, namespace="masked")
def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """Median (the lower of two) along ``dim`` of the elements that the mask shows; NaN where it shows none.

    Raises: ValueError where it shows none of a line of whole numbers.
    """
    floating = input.dtype.is_floating_point
    x = input if floating else cast_to(input, dt.float32)
    values = nanmedian(_shown(x, mask, math.nan, "median"), _one(input, dim), keepdim).values
    if floating:
        return values
    if np.isnan(values._d).any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return cast_to(values, dtype or input.dtype)


def _extremum(name, function, identity):
    def extremum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
        shown = _shown(input, mask, identity, name)
        return cast_to(function(shown, _dims(input, dim), bool(keepdim)), dtype or input.dtype)

    extremum.__name__ = extremum.__qualname__ = name
    extremum.__doc__ = f"The {name[1:]}imum of the elements that the mask shows; tied elements share the gradient."
    return public(name, method=False, namespace="masked")(extremum)


amax, amin = _extremum("amax", reductions.amax, _least), _extremum("amin", reductions.amin, _most)


def _position(name, function, identity):
    def position(input, dim=None, *, keepdim=False, dtype=None, mask=None):
        shown = _shown(input, mask, identity, name)
        return cast_to(function(shown, dim, bool(keepdim)), dtype or input.dtype)

    position.__name__ = position.__qualname__ = name
    position.__doc__ = f"The index of the {name[3:]}imum of the elements that the mask shows, in the input's dtype as PyTorch's."
    return public(name, method=False, namespace="masked")(position)


argmax, argmin = _position("argmax", reductions.argmax, _least), _position("argmin", reductions.argmin, _most)


@public("logsumexp", method=False, namespace="masked")
def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """ln Σ exp x over the elements that the mask shows; −∞ where it shows none."""
    identity = -math.inf if input._d.dtype.kind == "c" else _least
    shown = _shown(input, mask, identity, "logsumexp")
    return cast_to(reductions.logsumexp(shown, _dims(input, dim), keepdim), dtype or input.dtype)


@public("logaddexp", method=False, namespace="masked")
def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    """ln(exp x + exp y), where each of the two has a mask of its own."""
    x, y = _shown(input, input_mask, _least, "logaddexp"), _shown(other, other_mask, _least, "logaddexp")
    return cast_to(plain_logaddexp(x, y), dtype or input.dtype)


@public("norm", method=False, namespace="masked")
def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The ``ord``-norm of the elements that the mask shows; 0 where it shows none (∞ for ``ord=-inf``)."""
    identity = math.inf if ord == -math.inf else 0
    return vector_norm(_shown(input, mask, identity, "norm"), ord, _dims(input, dim), bool(keepdim), dtype=dtype or input.dtype)


def _variance(input, dim, unbiased, correction, keepdim, dtype, mask):
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is None:
        correction = 0.0 if unbiased is False else 1.0
    target = dtype or (input.dtype if is_floating(input) else dt.float32)
    compute = target if target.category >= dt.CATEGORY_FLOAT else dt.float32
    centred = input - sum_(input, dim, keepdim=True, dtype=target, mask=mask) / _count(input, dim, True, mask)
    square = centred * (centred.conj() if centred._d.dtype.kind == "c" else centred)
    total = sum_(square, dim, keepdim=keepdim, dtype=compute, mask=mask)
    count = _count(input, dim, keepdim, mask)._d
    kind = compute.numpy.type(0).real.dtype
    left = wrap(np.maximum(np.asarray(count).astype(kind) - kind.type(correction), 0))
    return cast_to(total / left, target)


@public("var", method=False, namespace="masked")
def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Variance of the elements that the mask shows; NaN where it shows none."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask)


@public("std", method=False, namespace="masked")
def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    """Standard deviation of the elements that the mask shows; NaN where it shows none."""
    return _variance(input, dim, unbiased, correction, keepdim, dtype, mask).sqrt()


# ----- along one dimension, in the input's shape -----


@public("cumsum", method=False, namespace="masked")
def cumsum(input, dim, *, dtype=None, mask=None):
    """Running sum along ``dim`` that hidden elements add nothing to."""
    dtype = dtype or input.dtype
    return cast_to(reductions.cumsum(_shown(input, mask, 0, "cumsum"), _one(input, dim), dtype=dtype), dtype)


@public("cumprod", method=False, namespace="masked")
def cumprod(input, dim, *, dtype=None, mask=None):
    """Running product along ``dim`` that hidden elements leave as it is."""
    dtype = dtype or input.dtype
    return cast_to(running_product(_shown(input, mask, 1, "cumprod"), _one(input, dim), dtype=dtype), dtype)


@public("softmax", method=False, namespace="masked")
def softmax(input, dim, *, dtype=None, mask=None):
    """Softmax along ``dim`` over the elements that the mask shows; hidden ones get 0, wholly hidden lines NaN."""
    return plain_softmax(_shown(input, mask, _least, "softmax"), _one(input, dim), dtype=dtype or input.dtype)


@public("log_softmax", method=False, namespace="masked")
def log_softmax(input, dim, *, dtype=None, mask=None):
    """ln softmax along ``dim`` over the elements that the mask shows; hidden ones get −∞, wholly hidden lines NaN."""
    return plain_log_softmax(_shown(input, mask, _least, "log_softmax"), _one(input, dim), dtype=dtype or input.dtype)


@public("softmin", method=False, namespace="masked")
def softmin(input, dim, *, dtype=None, mask=None):
    """Softmax of −x along ``dim`` over the elements that the mask shows."""
    return plain_softmax(-_shown(input, mask, _most, "softmin"), _one(input, dim), dtype=dtype or input.dtype)


@public("normalize", method=False, namespace="masked")
def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    """``input`` divided by the ``ord``-norm along ``dim`` of what the mask shows (at least ``eps``); hidden ones are 0."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _shown(input, mask, 0, "normalize") / maximum(length, wrap(np.asarray(eps, length._d.dtype)))
