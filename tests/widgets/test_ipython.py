"""The IPython extension: hooks around cells, names and lines, and what unloading leaves behind."""

import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import autograd_lab as lab
from autograd_lab import ipython
from autograd_lab.core.modes import modes
from autograd_lab.display import snapshot
from autograd_lab.widgets import activity

BUSY = """
from autograd_lab.widgets import activity
try:
    activity.refuse_when_busy()
    said = "idle"
except RuntimeError as error:
    said = str(error)
"""


@pytest.fixture(scope="module")
def shell():
    made = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    yield made
    InteractiveShell.clear_instance()


@pytest.fixture
def loaded(shell):
    shell.reset()
    lab.load_ipython_extension(shell)
    yield shell
    lab.unload_ipython_extension(shell)


def test_a_cell_counts_as_work_until_it_ends(loaded):
    loaded.run_cell(BUSY)
    assert loaded.user_ns["said"].startswith("busy: a cell is running")
    activity.refuse_when_busy()


def test_a_cell_that_fails_or_runs_another_ends_too(loaded):
    loaded.run_cell("1 / 0")
    activity.refuse_when_busy()
    loaded.run_cell("get_ipython().run_cell('pass')" + BUSY)
    assert loaded.user_ns["said"].startswith("busy: a cell is running")
    activity.refuse_when_busy()


def test_a_forgotten_training_run_ends_with_its_cell(loaded):
    loaded.run_cell(
        "from autograd_lab.widgets.training import TrainingView\n"
        "view = TrainingView()\nview.log(loss=1.0)\nrunning = view.running"
    )
    assert loaded.user_ns["running"] is True and loaded.user_ns["view"].running is False


def test_hooks_bring_no_widget_library(loaded, monkeypatch):
    monkeypatch.delitem(sys.modules, "autograd_lab.widgets.training", raising=False)
    loaded.run_cell("pass")
    assert "autograd_lab.widgets.training" not in sys.modules


def test_names_cells_and_lines_are_known(loaded):
    loaded.run_cell("import autograd_lab as lab\nx = lab.ones(2, requires_grad=True)\ny = x * 2", store_history=True)
    loaded.run_cell("nodes = lab.tape(y).graph['nodes']", store_history=True)
    nodes = loaded.user_ns["nodes"]
    line = nodes["line"][nodes["label"].index("y")]
    assert (line["text"], line["line"]) == ("y = x * 2", 3)
    assert line["cell"] is not None and "x" in nodes["label"]


def test_an_error_names_the_cell_it_is_about(loaded):
    loaded.run_cell("import autograd_lab as lab\nx = lab.ones(2, requires_grad=True)", store_history=True)
    loaded.run_cell("y = (x * x).sum()\ny.backward()", store_history=True)
    loaded.run_cell("try:\n    y.backward()\nexcept RuntimeError as error:\n    said = str(error)", store_history=True)
    assert f"cell [{loaded.execution_count - 2}], line 1: y = (x * x).sum()" in loaded.user_ns["said"]


def test_loading_twice_hooks_once_and_unloading_takes_all_away(shell):
    before = {event: list(calls) for event, calls in shell.events.callbacks.items()}
    lab.load_ipython_extension(shell)
    ipython.load_ipython_extension(shell)
    assert shell.events.callbacks["pre_run_cell"].count(ipython._cell_begins) == 1
    assert modes.now.watch is not None and "step" in shell.magics_manager.magics["cell"]
    lab.unload_ipython_extension(shell)
    assert {event: list(calls) for event, calls in shell.events.callbacks.items()} == before
    assert modes.now.watch is None and "tape" not in shell.magics_manager.magics["cell"]
    assert snapshot.cell_of("<ipython-input-3-abc>") is None
    shell.run_cell("pass")
    activity.refuse_when_busy()
