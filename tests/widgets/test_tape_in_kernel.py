"""Graph, stepper and recording in a real kernel without a front end, then exported."""

import re
from pathlib import Path

import nbclient
import nbformat
import pytest

from autograd_lab.display.exporter import StandaloneExporter
from autograd_lab.display.schema import MIME

REPOSITORY = Path(__file__).parents[2]
LIVE = "application/vnd.jupyter.widget-view+json"
CELLS = [
    "%load_ext autograd_lab\nimport time\nimport autograd_lab as lab\nfrom autograd_lab import widgets\n"
    "from autograd_lab.display.document import Tape\nfrom autograd_lab.display.live import record",
    "x = lab.tensor([[1.0, 2.0], [3.0, 4.0]])\nw = lab.ones(2, 2, requires_grad=True)\n"
    "z = lab.tanh(x @ w)\nloss = (z * z).sum()\nTape.of(loss)",
    "stepper = widgets.step(loss)\nstepper",
    "with record() as tape:\n    for _ in range(3):\n        w.exp()\n        time.sleep(0.06)",
    "%%tape q\nq = w.exp().sum()",
    "%%step\nw.exp().sum()",
    "stepper.step(3)\ntime.sleep(1.5)\nprint(lab.is_grad_enabled(), w.grad)",
]


@pytest.fixture(scope="module")
def notebook():
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    client = nbclient.NotebookClient(
        made, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(REPOSITORY)}}
    )
    client.execute()
    return made


def shown(cell):
    return [output for output in cell.outputs if output.output_type in ("display_data", "execute_result")]


@pytest.mark.parametrize(("place", "view"), [(1, "graph"), (2, "stepper"), (3, "graph"), (4, "graph"), (5, "stepper")])
def test_view_and_picture_are_two_outputs(notebook, place, view):
    live, static = shown(notebook.cells[place])
    assert LIVE in live.data and live.metadata["autograd_lab"] == view
    assert "agl-picture" in static.data["text/html"] and MIME in static.data


def test_the_picture_knows_names_cells_and_lines(notebook):
    static = shown(notebook.cells[1])[1].data
    assert "z = tanh" in static["text/plain"] and "loss = sum" in static["text/plain"]
    assert "cell [2], line 3: z = lab.tanh(x @ w)" in static["text/html"]


def test_the_picture_follows_the_cursor(notebook):
    static = shown(notebook.cells[2])[1].data
    assert "backward: step 3 of 5" in static["text/plain"] and "agl-s-current" in static["text/html"]


def test_stepping_leaves_the_session_alone(notebook):
    (printed,) = [output.text for output in notebook.cells[6].outputs if output.output_type == "stream"]
    assert printed == "True None\n"


def test_the_recording_ends_with_its_last_state(notebook):
    assert "3 ops" in shown(notebook.cells[3])[1].data["text/plain"]


def test_exported_each_view_has_its_data_and_the_script_comes_once(notebook):
    page, _ = StandaloneExporter().from_notebook_node(notebook)
    assert len(re.findall(r'id="agl-data-\d+"', page)) == 5 and page.count('id="agl-bundle"') == 1
    assert not re.findall(r'src="https?://', page)
