"""The training view in a real notebook: the curve grows while the cell runs, and the stop button really stops it."""

import re

import pytest
from playwright.sync_api import expect

from tests.ui import harness, views
from tests.ui.views import in_kernel, press

STEPS = 100_000
LOOP = f"""
import time
import autograd_lab as lab
view = lab.TrainingView(total_steps={STEPS})
for step in view.track(range({STEPS})):
    view.log(loss=1 / (1 + step))
    time.sleep(0.01)
"""


def start_training(page, lab, name, subshells):
    """Start the loop and wait until its curve has grown twice; gives the view."""
    harness.open_notebook(page, lab, harness.write_notebook(lab, name, LOOP))
    harness.set_subshells(page, subshells)
    views.make_room(page)
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    training = page.locator(".agl[data-view='training']")
    expect(training).to_have_attribute("data-running", "true", timeout=20_000)
    points = -1
    for _ in range(2):
        page.wait_for_function(
            "least => Number(document.querySelector('.agl[data-view=training]').dataset.points) > least", arg=points
        )
        points = int(training.get_attribute("data-points"))
    return training


def test_the_stop_button_stops_the_loop(page, lab):
    training = start_training(page, lab, "stop.ipynb", subshells=True)
    press(training, "stop")
    expect(training).to_have_attribute("data-running", "false")
    expect(training).to_contain_text("stopped")
    assert in_kernel(page, "view.stopped and not view.running")
    assert 0 < in_kernel(page, "step") < STEPS - 1


def test_without_subshells_the_button_waits_and_an_interrupt_stops(page, lab):
    training = start_training(page, lab, "interrupt.ipynb", subshells=False)
    button = training.locator("[data-action='stop']")
    button.click()
    expect(button).to_be_disabled()
    page.evaluate(f"async () => {{ {harness._PANEL} await panel.sessionContext.session.kernel.interrupt(); }}")
    expect(training).to_have_attribute("data-running", "false")
    expect(training).to_contain_text("ended early")
    assert not in_kernel(page, "view.running")


@pytest.mark.parametrize("end", ["done", "ended by ValueError"])
def test_the_last_state_is_always_shown(page, lab, end):
    source = f"""
import autograd_lab as lab
view = lab.TrainingView()
try:
    with view:
        for step in range(500):
            view.log(loss=1 / (1 + step))
        if {end!r} != "done":
            raise ValueError
except ValueError:
    pass
"""
    views.start(page, lab, "last.ipynb", source)
    training = views.view(page, 0, "training")
    expect(training).to_have_attribute("data-running", "false")
    expect(training).to_contain_text(end)
    expect(training).to_contain_text(re.compile(r"step 500\b"))
    expect(training.locator(".agl-now").first).to_contain_text("0.002000")
