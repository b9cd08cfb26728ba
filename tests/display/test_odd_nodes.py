"""Nodes that are not one op with one real output: custom functions, several outputs, views written to, odd values."""

import json

import numpy as np
import pytest

import autograd_lab as lab
from autograd_lab.display.recording import Stepper


class Square(lab.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x


class Two(lab.autograd.Function):
    """A number, and two tensors."""

    @staticmethod
    def forward(ctx, x):
        return 5, x * 2, x + 1

    @staticmethod
    def backward(ctx, _, g, h):
        return g * 2 + (0 if h is None else h)


def leaf(*shape):
    lab.manual_seed(len(shape))
    return lab.randn(*shape).requires_grad_()


def written_through_a_view():
    y = leaf(4) * 2
    y[:2].mul_(3)
    return y.sum()


def hooked():
    x = leaf(3)
    x.register_hook(lambda grad: grad + 1)
    y = x * 2
    y.register_hook(lambda grad: grad * 5)
    return y.sum()


def parts():
    first, second, third = lab.split(leaf(6), 2)
    return first.sum() + (second * third).sum()


CASES = {
    "function": lambda: Square.apply(leaf(3)).sum(),
    "function of a scalar": lambda: Square.apply(leaf()),
    "function with several outputs": lambda: Two.apply(leaf(3))[1].sum(),
    "split": parts,
    "one part of a split": lambda: lab.split(leaf(6), 2)[2].sum(),
    "max with indices": lambda: lab.max(leaf(3, 4), dim=1)[0].sum(),
    "sort": lambda: lab.sort(leaf(5))[0].sum(),
    "view written to": written_through_a_view,
    "hooks": hooked,
    "NaN": lambda: lab.log(leaf(3) - 5).sum(),
    "Inf": lambda: (1 / (leaf(3) * 0)).sum(),
    "0-d": lambda: leaf() * 2,
    "empty": lambda: leaf(0, 3).sum(),
    "joined with an empty one": lambda: lab.cat([leaf(0, 3), leaf(2, 3)]).sum(),
    "many operands": lambda: lab.stack([leaf(2)] * 5).sum(),
    "complex": lambda: (lambda z: (z * z.conj()).real.sum())(lab.tensor([1 + 2j, 3j], requires_grad=True)),
    "half": lambda: leaf(3).to(lab.float16).exp().sum(),
    "a leaf alone": leaf,
}


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_every_node_is_drawn_and_stepped(make):
    loss = make()
    tape = lab.tape(loss)
    assert "<svg" in tape.static_html() and tape.text()
    session = Stepper(loss)
    session.step(1000)
    json.dumps(session.data(), allow_nan=False)
    assert len(session.frames) >= len([kind for kind in tape.graph["nodes"]["kind"] if kind == "op"])
    loss.backward()
    for parameter, grad in session._recording.grads:
        assert np.array_equal(grad, parameter.grad.numpy(), equal_nan=True)


def test_a_custom_function_has_its_name_and_no_formula():
    nodes = lab.tape(Square.apply(leaf(3))).graph["nodes"]
    at = nodes["op"].index("Square")
    assert (nodes["name"][at], nodes["symbol"][at], nodes["saved_bytes"][at]) == ("SquareBackward", "Square", 12)
    formulas = lab.tape(Square.apply(leaf(3))).formulas
    assert all(not formula["rules"] for formula in formulas.values())


def test_outputs_of_one_node_are_told_apart():
    session = Stepper(parts())
    texts = [frame["text"] for frame in session.frames]
    assert any("to split[1]" in text and "to split[2]" in text for text in texts)
    (split,) = [text for text in texts if text.startswith("split: ")]
    assert all(f"[{nr}] norm" in split for nr in range(3))


def test_a_rule_for_every_operand_says_so():
    formulas = lab.tape(lab.stack([leaf(2)] * 5)).formulas
    assert [[rule["slot"] for rule in formula["rules"]] for formula in formulas.values()] == [[-1]]


def test_values_that_are_not_finite_carry_the_word():
    tape = lab.tape(lab.log(leaf(3) - 5))
    assert "3 NaN" in tape.text() and ">NaN<" in tape.svg()


def test_complex_values_are_told_by_size():
    assert "|·| 2.236 … 3" in lab.tape(lab.tensor([1 + 2j, 3j], requires_grad=True)).text()
