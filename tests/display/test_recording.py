"""Recorded backward passes: they equal `backward()`, and leave the program as it was."""

import json

import numpy as np
import pytest

import autograd_lab as lab
from autograd_lab.display.names import Names
from autograd_lab.display.recording import Stepper, record_backward


def network():
    lab.manual_seed(0)
    x = lab.randn(3, 4)
    w = lab.randn(4, 2, requires_grad=True)
    b = lab.zeros(2, requires_grad=True)
    z = lab.tanh(x @ w + b)
    loss = (z * z).sum() + (w * w).sum()
    return w, b, loss


def stepper(loss, **names):
    return Stepper(loss, names=Names().update(names))


def test_leaf_gradients_equal_backward_bit_for_bit():
    w, b, loss = network()
    session = stepper(loss, w=w, b=b)
    session.step(len(session.frames))
    loss.backward()
    assert np.array_equal(session.grads["w"], w.grad.numpy())
    assert np.array_equal(session.grads["b"], b.grad.numpy())


def test_nothing_is_touched_until_apply():
    w, b, loss = network()
    w.grad = lab.ones(4, 2)
    session = stepper(loss, w=w, b=b)
    session.step(3)
    assert b.grad is None and (w.grad.numpy() == 1).all() and lab.is_grad_enabled()
    assert (w * 2).requires_grad
    session.apply()
    applied = w.grad.numpy().copy(), b.grad.numpy().copy()
    w.grad, b.grad = lab.ones(4, 2), None
    loss.backward()
    assert np.array_equal(applied[0], w.grad.numpy()) and np.array_equal(applied[1], b.grad.numpy())


def test_not_computed_yet_is_none_not_zero():
    w, b, loss = network()
    session = stepper(loss, w=w, b=b)
    assert session.grads == {"b": None, "w": None} or session.grads == {"w": None, "b": None}
    assert session.current is None and "w.grad  –" in session.text()


def test_moving():
    w, b, loss = network()
    session = stepper(loss, w=w, b=b)
    total = len(session.frames)
    assert session.step()["step"] == 0 and session.cursor == 1
    assert session.back() is None and session.back() is None and session.cursor == 0
    assert session.step(1000) is session.frames[-1] and session.cursor == total
    session.reset()
    assert session.cursor == 0
    assert session.run_to("tanh")["node"] == session.identify("tanh")
    assert session.run_to(w)["leaf_grad"] and session.run_to("b")["leaf_grad"]
    with pytest.raises(KeyError, match="nothing"):
        session.run_to("nothing")


def test_sums_form_where_paths_meet():
    w, b, loss = network()
    session = stepper(loss, w=w, b=b)
    to_w = [one for frame in session.frames for one in frame["sent"] if one["to"] == session.identify(w)]
    assert [one["arrived"] for one in to_w] == list(range(1, len(to_w) + 1))
    assert {one["expected"] for one in to_w} == {len(to_w)} and len(to_w) == 3
    running = np.zeros(8)
    for one in to_w:
        running = running + one["grad"]["values"]
        assert one["total"]["values"] == pytest.approx(running.tolist(), rel=1e-5, abs=1e-6)
    last = next(frame for frame in session.frames if frame["node"] == session.identify(w))
    assert to_w[-1]["total"]["values"] == last["incoming"]["values"]


def test_frames_are_strict_json_and_number_their_steps():
    w, b, loss = network()
    session = stepper(loss, w=w, b=b)
    json.dumps(session.data(), allow_nan=False)
    assert [frame["step"] for frame in session.frames] == list(range(len(session.frames)))
    assert [frame["leaf_grad"] for frame in session.frames][-2:] == [True, True]


def test_numbers_and_sentence_of_a_scalar():
    x = lab.tensor(0.7, requires_grad=True)
    y = lab.tanh(x)
    session = stepper(y, x=x, y=y)
    frame = session.step()
    assert frame["numbers"] == [{"slot": 0, "operand": "x", "index": [], "text": "1 · (1 − 0.6044²) = 0.6347"}]
    assert frame["text"] == "y: incoming 1, local derivative 0.6347, passes 0.6347 to x"
    assert session.step()["text"] == "x.grad is complete: 0.6347"


def test_both_operands_of_a_square_have_their_rule_and_numbers():
    x = lab.tensor(3.0, requires_grad=True)
    session = stepper(x * x, x=x)
    (rules,) = [one["rules"] for one in session.formulas.values()]
    assert [(rule["slot"], rule["operand"]) for rule in rules] == [(0, "x"), (1, "x")]
    frame = session.step()
    assert [(one["slot"], one["text"]) for one in frame["numbers"]] == [(0, "1 · 3 = 3"), (1, "1 · 3 = 3")]


def test_what_is_sent_finds_its_rule_by_place():
    x = lab.tensor(3.0, requires_grad=True)
    session = stepper(lab.tensor(2.0) ** x, x=x)
    (rules,) = [one["rules"] for one in session.formulas.values()]
    (sent,) = session.frames[0]["sent"]
    (rule,) = [rule for rule in rules if rule["slot"] == sent["slot"]]
    assert (sent["slot"], rule["operand"]) == (1, "x")


def test_numbers_of_a_broadcast_operand_are_terms_of_a_sum():
    b = lab.tensor(2.0, requires_grad=True)
    session = stepper((lab.tensor([1.0, 2.0, 3.0]) * b).sum(), b=b)
    texts = [one["text"] for frame in session.frames for one in frame["numbers"]]
    assert any("one of 3 terms of a sum" in one for one in texts)


def test_hooks_take_part_and_retained_gradients_stay():
    x = lab.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3.0
    y.register_hook(lambda grad: grad * 10.0)
    y.retain_grad()
    session = stepper(y.sum(), x=x)
    session.step(100)
    assert session.grads["x"].tolist() == [30.0, 30.0]
    assert y.grad is None


def test_errors_are_those_of_backward():
    w, b, loss = network()
    vector = lab.tanh(w)
    with pytest.raises(RuntimeError, match="scalar outputs"):
        record_backward(vector)
    assert record_backward(vector, lab.ones(4, 2)).frames
    with pytest.raises(RuntimeError, match="shape"):
        record_backward(vector, lab.ones(3))
    with pytest.raises(RuntimeError, match="does not require grad"):
        record_backward(lab.tensor(1.0))
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        record_backward(loss)


def test_changed_in_place_is_told():
    w = lab.tensor([1.0, 2.0], requires_grad=True)
    y = lab.exp(w)
    loss = y.sum()
    y.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        record_backward(loss)


def test_non_finite_gradients_are_spoken_of():
    x = lab.tensor([0.0, 1.0], requires_grad=True)
    session = stepper(lab.sqrt(x).sum(), x=x)
    assert "1 Inf" in session.step(100)["text"]


def test_a_long_run_keeps_key_steps_and_says_so():
    x = lab.tensor(0.5, requires_grad=True)
    y = x
    for _ in range(5000):
        y = -y
    session = stepper(y, x=x)
    assert 1000 < len(session.frames) <= 2000 and session.frames[-1]["leaf_grad"]
    assert "5,001 steps in all" in session.text()


def test_the_picture_shows_where_it_stands():
    w, b, loss = network()
    session = stepper(loss, w=w, b=b)
    assert "agl-s-current" not in session.svg().split("</style>")[1]
    session.step(2)
    assert session.svg().split("</style>")[1].count('class="agl-s-current"') == 1


def leaf(*values, dtype=None):
    return lab.tensor(list(values), dtype=dtype, requires_grad=True)


def changed_in_place(x):
    y = x * 2.0
    y[0] = 5.0
    y.add_(1.0)
    return (y * y).sum()


def parts(x):
    first, second = x.split(1)
    return (first * second).sum()


@pytest.mark.parametrize(
    "function",
    [
        changed_in_place, parts, lambda x: lab.cat([x, x * 2.0]).sum(), lambda x: x.max(dim=0).values * 2.0,
        lambda x: x[[1, 0, 1]].sum(), lambda x: lab.where(x > 1.5, x, x * x).sum(), lambda x: lab.nn.functional.gelu(x).sum(),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [lab.float32, lab.float64, lab.bfloat16], ids=str)
def test_every_kind_of_op_steps_to_the_gradient_of_backward(function, dtype):
    x = leaf(1.0, 2.0, dtype=dtype)
    loss = function(x)
    session = stepper(loss, x=x)
    session.step(1000)
    json.dumps(session.data(), allow_nan=False)
    loss.backward()
    assert session.grads["x"].tolist() == x.grad.tolist()


def test_numbers_agree_with_the_cotangent_that_was_sent():
    x = leaf(0.3, -2.0)
    session = stepper((lab.nn.functional.gelu(x) + lab.sigmoid(x) * x).sum(), x=x)
    checked = 0
    for frame in session.frames:
        for one in frame["numbers"]:
            value = float(one["text"].rpartition(" = ")[2].replace("−", "-"))
            sent = [s["grad"]["values"][one["index"][0]] for s in frame["sent"]]
            assert any(value == pytest.approx(v, rel=1e-3) for v in sent)
            checked += 1
    assert checked >= 8
