"""Notations: an expression of `symbols` as plain text, LaTeX and MathML, and numbers for people."""

from __future__ import annotations

import math
from html import escape
from typing import Any
from unicodedata import normalize

import numpy as np

RELATION, ADD, MUL, NEG, POWER, ATOM = range(6)
MINUS = "−"

INFIX = {
    "add": ("+", ADD), "sub": ("−", ADD), "mul": ("·", MUL), "div": ("/", MUL), "matmul": ("@", MUL),
    "gt": (">", RELATION), "ge": ("≥", RELATION), "lt": ("<", RELATION), "le": ("≤", RELATION),
    "eq": ("=", RELATION), "ne": ("≠", RELATION), "and": ("∧", RELATION), "or": ("∨", RELATION),
    "remainder": ("mod", MUL), "floor_divide": ("//", MUL),
}  # fmt: skip
_LATEX = {
    "−": "-", "·": r"\cdot", "≥": r"\ge", "≤": r"\le", "≠": r"\ne", "∧": r"\wedge", "∨": r"\vee", "@": r"\,",
    "mod": r"\bmod",
}  # fmt: skip
_FUNCTIONS = {"maximum": "max", "minimum": "min", "amax": "max", "amin": "min", "sign": "sgn", "arctan2": "atan2"}
_LATEX_FUNCTIONS = {"exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min"}
_RAISED = str.maketrans("0123456789-−+()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁺⁽⁾")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def format_number(value: Any, digits: int = 4) -> str:
    """A number for people: four significant digits, a true minus, plain rather than scientific where it fits.

    Example:
        >>> format_number(-0.00012345), format_number(1234567), format_number(3e-9)
        ('−0.0001234', '1234567', '3·10⁻⁹')
    """
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, complex | np.complexfloating):
        imaginary = format_number(value.imag, digits)
        sign = "" if imaginary.startswith(MINUS) else "+"
        return f"{format_number(value.real, digits)}{sign}{imaginary}i"
    if isinstance(value, int | np.integer):
        return str(int(value)).replace("-", MINUS)
    value = float(value)
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -5 <= exponent < 7:
        text = f"{value:.{max(digits - 1 - exponent, 0)}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return text.replace("-", MINUS)
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".").replace("-", MINUS)
    return f"{mantissa}·10{str(int(power)).translate(_RAISED)}"


class _Style:
    """One notation. Subclasses spell the pieces; `show` decides brackets."""

    name: Any
    bar: Any
    number: Any
    words: Any
    sign: Any
    row: Any
    brackets: Any
    infix: Any
    power: Any
    fraction: Any
    inverse: Any
    root: Any
    cases: Any
    function: Any

    def show(self, expr: Any, least: int = RELATION, first: bool = True) -> str:
        """`expr`, in brackets when its outermost sign binds less than `least`."""
        if expr.prec == NEG and least > RELATION:
            bare = first and least <= MUL
        else:
            bare = expr.prec >= least
        return self._show(expr, first) if bare else self.brackets(self._show(expr, True))

    def _show(self, expr: Any, first: bool) -> str:
        if expr.form == "symbol":
            return self.bar(expr.name) if expr.bar else self.name(expr.name)
        if expr.form == "number":
            return self.number(format_number(expr.value))
        if expr.form == "words":
            return self.words(expr.words)
        op, args = expr.op, expr.args
        if op == "neg":
            # −(a·b) reads −a·b
            return self.row(self.sign("−"), self.show(args[0], MUL, False))
        if op == "pow":
            return self.power(args[0], args[1])
        if op == "reciprocal":
            return self.inverse(args[0])
        if op == "div":
            return self.fraction(*args, first)
        if op == "sqrt":
            return self.root(args[0])
        if op == "abs":
            return self.row(self.sign("|"), self.show(args[0]), self.sign("|"))
        if op == "where" and len(args) == 3:
            return self.cases(*args)
        if op in INFIX and len(args) == 2:
            sign, prec = INFIX[op]
            tight = prec + 1 if op in ("sub", "remainder", "floor_divide", "matmul") else prec
            left = self.show(args[0], prec, first)
            return self.infix(left, sign, self.show(args[1], max(tight, MUL if prec else ADD), False))
        return self.function(_FUNCTIONS.get(op, op), [self.show(arg) for arg in args])


class _Text(_Style):
    def name(self, name):
        return name

    def bar(self, name):
        # Only a short name carries its bar well in plain text.
        return normalize("NFC", name[0] + "\u0304") + name[1:] if len(name) < 3 else f"grad({name})"

    def number(self, text):
        return text

    def words(self, words):
        return words

    def sign(self, sign):
        return sign

    def row(self, *parts):
        return "".join(parts)

    def brackets(self, inner):
        return f"({inner})"

    def infix(self, left, sign, right):
        return f"{left} {sign} {right}"

    def power(self, base, exponent):
        shown = self.show(base, ATOM, False)
        if exponent.form == "number" and float(exponent.value).is_integer():
            return shown + format_number(int(exponent.value)).translate(_RAISED)
        return f"{shown}^{self.show(exponent, ATOM, False)}"

    def fraction(self, above, below, first):
        return f"{self.show(above, MUL, first)} / {self.show(below, POWER, False)}"

    def inverse(self, below):
        return f"1 / {self.show(below, POWER, False)}"

    def root(self, inner):
        return "√" + self.show(inner, ATOM, False)

    def cases(self, condition, then, other):
        return f"{self.show(then, ADD)} if {self.show(condition)} else {self.show(other, ADD)}"

    def function(self, name, args):
        return f"{name}({', '.join(args)})"


class _Latex(_Style):
    def name(self, name):
        escaped = name.replace("\\", "").replace("_", r"\_").replace("{", "").replace("}", "")
        return escaped if len(name) == 1 else rf"\mathrm{{{escaped}}}"

    def bar(self, name):
        return rf"\bar{{{self.name(name)}}}"

    def number(self, text):
        base, _, power = text.partition("·10")
        base = base.replace("−", "-").replace("∞", r"\infty")
        return base + (rf" \cdot 10^{{{power.translate(_LOWERED)}}}" if power else "")

    def words(self, words):
        return rf"\text{{{words}}}"

    def sign(self, sign):
        return _LATEX.get(sign, sign)

    def row(self, *parts):
        return "".join(parts)

    def brackets(self, inner):
        return rf"\left({inner}\right)"

    def infix(self, left, sign, right):
        return f"{left} {_LATEX.get(sign, sign)} {right}"

    def power(self, base, exponent):
        return f"{self.show(base, ATOM, False)}^{{{self.show(exponent)}}}"

    def fraction(self, above, below, first):
        return rf"\frac{{{self.show(above)}}}{{{self.show(below)}}}"

    def inverse(self, below):
        return rf"\frac{{1}}{{{self.show(below)}}}"

    def root(self, inner):
        return rf"\sqrt{{{self.show(inner)}}}"

    def cases(self, condition, then, other):
        first, second = f"{self.show(then)} & {self.show(condition)}", rf"{self.show(other)} & \text{{else}}"
        return rf"\begin{{cases}}{first}\\{second}\end{{cases}}"

    def function(self, name, args):
        head = rf"\{name}" if name in _LATEX_FUNCTIONS else r"\operatorname{" + name.replace("_", r"\_") + "}"
        return rf"{head}\left({', '.join(args)}\right)"


class _Mathml(_Style):
    def name(self, name):
        return f"<mi>{escape(name)}</mi>"

    def bar(self, name):
        return f'<mover accent="true"><mi>{escape(name)}</mi><mo stretchy="false">¯</mo></mover>'

    def number(self, text):
        return f"<mn>{text}</mn>"

    def words(self, words):
        return f"<mtext>{escape(words)}</mtext>"

    def sign(self, sign):
        return f"<mo>{escape(sign)}</mo>"

    def row(self, *parts):
        return f"<mrow>{''.join(parts)}</mrow>"

    def brackets(self, inner):
        return f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"

    def infix(self, left, sign, right):
        return f"<mrow>{left}<mo>{escape(sign)}</mo>{right}</mrow>"

    def power(self, base, exponent):
        return f"<msup>{self.show(base, ATOM, False)}{self.show(exponent)}</msup>"

    def fraction(self, above, below, first):
        return f"<mfrac>{self.show(above)}{self.show(below)}</mfrac>"

    def inverse(self, below):
        return f"<mfrac><mn>1</mn>{self.show(below)}</mfrac>"

    def root(self, inner):
        return f"<msqrt>{self.show(inner)}</msqrt>"

    def cases(self, condition, then, other):
        rows = "".join(
            f"<mtr><mtd>{value}</mtd><mtd>{when}</mtd></mtr>"
            for value, when in (
                (self.show(then), f"<mtext>if </mtext>{self.show(condition)}"),
                (self.show(other), "<mtext>else</mtext>"),
            )
        )
        return f"<mrow><mo>{{</mo><mtable>{rows}</mtable></mrow>"

    def function(self, name, args):
        inner = "<mo>,</mo>".join(args)
        return f"<mrow><mi>{escape(name)}</mi><mo>&#x2061;</mo><mo>(</mo>{inner}<mo>)</mo></mrow>"


TEXT, LATEX, MATHML = _Text(), _Latex(), _Mathml()
