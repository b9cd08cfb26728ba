"""Gradient checks by random projection: one direction per operand, central differences, recursion to higher orders."""

import numpy as np

from autograd_lab.autograd import grad
from autograd_lab.core.tape import LEAF
from autograd_lab.core.tensor import wrap

STEP = 1e-5


def inner(a, b):
    """The real inner product of two arrays (of the real and imaginary parts where they are complex)."""
    return float(np.real(np.sum(np.conj(a) * b)))


def leaf(array):
    """A fresh leaf that requires grad."""
    t = wrap(np.array(array))
    t._node = LEAF
    return t


def direction(array, generator):
    """A random array of the same shape and kind, with no element near 0."""
    u = generator.uniform(0.5, 1.5, array.shape) * generator.choice([-1.0, 1.0], array.shape)
    return u + 1j * generator.uniform(-1, 1, array.shape) if array.dtype.kind == "c" else np.asarray(u)


def pulled_back(function, n, create_graph):
    """The gradient function of ``function``: arguments and cotangents in, one gradient per argument out."""

    def gradient(*tensors):
        args, cotangents = tensors[:n], tensors[n:]
        live = [(y, c) for y, c in zip(function(*args), cotangents, strict=True) if y.requires_grad]
        if not live:
            return tuple(wrap(np.zeros_like(a._d)) for a in args)
        ys, cs = zip(*live, strict=True)
        return grad(ys, args, cs, create_graph=create_graph, allow_unused=True, materialize_grads=True)

    return gradient


def check(function, arrays, order, seed=0, rtol=1e-6, what="first order"):
    """Compare derivatives of ``function`` (Tensors to a tuple of Tensors) at ``arrays`` with differences, up to ``order``."""
    generator = np.random.default_rng(seed)
    outputs = function(*(leaf(a) for a in arrays))
    cotangents = [direction(np.asarray(y._d), generator) for y in outputs]

    def value(*moved):
        return sum(inner(c, y._d) for c, y in zip(cotangents, function(*(leaf(a) for a in moved)), strict=True))

    gradient = pulled_back(function, len(arrays), create_graph=False)
    found = gradient(*(leaf(a) for a in arrays), *(wrap(c) for c in cotangents))
    for place, (array, g) in enumerate(zip(arrays, found, strict=True)):
        u = direction(array, generator)
        ahead, behind = ([a if i != place else a + s * u for i, a in enumerate(arrays)] for s in (STEP, -STEP))
        numeric = (value(*ahead) - value(*behind)) / (2 * STEP)
        analytic = inner(g._d, u)
        scale = 1 + abs(numeric) + float(np.sum(np.abs(g._d)))
        assert abs(analytic - numeric) <= rtol * scale, (
            f"{what}, argument {place}: the rule gives {analytic:.12g} along a random direction, differences give {numeric:.12g}"
        )
    if order > 1:
        recorded = pulled_back(function, len(arrays), create_graph=True)
        check(recorded, [*arrays, *cotangents], order - 1, seed + 1, rtol * 10, f"order above {what}")
