"""Resampling along one dimension: every output is a weighted sum of a few inputs. What ``interpolate`` is made of.

Two rows that are each other's rules: ``resample`` reads places, ``resample_back`` adds to them. ``index`` and ``weight``
have the shape (terms, outputs); ``weight`` is None where an output is a copy of one input. Each line of ``index`` rises.
"""

import numpy as np

from ..core.op import op
from .samples import Sample, spread


def _along(values, ndim, dim):
    return values.reshape((-1,) + (1,) * (ndim - 1 - dim))


def _resample(xp, x, index, weight, size, dim):
    if weight is None:
        return xp.take(x, index[0], axis=dim)
    out = None
    for places, factors in zip(index, weight, strict=True):
        part = xp.take(x, places, axis=dim)
        part *= _along(factors.astype(x.dtype), x.ndim, dim)
        out = part if out is None else xp.add(out, part, out=out)
    return out


def _resample_back(xp, g, index, weight, size, dim):
    out = xp.zeros((*g.shape[:dim], size, *g.shape[dim + 1 :]), g.dtype)
    lead = (slice(None),) * dim
    for k, places in enumerate(index):
        part = g if weight is None else g * _along(weight[k].astype(g.dtype), g.ndim, dim)
        starts = np.flatnonzero(np.concatenate(([True], places[1:] != places[:-1])))
        out[(*lead, places[starts])] += xp.add.reduceat(part, starts, axis=dim)
    return out


_INDEX = np.array([[0, 0, 1, 2], [1, 1, 2, 2]])
_WEIGHT = np.array([[0.7, 0.3, 0.4, 0.25], [0.3, 0.7, 0.6, 0.75]])


def _dense(index, weight, size):
    """The same as a matrix (outputs, inputs)."""
    m = np.zeros((index.shape[1], size))
    for k in range(index.shape[0]):
        m[np.arange(index.shape[1]), index[k]] += 1 if weight is None else weight[k]
    return m


def _reference(x, index, weight, size, dim):
    return np.moveaxis(np.moveaxis(x, dim, -1) @ _dense(index, weight, size).T, -1, dim)


def _back_reference(g, index, weight, size, dim):
    return np.moveaxis(np.moveaxis(g, dim, -1) @ _dense(index, weight, size), -1, dim)


def _samples(length):
    def samples():
        yield Sample(spread((2, length, 3)), params=(_INDEX, _WEIGHT, 4, 1), note="weighted")
        yield Sample(spread((2, length)), params=(_INDEX[:1], None, 4, 1), note="copied")

    return samples


resample = op(
    "resample", _resample, lambda g, y, x, index, weight, size, dim: resample_back(g, index, weight, size, dim), kind="structure",
    samples=_samples(4), ref=_reference, formula={"forward": "Σₖ wₖ · x[iₖ] along a dimension", "rules": ["w · ḡ added at i"]},
)  # fmt: skip
resample_back = op(
    "resample_back", _resample_back, lambda g, y, x, index, weight, size, dim: resample(g, index, weight, size, dim),
    kind="structure", samples=_samples(4), ref=_back_reference, grad_name="Resample",
    formula={"forward": "w · x added at i along a dimension", "rules": ["Σₖ wₖ · ḡ[iₖ]"]},
)  # fmt: skip
