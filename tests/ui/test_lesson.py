"""The first lesson as a learner meets it: opened in JupyterLab, run to the end, its graphs looked at and stepped."""

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.ui import harness, views
from tests.ui.views import LESSON, expect_cursor, in_kernel, marks, press

CELLS = views.lesson_cells()
VIEWS = {
    "tape-run": "graph",
    "stepper-run": "stepper",
    "paths-run": "stepper",
    "record-run": "graph",
    "train-run": "training",
    "loss-tape-run": "graph",
    "loss-step-run": "stepper",
    "timings-run": "timings",
}


def shown_by(page, name: str) -> str:
    """How the kernel calls the object that a cell's last line has shown."""
    count = f"i => {{ {harness._PANEL} return panel.content.widgets[i].model.executionCount; }}"
    return f"Out[{page.evaluate(count, CELLS[name])}]"


def step_to_the_end(stepper) -> None:
    """Press Step, once for each step."""
    for done in range(views.steps(stepper)):
        expect_cursor(stepper, done)
        press(stepper, "step")
    expect_cursor(stepper, views.steps(stepper))


def test_the_lesson(page, lab):
    harness.open_notebook(page, lab, LESSON)
    views.make_room(page)
    harness.run_all(page, timeout=90)
    for name, kind in VIEWS.items():
        expect(views.view(page, CELLS[name], kind)).to_be_visible()

    for name in ("tape-run", "loss-tape-run"):
        graph = views.view(page, CELLS[name], "graph")
        expect(marks(graph)).to_have_count(in_kernel(page, f"len({shown_by(page, name)})"))
    expect(marks(views.view(page, CELLS["record-run"], "graph"))).to_have_count(in_kernel(page, "len(tape)"))

    stepper = views.view(page, CELLS["stepper-run"], "stepper")
    assert set(views.leaf_gradients(stepper).values()) == {None}
    step_to_the_end(stepper)
    assert {name: grad[0] for name, grad in views.leaf_gradients(stepper).items()} == {"w": 8, "x": 12, "b": 4}

    stepper = views.view(page, CELLS["loss-step-run"], "stepper")
    step_to_the_end(stepper)
    found = in_kernel(page, "{n: p.grad.tolist() for n, p in model.named_parameters()}")
    shown = views.leaf_gradients(stepper)
    assert len(shown) == len(found) == 4
    for name, grad in found.items():
        full = next(value for key, value in shown.items() if key.endswith(name))
        if isinstance(full, list):
            assert np.array_equal(np.float32(full), np.float32(grad).ravel()), name
        else:
            # A large gradient is told by its norm.
            assert full == pytest.approx(np.linalg.norm(np.float64(grad)), rel=1e-6), name

    # Run once more in the same kernel, with everything that stands there from before.
    harness.run_all(page, timeout=90)
    stepper = views.view(page, CELLS["paths-run"], "stepper")
    step_to_the_end(stepper)
    assert views.leaf_gradients(stepper) == {"x": [7]}
