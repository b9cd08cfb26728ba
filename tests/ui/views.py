"""Find and drive the library's views in a driven notebook, and ask its kernel what they should show."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.ui import harness
from tests.ui.server import REPOSITORY

LESSON = "lessons/00_first_steps.ipynb"

#: a small network whose gradients meet: `w` is reached by two ways
NETWORK = """
import autograd_lab as lab
lab.manual_seed(0)
x = lab.randn(3, 4)
w = lab.randn(4, 2, requires_grad=True)
b = lab.zeros(2, requires_grad=True)
z = lab.tanh(x @ w + b)
loss = (z * z).sum() + (w * w).sum()
"""


def lesson_cells() -> dict[str, int]:
    """Cell ids of the first lesson and where each stands."""
    cells = json.loads((REPOSITORY / "notebooks" / LESSON).read_text(encoding="utf-8"))["cells"]
    return {cell["id"]: place for place, cell in enumerate(cells)}


def start(page: Page, lab: Any, name: str, *cells: str, subshells: bool = True) -> None:
    """Open a new notebook of these cells and run them all."""
    harness.open_notebook(page, lab, harness.write_notebook(lab, name, *cells))
    harness.set_subshells(page, subshells)
    make_room(page)
    harness.run_all(page)


def make_room(page: Page) -> None:
    """Close the file browser beside the notebook."""
    page.evaluate("window.jupyterapp.shell.collapseLeft()")


def view(page: Page, cell: int, kind: str) -> Locator:
    """The live view of a kind that stands in a cell's output, once it is drawn."""
    found = harness.cell(page, cell).locator(f".agl[data-view='{kind}']")
    expect(found).to_be_visible()
    return found


def in_kernel(page: Page, expression: str) -> Any:
    """The value of an expression in the notebook's kernel; it goes through JSON."""
    text = page.evaluate(
        f"""async (code) => {{
            {harness._PANEL}
            const kernel = panel.sessionContext.session.kernel;
            // a kernel that was just interrupted aborts what comes right after
            let text = '', reply = null;
            for (let tries = 0; tries < 20 && reply?.content.status !== 'ok' && text === ''; tries++) {{
                const future = kernel.requestExecute({{ code, store_history: false }});
                future.onIOPub = ({{ content }}) => {{
                    text += content.text ?? (content.traceback ? content.traceback.join('\\n') : '');
                }};
                reply = await future.done;
            }}
            return text;
        }}""",
        f"import json as _json; print(_json.dumps({expression}))",
    )
    return json.loads(text)


def choose(found: Locator, node: int) -> Locator:
    """Select a node of a view's picture, which may stand outside the part that is seen; gives its mark."""
    mark = found.locator(f".agl-svg [data-node-id='{node}']")
    mark.focus()
    mark.press("Enter")
    expect(mark).to_have_attribute("aria-pressed", "true")
    return mark


def press(found: Locator, action: str) -> None:
    """Click one of a view's buttons."""
    found.locator(f"[data-action='{action}']").first.click()


def expect_cursor(stepper: Locator, cursor: int) -> None:
    """Wait until a stepper stands after this many steps."""
    expect(stepper).to_have_attribute("data-cursor", str(cursor))


def steps(stepper: Locator) -> int:
    """How many steps a stepper has."""
    return int(stepper.get_attribute("data-steps"))


def leaf_gradients(stepper: Locator) -> dict[str, list[float] | None]:
    """The gradients of leaves that a stepper shows, in full precision; None for "not computed yet"."""
    found = {}
    for chip in stepper.locator("[data-leaf-grad]").all():
        name = chip.locator(".agl-watch-name").inner_text().removesuffix(".grad")
        full = chip.get_attribute("data-full")
        found[name] = None if full is None else json.loads(full)
    return found


def marks(found: Locator) -> Locator:
    """The marks of nodes in a view's picture."""
    return found.locator(".agl-svg [data-node-id]")


def shot(target: Page | Locator, name: str) -> Path:
    """A screenshot in which nothing moves any more."""
    return harness.screenshot(target, name)
