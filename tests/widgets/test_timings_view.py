"""DeviceTimings without a front end: shows results, measures again when asked, refuses while something trains."""

import threading

import numpy as np
import pytest

from autograd_lab.profile import DeviceComparison, compare_devices
from autograd_lab.widgets import activity
from autograd_lab.widgets.timings import DeviceTimings
from tests.doubles.async_device import Array, simulation


def ask(view):
    replies = []
    view.send = replies.append
    view._receive(view, {"id": 3, "kind": "request", "name": "bench", "args": {}}, [])
    return replies[0]


@pytest.fixture(scope="module")
def comparison():
    return compare_devices(np.tanh, np.ones, (4, 8), devices=["cpu"], min_time=1e-4, progress=False)


def test_it_shows_what_was_measured(comparison):
    view = DeviceTimings(comparison)
    assert view.view == "timings" and view.results == comparison.to_wire()
    assert not view.running and view.progress == 1.0
    assert "cuda12" in view.static_text() and "<svg" in view.static_html()
    assert view.data()["results"] == comparison.to_wire()


def test_the_traits_are_the_schemas():
    from typing import get_type_hints

    from autograd_lab.display import schema

    assert set(get_type_hints(schema.TimingsTraits)) <= set(DeviceTimings().trait_names(sync=True))


def test_an_empty_view_has_bodies():
    view = DeviceTimings()
    assert view.static_text() == "No timings yet" and "No points yet" in view.static_html()


def test_the_button_measures_again(comparison):
    view = DeviceTimings(comparison)
    states = []
    view.observe(lambda change: states.append(change["new"]), "running")
    assert ask(view) == {"id": 3, "kind": "reply", "result": {"rows": 2}}
    assert states == [True, False] and view.progress == 1.0
    assert view.comparison is not comparison and len(view.results["rows"]) == 2


def test_rows_arrive_while_it_measures():
    with simulation() as (host, _):
        found = compare_devices(
            lambda a: a @ a,
            lambda n: [Array.of(host, np.ones((n, n)))],
            (4, 8),
            ["cpu", "fake"],
            min_time=1e-6,
            progress=False,
        )
        view = DeviceTimings(found)
        shares = []
        view.observe(lambda change: shares.append(change["new"]), "progress")
        assert ask(view)["result"] == {"rows": 4}
    assert shares[0] == 0.0 and shares[1] == 0.25 and shares[-1] == 1.0


def test_while_something_trains_it_is_busy(comparison):
    view = DeviceTimings(comparison)
    with activity.working("training"):
        error = ask(view)["error"]
    assert error["kind"] == "RuntimeError" and error["text"].startswith("busy: training is running")
    assert not view.running
    assert "result" in ask(view)


def test_a_failing_function_leaves_the_old_results_and_says_where():
    fails = threading.Event()

    def fn(x):
        if fails.is_set():
            raise ArithmeticError("mine")

    view = DeviceTimings(compare_devices(fn, np.ones, [4], ["cpu"], min_time=1e-4, progress=False))
    before = view.results
    fails.set()
    reply = ask(view)
    assert reply["error"] == {"kind": "ArithmeticError", "text": "mine"}
    assert view.results == before and not view.running
    activity.refuse_when_busy()


def test_recorded_results_stand_beside_and_survive_measuring_again(comparison):
    loaded = DeviceComparison.load(comparison.to_json())
    reply = ask(DeviceTimings(loaded))
    assert reply["error"]["kind"] == "ValueError" and "recorded elsewhere" in reply["error"]["text"]
    view = DeviceTimings(comparison.beside(loaded))
    ask(view)
    assert [row["recorded"] is not None for row in view.results["rows"]] == [False, False, True, True]
