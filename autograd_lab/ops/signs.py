"""Elementwise functions about signs and parts: copysign, heaviside, frac, ldexp, logaddexp."""

import numpy as np

from ..backend import dtype as dt
from ..core.bind import write_out
from ..core.op import op
from ..core.public import public
from ..core.tensor import Tensor
from .arithmetic import _checked
from .compare import where
from .dims import need_tensor, scalar_name
from .elementwise import exp, exp2, pow
from .samples import binary, mismatched, unary
from .shape import cast_to

_SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 1.5)


def _is_bool(input):
    return input._d.dtype.kind == "b"


signbit = op(
    "signbit", lambda xp, x: xp.signbit(x) if x.dtype.kind == "f" else (x < 0), samples=unary(order=0, special=_SPECIAL),
    ref="numpy.signbit", public=False,
)  # fmt: skip


@public("signbit")
def signbit_(input, *, out=None):
    """Whether the sign bit of each element is set (for −0 too). Raises: RuntimeError for complex numbers."""
    need_tensor(input, "signbit")
    if input._d.dtype.kind == "c":
        raise RuntimeError("signbit is not implemented for complex tensors.")
    return signbit(input, out=out)


copysign_row = op(
    "copysign", "copysign", lambda g, y, a, b: g * where(a == 0, 0.0, y / where(a == 0, 1.0, a)), lambda g, y, a, b: g * 0.0,
    saves=("y a", ""), dtypes="float", samples=binary(0.3, 2.0, low2=-2.0), errors=mismatched, ref="numpy.copysign", public=False,
    formula={"forward": "|a| with the sign of b", "rules": ["ḡ · y / a", "0"]},
)  # fmt: skip


@public("copysign", inplace=True)
def copysign(input, other, *, out=None):
    """The size of ``input`` with the sign of ``other`` (a tensor or a number)."""
    need_tensor(input, "copysign")
    return copysign_row(input, other, out=out)


def _heaviside(xp, a, b):
    kind = (a if hasattr(a, "dtype") else b).dtype
    return xp.where(a == 0, b, (a > 0).astype(kind)).astype(kind)[()]


heaviside_row = op(
    "heaviside", _heaviside, arity=2, dtypes="arith", samples=binary(order=0), errors=mismatched, ref="numpy.heaviside",
    public=False,
)  # fmt: skip


@public("heaviside", inplace=True)
def heaviside(input, values, *, out=None):
    """0 below 0, 1 above, ``values`` at 0. Raises: RuntimeError for different dtypes or complex numbers."""
    if input._d.dtype.kind == "c" or values._d.dtype.kind == "c":
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if input._d.dtype != values._d.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return heaviside_row(input, values, out=out)


@public("positive")
def positive(input):
    """The tensor itself. Raises: RuntimeError for a bool tensor."""
    need_tensor(input, "positive")
    if _is_bool(input):
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def _frac(xp, x):
    return x - xp.trunc(x)


frac = op(
    "frac", _frac, lambda g, y, x: g, samples=unary(0.1, 0.9), ref=lambda x: x - np.trunc(x),
    formula={"forward": "x − trunc x", "rules": ["ḡ"]}, public=False,
)  # fmt: skip


@public("frac", inplace=True)
def frac_(input, *, out=None):
    """What follows the point, with the sign of ``input``. Raises: RuntimeError for whole numbers."""
    need_tensor(input, "frac")
    if input._d.dtype.kind != "f":
        raise RuntimeError(f"\"frac\" not implemented for '{scalar_name(input.dtype)}'")
    return frac(input, out=out)


@public("ldexp", inplace=True)
def ldexp(input, other, *, out=None):
    """``input · 2^other``."""
    need_tensor(input, "ldexp")
    need_tensor(other, "ldexp", 2, "other")
    factor = pow(2.0, other)
    if input._d.dtype.kind in "fc" and other._d.dtype.kind in "iub":
        factor = cast_to(factor, input.dtype)
    value = input * factor
    return value if out is None else write_out(out, value)


def _double(value):
    if not isinstance(value, Tensor):
        return value
    return cast_to(value, dt.complex128 if value._d.dtype.kind == "c" else dt.float64)


@public("float_power", inplace=True)
def float_power(input, exponent, *, out=None):
    """``input ** exponent`` computed in float64 (or complex128)."""
    pair = (input, exponent)
    if any(isinstance(v, complex) or (isinstance(v, Tensor) and v._d.dtype.kind == "c") for v in pair):
        a, b = (cast_to(v, dt.complex128) if isinstance(v, Tensor) else v for v in pair)
    else:
        a, b = map(_double, pair)
    value = pow(a, b)
    return value if out is None else write_out(out, value)


def _log_sum(name, base, logarithm, power):
    """log(base^a + base^b) without overflow; of complex numbers by the larger real part."""

    def forward(xp, a, b):
        if a.dtype.kind != "c":
            return getattr(xp, name)(a, b)
        top, less = xp.where(a.real >= b.real, a, b), xp.where(a.real >= b.real, b, a)
        return top + getattr(xp, logarithm)(1 + getattr(xp, power)(less - top))

    raised = exp if power == "exp" else exp2

    def samples():
        return (s for s in binary()() if hasattr(s.operands[1], "shape"))

    return op(
        name, forward, lambda g, y, a, b: g / (1 + raised(b - a)), lambda g, y, a, b: g / (1 + raised(a - b)),
        saves="a b", dtypes="float", samples=samples, errors=mismatched, ref=f"numpy.{name}", public=False,
        formula={
            "forward": f"log{base} ({power}(a) + {power}(b))",
            "rules": [f"ḡ / (1 + {power}(b − a))", f"ḡ / (1 + {power}(a − b))"],
        },
    )  # fmt: skip


logaddexp_row = _log_sum("logaddexp", "", "log", "exp")
logaddexp2_row = _log_sum("logaddexp2", "₂", "log2", "exp2")


logaddexp = _checked(logaddexp_row, "logaddexp", True)
logaddexp2 = _checked(logaddexp2_row, "logaddexp2", True)
