"""Drive a notebook in a real JupyterLab: open, run, choose theme and subshells, look, check accessibility.

The helpers ask JupyterLab's own application object (`window.jupyterapp`), not its tool bar: the kernel indicator there
reads idle before the first cell has been sent.
"""

from importlib.resources import files
from pathlib import Path
from uuid import uuid4

from playwright.sync_api import Locator, Page

SHOTS = Path(__file__).parent / "shots"
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")

_PANEL = """
const app = window.jupyterapp;
const panel = [...app.shell.widgets('main')].find(w => w.context && w.content && w.content.model && w.isVisible);
"""


class NotebookError(AssertionError):
    """A cell of a driven notebook raised, or never ran; the text names the cell and its traceback."""


def write_notebook(lab, name: str, *cells: str) -> str:
    """Write a notebook of code cells into the lab's root; returns its path there."""
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path = lab.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return name


def open_notebook(page: Page, lab, path: str, *, kernel: bool = True) -> None:
    """Open `path` (relative to the lab's root) in a fresh workspace; waits for its kernel unless `kernel` is False."""
    page.goto(f"{lab.url}/lab/workspaces/{uuid4().hex}?reset&token={lab.token}")
    page.wait_for_function("window.jupyterapp !== undefined", timeout=60_000)
    page.evaluate(
        """async ([path, kernel]) => {
            const app = window.jupyterapp;
            await app.restored;
            const preference = kernel ? { kernelPreference: { name: 'python3', autoStartDefault: true } }
                                      : { kernelPreference: { shouldStart: false, canStart: false } };
            const panel = await app.commands.execute('docmanager:open', { path, ...preference });
            await panel.context.ready;
            await panel.revealed;
            if (kernel) {
                await panel.sessionContext.ready;
                await panel.sessionContext.session.kernel.info;
            }
        }""",
        [path, kernel],
    )


def run_all(page: Page, timeout: float = 120) -> None:
    """Run every cell and wait until each has its number and the kernel rests.

    Raises:
        NotebookError: a cell raised, or was not run within `timeout` seconds.
    """
    finished = page.evaluate(
        f"""async (seconds) => {{
            {_PANEL}
            app.shell.activateById(panel.id);
            const kernel = panel.sessionContext.session.kernel;
            const code = panel.content.widgets.filter(c => c.model.type === 'code');
            const cells = code.filter(c => c.model.sharedModel.source.trim());
            const end = Date.now() + seconds * 1000;
            const pause = ms => new Promise(done => setTimeout(done, ms));
            const run = app.commands.execute('notebook:run-all-cells');
            await Promise.race([run, pause(seconds * 1000)]);
            const outputs = c => c.model.outputs.toJSON();
            const raised = () => cells.find(c => outputs(c).some(o => o.output_type === 'error'));
            while (Date.now() < end && !raised()) {{
                if (cells.every(c => c.model.executionCount !== null) && kernel.status === 'idle') return null;
                await pause(50);
            }}
            const cell = raised() || cells.find(c => c.model.executionCount === null) || cells[cells.length - 1];
            return {{ source: cell.model.sharedModel.source, outputs: outputs(cell), status: kernel.status }};
        }}""",
        timeout,
    )
    if finished is not None:
        errors = [out for out in finished["outputs"] if out["output_type"] == "error"]
        why = "\n".join(errors[0]["traceback"]) if errors else f"not finished after {timeout} s ({finished['status']})"
        raise NotebookError(f"cell\n{finished['source']}\n{why}")


def cell(page: Page, index: int) -> Locator:
    """Bring cell `index` into view (JupyterLab detaches distant ones) and give its locator once it stands still."""
    page.evaluate(
        f"""async (i) => {{
            {_PANEL}
            const frame = () => new Promise(requestAnimationFrame);
            const node = panel.content.widgets[i].node;
            await panel.content.scrollToItem(i, 'start');
            for (let still = 0, last = null, tries = 0; still < 5 && tries < 300; tries++) {{
                await frame();
                const box = node.getBoundingClientRect();
                const here = node.isConnected && box.height > 0 ? `${{box.top}} ${{box.height}}` : null;
                still = here !== null && here === last ? still + 1 : 0;
                last = here;
            }}
        }}""",
        index,
    )
    found = page.locator(f".jp-Notebook .jp-Cell[data-windowed-list-index='{index}']")
    found.wait_for()
    return found


def outputs(page: Page, index: int) -> list[dict]:
    """The outputs of cell `index` as the notebook model holds them (nbformat's dictionaries)."""
    return page.evaluate(f"(i) => {{ {_PANEL} return panel.content.widgets[i].model.outputs.toJSON(); }}", index)


def save(page: Page) -> None:
    """Save the notebook and wait until it is written."""
    page.evaluate(f"async () => {{ {_PANEL} await panel.context.save(); }}")


def set_theme(page: Page, theme: str) -> None:
    """Switch JupyterLab to one of `THEMES` and wait until it is applied."""
    page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
    page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=theme)


def set_subshells(page: Page, on: bool) -> None:
    """Let widget messages travel over kernel subshells (JupyterLab's default), or not; call before running cells."""
    mode = "perCommTarget" if on else "disabled"
    page.evaluate(
        f"mode => {{ {_PANEL} panel.sessionContext.session.kernel.commsOverSubshells = mode; }}",
        mode,
    )


def run_axe(page: Page, selector: str) -> list[str]:
    """What axe-core finds wrong inside `selector`: one line per finding, empty when all is well."""
    if not page.evaluate("window.axe !== undefined"):
        page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
    found = page.evaluate(
        "async s => (await axe.run({ include: [[s]] }, { resultTypes: ['violations'] })).violations",
        selector,
    )
    return [f"{v['id']}: {v['help']} at {node['html'][:200]}" for v in found for node in v["nodes"]]


def screenshot(target: Page | Locator, name: str) -> Path:
    """Write a PNG of a page or an element under tests/ui/shots and give its path."""
    SHOTS.mkdir(exist_ok=True)
    path = SHOTS / f"{name}.png"
    target.screenshot(path=path, animations="disabled")
    return path
