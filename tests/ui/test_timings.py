"""The timings view in a real notebook: its button measures again, and with a CPU alone it says what a GPU would need."""

from playwright.sync_api import expect

from tests.ui import harness, views
from tests.ui.views import in_kernel, press

TIMINGS = """
import autograd_lab as lab
calls = 0
def twice(a):
    global calls
    calls += 1
    return a * 2
view = lab.DeviceTimings(lab.compare_devices(twice, lab.rand, sizes=(8, 64, 512), min_time=0.002))
view
"""
TRAINING = """
import time
training = lab.TrainingView()
with training:
    while not training.stopped:
        training.log(loss=1.0)
        time.sleep(0.01)
"""


def test_the_button_measures_again(page, lab, wait_until):
    views.start(page, lab, "timings.ipynb", TIMINGS)
    timings = views.view(page, 0, "timings")
    rows = in_kernel(page, "len(view.comparison.rows)")
    expect(timings.locator(".agl-table tbody tr")).to_have_count(rows)
    expect(timings.locator(".agl-series[data-device='cpu'] .agl-marker").first).to_be_visible()
    if in_kernel(page, "{row.device for row in view.comparison.rows} == {'cpu'}"):
        expect(timings.locator(".agl-note")).to_contain_text("autograd_lab[cuda12]")
    before = in_kernel(page, "calls")
    press(timings, "bench")

    def measured():
        return in_kernel(page, "calls") > before

    wait_until(measured, 20)
    expect(timings.locator("[data-action='bench']")).to_be_enabled()
    expect(timings.locator(".agl-table tbody tr")).to_have_count(rows)


def test_measuring_while_a_cell_trains_answers_busy(page, lab):
    path = harness.write_notebook(lab, "busy.ipynb", TIMINGS, TRAINING)
    harness.open_notebook(page, lab, path)
    harness.set_subshells(page, True)
    views.make_room(page)
    page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    training = page.locator(".agl[data-view='training']")
    expect(training).to_have_attribute("data-running", "true", timeout=20_000)
    timings = views.view(page, 0, "timings")
    press(timings, "bench")
    expect(timings.locator(".agl-message")).to_contain_text("busy")
    press(views.view(page, 1, "training"), "stop")
    expect(training).to_have_attribute("data-running", "false")
