"""Without a kernel: the exported page steps offline, a plain export and a reopened notebook show the pictures."""

import os
import subprocess
import sys

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.ui import harness, views
from tests.ui.conftest import VIEWPORT
from tests.ui.server import REPOSITORY
from tests.ui.views import LESSON, NETWORK, expect_cursor, in_kernel, press

CELLS = views.lesson_cells()
STEP = "stepper = lab.step(loss)\nstepper"
OUTSIDE = ("http:", "https:", "ws:", "wss:")


def convert(notebook, to: str, folder) -> str:
    """Convert a saved notebook with `jupyter nbconvert`; gives the page's file address."""
    places = {name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    path = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "nbconvert", "--log-level=ERROR", "--to", to, "--output-dir", str(folder)]
    subprocess.run([*command, "--output", f"page-{to}", str(notebook)], check=True, env=os.environ | places | {"PYTHONPATH": path})
    return (folder / f"page-{to}.html").as_uri()


@pytest.fixture
def offline(chromium):
    """`offline(address, scripts=True)` opens a page without a network; every wish for one fails the test."""
    contexts, asked, problems = [], [], []

    def open_page(address: str, scripts: bool = True):
        context = chromium.new_context(viewport=VIEWPORT, offline=True, java_script_enabled=scripts)
        contexts.append(context)
        shown = context.new_page()
        shown.on("request", lambda request: asked.append(request.url) if request.url.startswith(OUTSIDE) else None)
        shown.on("pageerror", lambda error: problems.append(f"{error}\n{error.stack}"))
        shown.goto(address)
        return shown

    yield open_page
    for context in contexts:
        context.close()
    assert not asked, f"the page asked for {asked}"
    assert not problems, "\n".join(problems)


@pytest.fixture
def network(page, lab):
    """A saved notebook with a graph, a stepper that stands at step 2, timings and training; and its gradients."""
    views.start(
        page,
        lab,
        "exported.ipynb",
        NETWORK,
        "lab.tape(loss)",
        STEP,
        "stepper.step(2); stepper",
        "lab.compare_devices(lab.exp, lab.rand, sizes=(8, 64), min_time=0.002)",
        "training = lab.TrainingView()\nfor step in training.track(range(9)):\n    training.log(loss=1 / (1 + step))",
    )
    gradients = in_kernel(page, "(loss.backward(), [t.grad.flatten().tolist() for t in (w, b)])[1]")
    harness.save(page)
    return lab.root / "exported.ipynb", dict(zip("wb", gradients, strict=True))


def test_the_exported_page_steps_offline_with_the_same_numbers(network, offline, tmp_path):
    notebook, gradients = network
    shown = offline(convert(notebook, "autograd_lab", tmp_path))
    expect(shown.locator(".agl[data-view='graph'] [data-node-id]").first).to_be_visible()
    for kind, count in {"graph": 1, "stepper": 2, "timings": 1, "training": 1}.items():
        expect(shown.locator(f".agl[data-view='{kind}']")).to_have_count(count)
    stepper = shown.locator(".agl[data-view='stepper']").first
    for done in range(views.steps(stepper)):
        expect_cursor(stepper, done)
        press(stepper, "step")
    expect_cursor(stepper, views.steps(stepper))
    found = views.leaf_gradients(stepper)
    assert set(found) == set(gradients)
    for name, grad in gradients.items():
        assert np.array_equal(np.float32(found[name]), np.float32(grad)), name
    # What only a kernel can do is not offered.
    assert shown.locator("[data-action='bench'], [data-action='stop']").count() == 0
    expect_cursor(shown.locator(".agl[data-view='stepper']").nth(1), 2)
    assert shown.get_by_text("live view (needs").count() == 0
    assert not [line for kind in ("graph", "stepper") for line in harness.run_axe(shown, f".agl[data-view='{kind}']")]


def test_a_plain_export_shows_the_pictures_without_scripts(network, offline, tmp_path):
    notebook, _ = network
    shown = offline_html(offline, notebook, tmp_path)
    pictures = shown.locator(".agl-static svg:visible")
    expect(pictures).to_have_count(5)
    expect(pictures.first).to_contain_text("tanh")
    harness.screenshot(shown, "plain-html")


def offline_html(offline, notebook, folder):
    """nbconvert's own HTML, read without scripts: its template asks CDNs for them, ours is not to blame."""
    return offline(convert(notebook, "html", folder), scripts=False)


def test_a_saved_notebook_reopened_without_a_kernel_shows_the_pictures(network, page, lab):
    lab.close_kernels()
    harness.open_notebook(page, lab, "exported.ipynb", kernel=False)
    assert lab.sessions() == []
    for cell in (1, 2, 3):
        expect(harness.cell(page, cell).locator(".agl-static svg")).to_be_visible()
    harness.screenshot(page, "reopened")
    assert lab.sessions() == []


def test_the_lesson_exported(page, lab, offline, tmp_path):
    harness.open_notebook(page, lab, LESSON)
    harness.run_all(page, timeout=90)
    harness.save(page)
    shown = offline(convert(lab.root / LESSON, "autograd_lab", tmp_path))
    stepper = shown.locator(".agl[data-view='stepper']").first
    for done in range(views.steps(stepper)):
        expect_cursor(stepper, done)
        press(stepper, "step")
    assert {name: grad[0] for name, grad in views.leaf_gradients(stepper).items()} == {"w": 8, "x": 12, "b": 4}
    assert (tmp_path / "page-autograd_lab.html").stat().st_size < 5_000_000
