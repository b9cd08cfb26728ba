"""`import autograd_lab` is light: little memory, and nothing of notebooks, plots or accelerators."""

import json
import subprocess
import sys

import pytest

PROBE = """
import json, re, sys
import autograd_lab
status = open("/proc/self/status").read() if sys.platform == "linux" else ""
resident = re.search(r"VmRSS:\\s+(\\d+) kB", status)
print(json.dumps({"modules": sorted(sys.modules), "kilobytes": int(resident[1]) if resident else None}))
"""
LATE = {
    *("IPython", "ipykernel", "ipywidgets", "anywidget", "traitlets", "jupyterlab", "nbconvert"),
    *("matplotlib", "graphviz", "pygraphviz", "tqdm", "sklearn", "pandas"),
    *("cupy", "dpnp", "numba", "torch", "onnx", "scipy"),
}


@pytest.fixture(scope="module")
def imported():
    """What a fresh interpreter holds after the import."""
    run = subprocess.run([sys.executable, "-W", "error", "-c", PROBE], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_the_import_brings_nothing_late(imported):
    early = sorted(LATE & {name.split(".")[0] for name in imported["modules"]})
    assert not early, f"imported too early: {early}"


def test_widgets_are_imported_only_when_asked_for(imported):
    assert "autograd_lab.widgets" not in imported["modules"]


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from Linux's /proc")
def test_the_import_takes_less_than_45_megabytes(imported):
    assert imported["kilobytes"] < 45 * 1024, f"{imported['kilobytes'] / 1024:.1f} MB resident"
