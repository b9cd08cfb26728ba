"""Comparison, logic and selection. Comparisons have no derivative; ``where`` sends the gradient to the chosen branch only."""

import numpy as np

from ..core.op import op
from .samples import Sample, binary, mismatched, spread, unary


def _compare(name, function, symbol):
    return op(
        name, function, arity=2, dtypes="compare", symbol=symbol, samples=binary(order=0), errors=mismatched,
        ref=f"numpy.{function}",
    )  # fmt: skip


eq = _compare("eq", "equal", "=")
ne = _compare("ne", "not_equal", "≠")
lt = _compare("lt", "less", "<")
le = _compare("le", "less_equal", "≤")
gt = _compare("gt", "greater", ">")
ge = _compare("ge", "greater_equal", "≥")
logical_and = _compare("logical_and", "logical_and", "∧")
logical_or = _compare("logical_or", "logical_or", "∨")
logical_xor = _compare("logical_xor", "logical_xor", "⊻")
logical_not = op("logical_not", "logical_not", samples=unary(order=0), ref="numpy.logical_not", symbol="¬")
isnan = op("isnan", "isnan", samples=unary(order=0, special=(np.nan, np.inf)), ref="numpy.isnan")
isinf = op("isinf", "isinf", samples=unary(order=0, special=(np.nan, np.inf)), ref="numpy.isinf")
isfinite = op("isfinite", "isfinite", samples=unary(order=0, special=(np.nan, np.inf)), ref="numpy.isfinite")


def _bits(name, function, symbol):
    def samples():
        a = np.arange(12).reshape(3, 4)
        yield Sample(a, a[0] + 3, order=0)
        yield Sample(a > 5, a[0] > 1, order=0, note="bool")

    return op(name, function, arity=2, dtypes="arith", kind="elementwise", symbol=symbol, samples=samples, ref=f"numpy.{function}")


bitwise_and = _bits("bitwise_and", "bitwise_and", "&")
bitwise_or = _bits("bitwise_or", "bitwise_or", "|")
bitwise_xor = _bits("bitwise_xor", "bitwise_xor", "^")
bitwise_not = op(
    "bitwise_not", "invert", symbol="~", ref="numpy.invert",
    samples=lambda: iter((Sample(np.arange(6), order=0), Sample(np.arange(6) > 2, order=0, note="bool"))),
)  # fmt: skip


def _where_samples():
    a, b = spread((3, 4)), spread((3, 4), seed=1)
    yield Sample(a > 0, a, b, wrt=(1, 2))
    yield Sample(a > 0, a, b[0], wrt=(1, 2), note="broadcast")
    yield Sample(a[:, :1] > 0, a, 2.0, wrt=(1,), note="number")
    yield Sample(np.zeros((0, 4), bool), a[0], b[0], order=0, note="empty")


where = op(
    "where", "where", None, lambda g, y, c, a, b: where(c, g, 0.0), lambda g, y, c, a, b: where(c, 0.0, g),
    saves="c", dtypes="tail", samples=_where_samples, ref="numpy.where",
    formula={"forward": "a where c, else b", "rules": ["", "ḡ where c, else 0", "0 where c, else ḡ"]},
)  # fmt: skip
