"""The machine's description."""

import json

import numpy as np

from autograd_lab.profile import machine


def test_it_is_plain_data_with_the_versions():
    described = machine.describe()
    assert json.loads(json.dumps(described)) == described
    assert described["numpy"] == np.__version__ and described["cores"] > 0


def test_one_line_names_processor_cores_and_versions():
    line = machine.one_line()
    assert "\n" not in line and f"NumPy {np.__version__}" in line and "core" in line


def test_missing_facts_leave_no_holes():
    assert machine.one_line({"processor": "Chip", "cores": 0.5, "cores_present": 8}) == "Chip · 0.5 of 8 cores"
    assert machine.one_line({}) == ""


def test_threads_come_from_the_environment_when_nothing_better_is_known(monkeypatch):
    for name in machine.THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert machine._threads_from_environment() is None
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert machine._threads_from_environment() == 3
    assert machine.describe()["thread_variables"] == {"OMP_NUM_THREADS": "3"}
