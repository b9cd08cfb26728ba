"""Limit gradients before an optimiser's step."""

import math

import numpy as np

from ...core.storage import storage_of
from ...core.tensor import Tensor, wrap


def _listed(parameters):
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors taken together as one vector.

    Raises: RuntimeError if it is not finite and ``error_if_nonfinite`` asks for that.
    """
    tensors = _listed(tensors)
    if not tensors:
        return wrap(np.zeros((), np.float32))
    dtype = tensors[0]._d.dtype
    norms = [_norm(t._d, float(norm_type)) for t in tensors]
    total = dtype.type(_norm(np.array(norms, dtype), float(norm_type)))
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it "
            "cannot be clipped. To disable "
            "this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return wrap(total)


def _norm(d, p):
    flat = np.abs(d.reshape(-1)) if d.dtype.kind == "c" else d.reshape(-1)
    if not flat.size:
        return 0.0
    if p == math.inf:
        return np.abs(flat).max()
    if p == 2:
        return np.sqrt(np.add.reduce(flat * flat))
    return np.power(np.add.reduce(np.power(np.abs(flat), p)), 1 / p)


def _scale(tensor, factor):
    d = tensor._array()
    np.multiply(d, d.dtype.type(factor), out=d)
    storage_of(tensor).bump("mul_", None)


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale gradients so that a known total norm becomes at most ``max_norm``."""
    factor = min(float(max_norm) / (float(total_norm) + 1e-6), 1.0)
    if math.isnan(float(total_norm)):
        factor = math.nan
    for p in _listed(parameters):
        if p._grad is not None:
            _scale(p._grad, factor)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale all gradients so that their norm, taken together as one vector, is at most ``max_norm``; returns the norm before."""
    parameters = _listed(parameters)
    grads = [p._grad for p in parameters if p._grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


clip_grad_norm = clip_grad_norm_


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limit every element of every gradient to [−clip_value, clip_value]."""
    limit = float(clip_value)
    for p in _listed(parameters):
        if p._grad is not None:
            d = p._grad._array()
            np.clip(d, -limit, limit, out=d)
            storage_of(p._grad).bump("clamp_", None)
