"""What holds for every test: hypothesis profiles, browser tests kept together, and no skip without a reason.

A skip is allowed only where its reason names hardware that is not there (a GPU, another device, more memory). Any other
skip fails the run, so that a missing program or package cannot hide a test.
"""

import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", deadline=None, derandomize=True, max_examples=60, print_blob=True)
settings.register_profile("dev", deadline=None, max_examples=30)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))

HARDWARE = re.compile(r"\b(GPUs?|CUDA|ROCm|XPU|AMD|Intel|NVIDIA|memory)\b")
UI = Path(__file__).parent / "ui"
_quiet_skips: list[str] = []


@pytest.fixture
def wait_until():
    """`wait_until(ask, seconds=60)` calls `ask` until it gives something true, and gives that; else the test fails."""

    def wait(ask, seconds: float = 60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            answer = ask()
            if answer:
                return answer
            time.sleep(0.1)
        pytest.fail(f"nothing came of {ask.__name__} in {seconds} s")

    return wait


def pytest_collection_modifyitems(items):
    """Start with the browser tests: they take longest."""
    items.sort(key=lambda item: UI not in item.path.parents)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hand out whole files, and the browser tests all to one worker: they share a JupyterLab and a Chromium."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "tests/ui" if nodeid.startswith("tests/ui/") else nodeid.partition("::")[0]

    return ByFile(config, log)


def pytest_runtest_logreport(report):
    """Note every skip whose reason names no missing hardware."""
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not HARDWARE.search(reason):
            _quiet_skips.append(f"{report.nodeid}: {reason}")


def pytest_sessionfinish(session, exitstatus):
    """Fail the run when a test was skipped quietly."""
    if _quiet_skips and exitstatus == pytest.ExitCode.OK and not hasattr(session.config, "workerinput"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    """Name the quiet skips."""
    if _quiet_skips:
        terminalreporter.section("skipped without naming missing hardware: these fail the run")
        for line in _quiet_skips:
            terminalreporter.line(line)
