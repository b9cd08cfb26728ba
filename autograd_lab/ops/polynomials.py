"""``special``'s orthogonal polynomials by their recurrences, Airy's function and the first spherical Bessel function."""

import numpy as np

from ..core.op import op
from ..core.public import publish
from .samples import Sample, mismatched, spread, unary
from .special import _function


def _recurrence(start, first, step):
    """p₀ = start, p₁ = first(x), p_{k+1} = step(x, k, p_k, p_{k-1}); element by element up to its own degree, 0 below degree 0."""

    def forward(xp, x, n):
        dtype = x.dtype if hasattr(x, "dtype") else n.dtype
        x, n = np.broadcast_arrays(np.asarray(x, dtype), np.asarray(n))
        degree = np.where(np.isfinite(n), n, -1).astype(np.int64)
        before, now = np.full(x.shape, start, dtype), first(x).astype(dtype)
        out = np.where(degree == 0, before, np.where(degree == 1, now, dtype.type(0)))
        for k in range(1, int(degree.max(initial=1))):
            before, now = now, step(x, k, now, before).astype(dtype)
            out = np.where(degree == k + 1, now, out)
        return out.astype(dtype)[()]

    return forward


def _twice(x, k, p, q):
    return 2 * x * p - q


_SHIFT = {name: _recurrence(1, first, lambda x, k, p, q: 2 * (2 * x - 1) * p - q) for name, first in {
    "t": lambda x: 2 * x - 1, "u": lambda x: 2 * (2 * x - 1), "v": lambda x: 4 * x - 3, "w": lambda x: 4 * x - 1,
}.items()}  # fmt: skip
_FORWARDS = {
    "chebyshev_polynomial_t": _recurrence(1, lambda x: x, _twice),
    "chebyshev_polynomial_u": _recurrence(1, lambda x: 2 * x, _twice),
    "chebyshev_polynomial_v": _recurrence(1, lambda x: 2 * x - 1, _twice),
    "chebyshev_polynomial_w": _recurrence(1, lambda x: 2 * x + 1, _twice),
    "hermite_polynomial_h": _recurrence(1, lambda x: 2 * x, lambda x, k, p, q: 2 * x * p - 2 * k * q),
    "hermite_polynomial_he": _recurrence(1, lambda x: x, lambda x, k, p, q: x * p - k * q),
    "laguerre_polynomial_l": _recurrence(1, lambda x: 1 - x, lambda x, k, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1)),
    "legendre_polynomial_p": _recurrence(1, lambda x: x, lambda x, k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1)),
    **{f"shifted_chebyshev_polynomial_{kind}": forward for kind, forward in _SHIFT.items()},
}
_REFS = {
    "chebyshev_polynomial_t": "eval_chebyt", "chebyshev_polynomial_u": "eval_chebyu", "hermite_polynomial_h": "eval_hermite",
    "hermite_polynomial_he": "eval_hermitenorm", "laguerre_polynomial_l": "eval_laguerre", "legendre_polynomial_p": "eval_legendre",
    "shifted_chebyshev_polynomial_t": "eval_sh_chebyt", "shifted_chebyshev_polynomial_u": "eval_sh_chebyu",
}  # fmt: skip


def _reference(name):
    """SciPy's function where it has one; else the third and fourth kinds from the second: V = Uₙ − Uₙ₋₁, W = Uₙ + Uₙ₋₁."""
    if name in _REFS:
        return lambda x, n: _function(_REFS[name])(np.asarray(n).astype(int), x)
    inner = (lambda x: 2 * x - 1) if name.startswith("shifted") else (lambda x: x)
    sign = -1 if name.endswith("v") else 1

    def both(x, n):
        u = _function("eval_chebyu")
        return u(n, inner(x)) + sign * np.where(np.asarray(n) > 0, u(np.maximum(np.asarray(n) - 1, 0), inner(x)), 0)

    return both


def _samples():
    x = spread((3, 4), -0.9, 0.9)
    yield Sample(x, np.arange(4.0), order=0)
    yield Sample(x, 3, order=0, note="number")
    yield Sample(x, np.array([[2.0], [0.0], [5.0]]), order=0, note="broadcast")
    yield Sample(np.zeros((0, 4)), np.arange(4.0), order=0, note="empty")


for _name, _forward in _FORWARDS.items():
    _row = op(
        _name, _forward, arity=2, dtypes="float", samples=_samples, errors=mismatched, ref=_reference(_name), public=False,
        doc="A polynomial of ``input`` whose degree is ``n``, element by element; 0 for a negative degree.",
    )  # fmt: skip
    publish(_row, (_name,), False, False, "special")

airy_ai = op(
    "airy_ai", lambda xp, x: _function("airy")(x)[0], dtypes="float", samples=unary(order=0), ref=lambda x: _function("airy")(x)[0],
    public=False, doc="Airy's function Ai of each element.",
)  # fmt: skip


def _spherical(xp, x):
    safe = np.where(x == 0, 1, x)
    small = np.abs(x) < 0.5
    series = 1 - x * x / 6 * (1 - x * x / 20 * (1 - x * x / 42 * (1 - x * x / 72)))
    with np.errstate(all="ignore"):
        whole = np.where(np.isinf(x), 0, np.sin(np.where(np.isinf(x), 0, safe)) / safe)
    return np.where(small, series, whole).astype(x.dtype)[()]


spherical_bessel_j0 = op(
    "spherical_bessel_j0", _spherical, dtypes="float", samples=unary(order=0), ref=lambda x: _function("spherical_jn")(0, x),
    public=False, doc="The spherical Bessel function j₀(x) = sin(x) / x of each element.",
)  # fmt: skip
publish(airy_ai, ("airy_ai",), False, False, "special")
publish(spherical_bessel_j0, ("spherical_bessel_j0",), False, False, "special")
