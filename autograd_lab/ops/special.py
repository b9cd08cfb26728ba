"""Special functions: error, gamma and Bessel functions, entropies. SciPy computes them; it is imported at first use."""

import functools
import math

import numpy as np

from ..core.bind import write_out
from ..core.op import op
from ..core.public import public, publish
from ..core.tensor import Tensor
from .arithmetic import _checked, clamp
from .compare import where
from .dims import need_tensor
from .elementwise import exp, log, sgn
from .samples import Sample, binary, mismatched, spread, unary
from .shape import to_float

_POSITIVE = unary(0.4, 3.0)


@functools.cache
def _function(name):
    import scipy.special  # loaded when first used: SciPy costs more to import than this package

    return getattr(scipy.special, name)


def _scipy(name):
    return lambda xp, *operands: _function(name)(*operands)


def _offer(call, *names, everywhere=False):
    """Publish in ``special``; ``everywhere`` under the first name in ``torch``, as method and in-place twin too."""
    if everywhere:
        publish(call, names[:1], True, True)
    publish(call, names[1:] if everywhere and len(names) > 1 else names, False, False, "special")
    if everywhere and len(names) > 1 and call.__name__ in ("digamma", "erfc", "erfinv"):
        publish(call, names[:1], False, False, "special")
    return call


def _row(name, function, rule, *, saves="x", samples, forward, slope, everywhere=False, names=()):
    """A row of one operand that SciPy computes, offered under ``name`` and ``names``."""
    call = op(
        name, _scipy(function), *(() if rule is None else (rule,)), saves=saves if rule else "", dtypes="float", samples=samples,
        ref=f"scipy.special.{function}", public=False, formula={"forward": forward, "rules": [slope] if rule else []},
    )  # fmt: skip
    return _offer(call, name, *names, everywhere=everywhere)


# ----- error functions and the normal distribution -----

_ROOT_PI, _ROOT_2PI = math.sqrt(math.pi), math.sqrt(2 * math.pi)

erfc = _row(
    "erfc", "erfc", lambda g, y, x: g * (-2 / _ROOT_PI * exp(-x * x)), samples=unary(), everywhere=True,
    forward="1 − erf x", slope="−ḡ · 2/√π · exp(−x²)",
)  # fmt: skip
erfcx = _row(
    "erfcx", "erfcx", lambda g, y, x: g * (2 * x * y - 2 / _ROOT_PI), saves="x y", samples=unary(),
    forward="exp(x²) · erfc x", slope="ḡ · (2 x y − 2/√π)",
)  # fmt: skip
erfinv = _row(
    "erfinv", "erfinv", lambda g, y, x: g * (0.5 * _ROOT_PI * exp(y * y)), saves="y", samples=unary(-0.7, 0.7), everywhere=True,
    forward="erf⁻¹ x", slope="ḡ · √π/2 · exp(y²)",
)  # fmt: skip
ndtr = _row(
    "ndtr", "ndtr", lambda g, y, x: g * (exp(-0.5 * x * x) / _ROOT_2PI), samples=unary(),
    forward="Φ(x), the normal distribution function", slope="ḡ · exp(−x²/2) / √(2π)",
)  # fmt: skip
ndtri = _row(
    "ndtri", "ndtri", lambda g, y, x: g * (_ROOT_2PI * exp(0.5 * y * y)), saves="y", samples=unary(0.2, 0.8),
    forward="Φ⁻¹(x)", slope="ḡ · √(2π) · exp(y²/2)",
)  # fmt: skip
log_ndtr = _row(
    "log_ndtr", "log_ndtr", lambda g, y, x: g * (exp(-(y + 0.5 * x * x)) / _ROOT_2PI), saves="x y", samples=unary(),
    forward="ln Φ(x)", slope="ḡ · exp(−x²/2 − y) / √(2π)",
)  # fmt: skip

# ----- gamma functions -----


def _digamma(xp, x):
    value = _function("digamma")(x)
    return np.where(x == 0, np.copysign(np.array(np.inf, x.dtype), -x), value)[()]


def _lgamma(xp, x):
    return np.where(x == -np.inf, np.array(np.inf, x.dtype), _function("gammaln")(x))[()]


lgamma = op(
    "lgamma", _lgamma, lambda g, y, x: g * digamma(x), saves="x", dtypes="float", samples=_POSITIVE, ref="scipy.special.gammaln",
    public=False, formula={"forward": "ln |Γ(x)|", "rules": ["ḡ · ψ(x)"]},
)  # fmt: skip
_offer(lgamma, "lgamma", "gammaln", everywhere=True)
digamma = op(
    "digamma", _digamma, lambda g, y, x: g * polygamma_row(x, 1), saves="x", dtypes="float", samples=_POSITIVE,
    ref="scipy.special.digamma", public=False, formula={"forward": "ψ(x)", "rules": ["ḡ · ψ′(x)"]},
)  # fmt: skip
_offer(digamma, "digamma", "psi", everywhere=True)


def _polygamma(xp, x, n):
    if n == 0:
        return _digamma(xp, x)
    if n == 1:
        return _trigamma(x)
    return (_function("zeta")(x.dtype.type(n + 1), x) * ((-1) ** (n + 1) * math.gamma(n + 1))).astype(x.dtype)


def _trigamma(x):
    """ψ′, for negative x by reflection."""
    negative = x < 0.5
    with np.errstate(all="ignore"):
        value = _function("zeta")(x.dtype.type(2), np.where(negative, 1 - x, x))
        return np.where(negative, (np.pi / np.sin(np.pi * x)) ** 2 - value, value)[()].astype(x.dtype)


polygamma_row = op(
    "polygamma", _polygamma, lambda g, y, x, n: g * polygamma_row(x, n + 1), saves="x", dtypes="free", public=False,
    samples=lambda: (Sample(spread((3, 4), 0.6, 3.0), params=(n,)) for n in (0, 1, 2)),
    ref=lambda x, n: _function("polygamma")(n, x), formula={"forward": "ψ⁽ⁿ⁾(x)", "rules": ["ḡ · ψ⁽ⁿ⁺¹⁾(x)"]},
)  # fmt: skip


@public("polygamma", method=False, namespace=("torch", "special"))
def polygamma(n, input, *, out=None):
    """The ``n``-th derivative of ``digamma``. Raises: RuntimeError for a negative ``n``."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return _finish(polygamma_row(to_float(input), n), out)


def _polygamma_method(self, n):
    return polygamma(n, self)


_polygamma_method.__doc__ = "The ``n``-th derivative of ``digamma``."
publish(_polygamma_method, ("polygamma",), True, True, None)


def _finish(value, out):
    return value if out is None else write_out(out, value)


@public("mvlgamma", inplace=True)
def mvlgamma(input, p, *, out=None):
    """The multivariate log-gamma function of dimension ``p``. Raises: RuntimeError for p < 1."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    x = to_float(input)
    total = p * (p - 1) / 4 * math.log(math.pi)
    for j in range(p):
        total = lgamma(x - j / 2) + total
    return _finish(total, out)


publish(mvlgamma, ("multigammaln",), False, False, "special")

# ----- Bessel functions -----

i0 = _row(
    "i0", "i0", lambda g, y, x: g * i1(x), samples=unary(), everywhere=True, forward="I₀(x)", slope="ḡ · I₁(x)",
)  # fmt: skip
publish(i0, ("i0",), False, False, "special")


def _i1_slope(y, x):
    return where((x > 0) | (x < 0), i0(x) - y / where(x == 0, 1.0, x), 0.5)  # 0.5 for NaN too, as in PyTorch


i1 = _row(
    "i1", "i1", lambda g, y, x: g * _i1_slope(y, x), saves="x y", samples=unary(0.3, 2.0),
    forward="I₁(x)", slope="ḡ · (I₀(x) − y / x)",
)  # fmt: skip
i0e = _row(
    "i0e", "i0e", lambda g, y, x: g * (i1e(x) - sgn(x) * y), saves="x y", samples=unary(0.3, 2.0),
    forward="exp(−|x|) · I₀(x)", slope="ḡ · (exp(−|x|) I₁(x) − sgn(x) y)",
)  # fmt: skip


def _i1e_slope(y, x):
    safe = where(x == 0, 1.0, x)
    return where((x > 0) | (x < 0), i0e(x) - y * (sgn(x) + 1 / safe), 0.5)


i1e = _row(
    "i1e", "i1e", lambda g, y, x: g * _i1e_slope(y, x), saves="x y", samples=unary(0.3, 2.0),
    forward="exp(−|x|) · I₁(x)", slope="ḡ · (exp(−|x|) I₀(x) − y (sgn(x) + 1/x))",
)  # fmt: skip
_BESSEL = {
    "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "modified_bessel_i0": "i0",
    "modified_bessel_i1": "i1", "modified_bessel_k0": "k0", "modified_bessel_k1": "k1", "scaled_modified_bessel_k0": "k0e",
    "scaled_modified_bessel_k1": "k1e",
}  # fmt: skip
for _name, _twin in _BESSEL.items():
    _row(_name, _twin, None, samples=unary(0.3, 3.0, order=0), forward=_name, slope="")

# ----- entropies and logarithms that are safe at 0 -----

entr = _row(
    "entr", "entr", lambda g, y, x: g * (-log(x) - 1), samples=unary(0.3, 2.0),
    forward="−x ln x", slope="ḡ · (−ln x − 1)",
)  # fmt: skip


def _safe_product(name, factor, edge):
    """a · f(b), and 0 where a is 0."""

    def left(g, y, a, b):
        return where((a == 0) & (b <= edge), 0.0, call(g, b))

    def right(g, y, a, b):
        return g * (a / (b - edge))

    def forward(xp, a, b):
        dtype = a.dtype if hasattr(a, "dtype") else b.dtype
        return _function(name)(np.asarray(a, dtype), np.asarray(b, dtype))

    def samples():
        yield from binary(0.3, 2.0)()
        yield Sample(np.array([0.0, 1.0]), np.array([-2.0, 2.0]), order=0, note="0 times nothing")

    call = op(
        name, forward, left, right, saves=("a b", "a b"), dtypes="float", samples=samples, errors=mismatched,
        ref=f"scipy.special.{name}", public=False,
        formula={"forward": f"a · {factor}, 0 where a = 0", "rules": [f"ḡ · {factor}", f"ḡ · a / {factor[3:]}"]},
    )  # fmt: skip
    return call


xlogy_row = _safe_product("xlogy", "ln b", 0)


@public("xlogy", inplace=True, namespace=("torch", "special"))
def xlogy(input, other, *, out=None):
    """``input · ln other``, and 0 where ``input`` is 0 (unless ``other`` is NaN)."""
    if not isinstance(input, Tensor):
        need_tensor(other, "xlogy", 2, "other")
    return xlogy_row(input, other, out=out)


xlog1py = _offer(_safe_product("xlog1py", "ln (1 + b)", -1), "xlog1py")

logit_row = op(
    "logit", lambda xp, x: xp.log(x / (1 - x)), lambda g, y, x: g * _logit_slope(x), saves="x", dtypes="float", public=False,
    samples=unary(0.1, 0.9, special=(0.0, 1.0)), ref="scipy.special.logit",
    formula={"forward": "ln (x / (1 − x))", "rules": ["ḡ / (x (1 − x))"]},
)  # fmt: skip


def _logit_slope(x):
    return where((x >= 0) & (x <= 1), where(x == 0, math.inf, 1 / (x * (1 - x))), math.nan)


@public("logit", inplace=True, namespace=("torch", "special"))
def logit(input, eps=None, *, out=None):
    """``ln (x / (1 − x))``; with ``eps``, of ``input`` held within [eps, 1 − eps]."""
    need_tensor(input, "logit")
    x = to_float(input)
    return _finish(logit_row(x if eps is None else clamp(x, eps, 1 - eps)), out)


# ----- of two operands -----


def _zeta(xp, a, b):
    dtype = a.dtype if hasattr(a, "dtype") else b.dtype
    value = _function("zeta")(np.asarray(a, dtype), np.asarray(b, dtype))
    value = np.where(np.asarray(b) == np.inf, np.array(np.nan, dtype), value)
    return np.where(np.asarray(a) == 1, np.array(np.inf, dtype), value)[()]


zeta = op(
    "zeta", _zeta, arity=2, dtypes="float", samples=binary(1.5, 3.0, order=0, number=2.0), ref="scipy.special.zeta",
    public=False,
)  # fmt: skip
_offer(zeta, "zeta")


def _igamma_slope(x, y):
    return exp((x - 1) * log(y) - y - lgamma(x))


def _igamma_samples():
    for sample in binary(0.5, 3.0)():
        if hasattr(sample.operands[1], "shape"):
            yield Sample(*sample.operands, order=sample.order, wrt=(1,))


def _gamma_share(name, at_0):
    """SciPy's function, with PyTorch's values where one operand is NaN and the other settles the answer."""

    def forward(xp, a, b):
        value = _function(name)(a, b)
        hole = np.isnan(value) & (np.isnan(a) != np.isnan(b))
        settled = np.where((b == 0) | (a == np.inf), at_0, np.where(b == np.inf, 1 - at_0, np.nan))
        return np.where(hole, settled, value).astype(value.dtype)[()]

    return forward


igamma = op(
    "igamma", _gamma_share("gammainc", 0), None, lambda g, y, a, b: g * _igamma_slope(a, b), saves=("", "a b"), dtypes="float",
    public=False, samples=_igamma_samples, ref="scipy.special.gammainc",
    formula={"forward": "P(a, b)", "rules": ["", "ḡ · bᵃ⁻¹ e⁻ᵇ / Γ(a)"]},
)  # fmt: skip
igammac = op(
    "igammac", _gamma_share("gammaincc", 1), None, lambda g, y, a, b: -g * _igamma_slope(a, b), saves=("", "a b"), dtypes="float",
    samples=_igamma_samples, ref="scipy.special.gammaincc", public=False,
    formula={"forward": "1 − P(a, b)", "rules": ["", "−ḡ · bᵃ⁻¹ e⁻ᵇ / Γ(a)"]},
)  # fmt: skip
publish(_checked(igamma, "igamma", True, True), ("gammainc",), False, False, "special")
publish(_checked(igammac, "igammac", True, True), ("gammaincc",), False, False, "special")
