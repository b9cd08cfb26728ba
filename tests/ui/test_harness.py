"""The harness itself: a notebook runs, its widget draws, themes switch, axe-core sees, errors are reported."""

import pytest
from playwright.sync_api import expect

from tests.ui import harness

WIDGET = '''
import anywidget, traitlets
class Greeting(anywidget.AnyWidget):
    _esm = """
    function render({ model, el }) {
        const button = document.createElement("button");
        const show = () => { button.textContent = `pressed ${model.get("count")} times`; };
        button.className = "greeting";
        button.onclick = () => { model.set("count", model.get("count") + 1); model.save_changes(); };
        model.on("change:count", show);
        show();
        el.appendChild(button);
    }
    export default { render };
    """
    count = traitlets.Int(3).tag(sync=True)
greeting = Greeting()
greeting
'''


@pytest.mark.parametrize("subshells", [True, False])
def test_a_notebook_runs_and_its_widget_talks_to_the_kernel(page, lab, subshells):
    path = harness.write_notebook(lab, "harness.ipynb", "print(1 + 1)", WIDGET)
    harness.open_notebook(page, lab, path)
    harness.set_subshells(page, subshells)
    harness.run_all(page)
    assert harness.outputs(page, 0)[0]["text"] == "2\n"
    assert "2" in harness.cell(page, 0).locator(".jp-OutputArea-output").inner_text()
    button = harness.cell(page, 1).locator("button.greeting")
    button.click()
    page.get_by_text("pressed 4 times").wait_for()


def test_themes_screenshots_and_axe(page, lab):
    source = 'from IPython.display import HTML\nHTML(\'<div role="button" tabindex="0"></div>\')'
    path = harness.write_notebook(lab, "look.ipynb", source)
    harness.open_notebook(page, lab, path)
    harness.run_all(page)
    for theme in harness.THEMES:
        harness.set_theme(page, theme)
    assert harness.screenshot(page, "harness").stat().st_size > 10_000
    found = harness.run_axe(page, ".jp-OutputArea-output")
    assert any(line.startswith("aria-command-name") for line in found), found


def test_a_cell_that_raises_is_reported(page, lab):
    path = harness.write_notebook(lab, "raises.ipynb", "1 / 0", "print('never')")
    harness.open_notebook(page, lab, path)
    with pytest.raises(harness.NotebookError, match="ZeroDivisionError"):
        harness.run_all(page)


def test_a_distant_cell_is_brought_into_view(page, lab):
    cells = [f"print('\\n'.join(['cell {i}'] * 20))" for i in range(40)]
    harness.open_notebook(page, lab, harness.write_notebook(lab, "long.ipynb", *cells))
    harness.run_all(page)
    for index in (39, 0, 20):
        expect(harness.cell(page, index).locator(".jp-OutputArea-output")).to_contain_text(f"cell {index}")


@pytest.mark.parametrize("kernel", [True, False])
def test_a_saved_notebook_is_opened_again(page, lab, kernel):
    path = harness.write_notebook(lab, "saved.ipynb", "print('kept')", WIDGET)
    harness.open_notebook(page, lab, path)
    harness.run_all(page)
    page.get_by_text("pressed 3 times").wait_for()
    harness.save(page)
    lab.close_kernels()
    harness.open_notebook(page, lab, path, kernel=kernel)
    expect(harness.cell(page, 0).locator(".jp-OutputArea-output")).to_have_text("kept\n")
    assert len(lab.sessions()) == int(kernel)
    if kernel:  # the widget comes from the saved state; without any kernel ipywidgets' manager restores none
        page.get_by_text("pressed 3 times").wait_for()
