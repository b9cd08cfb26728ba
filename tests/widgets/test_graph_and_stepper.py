"""Graph and stepper widgets without a browser: traits, requests, bundles."""

import time

import pytest

import autograd_lab as lab
from autograd_lab import widgets
from autograd_lab.display import schema
from autograd_lab.display.document import Tape
from autograd_lab.display.live import record
from autograd_lab.widgets.graph import TapeGraph
from autograd_lab.widgets.stepper import BackwardStepper

LIVE = "application/vnd.jupyter.widget-view+json"


def program():
    x = lab.tensor([1.0, 2.0], requires_grad=True)
    return x, (lab.tanh(x) * 3.0).sum()


def listen(widget):
    sent = []
    widget.send = lambda message, buffers=None: sent.append(message)
    return sent


@pytest.mark.parametrize(
    ("make", "traits"),
    [
        (lambda loss: TapeGraph(Tape.of(loss)), schema.GraphTraits),
        (lambda loss: widgets.step(loss), schema.StepperTraits),
    ],
)
def test_traits_are_those_of_the_schema(make, traits):
    widget = make(program()[1])
    synced = {name for name in widget.keys if not name.startswith("_")}
    assert set(traits.__annotations__) <= synced
    assert widget.protocol == schema.PROTOCOL
    assert set(widget.data()) <= set(schema.MountData.__annotations__)


def test_the_bundle_is_sent_as_text():
    widget = TapeGraph(Tape.of(program()[1]))
    assert "export" in widget._esm and ".agl" in widget._css


def test_making_a_view_headless_returns_at_once():
    x, loss = program()
    TapeGraph(Tape.of(loss))
    begin = time.perf_counter()
    TapeGraph(Tape.of(loss))
    assert time.perf_counter() - begin < 0.5


def test_view_and_picture_are_two_outputs():
    stepper = widgets.step(program()[1])
    data, metadata = stepper.live_bundle()
    assert LIVE in data and metadata["autograd_lab"] == "stepper" and "0 of" in data["text/plain"]
    static = stepper.static_bundle()
    assert set(static) == {"text/plain", "text/html", schema.MIME} and "agl-picture" in static["text/html"]


def test_stepping_moves_the_cursor_and_the_cursor_steps():
    x, loss = program()
    stepper = widgets.step(loss)
    assert isinstance(stepper, BackwardStepper)
    stepper.step(2)
    assert stepper.cursor == 2
    stepper.cursor = len(stepper.frames)
    assert stepper.session.cursor == len(stepper.frames)
    loss.backward()
    assert stepper.grads["x"].tolist() == x.grad.tolist()
    stepper.reset()
    assert stepper.cursor == 0 and stepper.grads == {"x": None}


def test_requests_are_answered_by_id_and_errors_come_back():
    stepper = widgets.step(program()[1])
    sent = listen(stepper)
    ask = {"kind": "request", "args": {"cursor": 2}}
    stepper._receive(stepper, {**ask, "id": 1, "name": "goto"}, [])
    stepper._receive(stepper, {**ask, "id": 2, "name": "bench"}, [])
    stepper._receive(stepper, {**ask, "id": 3, "name": "goto", "args": {"wrong": 1}}, [])
    stepper._receive(stepper, {"kind": "something else"}, [])
    assert sent[0] == {"id": 1, "kind": "reply", "result": {"cursor": 2}} and stepper.cursor == 2
    assert [(m["id"], m["error"]["kind"]) for m in sent[1:]] == [(2, "ValueError"), (3, "TypeError")]


def test_a_tensor_request_tells_what_is_known():
    x, loss = program()
    graph = TapeGraph(Tape.of(loss))
    sent = listen(graph)
    root = graph.graph["roots"][0]
    graph._receive(graph, {"kind": "request", "id": 1, "name": "tensor", "args": {"node": root}}, [])
    graph._receive(graph, {"kind": "request", "id": 2, "name": "tensor", "args": {"node": 10**9}}, [])
    assert sent[0]["result"]["value"]["values"] == [pytest.approx(loss.item())]
    assert sent[1]["error"]["kind"] == "KeyError"


def test_a_recording_settles_into_the_trait():
    x = lab.tensor([1.0], requires_grad=True)
    with record() as tape:
        tape.widget = widgets.follow_view(tape)
        assert tape.widget.recording
        sent = listen(tape.widget)
        lab.tanh(x)
        widget, tape.widget = tape.widget, tape.widget
    assert sent[-1]["kind"] == "append" and sent[-1]["nodes"]["op"] == ["", "tanh"]
    assert widget.graph["nodes"]["op"] == ["", "tanh"] and not widget.recording
