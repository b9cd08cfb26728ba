"""Extrema that pass over NaN (``fmax``, ``fmin``), neighbouring floating numbers, their parts, infinities by sign."""

import numpy as np

from ..core.op import op
from ..core.public import public
from . import return_types
from .arithmetic import _checked
from .compare import where
from .dims import need_tensor, scalar_name
from .samples import Sample, binary, mismatched, spread, unary
from .shape import cast


def _ignoring_nan(name, forward, wins):
    """A row whose gradient goes to the winner, to ``a`` at a tie, and never to NaN unless both are."""

    def left(g, y, a, b):
        return where(wins(a, b) | (b != b), g, 0.0)

    def right(g, y, a, b):
        return where(wins(a, b) | (b != b), 0.0, g)

    return op(
        name, forward, left, right, saves="a b", dtypes="arith", samples=binary(), errors=mismatched, ref=f"numpy.{name}",
        public=False,
        formula={"forward": f"the {'larger' if name == 'fmax' else 'smaller'} of a and b, NaN passed over",
                 "rules": ["ḡ where a wins, else 0", "ḡ where b wins, else 0"]},
    )  # fmt: skip


fmax = _checked(_ignoring_nan("fmax", "fmax", lambda a, b: a >= b), "fmax", True)
fmin = _checked(_ignoring_nan("fmin", "fmin", lambda a, b: a <= b), "fmin", True)


def _neighbour_samples():
    yield from binary()()
    yield Sample(np.array([1.0, 2.0]), np.array([1.0, 3.0]), order=0, note="equal")


nextafter_row = op(
    "nextafter", "nextafter", lambda g, y, a, b: where(a == b, 0.0, g), lambda g, y, a, b: g * 0.0, saves=("a b", ""),
    dtypes="arith", samples=_neighbour_samples, errors=mismatched, ref=lambda a, b: np.where(np.equal(a, b), b, a), public=False,
    formula={"forward": "the floating number after a towards b", "rules": ["ḡ where a ≠ b, else 0", "0"]},
)  # fmt: skip
nextafter = _checked(nextafter_row, "nextafter", True, True)


def _infinite(name, sign):
    def forward(xp, x):
        return x == sign * np.inf if x.dtype.kind == "f" else xp.zeros(x.shape, bool)[()]

    row = op(name, forward, samples=unary(order=0, special=(np.inf, -np.inf, np.nan)), ref=f"numpy.{name}", public=False)

    def function(input, *, out=None):
        need_tensor(input, name)
        if input._d.dtype.kind == "c":
            raise RuntimeError(f"{name} does not support complex inputs.")
        return row(input, out=out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Whether each element is {'+' if sign > 0 else '−'}∞. Raises: RuntimeError for complex numbers."
    return public(name)(function)


isposinf = _infinite("isposinf", 1)
isneginf = _infinite("isneginf", -1)


def _parts(xp, x):
    mantissa, exponent = xp.frexp(x)
    return mantissa, exponent.astype(np.int32)


def _parts_rule(needs, g, y, x):
    return (g[0] * 2.0 ** cast(-y[1], g[0]._d.dtype if hasattr(g[0], "_d") else g[0].dtype),)


frexp_row = op(
    "frexp", _parts, joint=_parts_rule, saves="y", kind="structure", arity=1, outputs=2, nondiff=(1,), ref=lambda x: _parts(np, x),
    samples=lambda: iter((Sample(spread((3, 4))), Sample(spread(())))),
    formula={"forward": "x = m · 2ᵉ with 0.5 ≤ |m| < 1", "rules": ["ḡ · 2⁻ᵉ"]},
)  # fmt: skip
_frexp_result = return_types.result_type("frexp", "mantissa", "exponent")


@public("frexp")
def frexp(input, *, out=None):
    """Mantissa and exponent: ``input = mantissa · 2^exponent``. Raises: RuntimeError for whole numbers."""
    need_tensor(input, "frexp")
    if input._d.dtype.kind != "f":
        raise RuntimeError(f"torch.frexp() only supports floating-point dtypes, got {scalar_name(input.dtype)}")
    return _frexp_result(frexp_row(input))
