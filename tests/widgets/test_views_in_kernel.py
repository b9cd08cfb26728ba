"""Timings and training in a real kernel without a front end: live view and final static picture in one output."""

from pathlib import Path

import nbclient
import nbformat
import pytest

REPOSITORY = Path(__file__).parents[2]
LIVE = "application/vnd.jupyter.widget-view+json"
TRAINING = """
from autograd_lab.widgets.training import TrainingView
view = TrainingView(title="Run")
for step in view.track(range(20)):
    view.log(loss=1 / (step + 1))
"""
SHOWN_BEFORE = "other = TrainingView(total_steps=3, title='Other')\nother"
LOGGED_LATER = "for step in range(3):\n    other.log(step, loss=step)"
TIMINGS = """
import math
from autograd_lab import widgets
from autograd_lab.display import document
from autograd_lab.profile import compare_devices
document.live_view = widgets.live_view
compare_devices(math.sqrt, float, sizes=(1, 10), devices=["cpu"], min_time=0.001)
"""


@pytest.fixture(scope="module")
def cells():
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(text) for text in (TRAINING, SHOWN_BEFORE, LOGGED_LATER, TIMINGS)]
    )
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(REPOSITORY)}}
    )
    client.execute()
    return notebook.cells


def shown(cell):
    return [output for output in cell.outputs if output.output_type in ("display_data", "execute_result")]


def test_training_shows_itself_live_and_its_last_state_as_a_picture(cells):
    live, static = shown(cells[0])
    assert LIVE in live.data and live.metadata["autograd_lab"] == "training"
    assert static.data["text/plain"].startswith("Run: step 20 of 20")
    assert "done" in static.data["text/plain"] and "<svg" in static.data["text/html"]
    printed = "".join(output.text for output in cells[0].outputs if output.output_type == "stream")
    assert "20/20" in printed


def test_a_view_shown_before_the_loop_gets_its_picture_renewed(cells):
    assert len(shown(cells[1])) == 2 and shown(cells[2]) == []
    assert shown(cells[1])[1].data["text/plain"].startswith("Other: step 3 of 3")


def test_timings_are_shown_live_as_a_picture_and_as_text(cells):
    live, static = shown(cells[3])
    assert LIVE in live.data and live.metadata["autograd_lab"] == "timings"
    assert "cuda12" in static.data["text/plain"] and "<svg" in static.data["text/html"]
    assert static.data["application/vnd.autograd_lab+json"]["data"]["view"] == "timings"
