"""One clock for each kind of device: reading the time, waiting for the device, marking its queue.

A CPU has done its work when a call returns, so reading the time is enough. A GPU has only been *told* what to do: an
honest reading waits for it (`synchronize`) before the clock is started and before it is stopped, and an *event* put
into its queue tells how long the device itself was at work. Back ends register their clock here; everything above asks
`clock_for(device)`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

__all__ = [
    "CPUClock",
    "CUDAClock",
    "Clock",
    "at_hand",
    "clock_for",
    "register",
    "registered",
    "resolution",
    "split_device",
]


@runtime_checkable
class Clock(Protocol):
    """What a device must offer to be timed. All times are whole nanoseconds.

    Attributes:
        asynchronous: True when a call may return before the device has done the work.
        hardware: the card's name for the label of a result ("NVIDIA H200"), empty when unknown.
    """

    asynchronous: bool
    hardware: str

    def now(self) -> int:
        """The time on the host, in nanoseconds since some fixed moment."""
        ...

    def synchronize(self) -> None:
        """Wait until the device has done everything it was told to do."""
        ...

    def event(self) -> Any:
        """Put a mark into the device's queue at this point and return it."""
        ...

    def elapsed(self, start: Any, end: Any) -> int:
        """Nanoseconds between two marks on the device; both must have been reached (call `synchronize` first)."""
        ...


class CPUClock:
    """The processor's own clock: `time.perf_counter_ns`, or with `process=True` the CPU time this process has used.

    CPU time leaves out the time in which other programs held the processor; it adds up over threads, so a
    multiplication on two cores counts double.
    """

    asynchronous = False
    hardware = ""

    def __init__(self, process: bool = False):
        self.now: Callable[[], int] = time.process_time_ns if process else time.perf_counter_ns

    def synchronize(self) -> None:
        """Nothing to wait for: a call on the CPU has done its work when it returns."""

    def event(self) -> int:
        """A mark is simply the time."""
        return self.now()

    def elapsed(self, start: int, end: int) -> int:
        """The difference of two marks."""
        return end - start


class CUDAClock:
    """The clock of a CUDA or ROCm device, on CuPy's events.

    Args:
        cupy: CuPy's module (only `backend.cupy` imports it).
        index: which device.
    """

    asynchronous = True

    def __init__(self, cupy: Any, index: int = 0):
        self._cuda = cupy.cuda
        self._device = cupy.cuda.Device(index)
        name = cupy.cuda.runtime.getDeviceProperties(index)["name"]
        self.hardware = name.decode() if isinstance(name, bytes) else str(name)
        self.now: Callable[[], int] = time.perf_counter_ns

    def synchronize(self) -> None:
        """Wait for every stream of the device."""
        self._device.synchronize()

    def event(self) -> Any:
        """Record an event on the current stream of this device."""
        with self._device:
            event = self._cuda.Event()
            event.record()
        return event

    def elapsed(self, start: Any, end: Any) -> int:
        """CUDA gives milliseconds, with a step of about half a microsecond."""
        return round(self._cuda.get_elapsed_time(start, end) * 1e6)


_makers: dict[str, tuple[Callable[[int], Clock], Callable[[], int]]] = {}
_clocks: dict[tuple[str, int], Clock] = {}


def register(kind: str, make: Callable[[int], Clock], count: Callable[[], int]) -> None:
    """Register the clock of a kind of device ("cuda", "xpu").

    Args:
        kind: the device type, without a number.
        make: gives the clock of the device with this index. Called once for each index, when first needed.
        count: how many such devices are at hand now; 0 when the driver or the hardware is missing. Must not raise.
    """
    _makers[kind] = (make, count)
    for key in [key for key in _clocks if key[0] == kind]:
        del _clocks[key]


@contextmanager
def registered(kind: str, clock: Clock) -> Iterator[Clock]:
    """Use this clock for a kind of device inside the block, then put the former one back (tests, simulations)."""
    before = _makers.get(kind)
    register(kind, lambda index: clock, lambda: 1)
    try:
        yield clock
    finally:
        if before is None:
            del _makers[kind]
            _clocks.pop((kind, 0), None)
        else:
            register(kind, *before)


def split_device(device: Any) -> tuple[str, int]:
    """("cuda", 1) from "cuda:1", from a device object, or from anything that has `type` and `index`."""
    kind = getattr(device, "type", None)
    if kind is not None:
        return str(kind), int(getattr(device, "index", None) or 0)
    kind, _, index = str(device).partition(":")
    if index and not index.isdigit():
        raise RuntimeError(f"Invalid device string: {str(device)!r}; write a type, or a type and a number: 'cuda:1'")
    return kind, int(index or 0)


def clock_for(device: Any) -> Clock:
    """The clock of a device given as "cuda", "cuda:1" or a device object.

    Raises:
        RuntimeError: when no back end has registered this kind of device; the text lists those that can be timed.
    """
    key = split_device(device)
    clock = _clocks.get(key)
    if clock is None:
        if key[0] not in _makers:
            raise RuntimeError(f"no clock for device {str(device)!r}: this session can time {', '.join(at_hand())}")
        clock = _clocks[key] = _makers[key[0]][0](key[1])
    return clock


def at_hand() -> list[str]:
    """The devices that can be timed now, "cpu" first: ["cpu", "cuda:0", "cuda:1"]."""
    names = ["cpu"]
    for kind, (_, count) in _makers.items():
        if kind != "cpu":
            names += [f"{kind}:{index}" for index in range(count())]
    return names


def resolution(clock: Clock, readings: int = 50) -> int:
    """The smallest step this clock shows between readings, in nanoseconds: shorter intervals can't be told from it."""
    smallest = 0
    for _ in range(readings):
        start = end = clock.now()
        for _ in range(1000):
            end = clock.now()
            if end != start:
                break
        if end > start and (smallest == 0 or end - start < smallest):
            smallest = end - start
    return max(smallest, 1)


def _cuda_clock(index: int) -> Clock:
    from . import cupy

    cupy.require()
    return CUDAClock(cupy.module(), index)


def _cuda_count() -> int:
    from . import cupy

    return cupy.device_count()


register("cpu", lambda index: CPUClock(), lambda: 1)
register("cuda", _cuda_clock, _cuda_count)
