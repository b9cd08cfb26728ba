"""The formula of a row: its forward and rules run on symbols, or the words its author wrote (`op.formula`)."""

from __future__ import annotations

import re
from typing import Any
from unicodedata import normalize

from .notation import MATHML, TEXT
from .symbols import SYMBOLS, Call, Expr, Symbol, Written, as_expr, call


class Formula:
    """An op in mathematics: `output` = forward, and what each operand is sent in backward.

    operands  their names;  output  name of the result
    forward   Expr;  rules  one Expr or None per operand
    """

    __slots__ = ("operands", "output", "forward", "rules")

    def __init__(self, operands, output, forward, rules):
        self.operands, self.output, self.forward, self.rules = operands, output, forward, rules

    def forward_text(self) -> str:
        """y = tanh(x)"""
        return _equation(self.output, self.forward, TEXT)

    def forward_mathml(self) -> str:
        """The same as MathML."""
        return _equation(self.output, self.forward, MATHML)

    def rule_text(self, slot: int) -> str:
        """x̄ = ḡ · (1 − y²)"""
        return _equation(Symbol(self.operands[slot], True), self.rules[slot], TEXT)

    def rule_mathml(self, slot: int) -> str:
        """The same as MathML."""
        return _equation(Symbol(self.operands[slot], True), self.rules[slot], MATHML)


def _equation(left: Any, right: Expr, style: Any) -> str:
    if type(right) is Written and "=" in right.words:
        return style.show(right)
    left = Symbol(left) if isinstance(left, str) else left
    return style.infix(style.show(left), "=", style.show(right))


def operand_names(op: Any, count: int | None = None) -> tuple[str, ...]:
    """Names of a row's operands as its rules spell them; x0, x1, … where there are none."""
    if op.joint is not None:
        names, skip = op.joint.__code__.co_varnames, 3
    else:
        rule = next((rule for rule in op.rules if rule is not None), None)
        names, skip = (rule.__code__.co_varnames, 2) if rule is not None else ((), 0)
    arity = count if count is not None else (op.arity if isinstance(op.arity, int) else 1)
    found = names[skip : skip + arity] if isinstance(op.arity, int) else ()
    if len(found) < arity or len(set(found)) < arity:
        return ("x",) if arity == 1 else tuple(f"x{i}" for i in range(arity))
    return tuple(name.strip("_") or f"x{i}" for i, name in enumerate(found))


def _written(op: Any, place: Any, names: tuple[str, ...]) -> Written | None:
    found = op.formula or {}
    rules = found.get("rules", ())
    words = found.get("forward") if place == "forward" else rules[place] if place < len(rules) else None
    return Written(_renamed(words, dict(zip(operand_names(op, len(names)), names, strict=True)))) if words else None


def _renamed(words: str, names: dict[str, str]) -> str:
    """A written formula with the learner's names; an "a" before a word is an article and stays."""
    wanted = "|".join(re.escape(name) for name in names)
    pattern = rf"(?<![A-Za-z0-9_])(?!a [a-z]{{2}})({wanted})(?![A-Za-z0-9_\u0304])"
    return normalize("NFC", re.sub(pattern, lambda match: names[match.group()], words))


def _forward(op: Any, names: tuple[str, ...], operands: list, params: tuple, derive: bool) -> Expr:
    written = _written(op, "forward", names)
    if written is not None and not derive:
        return written
    if op.kind == "elementwise":
        try:
            if isinstance(op.forward, str):
                return call(op.forward, *operands)
            return as_expr(op.forward(SYMBOLS, *operands, *params))
        except Exception:
            pass  # a forward with tricks of its own is named instead of derived
    return written or Call(op.name, tuple(as_expr(operand) for operand in operands))


def _rules(
    op: Any, names: tuple[str, ...], y: Expr, operands: list, params: tuple, derive: bool
) -> list[Expr | None]:
    g = Symbol("g", True)
    written: list[Expr | None] = [_written(op, slot, names) for slot in range(len(operands))]
    if op.kind != "elementwise" or (any(rule is not None for rule in written) and not derive):
        return written
    if op.joint is not None:
        try:
            return [as_expr(r) for r in op.joint((True,) * len(operands), g, y, *operands, *params)]
        except Exception:
            return written
    found: list[Expr | None] = []
    for slot, rule in enumerate(op.rules):
        try:
            found.append(None if rule is None else as_expr(rule(g, y, *operands, *params)))
        except Exception:
            found.append(written[slot] if slot < len(written) else None)
    return found


def formula(
    op: Any,
    params: tuple = (),
    names: tuple[str, ...] | None = None,
    output: str = "y",
    constants: dict[int, Any] | None = None,
) -> Formula:
    """The formula of a row.

    Args:
        op: the row.
        params: its parameters that are not operands.
        names: names of the operands, as its rules spell them when not given.
        output: name of the result.
        constants: operands that are plain numbers, by place; they are put in, and x ** 2 reads x².
    """
    names = names or operand_names(op)
    constants = constants or {}
    operands = [constants.get(slot, Symbol(name)) for slot, name in enumerate(names)]
    forward = _forward(op, names, operands, params, bool(constants))
    rules = _rules(op, names, Symbol(output), operands, params, bool(constants))
    return Formula(names, output, forward, rules)
