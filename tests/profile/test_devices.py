"""compare_devices: curves, transfers apart, crossover, errors that name the place, and every body of the result."""

import csv
import importlib.util
import io
import json
from xml.etree import ElementTree

import numpy as np
import pytest

from autograd_lab.backend import clock
from autograd_lab.profile import DeviceComparison, compare_devices, time_callable
from tests.doubles.async_device import Array, simulation

SIZES = (4, 16, 64)


def product(a, b):
    return a @ b


@pytest.fixture(scope="module")
def result():
    with simulation() as (host, _):
        return compare_devices(product, lambda n: pair(host, n), SIZES, ["cpu", "fake"], min_time=1e-5, progress=False)


def pair(host, n):
    return Array.of(host, np.ones((n, n))), Array.of(host, np.ones((n, n)))


def test_every_device_at_every_size(result):
    assert [(row.device, row.size) for row in result.rows] == [(d, n) for d in ("cpu", "fake") for n in SIZES]


def test_medians_are_those_of_the_simulation(result):
    for row in result.rows:
        work = 2 * row.size**3
        exact = 100 + 200 + work // 2 if row.device == "cpu" else 3_000 + 2_000 + work // 200
        assert row.median == pytest.approx(exact * 1e-9, rel=0.02)


def test_transfers_are_measured_apart(result):
    for row in result.rows:
        bytes_of_one = 4 * row.size**2
        expected = (0, 0) if row.device == "cpu" else (0.2 * bytes_of_one, 0.1 * bytes_of_one)
        assert (row.transfer_in, row.transfer_out) == pytest.approx(tuple(n * 1e-9 for n in expected), abs=1e-7)


def test_the_wrong_reading_stands_beside_the_right_one():
    with simulation(card_ns=lambda work: 1_000_000) as (host, _):
        found = compare_devices(product, lambda n: pair(host, n), [8], ["fake"], min_time=1e-3, progress=False)
    row = found.rows[0]
    assert row.unsynchronised < row.median / 50
    assert "Without waiting for fake one would read" in found.text()


def test_the_crossover_is_found_with_and_without_transfers(result):
    assert result.crossover("fake") == 64
    assert result.crossover("cpu", "fake") is None
    assert "fake wins from size 64 on." in result.sentences()
    with simulation(copy_ns_per_byte=1000) as (host, _):
        slow_bus = compare_devices(product, lambda n: pair(host, n), SIZES, min_time=1e-5, progress=False)
    assert slow_bus.crossover("fake:0", transfers=True) is None
    assert "with transfers counted, the CPU does" in slow_bus.text()
    with pytest.raises(ValueError, match="no device 'abacus' in these results: they have cpu, fake"):
        result.crossover("abacus")


def test_a_crossover_must_last():
    rows = [("cpu", 1, 5.0), ("cpu", 2, 1.0), ("cpu", 4, 9.0), ("fast", 1, 1.0), ("fast", 2, 2.0), ("fast", 4, 3.0)]
    assert made_up(rows).crossover("fast") == 4


def made_up(rows, **known):
    from autograd_lab.profile import Row

    rest = {"transfer_in": 0.0, "transfer_out": 0.0}
    listed = [Row(d, n, t, t, t, t, t, **rest) for d, n, t in rows]
    return DeviceComparison(listed, machine={}, label="made up", **known)


def test_with_only_a_cpu_it_says_what_a_gpu_needs():
    found = compare_devices(np.tanh, np.ones, (8, 64), min_time=1e-3, devices=["cpu"])
    assert len(found.rows) == 2
    for body in (found.text(), found.svg()):
        for extra in ("cuda12", "cuda13", "rocm", "xpu"):
            assert f"autograd_lab[{extra}]" in body


def test_inputs_may_be_one_value_a_list_or_names():
    for inputs in (2.0, [2.0], {"x": 2.0}):
        found = compare_devices(lambda x: x * 2, lambda n, inputs=inputs: inputs, [1], min_time=1e-4, devices=["cpu"])
        assert found.rows[0].median > 0


def test_the_learners_error_comes_through_with_size_and_device():
    def fails(x):
        if len(x) > 8:
            raise ArithmeticError("mine")
        return x

    with pytest.raises(ArithmeticError, match="mine") as caught:
        compare_devices(fails, lambda n: [np.ones(n)], (4, 16), min_time=1e-4, devices=["cpu"], progress=False)
    assert caught.value.args == ("mine",)
    assert caught.value.__notes__ == ["This happened while timing 'fails' at size 16 on cpu."]


def test_a_numpy_array_does_not_go_to_another_device():
    with simulation(), pytest.raises(TypeError, match="NumPy array, which cannot go to fake"):
        compare_devices(np.tanh, np.ones, [4], ["fake"], progress=False)


@pytest.mark.parametrize(
    "sizes, devices, error, words",
    [
        ((), None, ValueError, "sizes is empty"),
        ((0,), None, ValueError, "whole numbers above 0, got 0"),
        (((3, 4),), None, ValueError, r"got \(3, 4\)"),
        ((4,), (), ValueError, "devices is empty"),
        ((4,), ("abacus",), RuntimeError, "no clock for device 'abacus'"),
    ],
)
def test_bad_arguments_are_named(sizes, devices, error, words):
    with pytest.raises((error, TypeError), match=words):
        compare_devices(np.tanh, np.ones, sizes, devices)


@pytest.mark.parametrize("device, library, extra", [("cuda", "CuPy", "cuda12"), ("xpu", "dpnp", "xpu")])
def test_a_missing_device_names_the_extra(device, library, extra, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None)
    monkeypatch.setattr(clock, "_clocks", {})
    with pytest.raises(RuntimeError, match=rf"needs {library}, which is not installed: pip install 'autograd_lab\[.*{extra}"):
        compare_devices(np.tanh, np.ones, [4], [device])


def test_csv_has_a_line_for_each_row_and_the_machine(result, tmp_path):
    text = result.to_csv(tmp_path / "t.csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["median_s"]) for row in rows] == [row.median for row in result.rows]
    assert "NumPy" in rows[0]["machine"] and rows[0]["launch_s"] == ""
    assert (tmp_path / "t.csv").read_text() == text


def test_json_comes_back_labelled_with_card_and_date(result, tmp_path):
    result.to_json(tmp_path / "t.json")
    loaded = DeviceComparison.load(tmp_path / "t.json")
    assert [row.median for row in loaded.rows] == [row.median for row in result.rows]
    assert loaded.rows[-1].recorded == {"card": "Simulated card", "date": result.date}
    assert loaded.names[-1] == f"fake (Simulated card, {result.date})"
    both = result.beside(loaded)
    assert both.crossover(loaded.names[-1]) == 64
    assert 'stroke-dasharray="6 4"' in both.svg() and 'stroke-dasharray="6 4"' not in result.svg()
    again = DeviceComparison.load(both.to_json())
    assert again.rows[-1].recorded == loaded.rows[-1].recorded


@pytest.mark.parametrize(
    "text, words",
    [("{}", "not recorded timings"), ('{"format": "autograd_lab.timings", "version": 99}', "reads up to 1")],
)
def test_other_files_are_refused(text, words):
    with pytest.raises(ValueError, match=words):
        DeviceComparison.load(text)


def test_the_wire_form_is_the_schemas(result):
    from typing import get_type_hints

    from autograd_lab.display import schema

    wire = result.to_wire()
    assert json.loads(json.dumps(wire)) == wire
    assert set(wire) == set(get_type_hints(schema.Timings))
    assert {frozenset(row) for row in wire["rows"]} == {frozenset(get_type_hints(schema.TimingRow))}


def test_the_picture_is_well_formed_titled_and_escaped():
    with simulation() as (host, _):
        found = compare_devices(
            product, lambda n: pair(host, n), SIZES, ["cpu", "fake"], label="<b> & co", min_time=1e-5, progress=False
        )
    tree = ElementTree.fromstring(found.svg())
    space = "{http://www.w3.org/2000/svg}"
    assert tree.find(f"{space}title").text == "<b> & co: time of a call"
    assert "cpu: 365.2 ns at size 4 to" in tree.find(f"{space}desc").text
    words = [text.text for text in tree.iter(f"{space}text")]
    assert {"cpu", "fake", "not waited for", "4", "16", "64"} <= set(words)
    assert any(word.endswith(" µs") for word in words)


def test_the_table_marks_what_is_not_measured(result):
    lines = result.table().splitlines()
    assert len(lines) == 1 + len(result.rows)
    assert "–" in lines[1].split() and "–" not in lines[-1].split()
    assert repr(result) == result.text()


def test_matplotlib_draws_a_line_for_each_device(result):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    ax = result.plot()
    assert [line.get_label() for line in ax.get_lines()] == ["cpu", "fake", "fake, not waited for"]
    pyplot.close(ax.figure)


def test_the_plan_can_be_run_again_and_reports():
    found = compare_devices(np.tanh, np.ones, (4, 8), devices=["cpu"], min_time=1e-4)
    shares = []
    again = found.plan.run(report=lambda share, rows: shares.append((share, len(rows))))
    assert shares == [(0.5, 1), (1.0, 2)] and len(again.rows) == 2


def test_one_callable_can_be_timed_alone():
    with simulation() as (_, card):
        x = Array.of(card, np.ones((4, 4)))
        assert "without waiting" in str(time_callable(lambda: x @ x, device="fake", min_time=1e-5))
