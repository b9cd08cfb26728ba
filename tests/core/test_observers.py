"""Who hears what is recorded: the line recorder in every thread, observers in theirs, and both at once."""

import threading

import pytest

import autograd_lab as lab
from autograd_lab.core.observers import Observer, observe


class Listener(Observer):
    """Counts the nodes it hears of."""

    heard = 0

    def op_recorded(self, node, operands, output):
        self.heard += 1


def has_line():
    """Whether a node that is recorded now knows its line."""
    return (lab.ones(2, requires_grad=True) * 2).grad_fn.line() is not None


@pytest.fixture(autouse=True)
def lines_off():
    yield
    lab.record_lines(False)


@pytest.mark.parametrize("before", [False, True])
def test_an_observer_and_the_line_recorder_do_not_mind_each_other(before):
    lab.record_lines(before)
    with observe(Listener()) as listener:
        assert has_line() == before
        lab.record_lines(not before)
        assert has_line() != before
    assert listener.heard == 2
    assert has_line() != before


def test_observers_nest():
    with observe(Listener()) as outer:
        has_line()
        with observe(Listener()) as inner:
            has_line()
    has_line()
    assert (outer.heard, inner.heard) == (2, 1)


def test_lines_are_switched_on_in_threads_that_run_already():
    started, switched, found = threading.Event(), threading.Event(), []

    def work():
        found.append(has_line())
        started.set()
        switched.wait(10)
        found.append(has_line())

    thread = threading.Thread(target=work)
    thread.start()
    started.wait(10)
    lab.record_lines()
    switched.set()
    thread.join()
    assert found == [False, True]
