"""Modules on the tape: boxes by call, paths on nodes, and no trace of it when nobody watches."""

import gc
import weakref

import pytest

import autograd_lab as lab
from autograd_lab import nn
from autograd_lab.core.modes import MODULE_CALLS, modes
from autograd_lab.core.observers import Observer, observe
from autograd_lab.display.live import record


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
        self.act = nn.Tanh()

    def forward(self, x):
        for layer in self.layers:
            x = self.act(layer(x))
        return x + 1


class Hiding(nn.Module):
    """Its layer stands where the model cannot see it."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.__dict__["hidden"] = nn.Sequential(nn.Tanh())

    def forward(self, x):
        return self.hidden(self.fc(x))


@pytest.fixture
def lines():
    lab.record_lines(True)
    yield
    lab.record_lines(False)


def model():
    return nn.Sequential(Block(), nn.Linear(3, 2))


def test_every_call_of_a_module_is_a_box_nested_in_its_callers(lines):
    loss = nn.MSELoss()(model()(lab.ones(2, 3)), lab.zeros(2, 2))
    graph = lab.tape(loss).graph
    groups = [(group["parent"], group["label"], group["type"]) for group in graph["groups"]]
    assert groups == [
        (-1, "Sequential", "Sequential"), (0, "0", "Block"), (1, "layers.0", "Linear"), (1, "act", "Tanh"),
        (1, "layers.1", "Linear"), (1, "act (2)", "Tanh"), (0, "1", "Linear"),
    ]  # fmt: skip
    assert [group["id"] for group in graph["groups"]] == list(range(len(groups)))
    nodes = graph["nodes"]
    boxes = {op: group for op, group in zip(nodes["op"], nodes["group"], strict=True) if op}
    assert boxes["add"] == 1 and boxes["mse_loss"] == -1


def test_parameters_stand_in_the_box_that_reads_them_and_data_outside(lines):
    x, net = lab.ones(2, 3, requires_grad=True), model()
    nodes = lab.tape(net(x)).graph["nodes"]
    groups = dict(zip(nodes["label"], nodes["group"], strict=True))
    assert (groups["0.layers.0.weight"], groups["1.bias"], groups["x"]) == (2, 6, -1)


def test_nodes_know_their_modules_path(lines):
    y = model()(lab.ones(2, 3))
    add = y.grad_fn.next_functions[0][0]
    assert y.grad_fn.metadata == {"module": "1"} and add.metadata == {"module": "0"}
    assert add.next_functions[0][0].metadata["module"] == "0.act"
    assert (lab.ones(1, requires_grad=True) * 2).grad_fn.metadata == {}


def test_a_module_hidden_from_the_model_goes_by_its_class(lines):
    graph = lab.tape(Hiding()(lab.ones(2, 3))).graph
    assert [group["label"] for group in graph["groups"]] == ["Hiding", "fc", "Sequential", "0"]


def test_a_module_alone_needs_no_box(lines):
    assert lab.tape(nn.Linear(3, 2)(lab.ones(2, 3))).graph["groups"] == []


def test_hooks_run_while_watched(lines):
    net, seen = model(), []
    net[1].register_forward_hook(lambda module, args, output: seen.append(output.grad_fn.metadata["module"]))
    net(lab.ones(2, 3))
    assert seen == ["1"]


def test_an_error_in_a_module_leaves_nothing_at_work(lines):
    with pytest.raises(RuntimeError):
        model()(lab.ones(2, 5))
    assert (modes.now.module, modes.now.scope, modes.now.paths) == (None, None, None)


def test_an_observer_is_enough():
    assert not MODULE_CALLS
    with observe(Observer()):
        y = model()(lab.ones(2, 3))
    assert y.grad_fn.metadata == {"module": "1"} and not MODULE_CALLS


def test_unwatched_nodes_carry_nothing():
    assert model()(lab.ones(2, 3)).grad_fn.extra is None


def test_recording_tells_boxes_and_keeps_no_model():
    net = model()
    with record(show=False) as tape:
        net(lab.ones(2, 3)).sum().backward()
    assert [group["label"] for group in tape.graph["groups"]][:2] == ["Sequential", "0"]
    gone = weakref.ref(net)
    del net
    gc.collect()
    assert gone() is None
