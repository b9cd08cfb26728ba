"""Activations of nn.functional that the core lacks: leaky and exponential units, shrinkage, piecewise linear ones, GLU's kin.

They take their settings as normalised positional parameters.
"""

import numpy as np

from ..core.op import op
from .compare import where
from .elementwise import exp, minimum, sigmoid, tanh
from .samples import Sample, spread


def _samples(*params, low=-2.0, high=2.0, special=()):
    def samples():
        yield Sample(spread((3, 4), low, high), params=params)
        yield Sample(spread((), low, high, 2), params=params, note="0-d")
        yield Sample(np.zeros((0, 3)), params=params, order=0, note="empty")
        if special:
            yield Sample(np.array(special, float), params=params, order=0, note="special")

    return samples


def _activation(name, forward, rule, samples, ref, **more):
    more.setdefault("saves", "x")
    return op(name, forward, rule, dtypes="free", samples=samples, ref=ref, public=False, **more)


leaky_relu = _activation(
    "leaky_relu", lambda xp, x, slope: xp.where(x > 0, x, x * slope),
    lambda g, y, x, slope: where(x > 0, g, g * slope), _samples(0.1, special=(-1.0, 0.0, 1.0)),
    lambda x, s: np.where(x > 0, x, x * s), formula={"forward": "x if x > 0 else slope · x",
                                                     "rules": ["ḡ if x > 0 else slope · ḡ"]},
)  # fmt: skip


def _elu(xp, x, alpha, scale, inner):
    return xp.where(x > 0, x * scale, xp.expm1(xp.minimum(x, 0) * inner) * (alpha * scale))


elu = _activation(
    "elu", _elu,
    lambda g, y, x, alpha, scale, inner: where(x > 0, g * scale, g * (exp(minimum(x, 0.0) * inner) * (alpha * scale * inner))),
    _samples(1.3, 1.1, 0.7, special=(-100.0, 0.0, 100.0)),
    lambda x, a, s, i: s * np.where(x > 0, x, a * (np.exp(np.minimum(x, 0) * i) - 1)),
    formula={"forward": "scale · (x if x > 0 else α(eᵏˣ − 1))", "rules": ["ḡ · scale if x > 0 else ḡ · scale · αk · eᵏˣ"]},
)  # fmt: skip


def _softplus(xp, x, beta, threshold):
    scaled = x * beta
    return xp.where(scaled > threshold, x, xp.log1p(xp.exp(xp.minimum(scaled, threshold))) / beta)


softplus = _activation(
    "softplus", _softplus, lambda g, y, x, beta, threshold: where(x * beta > threshold, g, g * sigmoid(x * beta)),
    _samples(1.5, 20.0, special=(-800.0, 0.0, 800.0)), lambda x, b, t: np.where(x * b > t, x, np.logaddexp(0, b * x) / b),
    formula={"forward": "ln(1 + exp βx) / β", "rules": ["ḡ · σ(βx)"]},
)  # fmt: skip


def _mish(xp, x):
    return x * xp.tanh(xp.where(x > 20, x, xp.log1p(xp.exp(xp.minimum(x, 20)))))


def _mish_rule(g, y, x):
    inner = tanh(softplus(x, 1.0, 20.0))
    return g * (inner + x * sigmoid(x) * (1 - inner * inner))


mish = _activation(
    "mish", _mish, _mish_rule, _samples(special=(-50.0, 0.0, 50.0)), lambda x: x * np.tanh(np.logaddexp(0, x)),
    formula={"forward": "x · tanh(ln(1 + eˣ))", "rules": ["ḡ · (t + x · σ(x) · (1 − t²)), t = tanh(ln(1 + eˣ))"]},
)  # fmt: skip
hardtanh = _activation(
    "hardtanh", lambda xp, x, low, high: xp.minimum(xp.maximum(x, low), high),
    lambda g, y, x, low, high: where((x > low) & (x < high), g, 0.0), _samples(-1.0, 1.0), lambda x, lo, hi: np.clip(x, lo, hi),
    formula={"forward": "x limited to [low, high]", "rules": ["ḡ where low < x < high, else 0"]},
)  # fmt: skip
hardsigmoid = _activation(
    "hardsigmoid", lambda xp, x: xp.minimum(xp.maximum(x + 3, 0), 6) / 6,
    lambda g, y, x: where((x > -3) & (x < 3), g * (1 / 6), 0.0), _samples(low=-5.0, high=5.0), lambda x: np.clip(x + 3, 0, 6) / 6,
    formula={"forward": "(x + 3) / 6 limited to [0, 1]", "rules": ["ḡ / 6 where −3 < x < 3, else 0"]},
)  # fmt: skip
hardswish = _activation(
    "hardswish", lambda xp, x: x * xp.minimum(xp.maximum(x + 3, 0), 6) / 6,
    lambda g, y, x: where(x <= -3, 0.0, where(x < 3, g * (x / 3 + 0.5), g)), _samples(low=-5.0, high=5.0),
    lambda x: x * np.clip(x + 3, 0, 6) / 6,
    formula={"forward": "x · hardsigmoid(x)", "rules": ["ḡ · (x/3 + ½) where −3 < x < 3, ḡ above, 0 below"]},
)  # fmt: skip


def _inside(x, size):
    return (x >= -size) & (x <= size)


softshrink = _activation(
    "softshrink", lambda xp, x, size: xp.where(x > size, x - size, xp.where(x < -size, x + size, x * 0)),
    lambda g, y, x, size: where(_inside(x, size), 0.0, g), _samples(0.5), lambda x, s: np.sign(x) * np.maximum(np.abs(x) - s, 0),
    formula={"forward": "x moved towards 0 by λ", "rules": ["ḡ where |x| > λ, else 0"]},
)  # fmt: skip
hardshrink = _activation(
    "hardshrink", lambda xp, x, size: xp.where(_inside(x, size), x * 0, x), lambda g, y, x, size: where(_inside(x, size), 0.0, g),
    _samples(0.5), lambda x, s: np.where(np.abs(x) > s, x, 0),
    formula={"forward": "x where |x| > λ, else 0", "rules": ["ḡ where |x| > λ, else 0"]},
)  # fmt: skip


def _threshold(xp, x, limit, value):
    return xp.where(x <= limit, x.dtype.type(value), x)


threshold = _activation(
    "threshold", _threshold, lambda g, y, x, limit, value: where(x <= limit, 0.0, g), _samples(0.1, 3.0),
    lambda x, t, v: np.where(x > t, x, v), formula={"forward": "x where x > limit, else value",
                                                    "rules": ["ḡ where x > limit, else 0"]},
)  # fmt: skip


def _prelu_samples():
    yield Sample(spread((2, 3, 4)), spread((1, 3, 1), 0.1, 0.9, 1))
    yield Sample(spread((5,)), spread((1,), 0.1, 0.9, 1), note="one slope")


prelu = op(
    "prelu", lambda xp, x, weight: xp.where(x > 0, x, x * weight), lambda g, y, x, weight: where(x > 0, g, g * weight),
    lambda g, y, x, weight: where(x > 0, 0.0, g * x), saves=("x weight", "x"), dtypes="match", samples=_prelu_samples, public=False,
    ref=lambda x, w: np.where(x > 0, x, x * w),
    formula={"forward": "x if x > 0 else w · x", "rules": ["ḡ if x > 0 else w · ḡ", "0 if x > 0 else ḡ · x"]},
)  # fmt: skip


def _dropout_samples():
    yield Sample(spread((3, 4)), (spread((3, 4), seed=1) > 0) * 2.0, wrt=(0,))


dropout = op(
    "dropout", lambda xp, x, mask: xp.multiply(x, mask), lambda g, y, x, mask: g * mask, None, saves="mask", dtypes="match",
    samples=_dropout_samples, public=False, ref=lambda x, m: x * m,
    formula={"forward": "x · mask / (1 − p)", "rules": ["ḡ · mask / (1 − p)", ""]},
)  # fmt: skip
