"""Browser tests: one JupyterLab and one Chromium for all of them, a fresh page for each.

A missing browser is a failure, not a skip: `make test` installs one.
"""

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.ui.chromium import find_chromium
from tests.ui.server import LabServer

ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # Nothing outside this machine resolves: a view that fetches from a CDN fails here as it does offline.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
]
VIEWPORT = {"width": 1280, "height": 900}
expect.set_options(timeout=20_000)  # two busy cores can hold a page up for seconds


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A running JupyterLab whose root is a copy of notebooks/."""
    server = LabServer(tmp_path_factory.mktemp("lab"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium, driven by Playwright."""
    path = find_chromium()
    if path is None:
        pytest.fail("no Chrome or Chromium was found: run `make browser`, or name one in CHROMIUM")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS, ignore_default_args=["--headless"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium, request):
    """A page in a profile of its own; the test fails when a script of ours raises there or asks an outside host."""
    context = chromium.new_context(viewport=VIEWPORT)
    shown = context.new_page()
    problems: list[str] = []
    shown.on("pageerror", lambda error: problems.extend(_ours(error)))
    shown.on("request", lambda request: problems.extend(_outside(request.url)))
    yield shown
    context.close()
    if "lab" in request.fixturenames:
        request.getfixturevalue("lab").reset()
    assert not problems, "\n".join(problems)


def _ours(error) -> list[str]:
    # JupyterLab's own scripts raise now and then: on quick changes of theme, and ipywidgets' manager where a notebook
    # has no kernel. Ours arrive as blobs or inline.
    stack = error.stack or ""
    theirs = "/static/lab/" in stack or "/lab/extensions/" in stack
    return [] if theirs and "blob:" not in stack else [f"script error: {error}\n{stack}"]


def _outside(url: str) -> list[str]:
    local = ("http://127.0.0.1", "ws://127.0.0.1", "http://localhost", "data:", "blob:", "file:", "about:")
    return [] if url.startswith(local) else [f"asked an outside host: {url}"]
