"""``softmax`` and ``log_softmax`` along one dimension: rows and the public functions over them."""

import numpy as np

from ..core.op import op
from ..core.public import public
from .dims import is_floating, one_dim, scalar_name
from .elementwise import exp
from .reduce import sum_row
from .samples import Sample, spread
from .shape import cast_to


def _samples():
    for shape, dim in (((3, 4), 1), ((3, 4), 0), ((2, 3, 4), 1), ((), 0)):
        yield Sample(spread(shape), params=(dim,), note=f"{shape} {dim}")
    yield Sample(np.array([1000.0, 0.0, -1000.0]), params=(0,), order=0, note="large")


def _shifted(xp, x, dim):
    """x minus its maximum along ``dim``, so that exp cannot overflow."""
    if not x.shape[dim]:
        return x
    top = (
        xp.maximum.reduce(x, axis=dim, keepdims=True) if x.dtype.kind != "c" else xp.maximum.reduce(x.real, axis=dim, keepdims=True)
    )
    return xp.subtract(x, top)


def _softmax(xp, x, dim):
    if x.ndim == 0:
        return xp.ones_like(x) if x == x else x
    e = _shifted(xp, x, dim)
    e = xp.exp(e, out=e) if e is not x else xp.exp(e)
    return xp.divide(e, xp.add.reduce(e, axis=dim, keepdims=True), out=e)


def _softmax_rule(g, y, x, dim):
    if y.ndim == 0:
        return g * 0.0
    return y * (g - sum_row(g * y, (dim,), True))


softmax_row = op(
    "softmax", _softmax, _softmax_rule, saves="y", kind="reduction", dtypes="same", samples=_samples,
    ref=lambda x, d: _reference(x, d, False),
    formula={"forward": "exp xᵢ / Σ exp xⱼ", "rules": ["y · (ḡ − Σ ḡ · y)"]},
)  # fmt: skip


def _log_softmax(xp, x, dim):
    if x.ndim == 0:
        return xp.zeros_like(x) if x == x else x
    shifted = _shifted(xp, x, dim)
    return xp.subtract(shifted, xp.log(xp.add.reduce(xp.exp(shifted), axis=dim, keepdims=True)))


def _log_softmax_rule(g, y, x, dim):
    if y.ndim == 0:
        return g * 0.0
    return g - exp(y) * sum_row(g, (dim,), True)


log_softmax_row = op(
    "log_softmax", _log_softmax, _log_softmax_rule, saves="y", kind="reduction", dtypes="same", samples=_samples,
    ref=lambda x, d: _reference(x, d, True),
    formula={"forward": "xᵢ − ln Σ exp xⱼ", "rules": ["ḡ − exp(y) · Σ ḡ"]},
)  # fmt: skip


def _reference(x, dim, logarithm):
    from scipy.special import log_softmax as reference_log
    from scipy.special import softmax as reference

    if x.ndim == 0:
        return np.float64(0.0 if logarithm else 1.0)
    return (reference_log if logarithm else reference)(x, axis=dim)


def _along(row, kernel, input, dim, dtype):
    if dtype is not None:
        input = cast_to(input, dtype)
    elif not is_floating(input):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(input.dtype)}'; convert with .float() first")
    return row(input, one_dim(dim, input._d.ndim))


@public("softmax", namespace=("torch", "special"))
def softmax(input, dim, dtype=None, *, out=None):
    """exp xᵢ / Σⱼ exp xⱼ along ``dim``: positive values that sum to 1.

    Raises: IndexError if ``dim`` is out of range, NotImplementedError for whole numbers.
    Example: ``softmax(logits, dim=1)``
    """
    return _along(softmax_row, "softmax_kernel_impl", input, dim, dtype)


@public("log_softmax", namespace=("torch", "special"))
def log_softmax(input, dim, dtype=None, *, out=None):
    """ln softmax along ``dim``, without the loss of precision of taking the logarithm afterwards."""
    return _along(log_softmax_row, "log_softmax_lastdim_kernel_impl", input, dim, dtype)
