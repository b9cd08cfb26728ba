"""Timing one callable honestly: warm up until stable, wait for the device, take the median of many runs."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..backend.clock import Clock, clock_for, resolution

__all__ = ["Timing", "time_callable"]

# A reading must be this many times longer than what taking it costs, so that the cost is at most half a percent of it.
COSTS_PER_READING = 200
# Three readings in a row that differ by less than this share are called stable.
STABLE_WITHIN = 0.10
MOST_CALLS_PER_RUN = 1 << 20
MOST_RUNS = 5_000


@dataclass(frozen=True, slots=True)
class Timing:
    """What was measured of one callable on one device. All times in seconds, for one call.

    Attributes:
        median: time of a call, waited for (the right reading).
        low, high: 10th and 90th percentile of the runs: how much the readings spread.
        ci_low, ci_high: 95 % confidence interval of the median itself, by order statistics.
        launch: time until the call returned, before waiting; None on a device whose calls return when done.
        device_time: time between two marks in the device's queue, around the call; None likewise.
        unsynchronised: the wrong reading, of a loop that never waits; None likewise.
        first: the very first call, with everything that is set up on it.
        runs: how many readings; calls_per_run: calls in each; warm_ups: readings thrown away before.
        device: where.
    """

    median: float
    low: float
    high: float
    ci_low: float
    ci_high: float
    launch: float | None
    device_time: float | None
    unsynchronised: float | None
    first: float
    runs: int
    calls_per_run: int
    warm_ups: int
    device: str

    def __str__(self) -> str:
        from ..display.charts import format_seconds

        text = (
            f"{format_seconds(self.median)} per call on {self.device} "
            f"(10–90 %: {format_seconds(self.low)} to {format_seconds(self.high)}; "
            f"{self.runs} runs of {self.calls_per_run}; first call {format_seconds(self.first)})"
        )
        if self.unsynchronised is not None:
            text += f"; without waiting for the device one would read {format_seconds(self.unsynchronised)}"
        return text


def time_callable(
    fn: Callable[[], Any],
    *,
    device: Any = "cpu",
    min_time: float = 0.1,
    repeats: int = 7,
    max_time: float | None = None,
    clock: Clock | None = None,
) -> Timing:
    """Time `fn()` on a device.

    The device is waited for before the clock is started and before it is stopped. Readings are thrown away until three
    in a row agree. Calls too short for the clock are repeated inside one reading. Garbage collection is off meanwhile.

    Args:
        fn: called without arguments. What it returns is dropped.
        device: "cpu", "cuda:0", a device object: whose clock is used.
        min_time: seconds of readings to gather at least.
        repeats: readings to take at least.
        max_time: seconds after which to stop with fewer than `repeats` readings (but three); default 20 × `min_time`.
        clock: another clock, for instance `CPUClock(process=True)` for CPU time.

    Raises:
        Whatever `fn` raises.

    Example:
        >>> time_callable(lambda: sum(range(1000)), min_time=0.01).median > 0
        True
    """
    if min_time <= 0 or repeats < 1:
        raise ValueError(f"min_time must be above 0 and repeats at least 1, got {min_time} and {repeats}")
    clock = clock or clock_for(device)
    limit = 20 * min_time if max_time is None else max_time
    collecting = gc.isenabled()
    gc.disable()
    try:
        first, _, _ = _reading(fn, 1, clock)
        calls = _calls_per_run(fn, first, clock)
        warm_ups = _warm_up(fn, calls, clock, budget=2 * min_time)
        readings = _readings(fn, calls, clock, min_time, repeats, limit)
        naive = _unsynchronised(fn, calls, clock) if clock.asynchronous else None
    finally:
        if collecting:
            gc.enable()
    totals = sorted(reading[0] for reading in readings)
    ci_low, ci_high = median_interval(totals)
    return Timing(
        median=quantile(totals, 0.5),
        low=quantile(totals, 0.1),
        high=quantile(totals, 0.9),
        ci_low=ci_low,
        ci_high=ci_high,
        launch=quantile(sorted(r[1] for r in readings), 0.5) if clock.asynchronous else None,
        device_time=quantile(sorted(r[2] for r in readings), 0.5) if clock.asynchronous else None,
        unsynchronised=naive,
        first=first,
        runs=len(readings),
        calls_per_run=calls,
        warm_ups=warm_ups,
        device=str(device),
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which this share of an ordered list lies, interpolated between neighbours."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median_interval(ordered: Sequence[float]) -> tuple[float, float]:
    """95 % confidence interval of the median, without assuming a shape of the noise.

    The number of readings below the true median is binomial(n, 1/2); the interval runs between the two order statistics
    that leave at most 2.5 % on either side. With fewer than six readings that is all of them.
    """
    n = len(ordered)
    below, cumulative = 0, 0.0
    probability = 0.5**n if n < 1000 else 0.0
    if probability == 0.0:
        # The normal approximation, where the binomial's first terms underflow.
        below = int(n / 2 - 0.98 * math.sqrt(n))
    else:
        for k in range(n // 2 + 1):
            cumulative += probability
            if cumulative > 0.025:
                below = k
                break
            probability *= (n - k) / (k + 1)
    below = max(below - 1, 0)
    return ordered[below], ordered[n - 1 - below]


def _reading(fn: Callable[[], Any], calls: int, clock: Clock) -> tuple[float, float, float]:
    """One reading, in seconds per call: waited for; until the calls returned; between the device's marks."""
    clock.synchronize()
    mark = clock.event() if clock.asynchronous else None
    start = clock.now()
    for _ in range(calls):
        fn()
    returned = clock.now()
    end_mark = clock.event() if clock.asynchronous else None
    clock.synchronize()
    done = clock.now()
    on_device = clock.elapsed(mark, end_mark) if clock.asynchronous else done - start
    scale = 1e-9 / calls
    return (done - start) * scale, (returned - start) * scale, on_device * scale


def _calls_per_run(fn: Callable[[], Any], first: float, clock: Clock) -> int:
    """How many calls make one reading long enough for this clock.

    On an asynchronous device only the clock's step counts, not what waiting costs: several calls in one reading overlap
    there (the device computes one while the next is launched), and would hide the time of a single call.
    """
    cost = resolution(clock) * 1e-9
    if not clock.asynchronous:
        cost = max(cost, min(_reading(_nothing, 1, clock)[0] for _ in range(20)))
    enough = COSTS_PER_READING * cost
    calls, spent = 1, first
    while spent < enough and calls < MOST_CALLS_PER_RUN:
        calls *= 2
        spent = _reading(fn, calls, clock)[0] * calls
    return calls


def _nothing() -> None:
    """What an empty reading calls."""


def _warm_up(fn: Callable[[], Any], calls: int, clock: Clock, budget: float) -> int:
    """Take readings until three in a row agree, or the budget in seconds is spent; return how many."""
    recent: list[float] = []
    count, spent = 0, 0.0
    while spent < budget and count < MOST_RUNS:
        seconds = _reading(fn, calls, clock)[0]
        count += 1
        spent += seconds * calls
        recent = (recent + [seconds])[-3:]
        if len(recent) == 3 and max(recent) - min(recent) <= STABLE_WITHIN * min(recent):
            break
    return count


def _readings(
    fn: Callable[[], Any], calls: int, clock: Clock, min_time: float, repeats: int, limit: float
) -> list[tuple[float, float, float]]:
    readings: list[tuple[float, float, float]] = []
    spent = 0.0
    while len(readings) < MOST_RUNS:
        reading = _reading(fn, calls, clock)
        readings.append(reading)
        spent += reading[0] * calls
        if spent >= min_time and len(readings) >= repeats:
            break
        if spent >= limit and len(readings) >= min(3, repeats):
            break
    return readings


def _unsynchronised(fn: Callable[[], Any], calls: int, clock: Clock) -> float:
    """The beginner's loop: it stops the clock when the calls have returned, not when the device is done."""
    loops = 5 * calls
    clock.synchronize()
    start = clock.now()
    for _ in range(loops):
        fn()
    end = clock.now()
    clock.synchronize()
    return (end - start) * 1e-9 / loops
