"""TrainingView without a front end: throttled, complete at the end, and its stop button stops."""

import sys
import threading

import pytest

from autograd_lab.profile.training import TrainingLog
from autograd_lab.widgets import activity
from autograd_lab.widgets.training import TrainingView, finish_open


class Clock:
    """Time that passes when told."""

    def __init__(self):
        self.seconds = 100.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(autouse=True)
def nothing_left_running():
    yield
    finish_open()
    activity.refuse_when_busy()


def counted(view):
    sent = []
    view.observe(lambda change: sent.append(len(change["new"]["step"])), "points")
    return sent


def press(view, name, **args):
    replies = []
    view.send = replies.append
    view._receive(view, {"id": 1, "kind": "request", "name": name, "args": args}, [])
    return replies[0]


def test_at_most_four_updates_a_second_and_the_last_state_always(clock):
    view = TrainingView(total_steps=1000, now=clock)
    sent = counted(view)
    with view:
        for step in range(1000):
            view.log(step, loss=1.0 / (step + 1))
            clock.seconds += 0.01
        during = len(sent)
    assert 30 <= during <= 60
    assert view.points["step"][-1] == 999 and not view.running
    assert view.text.startswith("step 1,000 of 1,000 · 100.0 steps/s · done")


def test_a_burst_is_sent_by_itself_soon_after():
    view = TrainingView()
    arrived = threading.Event()
    view.log(0, loss=2.0)
    view.observe(lambda change: arrived.set(), "points")
    view.log(1, loss=1.0)
    assert view.points["series"]["loss"] == [2.0]
    assert arrived.wait(10)
    assert view.points["series"]["loss"] == [2.0, 1.0]


def test_without_a_block_the_last_of_the_known_steps_ends_it(clock):
    view = TrainingView(total_steps=3, now=clock)
    for step in range(3):
        assert step == 0 or view.running
        view.log(step, loss=1.0)
    assert not view.running and view.points["step"] == [0, 1, 2] and view.text.startswith("step 3 of 3")


def test_the_end_of_a_cell_ends_what_nobody_ended(clock):
    view = TrainingView(now=clock)
    view.log(0, loss=1.0)
    view.log(1, loss=0.5)
    finish_open()
    assert not view.running and view.points["step"] == [0, 1]


def test_track_walks_with_a_bar(clock, capsys):
    view = TrainingView(now=clock)
    seen = []
    for item in view.track(["a", "b", "c"]):
        seen.append(item)
        view.log(loss=len(seen))
    assert seen == ["a", "b", "c"] and view.total_steps == 3
    assert not view.running and "3/3" in capsys.readouterr().err
    assert view.numbers() == {"loss": 3.0}


def test_epochs_over_one_loader_add_up(clock):
    view = TrainingView(now=clock)
    for _ in range(2):
        for item in view.track(range(4), bar=False):
            view.log(loss=item)
    assert view.total_steps == 8 and view.points["step"] == list(range(8))
    assert view.text.startswith("step 8 of 8")


def test_the_stop_button_stops_the_walk(clock):
    view = TrainingView(now=clock)
    seen = []
    for item in view.track(range(1000), bar=False):
        seen.append(item)
        view.log(loss=1.0)
        if item == 4:
            assert press(view, "stop") == {"id": 1, "kind": "reply", "result": True}
    assert seen == [0, 1, 2, 3, 4] and view.stopped
    assert "stopped" in view.text and view.points["step"][-1] == 4
    assert list(view.track(range(10), bar=False)) == []


def test_the_stop_button_is_seen_by_a_loop_of_ones_own(clock):
    with TrainingView(total_steps=10**9, now=clock) as view:
        step = 0
        while not view.stopped:
            view.log(step, loss=1.0)
            step += 1
            if step == 7:
                view.stop_requested = True
    assert step == 7 and view.text.startswith("step 7 of 1,000,000,000")


def test_stop_from_another_thread_while_the_loop_runs():
    view = TrainingView()
    started = threading.Event()
    presser = threading.Thread(target=lambda: started.wait(10) and view.answer_stop())
    presser.start()
    for _ in view.track(iter(int, 1), bar=False):
        view.log(loss=1.0)
        started.set()
    presser.join(10)
    assert view.stopped and not view.running


def test_an_error_in_the_block_comes_through_and_the_state_is_shown(clock):
    view = TrainingView(now=clock)
    with pytest.raises(ZeroDivisionError), view:
        view.log(loss=1.0)
        view.log(loss=0.5)
        1 / 0
    assert view.points["step"] == [0, 1] and "ended by ZeroDivisionError" in view.text and not view.running


def test_an_interrupt_is_shown_as_one(clock):
    view = TrainingView(now=clock)
    with pytest.raises(KeyboardInterrupt), view:
        view.log(loss=1.0)
        raise KeyboardInterrupt
    assert "interrupted" in view.text


def test_while_it_trains_others_are_told(clock):
    with TrainingView(now=clock) as view:
        view.log(loss=1.0)
        with pytest.raises(RuntimeError, match="busy: training is running"):
            activity.refuse_when_busy()


def test_without_tqdm_it_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    view = TrainingView()
    with pytest.raises(ImportError, match=r"pip install tqdm, or track\(…, bar=False\)"):
        view.track([1])
    assert list(view.track([1], bar=False)) == [1]


def test_it_has_static_bodies_at_any_time(clock):
    view = TrainingView(title="Digits", now=clock)
    assert "No points yet" in view.svg()
    view.log(loss=0.25)
    view.finish()
    assert "Digits" in view.svg() and "loss 0.2500" in view.svg() and "loss 0.2500" in view.text
    data = view.data()
    assert data["view"] == "training" and data["points"]["series"] == {"loss": [0.25]}


def test_the_traits_are_the_schemas():
    from typing import get_type_hints

    from autograd_lab.display import schema

    assert set(get_type_hints(schema.TrainingTraits)) <= set(TrainingView().trait_names(sync=True))


def test_a_long_run_sends_a_bounded_message(clock):
    view = TrainingView(now=clock)
    with view:
        for step in range(20_000):
            view.log(step, loss=1.0)
            clock.seconds += 0.0001
    assert len(view.points["step"]) <= TrainingLog().most + 2


@pytest.mark.parametrize(("error", "said"), [(KeyboardInterrupt(), "interrupted"), (ValueError(), "ended by ValueError")])
def test_a_run_left_open_by_a_cell_says_what_ended_it(clock, error, said):
    view = TrainingView(total_steps=10, now=clock)
    loop = view.track(range(10), bar=False)
    next(loop)
    view.log(loss=1.0)
    finish_open(error)
    assert not view.running and said in view.text
    loop.close()


def test_a_loop_that_is_left_early_says_so(clock):
    view = TrainingView(now=clock)
    for step in view.track(range(10), bar=False):
        view.log(loss=1.0)
        if step == 2:
            break
    assert not view.running and "ended early" in view.text
