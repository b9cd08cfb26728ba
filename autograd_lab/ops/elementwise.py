"""Elementwise rows with derivatives: arithmetic, powers, exponentials, hyperbolic and trigonometric functions, activations.

Rules are maths: ``g`` is the incoming cotangent, ``y`` the output, then the operands by name. Un-broadcasting, casting
and conjugation of complex operands are the engine's.
"""

import math

import numpy as np

from ..core.op import op
from .compare import where
from .samples import Sample as _Sample
from .samples import binary, mismatched, spread, unary

_LN2, _LN10 = math.log(2), math.log(10)
_BOOL = np.dtype(bool)
_POSITIVE = unary(0.3, 3.0, special=(0.0, np.inf, np.nan))

# ----- arithmetic -----

add = op(
    "add", "add", lambda g, y, a, b: g, lambda g, y, a, b: g,
    dtypes="arith", symbol="+", samples=binary(), errors=mismatched, ref="numpy.add",
)  # fmt: skip


sub = op(
    "sub", "subtract", lambda g, y, a, b: g, lambda g, y, a, b: -g,
    dtypes="arith", symbol="−", samples=binary(), errors=mismatched, ref="numpy.subtract",
)  # fmt: skip
mul = op(
    "mul", "multiply", lambda g, y, a, b: g * b, lambda g, y, a, b: g * a,
    saves=("b", "a"), dtypes="arith", symbol="×", samples=binary(), errors=mismatched, ref="numpy.multiply",
)  # fmt: skip
div = op(
    "div", "true_divide", lambda g, y, a, b: g / b, lambda g, y, a, b: -g * (a / b) / b,
    saves=("b", "a b"), dtypes="float", symbol="÷", samples=binary(low2=0.5, high2=2.0), errors=mismatched,
    ref="numpy.true_divide",
)  # fmt: skip
neg = op("neg", "negative", lambda g, y, x: -g, symbol="−", samples=unary(), ref="numpy.negative")


def _power(xp, a, b):
    if type(b) in (int, float):
        if b == 2:
            return xp.multiply(a, a)
        if b == 0.5 and a.dtype.kind == "f":
            return xp.sqrt(a)
        if b == 1:
            return xp.multiply(a, 1)
    if (a if hasattr(a, "dtype") else b).dtype.kind in "iu" and not isinstance(a, float | complex):
        return _whole_power(xp, a, b)
    if all(getattr(o, "dtype", _BOOL) == _BOOL for o in (a, b)):
        return xp.logical_or(a, xp.logical_not(b))
    return xp.power(a, b)


def _whole_power(xp, a, b):
    """Whole numbers: a negative exponent gives 0 except for the bases 1 and −1; a negative number is refused."""
    below = np.asarray(b) < 0
    if not below.any():
        return xp.power(a, b)
    if not hasattr(b, "dtype"):
        raise ValueError("Integers to negative integer powers are not allowed.")
    odd = xp.where(b % 2 == 0, 1, a)
    return xp.where(below, xp.where((a == 1) | (a == -1), odd, 0), xp.power(a, xp.where(below, 0, b))).astype(b.dtype)


def _pow_base(g, y, a, b):
    if isinstance(b, int | float):
        return g * (b * a ** (b - 1)) if b else g * 0.0
    return where(b == 0, 0.0, g * (b * pow(a, b - 1)))


def _pow_exponent(g, y, a, b):
    flat = (a == 0) & (b >= 0)
    return g * where(flat, 0.0, y * log(where(flat, 1.0, a)))


def _power_samples():
    yield from binary(0.4, 2.0, -1.5, 2.0)()
    yield _Sample(spread((3, 4), -2, 2), 2, note="square")
    yield _Sample(spread((3, 4), -2, 2), 3, note="cube")
    yield _Sample(np.array([0.0, 2.0]), np.array([1.0, 1.0]), order=1, wrt=(1,), note="base 0")


pow = op(
    "pow", _power, _pow_base, _pow_exponent, saves=("a b", "y a b"), dtypes="arith", symbol="xⁿ", samples=_power_samples,
    errors=mismatched, ref="numpy.power", formula={"forward": "aᵇ", "rules": ["ḡ · b · aᵇ⁻¹", "ḡ · y · ln a"]},
)  # fmt: skip
square = op("square", "square", lambda g, y, x: g * (2 * x), saves="x", symbol="x²", samples=unary(), ref="numpy.square")
sqrt = op("sqrt", "sqrt", lambda g, y, x: g / (2 * y), saves="y", dtypes="float", symbol="√", samples=_POSITIVE, ref="numpy.sqrt")
rsqrt = op(
    "rsqrt", lambda xp, x: 1 / xp.sqrt(x), lambda g, y, x: -0.5 * g * y * y * y,
    saves="y", dtypes="float", samples=_POSITIVE, ref=lambda x: x**-0.5,
)  # fmt: skip
reciprocal = op(
    "reciprocal", lambda xp, x: 1 / x, lambda g, y, x: -g * y * y,
    saves="y", dtypes="float", symbol="1/x", samples=unary(0.5, 2.0), ref="numpy.reciprocal",
)  # fmt: skip


def _sgn(xp, x):
    if x.dtype.kind == "b":
        return x.copy()
    signs = xp.sign(x)
    return signs if x.dtype.kind != "f" else xp.where(x == x, signs, 0)  # NB: PyTorch's sgn of NaN is 0


def _sgn_rule(g, y, x):
    """0 for real numbers; for complex ones x / |x| turns with x."""
    if getattr(x.dtype, "numpy", x.dtype).kind != "c":
        return g * 0.0
    size, phase = abs(x), sgn(x)
    turned = g - phase * (g * phase.conj()).real
    return where(size == 0, 0.0, turned / where(size == 0, 1.0, size))


def _sgn_samples():
    yield from unary(order=1)()
    yield _Sample(spread((3, 4)) + 1j * spread((3, 4), seed=1), note="complex")


sgn = op(
    "sgn", _sgn, _sgn_rule, saves="x", samples=_sgn_samples, ref="numpy.sign", holomorphic=False,
    formula={"forward": "sign of x", "rules": ["0; for complex x the part of ḡ across x, over |x|"]},
)  # fmt: skip
abs = op(
    "abs", "absolute", lambda g, y, x: g * sgn(x),
    saves="x", symbol="|x|", samples=unary(0.2, 2.0, special=(-1.0, 0.0)), ref="numpy.absolute", holomorphic=False,
)  # fmt: skip

# ----- exponentials and logarithms -----

exp = op("exp", "exp", lambda g, y, x: g * y, saves="y", dtypes="float", samples=unary(special=(0.0, 1000.0)), ref="numpy.exp")
exp2 = op("exp2", "exp2", lambda g, y, x: g * (y * _LN2), saves="y", dtypes="float", samples=unary(), ref="numpy.exp2")
expm1 = op("expm1", "expm1", lambda g, y, x: g * (y + 1), saves="y", dtypes="float", samples=unary(), ref="numpy.expm1")
log = op("log", "log", lambda g, y, x: g / x, saves="x", dtypes="float", symbol="ln", samples=_POSITIVE, ref="numpy.log")
log2 = op("log2", "log2", lambda g, y, x: g / (x * _LN2), saves="x", dtypes="float", samples=_POSITIVE, ref="numpy.log2")
log10 = op("log10", "log10", lambda g, y, x: g / (x * _LN10), saves="x", dtypes="float", samples=_POSITIVE, ref="numpy.log10")
log1p = op("log1p", "log1p", lambda g, y, x: g / (x + 1), saves="x", dtypes="float", samples=_POSITIVE, ref="numpy.log1p")

# ----- trigonometric and hyperbolic -----

sin = op("sin", "sin", lambda g, y, x: g * cos(x), saves="x", dtypes="float", samples=unary(), ref="numpy.sin")
cos = op("cos", "cos", lambda g, y, x: -g * sin(x), saves="x", dtypes="float", samples=unary(), ref="numpy.cos")
tan = op("tan", "tan", lambda g, y, x: g * (1 + y * y), saves="y", dtypes="float", samples=unary(-1.2, 1.2), ref="numpy.tan")
sinh = op("sinh", "sinh", lambda g, y, x: g * cosh(x), saves="x", dtypes="float", samples=unary(), ref="numpy.sinh")
cosh = op("cosh", "cosh", lambda g, y, x: g * sinh(x), saves="x", dtypes="float", samples=unary(), ref="numpy.cosh")
tanh = op(
    "tanh", "tanh", lambda g, y, x: g * (1 - y * y),
    saves="y", dtypes="float", samples=unary(special=(0, 20)), ref="numpy.tanh",
)  # fmt: skip
asin = op(
    "asin", "arcsin", lambda g, y, x: g * rsqrt(1 - x * x),
    saves="x", dtypes="float", samples=unary(-0.9, 0.9), ref="numpy.arcsin",
)  # fmt: skip
acos = op(
    "acos", "arccos", lambda g, y, x: -g * rsqrt(1 - x * x),
    saves="x", dtypes="float", samples=unary(-0.9, 0.9), ref="numpy.arccos",
)  # fmt: skip
atan = op("atan", "arctan", lambda g, y, x: g / (x * x + 1), saves="x", dtypes="float", samples=unary(), ref="numpy.arctan")
atan2 = op(
    "atan2", "arctan2",
    lambda g, y, a, b: _safe_ratio(g * b, a * a + b * b), lambda g, y, a, b: _safe_ratio(-g * a, a * a + b * b),
    saves="a b", dtypes="float", samples=binary(0.3, 2.0), errors=mismatched, ref="numpy.arctan2",
)  # fmt: skip


def _safe_ratio(above, below):
    """above / below, and 0 where below is 0: the convention at the origin."""
    return where(below == 0, 0.0, above / where(below == 0, 1.0, below))


# ----- activations -----

sigmoid = op(
    "sigmoid", lambda xp, x: xp.reciprocal(xp.add(xp.exp(xp.negative(x)), 1)), lambda g, y, x: g * (y * (1 - y)),
    saves="y", dtypes="float", symbol="σ", samples=unary(special=(0.0, -200.0, 200.0)), ref=lambda x: 1 / (1 + np.exp(-x)),
)  # fmt: skip
relu = op(
    "relu", lambda xp, x: xp.maximum(x, 0), lambda g, y, x: where(y <= 0, 0.0, g),
    saves="y", samples=unary(0.1, 2.0, special=(-1.0, 0.0, 1.0)), ref=lambda x: np.maximum(x, 0),
)  # fmt: skip


def _erf(x):
    from scipy.special import erf  # loaded when first used: SciPy costs more to import than this package

    return erf(x)


_SQRT_HALF, _INV_SQRT_2PI = math.sqrt(0.5), 1 / math.sqrt(2 * math.pi)

erf = op(
    "erf", lambda xp, x: _erf(x), lambda g, y, x: g * (2 / math.sqrt(math.pi) * exp(-x * x)),
    saves="x", dtypes="float", samples=unary(), ref="scipy.special.erf",
)  # fmt: skip
gelu = op(
    "gelu", lambda xp, x: x * (0.5 * (1 + _erf(x * _SQRT_HALF))),
    lambda g, y, x: g * (0.5 * (1 + erf(x * _SQRT_HALF)) + x * exp(-0.5 * x * x) * _INV_SQRT_2PI),
    saves="x", public=False, samples=unary(), ref=lambda x: x * 0.5 * (1 + _erf(x / math.sqrt(2))),
)  # fmt: skip
_GELU_A, _GELU_B = math.sqrt(2 / math.pi), 0.044715


def _gelu_tanh_slope(x):
    inner = tanh(_GELU_A * (x + _GELU_B * x * x * x))
    return 0.5 * (1 + inner) + 0.5 * x * (1 - inner * inner) * (_GELU_A * (1 + 3 * _GELU_B * x * x))


gelu_tanh = op(
    "gelu_tanh", lambda xp, x: 0.5 * x * (1 + xp.tanh(_GELU_A * (x + _GELU_B * x * x * x))),
    lambda g, y, x: g * _gelu_tanh_slope(x),
    saves="x", symbol="gelu", grad_name="Gelu", public=False, samples=unary(),
    ref=lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
)  # fmt: skip
silu = op(
    "silu", lambda xp, x: x / (1 + xp.exp(-x)), lambda g, y, x: g * (sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
    saves="x", dtypes="float", public=False, samples=unary(), ref=lambda x: x / (1 + np.exp(-x)),
)  # fmt: skip
logsigmoid = op(
    "logsigmoid", lambda xp, x: xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.abs(x))), lambda g, y, x: g * sigmoid(-x),
    saves="x", dtypes="float", grad_name="LogSigmoid", public=False, samples=unary(special=(-800.0, 0.0, 800.0)),
    ref=lambda x: -np.logaddexp(0, -x),
)  # fmt: skip

# ----- selection by size -----

maximum = op(
    "maximum", "maximum", lambda g, y, a, b: _share(g, a, b), lambda g, y, a, b: _share(g, b, a),
    saves="a b", dtypes="arith", symbol="max", samples=binary(), errors=mismatched, ref="numpy.maximum",
    formula={"forward": "max(a, b)", "rules": ["ḡ where a > b, ḡ/2 where equal", "ḡ where b > a, ḡ/2 where equal"]},
)  # fmt: skip
minimum = op(
    "minimum", "minimum", lambda g, y, a, b: _share(g, b, a), lambda g, y, a, b: _share(g, a, b),
    saves="a b", dtypes="arith", symbol="min", samples=binary(), errors=mismatched, ref="numpy.minimum",
    formula={"forward": "min(a, b)", "rules": ["ḡ where a < b, ḡ/2 where equal", "ḡ where b < a, ḡ/2 where equal"]},
)  # fmt: skip


def _share(g, a, b):
    """g where a wins over b, half of it at a tie, 0 where a loses: the two cotangents sum to g. NaN lets both have it."""
    return where(a < b, 0.0, where(a == b, g * 0.5, g))


clamp_min = op(
    "clamp_min", "maximum", lambda g, y, x, low: where(x >= low, g, 0.0), lambda g, y, x, low: where(x < low, g, 0.0),
    saves="x low", dtypes="arith", grad_name="ClampMin", samples=binary(number=0.1), errors=mismatched, ref="numpy.maximum",
    formula={"forward": "max(x, low)", "rules": ["ḡ where x ≥ low, else 0", "ḡ where x < low, else 0"]},
)  # fmt: skip
clamp_max = op(
    "clamp_max", "minimum", lambda g, y, x, high: where(x <= high, g, 0.0), lambda g, y, x, high: where(x > high, g, 0.0),
    saves="x high", dtypes="arith", grad_name="ClampMax", samples=binary(number=0.1), errors=mismatched, ref="numpy.minimum",
    formula={"forward": "min(x, high)", "rules": ["ḡ where x ≤ high, else 0", "ḡ where x > high, else 0"]},
)  # fmt: skip

# ----- piecewise constant: their derivative is 0 -----


def _zero(g, y, x):
    return g * 0.0


def _sign(xp, x):
    """−1, 0, 1; NaN counts as 0, and a bool is its own sign."""
    return x.copy() if x.dtype.kind == "b" else xp.subtract(x > 0, x < 0, dtype=x.dtype)


sign = op("sign", _sign, _zero, samples=unary(order=1, special=(0.0, np.inf, -np.inf)), ref="numpy.sign")
floor = op("floor", "floor", _zero, samples=unary(order=1), ref="numpy.floor")
ceil = op("ceil", "ceil", _zero, samples=unary(order=1), ref="numpy.ceil")
trunc = op("trunc", "trunc", _zero, samples=unary(order=1), ref="numpy.trunc")
round = op(
    "round", lambda xp, x: xp.rint(x) if x.dtype.kind not in "iu" else x.copy(), _zero,
    samples=unary(order=1, special=(0.5, 1.5, -0.5)), ref="numpy.rint",
)  # fmt: skip


def _dividing(name):
    """NumPy's function ``name``, which gives 0 with a warning where whole numbers are divided by 0: an error here."""

    def forward(xp, a, b):
        if getattr(a if hasattr(a, "dtype") else b, "dtype", np.dtype(float)).kind in "iu" and np.any(np.asarray(b) == 0):
            raise ValueError("ZeroDivisionError")
        return getattr(xp, name)(a, b)

    return forward


floor_divide = op(
    "floor_divide", _dividing("floor_divide"), arity=2, dtypes="arith", samples=binary(low2=0.5, order=0), ref="numpy.floor_divide",
)  # fmt: skip
remainder = op(
    "remainder", _dividing("remainder"), lambda g, y, a, b: g, lambda g, y, a, b: -g * floor_divide(a, b),
    saves=("", "a b"), dtypes="arith", symbol="mod", samples=binary(low2=0.5, order=1), errors=mismatched, ref="numpy.remainder",
)  # fmt: skip
fmod = op(
    "fmod", _dividing("fmod"), lambda g, y, a, b: g, lambda g, y, a, b: -g * trunc(a / b),
    saves=("", "a b"), dtypes="arith", samples=binary(low2=0.5, order=1), errors=mismatched, ref="numpy.fmod",
)  # fmt: skip
