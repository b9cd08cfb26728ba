"""Makers of samples for rows: domain-aware inputs for the table test and for examples in the docs."""

import numpy as np

from ..core.op import ErrorSample, Sample

__all__ = ["ErrorSample", "Sample", "binary", "rng", "spread", "unary"]


def rng(seed=0):
    """A NumPy generator of its own for samples; the library's generator is never touched."""
    return np.random.default_rng(seed)


def spread(shape, low=-2.0, high=2.0, seed=0):
    """Random float64 values inside a domain, away from its ends."""
    return rng(seed).uniform(low, high, shape)


def unary(low=-2.0, high=2.0, special=(), order=2):
    """Samples of a unary op: a matrix, a vector, 0-d, empty; ``special`` values are checked forward only."""

    def samples():
        yield Sample(spread((3, 4), low, high), order=order)
        yield Sample(spread((5,), low, high, 1), order=order, note="vector")
        yield Sample(spread((), low, high, 2), order=order, note="0-d")
        yield Sample(np.zeros((0, 3)), order=0, note="empty")
        if special:
            yield Sample(np.array(special, float), order=0, note="special")

    return samples


def binary(low=-2.0, high=2.0, low2=None, high2=None, order=2, number=1.5):
    """Samples of a binary op: equal shapes, broadcasting both ways, 0-d, a Python number, empty."""
    low2, high2 = (low if low2 is None else low2), (high if high2 is None else high2)

    def samples():
        a, b = spread((3, 4), low, high), spread((3, 4), low2, high2, 1)
        yield Sample(a, b, order=order)
        yield Sample(a, b[0], order=order, note="broadcast right")
        yield Sample(a[:, :1], b, order=order, note="broadcast left")
        yield Sample(a[0, 0], b, order=order, note="0-d left")
        yield Sample(a[0, 0], b[0, 0], order=order, note="both 0-d")
        yield Sample(a, number, order=order, note="number right")
        yield Sample(np.zeros((0, 4)), b[0], order=0, note="empty")

    return samples


def transposed(linear, shape, g):
    """The transpose of a linear function of arrays of ``shape`` applied to ``g``, from unit arrays: a reference for its twin."""
    out = np.zeros(shape)
    for at in np.ndindex(*shape):
        unit = np.zeros(shape)
        unit[at] = 1
        out[at] = np.sum(linear(unit) * g)
    return out


def mismatched():
    """Error samples for operands that do not broadcast."""
    yield ErrorSample(np.ones((2, 3)), np.ones((2, 4)), error=RuntimeError, match="must match the size of tensor b")
