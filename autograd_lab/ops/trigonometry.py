"""Inverse hyperbolic functions, ``sinc``, degrees and radians, ``hypot``."""

import math

from ..core.op import op
from ..core.public import publish
from .arithmetic import _checked
from .compare import where
from .elementwise import cos, rsqrt, sin
from .samples import binary, mismatched, unary

acosh = op(
    "acosh", "arccosh", lambda g, y, x: g * rsqrt(x * x - 1),
    saves="x", dtypes="float", samples=unary(1.2, 3.0, special=(0.5, 1.0)), ref="numpy.arccosh", aliases=("arccosh",),
)  # fmt: skip
asinh = op(
    "asinh", "arcsinh", lambda g, y, x: g * rsqrt(x * x + 1),
    saves="x", dtypes="float", samples=unary(), ref="numpy.arcsinh", aliases=("arcsinh",),
)  # fmt: skip
atanh = op(
    "atanh", "arctanh", lambda g, y, x: g / (1 - x * x),
    saves="x", dtypes="float", samples=unary(-0.8, 0.8, special=(1.0, -1.0)), ref="numpy.arctanh", aliases=("arctanh",),
)  # fmt: skip


def _sinc_slope(x):
    turn, squares = math.pi * x, x * x
    return where(squares == 0, 0.0, (turn * cos(turn) - sin(turn)) / (math.pi * where(squares == 0, 1.0, squares)))


sinc = op(
    "sinc", lambda xp, x: xp.sinc(x), lambda g, y, x: g * _sinc_slope(x),
    saves="x", dtypes="float", samples=unary(0.2, 2.0, special=(0.0, 1.0)), ref="numpy.sinc",
    formula={"forward": "sin(πx) / (πx)", "rules": ["ḡ · (πx cos(πx) − sin(πx)) / (πx²)"]},
)  # fmt: skip
publish(sinc, ("sinc",), False, False, "special")
deg2rad = op(
    "deg2rad", lambda xp, x: x * (math.pi / 180), lambda g, y, x: g * (math.pi / 180),
    dtypes="float", samples=unary(), ref="numpy.deg2rad",
)  # fmt: skip
rad2deg = op(
    "rad2deg", lambda xp, x: x * (180 / math.pi), lambda g, y, x: g * (180 / math.pi),
    dtypes="float", samples=unary(), ref="numpy.rad2deg",
)  # fmt: skip
hypot_row = op(
    "hypot", "hypot", lambda g, y, a, b: g * (a / y), lambda g, y, a, b: g * (b / y),
    saves=("y a", "y b"), dtypes="arith", symbol="√a²+b²", samples=binary(0.3, 2.0), errors=mismatched, ref="numpy.hypot",
    public=False, formula={"forward": "√(a² + b²)", "rules": ["ḡ · a / y", "ḡ · b / y"]},
)  # fmt: skip
hypot = _checked(hypot_row, "hypot", True, True)
