"""The backward stepper in a real notebook: what it shows is what `backward()` computes, and "not yet" is never 0."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.ui import views
from tests.ui.views import NETWORK, expect_cursor, in_kernel, press

STEP = "stepper = lab.step(loss)\nstepper"
# A gradient of exactly 0, one that is NaN, and one that is a number.
THREE = """
import autograd_lab as lab
nought, broken, fine = (lab.tensor(float(i), requires_grad=True) for i in range(3))
loss = nought * 0 + lab.sqrt(broken - broken) * 0 + fine * 3
stepper = lab.step(loss)
stepper
"""


def assert_equals_backward(page, stepper, leaves):
    """Every leaf's gradient that the view shows is, bit for bit in its dtype, what `backward()` leaves in `.grad`."""
    shown = views.leaf_gradients(stepper)
    found = in_kernel(page, f"(loss.backward(), {{n: globals()[n].grad.flatten().tolist() for n in {leaves!r}}})[1]")
    assert set(shown) == set(found) == set(leaves)
    for name in leaves:
        assert np.array_equal(np.float32(shown[name]), np.float32(found[name])), name


@pytest.mark.parametrize("subshells", [True, False])
def test_stepping_to_the_end_shows_the_gradients_of_backward(page, lab, subshells, wait_until):
    views.start(page, lab, "stepper.ipynb", NETWORK, STEP, subshells=subshells)
    stepper = views.view(page, 1, "stepper")
    total = views.steps(stepper)
    assert total == in_kernel(page, "len(stepper.frames)")
    for done in range(total):
        expect_cursor(stepper, done)
        press(stepper, "step")
    expect_cursor(stepper, total)
    expect(stepper.locator("[data-action='step']")).to_have_attribute("aria-disabled", "true")
    assert_equals_backward(page, stepper, ["w", "b"])

    def arrived():
        return in_kernel(page, "stepper.cursor") == total

    wait_until(arrived, 10)


def test_back_first_last_reset_and_the_kernel_move_the_same_cursor(page, lab, wait_until):
    views.start(page, lab, "moving.ipynb", NETWORK, STEP)
    stepper = views.view(page, 1, "stepper")
    total = views.steps(stepper)
    for action, cursor in [("last", total), ("back", total - 1), ("back", total - 2), ("first", 0)]:
        press(stepper, action)
        expect_cursor(stepper, cursor)
    press(stepper, "last")
    press(stepper, "reset")
    expect_cursor(stepper, 0)
    wait_until(lambda: in_kernel(page, "stepper.cursor") == 0, 10)
    place = in_kernel(page, "(stepper.run_to('tanh'), stepper.cursor)[1]")
    expect_cursor(stepper, place)
    expect(stepper.locator(".agl-rule")).to_contain_text("TanhBackward0")
    press(stepper, "step")
    expect_cursor(stepper, place + 1)

    def arrived():
        return in_kernel(page, "stepper.cursor") == place + 1

    wait_until(arrived, 10)


def test_running_to_a_node(page, lab):
    views.start(page, lab, "run_to.ipynb", NETWORK, STEP)
    stepper = views.view(page, 1, "stepper")
    node, place = in_kernel(page, "next((f['node'], i) for i, f in enumerate(stepper.frames, 1) if f['text'].startswith('z:'))")
    mark = views.choose(stepper, node)
    press(stepper, "run-to")
    expect_cursor(stepper, place)
    expect(mark).to_have_attribute("data-state", "current")
    expect(stepper.locator(".agl-rule")).to_contain_text("TanhBackward0")


def test_playing_and_pausing(page, lab):
    views.start(page, lab, "playing.ipynb", NETWORK, STEP)
    stepper = views.view(page, 1, "stepper")
    total = views.steps(stepper)
    press(stepper, "play")
    expect(stepper).to_have_attribute("data-playing", "true")
    expect(stepper).to_have_attribute("data-cursor", re.compile("[2-9]"))
    press(stepper, "play")
    expect(stepper).not_to_have_attribute("data-playing", "true")
    assert int(stepper.get_attribute("data-cursor")) < total
    stepper.locator("select.agl-select").first.select_option("10")
    press(stepper, "play")
    expect_cursor(stepper, total)
    expect(stepper).not_to_have_attribute("data-playing", "true")


def test_a_breakpoint_stops_the_playing(page, lab):
    views.start(page, lab, "breaks.ipynb", NETWORK, STEP)
    stepper = views.view(page, 1, "stepper")
    node, place = in_kernel(page, "next((f['node'], i) for i, f in enumerate(stepper.frames, 1) if f['text'].startswith('z:'))")
    mark = views.choose(stepper, node)
    press(stepper, "break")
    expect(mark).to_have_attribute("data-breakpoint", "true")
    stepper.locator("select.agl-select").first.select_option("10")
    press(stepper, "play")
    expect_cursor(stepper, place)
    expect(stepper).not_to_have_attribute("data-playing", "true")


def test_not_yet_zero_and_not_finite_look_different(page, lab):
    views.start(page, lab, "three.ipynb", THREE)
    stepper = views.view(page, 0, "stepper")

    def states():
        return {
            chip.locator(".agl-watch-name").inner_text(): (chip.get_attribute("data-state"), figure.inner_text())
            for chip in stepper.locator("[data-leaf-grad]").all()
            for figure in [chip.locator(".agl-figure")]
        }

    names = ("nought.grad", "broken.grad", "fine.grad")
    assert states() == dict.fromkeys(names, ("not-yet", "–"))
    assert set(stepper.locator(".agl-chip text").all_text_contents()) == {"–"}
    press(stepper, "last")
    expect_cursor(stepper, views.steps(stepper))
    assert states() == {
        "nought.grad": ("zero", "0"),
        "broken.grad": ("non-finite", "NaN"),
        "fine.grad": ("value", "3"),
    }
    assert {text.strip() for text in stepper.locator(".agl-badge").all_text_contents()} == {"NaN"}
    press(stepper, "reset")
    expect_cursor(stepper, 0)
    assert states() == dict.fromkeys(names, ("not-yet", "–"))


def test_a_sum_forms_term_by_term(page, lab):
    source = "import autograd_lab as lab\nx = lab.tensor(3.0, requires_grad=True)\nz = x * x + x\nlab.step(z)"
    views.start(page, lab, "sums.ipynb", source)
    stepper = views.view(page, 0, "stepper")
    sums = stepper.locator(".agl-sums")
    press(stepper, "step")
    expect(sums.locator("li.agl-hollow")).to_have_count(2)
    expect(sums.locator(".agl-total")).to_contain_text("1")
    press(stepper, "step")
    expect(sums.locator("li.agl-hollow")).to_have_count(0)
    expect(sums.locator(".agl-total .agl-figure")).to_have_text("7")
    press(stepper, "step")
    assert views.leaf_gradients(stepper) == {"x": [7]}


def test_two_views_of_one_stepper_go_together(page, lab):
    views.start(page, lab, "twice.ipynb", NETWORK, STEP, "stepper")
    first = views.view(page, 1, "stepper")
    press(first, "step")
    press(first, "step")
    expect_cursor(first, 2)
    expect_cursor(views.view(page, 2, "stepper"), 2)
