"""Clocks: the registry, the CPU's clock, CUDA's on a stand-in for CuPy."""

import types

import pytest

from autograd_lab.backend import clock as clocks
from autograd_lab.backend.device import device


def test_the_cpu_is_always_at_hand_and_first():
    assert clocks.at_hand()[0] == "cpu"
    clock = clocks.clock_for(device("cpu"))
    assert isinstance(clock, clocks.Clock) and not clock.asynchronous
    start = clock.event()
    assert clock.elapsed(start, clock.event()) >= 0
    clock.synchronize()


def test_process_time_does_not_go_backward():
    clock = clocks.CPUClock(process=True)
    first = clock.now()
    sum(range(1000))
    assert clock.now() >= first


@pytest.mark.parametrize(
    "given, expected",
    [("cuda", ("cuda", 0)), ("cuda:1", ("cuda", 1)), (device("xpu", 2), ("xpu", 2)), (device("cpu"), ("cpu", 0))],
)
def test_devices_are_given_by_name_or_object(given, expected):
    assert clocks.split_device(given) == expected


def test_a_wrong_device_string_is_refused():
    with pytest.raises(RuntimeError, match="Invalid device string: 'cuda:x'"):
        clocks.clock_for("cuda:x")


def test_an_unknown_device_names_those_at_hand():
    with pytest.raises(RuntimeError, match="no clock for device 'abacus': this session can time cpu"):
        clocks.clock_for("abacus")


def test_a_registered_clock_is_used_and_taken_back():
    stand_in = clocks.CPUClock()
    with clocks.registered("abacus", stand_in):
        assert clocks.clock_for("abacus:0") is stand_in
        assert "abacus:0" in clocks.at_hand()
    assert "abacus:0" not in clocks.at_hand()
    usual = clocks.clock_for("cpu")
    with clocks.registered("cpu", stand_in):
        assert clocks.clock_for("cpu") is stand_in
    assert type(clocks.clock_for("cpu")) is type(usual) and clocks.clock_for("cpu") is not stand_in


def test_the_resolution_is_the_smallest_step_seen():
    readings = iter(n // 3 * 500 for n in range(10_000))
    assert clocks.resolution(types.SimpleNamespace(now=lambda: next(readings))) == 500


def test_a_clock_that_stands_still_does_not_hang():
    assert clocks.resolution(types.SimpleNamespace(now=lambda: 7), readings=2) == 1


class StandInEvent:
    def record(self):
        self.recorded = True


class StandInDevice:
    synchronized = 0

    def __init__(self, index):
        self.index = index

    def synchronize(self):
        StandInDevice.synchronized += 1

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        return None


def test_the_cuda_clock_uses_events_of_its_device():
    cuda = types.SimpleNamespace(
        Device=StandInDevice,
        Event=StandInEvent,
        get_elapsed_time=lambda start, end: 1.5,
        runtime=types.SimpleNamespace(getDeviceProperties=lambda index: {"name": b"Card"}),
    )
    clock = clocks.CUDAClock(types.SimpleNamespace(cuda=cuda), 1)
    assert isinstance(clock, clocks.Clock) and clock.asynchronous and clock.hardware == "Card"
    start, end = clock.event(), clock.event()
    clock.synchronize()
    assert start.recorded and StandInDevice.synchronized == 1
    assert clock.elapsed(start, end) == 1_500_000
