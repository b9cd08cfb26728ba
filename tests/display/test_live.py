"""`lab.record()`: the tape grows while a block runs, headless too."""

import time
import weakref

import pytest

import autograd_lab as lab
from autograd_lab.display.live import LiveTape, record


class View:
    """Stands in for the widget."""

    def __init__(self):
        self.events, self.settled = [], None

    def append(self, event):
        self.events.append(event)

    def settle(self, document):
        self.settled = document


def test_headless_recording_collects_everything(capsys):
    w = lab.tensor([1.0, 2.0], requires_grad=True)
    with record() as tape:
        z = lab.tanh(w)
        loss = z.sum()
    assert tape.graph["nodes"]["op"] == ["", "tanh", "sum"]
    assert tape.graph["nodes"]["label"] == ["w", "z", "loss"]
    assert tape.graph["roots"] == [loss.grad_fn.seq]
    assert "loss = sum" in str(tape) and not capsys.readouterr().out


def test_events_come_in_batches_and_add_up():
    w = lab.tensor([1.0, 2.0], requires_grad=True)
    tape, view = LiveTape(show=False, interval=0.0), View()
    with tape:
        tape.widget = view
        for _ in range(50):
            lab.tanh(w)
            time.sleep(0.001)
        tape.widget, kept = None, view
    ids = [identity for event in kept.events for identity in event["nodes"]["id"]]
    assert 1 < len(kept.events) <= 50 and len(ids) == len(set(ids))
    assert len(tape) == 51


def test_the_end_is_told_also_after_an_error():
    w = lab.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(ValueError), record() as tape:
        lab.tanh(w)
        raise ValueError
    assert len(tape) == 2
    lab.tanh(w)
    assert len(tape) == 2


def test_watching_keeps_no_graph_alive():
    w = lab.tensor([1.0, 2.0], requires_grad=True)
    tape = LiveTape(show=False, interval=0.0)
    nodes = []
    with tape:
        for _ in range(20):
            nodes.append(weakref.ref(lab.tanh(w).grad_fn))
            time.sleep(0.001)
        assert sum(node() is not None for node in nodes) <= 2
    assert not any(node() for node in nodes)
