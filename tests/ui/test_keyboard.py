"""Keys alone: into a view, through a backward pass, over its nodes, and out again."""

from playwright.sync_api import expect

from tests.ui import views
from tests.ui.views import NETWORK, expect_cursor

MOST_TABS = 60


def tab_until(page, condition: str) -> None:
    """Press Tab until a JavaScript condition on the focused element (`at`) holds."""
    for _ in range(MOST_TABS):
        if page.evaluate(f"() => {{ const at = document.activeElement; return Boolean({condition}); }}"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{MOST_TABS} presses of Tab did not bring the focus to where {condition}")


def enter(page, cell: int) -> None:
    """Stand on a cell in command mode and press Tab until the focus is in its view."""
    page.evaluate(
        """index => {
            const app = window.jupyterapp;
            const panel = app.shell.currentWidget;
            panel.content.activeCellIndex = index;
            panel.content.mode = 'command';
            panel.content.widgets[index].node.focus();
        }""",
        cell,
    )
    tab_until(page, "at.closest('.agl')")


def test_a_backward_pass_by_keys(page, lab):
    views.start(page, lab, "keys.ipynb", NETWORK, "lab.step(loss)")
    stepper = views.view(page, 1, "stepper")
    total = views.steps(stepper)
    enter(page, 1)
    tab_until(page, "at.matches('.agl-timeline')")
    for key, cursor in [
        ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", total), ("ArrowRight", total),
        ("ArrowLeft", total - 1), ("Home", 0), ("ArrowLeft", 0),
    ]:  # fmt: skip
        page.keyboard.press(key)
        expect_cursor(stepper, cursor)
    page.keyboard.press("Space")
    expect(stepper).to_have_attribute("data-playing", "true")
    page.keyboard.press("Space")
    expect(stepper).not_to_have_attribute("data-playing", "true")
    page.keyboard.press("Home")
    expect_cursor(stepper, 0)
    page.keyboard.press("?")
    help_ = stepper.locator(".agl-help")
    expect(help_).to_contain_text("Space")
    page.keyboard.press("Escape")
    expect(help_).to_have_count(0)
    # What the notebook would do with these letters (a adds a cell, d d deletes one), it does not do from here.
    page.keyboard.type("adda")
    assert page.evaluate("window.jupyterapp.shell.currentWidget.content.widgets.length") == 2


def test_nodes_by_keys(page, lab):
    views.start(page, lab, "nodes.ipynb", NETWORK, "lab.step(loss)")
    stepper = views.view(page, 1, "stepper")
    enter(page, 1)
    tab_until(page, "at.matches('[data-node-id]')")
    focused = stepper.locator("[data-node-id]:focus")
    first = focused.get_attribute("data-node-id")
    page.keyboard.press("ArrowDown")
    expect(focused).not_to_have_attribute("data-node-id", first)
    page.keyboard.press("Enter")
    expect(focused).to_have_attribute("aria-pressed", "true")
    assert focused.get_attribute("aria-label")
    expect(stepper.locator(".agl-hover")).to_be_visible()
    page.keyboard.press("Escape")
    expect(focused).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("End")
    page.keyboard.press("b")
    expect(focused).to_have_attribute("data-breakpoint", "true")
    before = stepper.locator(".agl-watch-chip").count()
    page.keyboard.press("w")
    expect(stepper.locator(".agl-watch-chip")).not_to_have_count(before)


def test_the_focus_is_not_caught(page, lab):
    views.start(page, lab, "out.ipynb", NETWORK, "lab.tape(loss)", "lab.step(loss)")
    for cell, kind in ((1, "graph"), (2, "stepper")):
        views.view(page, cell, kind)
        enter(page, cell)
        tab_until(page, "!at.closest('.agl')")


def test_every_step_is_said(page, lab):
    views.start(page, lab, "said.ipynb", NETWORK, "stepper = lab.step(loss)\nstepper")
    stepper = views.view(page, 1, "stepper")
    live = stepper.locator("[aria-live='polite'].agl-live")
    texts = views.in_kernel(page, "[frame['text'] for frame in stepper.frames]")
    enter(page, 1)
    tab_until(page, "at.matches('.agl-timeline')")
    for text in texts:
        page.keyboard.press("ArrowRight")
        expect(live).to_have_text(text)
