"""Rows read as mathematics: notation, numbers put in, and every row of the registry."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import autograd_lab as lab
from autograd_lab.autograd.formula import formula
from autograd_lab.autograd.notation import format_number
from autograd_lab.autograd.symbols import SYMBOLS, Symbol, symbol
from autograd_lab.core.op import ROWS

x, a, b, y = map(symbol, "xaby")
g = Symbol("g", True)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.14672, "−0.1467"), (0.5, "0.5"), (1234567.0, "1234567"), (12345678.0, "1.235·10⁷"),
        (3e-9, "3·10⁻⁹"), (0.000012345, "0.00001234"), (float("nan"), "NaN"), (float("-inf"), "−∞"), (7, "7"),
        (True, "True"), (1 - 2j, "1−2i"), (np.float32(0.1), "0.1"),
    ],
)  # fmt: skip
def test_numbers_for_people(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("expression", "text", "latex"),
    [
        (g * (1 - y * y), "ḡ · (1 − y²)", r"\bar{g} \cdot \left(1 - y^{2}\right)"),
        (g * -SYMBOLS.sin(x), "−ḡ · sin(x)", r"-\bar{g} \cdot \sin\left(x\right)"),
        (-g * a / (b * b), "−ḡ · a / b²", r"-\frac{\bar{g} \cdot a}{b^{2}}"),
        (a - (b - x), "a − (b − x)", r"a - \left(b - x\right)"),
        (a - -b, "a + b", "a + b"),
        (a / (b / x), "a / (b / x)", r"\frac{a}{\frac{b}{x}}"),
        ((a + b) ** 2, "(a + b)²", r"\left(a + b\right)^{2}"),
        (0 * x + 1 * a, "a", "a"),
        (SYMBOLS.where(x > 0, g, 0), "ḡ if x > 0 else 0", None),
        (SYMBOLS.sqrt(a) + abs(b), "√a + |b|", None),
    ],
)
def test_notation(expression, text, latex):
    assert expression.text() == text
    assert latex is None or expression.latex() == latex
    ElementTree.fromstring(f"<math>{expression.mathml()}</math>")


def test_numbers_put_in():
    rule = g * (1 - y * y)
    assert rule.numbers({"g_bar": -0.231, "y": 0.604}) == "−0.231 · (1 − 0.604²) = −0.1467"
    assert (a * b).numbers({"a": 2, "b": -3}) == "2 · (−3) = −6"
    assert (-(a**2)).numbers({"a": -2.0}) == "−(−2)² = −4"


def test_division_by_zero_in_numbers_is_not_an_error():
    assert (g / x).numbers({"g_bar": np.float32(1), "x": np.float32(0)}) == "1 / 0 = ∞"


def test_a_symbol_has_no_truth_value():
    with pytest.raises(TypeError, match="truth value"):
        bool(x > 0)


def test_names_are_escaped_in_mathml():
    hostile = symbol("<img src=x onerror=alert(1)>")
    assert "<img" not in hostile.mathml()


@pytest.mark.parametrize("name", sorted(ROWS))
def test_every_row_has_a_formula_that_renders(name):
    op = ROWS[name]
    found = formula(op)
    assert found.forward_text().startswith("y = ") or "=" in found.forward_text()
    ElementTree.fromstring(f"<math>{found.forward_mathml()}</math>")
    for slot, rule in enumerate(found.rules):
        if rule is not None:
            assert found.rule_text(slot)
            ElementTree.fromstring(f"<math>{found.rule_mathml(slot)}</math>")


@pytest.mark.parametrize("name", "add sub mul div neg exp log tanh sigmoid relu sin cos sqrt square".split())
def test_elementary_rules_are_derived_and_right(name):
    """The formula with numbers put in gives what backward gives."""
    op = ROWS[name]
    found = formula(op)
    operands = [lab.tensor(0.7, dtype=lab.float64), lab.tensor(0.4, dtype=lab.float64)][: len(found.operands)]
    for operand in operands:
        operand.requires_grad_()
    output = op.call(*operands)
    output.backward()
    values = {"g_bar": 1.0, "y": output.item()}
    values |= {n: operand.item() for n, operand in zip(found.operands, operands, strict=True)}
    for operand, rule in zip(operands, found.rules, strict=True):
        assert rule is not None
        assert float(rule.evaluate(values)) == pytest.approx(operand.grad.item(), rel=1e-12)


def test_constants_are_put_into_the_formula():
    found = formula(ROWS["pow"], names=("u", "b"), output="v", constants={1: 2})
    assert found.forward_text() == "v = u²"
    assert re.fullmatch(r"ū = ḡ · \(?2 · u\)?", found.rule_text(0))
