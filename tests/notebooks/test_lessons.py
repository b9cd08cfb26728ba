"""Every lesson: kept without outputs, with an id for each cell, and run from top to bottom without a front end."""

import json
import os
import re
from datetime import datetime
from pathlib import Path

import nbclient
import nbformat
import pytest

REPOSITORY = Path(__file__).parents[2]
LESSONS = sorted((REPOSITORY / "notebooks" / "lessons").glob("*.ipynb"))
RUN_SECONDS = 60
# A classroom's server drops larger outputs, and a reviewer's browser has to load the whole notebook.
OUTPUT_BYTES, NOTEBOOK_BYTES = 100_000, 2_000_000

each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def ran():
    """`ran(path)`: the cells of a lesson by id, run in a fresh kernel; each lesson runs once."""
    done: dict[Path, dict] = {}

    def run(path: Path) -> dict:
        if path not in done:
            notebook = nbformat.read(path, as_version=4)
            client = nbclient.NotebookClient(
                notebook,
                timeout=RUN_SECONDS,
                kernel_name="python3",
                resources={"metadata": {"path": str(path.parent)}},
                extra_arguments=["--IPKernelApp.log_level=ERROR"],
            )
            client.execute(env=_environment())
            done[path] = {cell.id: cell for cell in notebook.cells}
        return done[path]

    return run


def _environment() -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": path}


def seconds(cell) -> float:
    """How long a cell ran."""
    times = cell.metadata.execution
    begun, ended = times["iopub.execute_input"], times["shell.execute_reply"]
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()


def printed(cell) -> str:
    """What a cell wrote to its output stream."""
    return "".join(out.text for out in cell.outputs if out.output_type == "stream")


def test_the_first_lesson_is_there():
    assert [path.name for path in LESSONS][:1] == ["00_first_steps.ipynb"]


@each_lesson
def test_a_lesson_is_kept_clean(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    nbformat.validate(notebook)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in notebook["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None, f"{cell['id']} has outputs"
        assert not cell["metadata"], f"{cell['id']} has metadata {cell['metadata']}"
        source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        assert source.strip() == source and source, f"{cell['id']} is empty or padded"
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


@each_lesson
def test_a_lesson_asks_before_it_shows(path):
    cells = nbformat.read(path, as_version=4).cells
    assert cells[0].source.startswith("# ")
    assert sum("**Guess:**" in cell.source for cell in cells) >= 5
    assert all(cell.source.count("\n") < 20 for cell in cells if cell.cell_type == "code"), "a cell is long"


@each_lesson
def test_a_lesson_runs(path, ran):
    for name, cell in ran(path).items():
        for out in cell.get("outputs", []):
            assert out.output_type != "error", f"{name}: {out.get('evalue')}"
            assert out.get("name") != "stderr", f"{name} wrote to the error stream: {out.text}"
    assert sum(seconds(cell) for cell in ran(path).values() if cell.cell_type == "code") < RUN_SECONDS


@each_lesson
def test_a_lesson_stays_small_when_saved(path, ran):
    sizes = {name: len(json.dumps(cell.get("outputs", []))) for name, cell in ran(path).items()}
    large = {name: size for name, size in sizes.items() if size > OUTPUT_BYTES}
    assert not large and sum(sizes.values()) < NOTEBOOK_BYTES


@each_lesson
def test_every_live_view_has_a_picture_and_words(path, ran):
    live = "application/vnd.jupyter.widget-view+json"
    for name, cell in ran(path).items():
        shown = [out for out in cell.get("outputs", []) if "data" in out]
        views = sum(live in out.data for out in shown)
        pictures = [out.data for out in shown if "application/vnd.autograd_lab+json" in out.data]
        assert len(pictures) == views, name
        for data in pictures:
            assert data["text/plain"] and "<svg" in data["text/html"], name


class TestFirstSteps:
    """What the first lesson promises in its words."""

    @pytest.fixture
    def cells(self, ran):
        return ran(REPOSITORY / "notebooks" / "lessons" / "00_first_steps.ipynb")

    def test_by_hand_by_the_stepper_and_by_backward(self, cells):
        rows = [line.split() for line in printed(cells["backward-run"]).splitlines()[1:]]
        assert rows == [["w", "8.0", "8.0", "8.0"], ["x", "12.0", "12.0", "12.0"], ["b", "4.0", "4.0", "4.0"]]

    def test_gradients_add_up(self, cells):
        assert printed(cells["paths-twice"]).split() == ["7.0", "14.0"]

    def test_the_tape_of_the_loop(self, cells):
        assert "nodes on the tape: 14" in printed(cells["record-count"])

    def test_the_network_learns_quickly(self, cells):
        accuracy = float(re.search(r"([\d.]+)%", printed(cells["train-test"]))[1])
        assert accuracy > 95
        assert seconds(cells["train-run"]) < 15

    def test_the_stepper_finds_what_backward_finds(self, cells):
        lines = printed(cells["loss-compare"]).splitlines()
        assert len(lines) == 4 and all(line.endswith("the same: True") for line in lines)

    def test_weights_come_back(self, cells):
        before, after = (line.split()[-1] for line in printed(cells["save-load"]).splitlines())
        assert (before, after) == ("False", "True")

    def test_each_mistake_names_its_cure(self, cells):
        assert "run the forward pass again" in printed(cells["mistake-twice"])
        assert "loss.sum()" in printed(cells["mistake-scalar"])
        assert "detach()" in printed(cells["mistake-numpy"])
