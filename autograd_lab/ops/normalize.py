"""Normalisation to mean 0 and variance 1 over some dimensions, with a weight and a bias: batch, layer, group, instance norm.

The row gives the mean and the variance as outputs two and three. They are differentiable, so that a recorded backward,
which reads them, is right to second order without computing them anew.
"""

import math

import numpy as np

from ..core.op import op
from .elementwise import rsqrt
from .reduce import sum_row
from .samples import Sample, spread
from .shape import reshape


def _norm(xp, x, weight, bias, dims, eps, view):
    n = math.prod(x.shape[d] for d in dims)
    mean = xp.divide(xp.add.reduce(x, axis=dims, keepdims=True), n or float("nan"))
    y = xp.subtract(x, mean)
    var = xp.divide(xp.add.reduce(xp.multiply(y, y), axis=dims, keepdims=True), n or float("nan"))
    scale = 1 / xp.sqrt(var + eps)
    if weight is not None:
        weight = weight.reshape(view)
        if _constant_over(dims, view):
            scale = scale * weight
        else:
            y *= scale
            scale = weight
    y *= scale
    if bias is not None:
        y += bias.reshape(view)
    return y, mean, var


def _constant_over(dims, view):
    """Whether a weight of this shape is one number per normalised set (batch norm), so that it can join the scale."""
    return all(view[d] == 1 for d in dims)


def _norm_rule(needs, g, y, x, weight, bias, dims, eps, view):
    gy, g_mean, g_var = g
    _, mean, var = y
    n = math.prod(x.shape[d] for d in dims)
    r = rsqrt(var + eps)
    c = x - mean
    dx = dw = db = None
    if needs[0]:
        g_in, factor = gy, r
        if weight is not None:
            if _constant_over(dims, view):
                factor = r * reshape(weight, view)
            else:
                g_in = gy * reshape(weight, view)
        s1, s2 = sum_row(g_in, dims, True), sum_row(g_in * c, dims, True)
        dx = g_in * factor + c * ((g_var * 2 - factor * (r * r) * s2) * (1 / (n or 1))) + (g_mean - factor * s1) * (1 / (n or 1))
    rest = tuple(d for d in range(x.ndim) if view is None or view[d] == 1)
    if needs[1]:
        dw = reshape(sum_row(gy * (c * r), rest, False), weight.shape)
    if needs[2]:
        db = reshape(sum_row(gy, rest, False), bias.shape)
    return dx, dw, db


def _samples():
    x, w, b = spread((4, 3, 5)), spread((3,), 0.5, 1.5, 1), spread((3,), seed=2)
    yield Sample(x, w, b, params=((0, 2), 1e-5, (1, 3, 1)), note="batch norm")
    yield Sample(x, spread((5,), 0.5, 1.5, 1), spread((5,), seed=2), params=((2,), 1e-5, (1, 1, 5)), note="layer norm")
    yield Sample(x, None, None, params=((1, 2), 1e-5, None), note="plain")


def _reference(x, weight, bias, dims, eps, view):
    mean, var = x.mean(dims, keepdims=True), x.var(dims, keepdims=True)
    y = (x - mean) / np.sqrt(var + eps)
    y = y if weight is None else y * weight.reshape(view)
    return y if bias is None else y + bias.reshape(view), mean, var


norm = op(
    "native_norm", _norm, joint=_norm_rule, saves="y x weight bias.shape", kind="reduction", arity=3, outputs=3, dtypes="match",
    symbol="norm", samples=_samples, ref=_reference,
    formula={"forward": "w · (x − μ) / √(σ² + ε) + b",
             "rules": ["w/σ · (ḡ − mean ḡ − x̂ · mean(ḡ · x̂))", "Σ ḡ · x̂", "Σ ḡ"]},
)  # fmt: skip
