"""The sweep: order, accumulation, shared parts, several outputs, freeing, higher orders. PyTorch is the oracle."""

import gc
import sys
import weakref

import numpy as np
import pytest
import torch

import autograd_lab as lab
from autograd_lab.autograd import backward, grad
from autograd_lab.autograd.engine import Step, sweep
from autograd_lab.core.observers import Observer, observe
from autograd_lab.core.tape import Node, record_lines
from autograd_lab.core.tensor import Tensor

LIBRARIES = pytest.mark.parametrize("lib", [lab, torch], ids=["lab", "torch"])


def leaf(lib, values, dtype=None):
    return lib.tensor(values, dtype=dtype or lib.float64, requires_grad=True)


# ----- accumulation -----


@LIBRARIES
def test_order_matters_for_shared_parts(lib):
    """The counter-example to plain recursion: y = (c + d) + (c · d)."""
    a, b = leaf(lib, 2.0), leaf(lib, 3.0)
    c, d = a + b, a * b
    y = (c + d) + (c * d)
    y.backward()
    assert (a.grad.item(), b.grad.item()) == (25, 19)


@LIBRARIES
def test_the_same_tensor_twice_in_one_op(lib):
    x = leaf(lib, [3.0])
    (x * x + x - x / x).sum().backward()
    assert x.grad.tolist() == [7]


@LIBRARIES
def test_a_diamond_of_depth_sixty_takes_sixty_steps(lib):
    x = y = leaf(lib, 1.0)
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0**60


@LIBRARIES
def test_gradients_accumulate_over_backwards(lib):
    x = leaf(lib, [1.0, 2.0])
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first and x.grad.tolist() == [5, 5]


@LIBRARIES
def test_broadcast_operands_get_sums(lib):
    x, row, number = leaf(lib, [[1.0, 2.0], [3.0, 4.0]]), leaf(lib, [10.0, 20.0]), leaf(lib, 2.0)
    (x * row * number).sum().backward()
    assert x.grad.tolist() == [[20, 40], [20, 40]] and row.grad.tolist() == [8, 12] and number.grad.item() == 160


@LIBRARIES
def test_dtypes_of_gradients_are_those_of_leaves(lib):
    x, w = leaf(lib, [1.0, 2.0], lib.float32), leaf(lib, [3.0, 4.0], lib.float64)
    (x * w).sum().backward()
    assert (x.grad.dtype, w.grad.dtype) == (lib.float32, lib.float64)


@LIBRARIES
def test_several_roots_and_seeds(lib):
    x = leaf(lib, [1.0, 2.0])
    y, z = x * 2, (x * x).sum()
    lib.autograd.backward([y, z], [lib.tensor([1.0, 10.0], dtype=lib.float64), None])
    assert x.grad.tolist() == [4, 24]


@LIBRARIES
def test_a_root_that_another_root_passes_through(lib):
    x = leaf(lib, [1.0])
    y = x * 2
    z = y * 3
    lib.autograd.backward([y, z], [lib.ones(1, dtype=lib.float64)] * 2)
    assert x.grad.tolist() == [8]


@LIBRARIES
def test_backward_of_a_leaf(lib):
    x = leaf(lib, 3.0)
    x.backward()
    assert x.grad.item() == 1


@LIBRARIES
def test_outputs_of_one_node_meet_again(lib):
    x = leaf(lib, [[3.0, 1.0], [2.0, 5.0]])
    values, indices = x.max(1)
    assert not indices.requires_grad and values.requires_grad
    parts = x.split(1, 0)
    (values.sum() + (parts[0] * parts[1]).sum() + parts[0].sum()).backward()
    assert x.grad.tolist() == [[4, 6], [3, 2]]


@LIBRARIES
def test_one_output_of_several_used(lib):
    x = leaf(lib, [1.0, 2.0, 3.0])
    x.unbind(0)[1].backward()
    assert x.grad.tolist() == [0, 1, 0]


# ----- freeing -----


@LIBRARIES
def test_a_second_backward_needs_retain_graph(lib):
    x = leaf(lib, [2.0])
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


@LIBRARIES
def test_an_op_that_saved_nothing_can_go_twice(lib):
    x = leaf(lib, [2.0])
    y = x + 1
    y.backward()
    y.backward()
    assert x.grad.item() == 2


def test_the_freed_error_names_node_line_and_cure():
    record_lines()
    try:
        x = leaf(lab, [2.0])
        y = x.exp()  # recorded here
    finally:
        record_lines(False)
    y.backward()
    with pytest.raises(RuntimeError) as caught:
        y.backward()
    text = str(caught.value)
    assert "ExpBackward0 was recorded at test_engine.py, line" in text and "y = x.exp()" in text
    assert "retain_graph=True" in text and "detach()" in text


def test_saved_values_go_with_backward():
    x = leaf(lab, np.ones(1000))
    y = x * 2
    held = weakref.ref(y)
    z = (y * y).sum()
    del y
    assert held() is not None
    z.backward()
    assert held() is None


# ----- higher orders -----


@LIBRARIES
def test_four_derivatives_by_create_graph(lib):
    x = leaf(lib, [0.7])
    g, out = (x**5 * x.exp()).sum(), []
    for _ in range(4):
        (g,) = lib.autograd.grad(g, x, create_graph=True)
        out.append(g.item())
        g = g.sum()
    polynomials = ([5, 1], [20, 10, 1], [60, 60, 15, 1], [120, 240, 120, 20, 1])
    assert out == pytest.approx(
        [np.exp(0.7) * sum(k * 0.7 ** (5 - n + i) for i, k in enumerate(p)) for n, p in enumerate(polynomials, 1)]
    )


@LIBRARIES
def test_backward_with_create_graph_puts_grad_on_the_tape(lib):
    x = leaf(lib, [2.0])
    with pytest.warns(UserWarning) if lib is torch else np.errstate():
        (x**3).sum().backward(create_graph=True)
    assert x.grad.requires_grad and x.grad.item() == 12
    g = x.grad
    x.grad = None
    g.sum().backward()
    assert x.grad.item() == 12


@LIBRARIES
def test_hessian_vector_product(lib):
    x, v = leaf(lib, [1.0, 2.0, 3.0]), lib.tensor([1.0, 0.0, -1.0], dtype=lib.float64)
    (g,) = lib.autograd.grad((x.prod() + (x**3).sum()), x, create_graph=True)
    (hv,) = lib.autograd.grad(g @ v, x)
    assert hv.tolist() == pytest.approx([6 - 2, 3 - 1, 2 - 18])


# ----- the generator -----


def model():
    generator = np.random.default_rng(3)
    w, b, x = (leaf(lab, generator.normal(size=s), lab.float32) for s in ((5, 4), (5,), (7, 4)))
    h = (x @ w.T + b).tanh()
    return (w, b, x), ((h * h).sum() + h.max(1)[0].mean() + (w * 0.1).sum())


@pytest.mark.parametrize("create_graph", [False, True])
def test_stepping_equals_backward_bit_for_bit(create_graph):
    leaves, loss = model()
    loss.backward(create_graph=create_graph)
    expected = [t.grad.detach().numpy() for t in leaves]
    leaves, loss = model()
    one = lab.ones(()) if create_graph else np.float32(1)
    steps = list(sweep([loss], [one], create_graph=create_graph))
    for t, e in zip(leaves, expected, strict=True):
        assert t.grad.detach().numpy().tobytes() == e.tobytes()
    assert all(type(s) is Step for s in steps)
    nodes = [s.node for s in steps if type(s.node) is Node]
    assert [n.seq for n in nodes] == sorted((n.seq for n in nodes), reverse=True)
    assert [s.node for s in steps[len(nodes) :]] and all(isinstance(s.node, Tensor) for s in steps[len(nodes) :])


def test_a_step_tells_what_was_sent_and_what_has_arrived():
    a, b = leaf(lab, 2.0), leaf(lab, 3.0)
    c = a * b
    y = c + c * a
    steps = list(sweep([y], [np.float64(1)], accumulate=False))
    names = [s.node.name() if type(s.node) is Node else "leaf" for s in steps]
    assert names == ["AddBackward0", "MulBackward0", "MulBackward0", "leaf", "leaf"]
    assert [float(g) for g in steps[1].grads] == [2.0, 6.0] and [float(t) for t in steps[1].totals] == [3.0, 6.0]
    assert float(steps[2].g) == 3.0
    assert a.grad is None and {float(s.g) for s in steps[3:]} == {15.0, 6.0}


def test_a_paused_sweep_leaves_recording_on():
    for create_graph in (False, True):
        _, loss = model()
        for _ in sweep([loss], [lab.ones(()) if create_graph else np.float32(1)], create_graph=create_graph):
            assert lab.is_grad_enabled() and (leaf(lab, 1.0) * 2).requires_grad
            with lab.no_grad():
                assert not lab.is_grad_enabled()


def test_a_paused_create_graph_sweep_records_under_no_grad():
    x = leaf(lab, [2.0])
    y = (x**3).sum()
    with lab.no_grad():
        for _ in sweep([y], [lab.ones((), dtype=lab.float64)], create_graph=True):
            assert not lab.is_grad_enabled()
    assert x.grad.requires_grad


def test_an_abandoned_sweep_tells_observers():
    heard = Recorder()
    with observe(heard):
        _, loss = model()
        stepper = sweep([loss], [np.float32(1)])
        next(stepper)
        stepper.close()
    assert heard.events[-1] == "ended"


class Recorder(Observer):
    """Notes what it hears."""

    def __init__(self):
        self.events = []

    def op_recorded(self, node, operands, output):
        self.events.append(("op", node.op.name, not isinstance(output, Tensor) or output.shape == node.shape))

    def backward_begun(self, roots):
        self.events.append(("begun", len(roots)))

    def node_done(self, step):
        self.events.append(("done", step.node.op.name))

    def gradient_accumulated(self, leaf, grad):
        self.events.append(("grad", grad is leaf.grad))

    def backward_ended(self):
        self.events.append("ended")


def test_observers_hear_everything_in_order():
    heard, inner = Recorder(), Recorder()
    with observe(heard):
        x = leaf(lab, [2.0])
        y = x.exp()
        with observe(inner):
            z = y * 3
        z.backward()
    (x * 2).backward()
    assert heard.events == [
        ("op", "exp", True), ("op", "mul", True), ("begun", 1), ("done", "mul"), ("done", "exp"), ("grad", True), "ended",
    ]  # fmt: skip
    assert inner.events == [("op", "mul", True)]


def test_observers_hear_the_end_of_a_failed_backward():
    heard, x = Recorder(), leaf(lab, [2.0])
    y = x.exp()
    y.backward()
    with observe(heard), pytest.raises(RuntimeError):
        y.backward()
    assert heard.events == [("begun", 1), "ended"]


# ----- cycles -----


def test_no_reference_cycle_keeps_a_tape_alive():
    gc.disable()
    try:
        x = leaf(lab, np.ones((4, 4)))
        h = x
        for _ in range(3):
            h = (h @ x).tanh().exp().softmax(1)
        parts = h.split(2, 0)
        v = h[1:]
        h2 = h * 1
        h2[0] = 5.0
        loss = (parts[0] * parts[1]).sum() + v.sum() + h2.sum()
        watched = [weakref.ref(o) for o in (h, loss, parts[0], v, loss.grad_fn, h.grad_fn, h2)]
        loss.backward(create_graph=True)
        x.grad = None
        del h, parts, v, h2, loss
        assert [r for r in watched if r() is not None] == []
    finally:
        gc.enable()


def test_hooks_and_retained_gradients_make_no_cycle():
    gc.disable()
    try:
        x = leaf(lab, [1.0])
        y = x * 2
        y.retain_grad()
        y.register_hook(lambda g: g * 2)
        node, held = weakref.ref(y.grad_fn), weakref.ref(y)
        y.sum().backward()
        assert y.grad.item() == 2
        del y
        assert node() is None and held() is None
    finally:
        gc.enable()


def test_ten_thousand_leaves():
    leaves = [leaf(lab, 1.0) for _ in range(10_000)]
    total = leaves[0]
    for t in leaves[1:]:
        total = total + t
    total.backward()
    assert all(t.grad.item() == 1 for t in leaves)
    assert len(grad(lab.stack(leaves).sum(), leaves)) == 10_000


def test_the_recursion_limit_plays_no_part():
    limit = sys.getrecursionlimit()
    x = y = leaf(lab, 1.0)
    for _ in range(20_000):
        y = y * 1.0 + 0.0
    sys.setrecursionlimit(200)
    try:
        backward(y)
        repr(y), y.grad_fn.next_functions, repr(y.grad_fn)
        del y
    finally:
        sys.setrecursionlimit(limit)
    assert x.grad.item() == 1
