"""Rows read as mathematics: run on symbols, a forward or a rule gives an expression instead of numbers.

    >>> x = symbol("x")
    >>> (1 - x * x).text()
    '1 − x²'
    >>> (1 - x * x).numbers({"x": 0.5})
    '1 − 0.5² = 0.75'

An expression prints as plain text, LaTeX and MathML, and prints itself with numbers put in. Rows that
are not elementwise carry a written formula (see `formula.py`), which `Written` wraps in the same interface.
Simplification is only what a teacher would do without a word: 1·x is x, x·x is x², a − (−b) is a + b.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core.bind import set_symbols
from ..core.op import ROWS
from .notation import ATOM, INFIX, LATEX, MATHML, MINUS, MUL, NEG, POWER, RELATION, TEXT, format_number

_SYNONYMS = {
    "absolute": "abs", "multiply": "mul", "subtract": "sub", "divide": "div", "true_divide": "div", "power": "pow",
    "negative": "neg", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "equal": "eq",
    "not_equal": "ne", "logical_and": "and", "logical_or": "or", "bitwise_and": "and", "bitwise_or": "or",
    "logical_not": "not", "invert": "not", "mod": "remainder", "fmod": "remainder", "conjugate": "conj",
}  # fmt: skip
_SAME = {"asarray", "astype", "positive", "real", "conj", "to", "clone", "contiguous", "broadcast_to", "sum_to"}
_EVALUATE = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "pow": operator.pow,
    "neg": operator.neg, "gt": operator.gt, "ge": operator.ge, "lt": operator.lt, "le": operator.le,
    "eq": operator.eq, "ne": operator.ne, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not,
    "remainder": np.remainder, "floor_divide": np.floor_divide, "where": np.where, "square": np.square,
    "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0), "sgn": np.sign,
}  # fmt: skip


class Expr:
    """An expression; combine with operators and rows, print with `text`, `latex`, `mathml`, `numbers`."""

    __slots__ = ()
    __array_ufunc__ = None  # so that NumPy scalars leave the operators to us
    __hash__ = object.__hash__
    _is_symbol = True
    dtype = np.dtype(np.float64)  # forwards that ask are told: a real number
    prec = ATOM
    form = "call"

    def __add__(self, other):
        return call("add", self, other)

    def __radd__(self, other):
        return call("add", other, self)

    def __sub__(self, other):
        return call("sub", self, other)

    def __rsub__(self, other):
        return call("sub", other, self)

    def __mul__(self, other):
        return call("mul", self, other)

    def __rmul__(self, other):
        return call("mul", other, self)

    def __truediv__(self, other):
        return call("div", self, other)

    def __rtruediv__(self, other):
        return call("div", other, self)

    def __floordiv__(self, other):
        return call("floor_divide", self, other)

    def __mod__(self, other):
        return call("remainder", self, other)

    def __pow__(self, other):
        return call("pow", self, other)

    def __rpow__(self, other):
        return call("pow", other, self)

    def __matmul__(self, other):
        return call("matmul", self, other)

    def __rmatmul__(self, other):
        return call("matmul", other, self)

    def __neg__(self):
        return call("neg", self)

    def __pos__(self):
        return self

    def __abs__(self):
        return call("abs", self)

    def __invert__(self):
        return call("not", self)

    def __and__(self, other):
        return call("and", self, other)

    def __or__(self, other):
        return call("or", self, other)

    def __gt__(self, other):
        return call("gt", self, other)

    def __ge__(self, other):
        return call("ge", self, other)

    def __lt__(self, other):
        return call("lt", self, other)

    def __le__(self, other):
        return call("le", self, other)

    def __eq__(self, other):
        return call("eq", self, other)

    def __ne__(self, other):
        return call("ne", self, other)

    def __bool__(self):
        raise TypeError("a symbol has no truth value: this rule branches on values and needs a written formula")

    def conj(self):
        """Symbols are real."""
        return self

    def astype(self, dtype, copy=False):
        """Symbols have no dtype."""
        return self

    @property
    def real(self):
        """Symbols are real."""
        return self

    def key(self) -> Any:
        """What makes two expressions the same."""
        raise NotImplementedError

    def names(self) -> set[str]:
        """Names of the symbols in it."""
        return set()

    def substitute(self, values: dict) -> Expr:
        """The expression with numbers in the place of symbols, not simplified."""
        return self

    def evaluate(self, values: dict) -> Any:
        """Its value with NumPy."""
        raise NotImplementedError

    def text(self) -> str:
        """Plain Unicode."""
        return TEXT.show(self)

    def latex(self) -> str:
        """LaTeX without dollar signs."""
        return LATEX.show(self)

    def mathml(self) -> str:
        """Presentation MathML (core subset), without the enclosing math element."""
        return MATHML.show(self)

    def numbers(self, values: dict, result: Any = None) -> str:
        """The expression with numbers put in, and its value.

        Args:
            values: symbol name to number.
            result: the value, when it is known already (else computed here).
        """
        if result is None:
            with np.errstate(all="ignore"):
                result = self.evaluate(values)
        left, right = self.substitute(values).text(), format_number(result)
        return left if left == right else f"{left} = {right}"

    def __repr__(self) -> str:
        return self.text()


class Symbol(Expr):
    """A named quantity; `bar` marks the cotangent of it."""

    __slots__ = ("name", "bar")
    form = "symbol"

    def __init__(self, name: str, bar: bool = False):
        self.name, self.bar = name, bar

    def key(self):
        return (self.name, self.bar)

    def names(self):
        return {self.id}

    @property
    def id(self) -> str:
        """Name in a dictionary of values: ḡ is "g_bar"."""
        return self.name + "_bar" if self.bar else self.name

    def substitute(self, values):
        return Number(values[self.id]) if self.id in values else self

    def evaluate(self, values):
        return values[self.id]


class Number(Expr):
    """A number."""

    __slots__ = ("value",)
    form = "number"

    def __init__(self, value: Any):
        self.value = value.item() if isinstance(value, np.ndarray) else value

    @property
    def prec(self):
        """A negative or scientific number needs brackets inside a product or power."""
        text = format_number(self.value)
        return NEG if text.startswith(MINUS) else MUL if "·" in text else ATOM

    def key(self):
        return self.value

    def evaluate(self, values):
        return self.value


class Call(Expr):
    """A function or operator applied to expressions."""

    __slots__ = ("op", "args")

    def __init__(self, op: str, args: tuple):
        self.op, self.args = op, args

    @property
    def prec(self):
        """Binding strength of its outermost sign."""
        if self.op in INFIX:
            return INFIX[self.op][1]
        return {"neg": NEG, "pow": POWER, "square": POWER, "reciprocal": MUL, "where": RELATION}.get(self.op, ATOM)

    def key(self):
        return (self.op, *[arg.key() for arg in self.args])

    def names(self):
        return set().union(*[arg.names() for arg in self.args])

    def substitute(self, values):
        return Call(self.op, tuple(arg.substitute(values) for arg in self.args))

    def evaluate(self, values):
        args = [arg.evaluate(values) for arg in self.args]
        function = _EVALUATE.get(self.op) or getattr(np, self.op, None) or ROWS[self.op].call
        return function(*args)


def symbol(name: str) -> Symbol:
    """A symbol to build expressions from."""
    return Symbol(name)


def as_expr(value: Any) -> Expr:
    """Numbers become `Number`; expressions stay."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, bool | int | float | complex | np.generic) or getattr(value, "shape", None) == ():
        return Number(value)
    raise TypeError(f"no symbol for a {type(value).__name__}")


def _is(expr: Expr, value: float) -> bool:
    return isinstance(expr, Number) and type(expr.value) is not bool and bool(expr.value == value)


def _negated(expr: Expr) -> Expr | None:
    """x for −x, else None."""
    if isinstance(expr, Call) and expr.op == "neg":
        return expr.args[0]
    if isinstance(expr, Number) and not isinstance(expr.value, bool | complex | np.generic) and expr.value < 0:
        return Number(-expr.value)
    return None


def _simpler(op: str, a: Expr, b: Expr) -> Expr | None:
    """The form a teacher would write at once, or None."""
    if op in ("add", "sub"):
        return _simpler_sum(op, a, b)
    if op == "mul":
        return _simpler_product(a, b)
    if _is(b, 1):
        return a
    if op == "div":
        left = _negated(a)
        return None if left is None else Call("neg", (call("div", left, b),))
    return call("sqrt", a) if _is(b, 0.5) else None


def _simpler_sum(op: str, a: Expr, b: Expr) -> Expr | None:
    if _is(b, 0):
        return a
    if _is(a, 0):
        return b if op == "add" else call("neg", b)
    positive = _negated(b)
    return None if positive is None else call("sub" if op == "add" else "add", a, positive)


def _simpler_product(a: Expr, b: Expr) -> Expr | None:
    if _is(a, 0) or _is(b, 0):
        return Number(0)
    if _is(a, 1) or _is(b, 1):
        return b if _is(a, 1) else a
    left, right = _negated(a), _negated(b)
    if left is not None or right is not None:
        product = call("mul", a if left is None else left, b if right is None else right)
        return product if left is not None and right is not None else Call("neg", (product,))
    if isinstance(b, Call) and b.op == "reciprocal":
        return call("div", a, b.args[0])
    if isinstance(b, Number):
        return None
    if a.key() == b.key():
        return call("pow", a, 2)
    if isinstance(a, Call) and a.op == "mul" and a.args[1].key() == b.key():
        return call("mul", a.args[0], call("pow", b, 2))
    return None


def call(op: str, *args: Any) -> Expr:
    """Apply a function or operator by name; the place where simplification happens."""
    op = _SYNONYMS.get(op, op)
    parts = tuple(as_expr(arg) for arg in args if arg is not None)
    if op in _SAME:
        return parts[0]
    if op == "square":
        op, parts = "pow", (parts[0], Number(2))
    found = None
    if op == "neg":
        found = _negated(parts[0])
    elif op in ("add", "sub", "mul", "div", "pow"):
        found = _simpler(op, *parts)
    return Call(op, parts) if found is None else found


class Namespace:
    """The symbol namespace: `xp` of a row's forward when an operand is a symbol."""

    pi, e, inf, nan = math.pi, math.e, math.inf, math.nan

    def bind(self, row: Any, operands: tuple, params: tuple) -> Expr:
        """A row applied to symbols: a name everybody knows stays, else its forward is written out."""
        if row.name in _EVALUATE or row.name in INFIX or row.name in _SAME or hasattr(np, row.name):
            return call(row.name, *operands)
        if row.kind != "elementwise":
            raise TypeError(f"{row.name} has no symbolic reading: write a formula in the row")
        if isinstance(row.forward, str):
            return call(row.forward, *operands)
        try:
            return as_expr(row.forward(self, *operands, *params))
        except Exception:
            return call(row.name, *operands)  # computed by other means than xp's functions: known by its name

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(name)

        def function(*args, **options):
            # `out`, `dtype` and the like say how to compute, not what.
            if name in _SAME:
                return as_expr(args[0])
            return call(name, *args)

        return function


SYMBOLS = Namespace()
set_symbols(SYMBOLS)


class Written(Expr):
    """A formula that the row's author wrote as Unicode text."""

    __slots__ = ("words",)
    form = "words"

    def __init__(self, words: str):
        self.words = words

    def key(self):
        return self.words

    def numbers(self, values, result=None):
        """Written formulas take no numbers."""
        return ""
