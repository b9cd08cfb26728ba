"""time_callable: the right reading on an asynchronous device, the wrong one beside it, statistics, good manners."""

import gc

import numpy as np
import pytest

from autograd_lab.backend import clock as clocks
from autograd_lab.profile import time_callable
from autograd_lab.profile.bench import median_interval, quantile
from tests.doubles.async_device import Array, VirtualTime, simulation

LAUNCH, COMPUTE = 3_000, 400_000


@pytest.fixture
def card():
    with simulation(card_ns=lambda work: COMPUTE, launch_ns=LAUNCH) as (_, card):
        yield card


def ones(device, n=2):
    return Array.of(device, np.ones((n, n)))


def test_results_are_not_there_when_the_operation_returns(card):
    card.gate.clear()
    x = ones(card)
    before = card.time.ns
    y = x.tanh()
    assert not y.done.is_set() and y.value is None
    assert card.time.ns - before == LAUNCH
    card.gate.set()
    np.testing.assert_array_equal(y.numpy(), np.tanh(np.ones((2, 2), np.float32)))
    assert card.time.ns - before == LAUNCH + COMPUTE


def test_the_synchronised_reading_is_right(card):
    x = ones(card)
    timing = time_callable(x.tanh, device="fake", min_time=0.01)
    assert timing.median == pytest.approx((LAUNCH + COMPUTE) * 1e-9, rel=0.01)
    assert timing.low == pytest.approx(timing.high, rel=0.01)
    assert timing.calls_per_run == 1


def test_the_unsynchronised_reading_is_far_too_small(card):
    timing = time_callable(ones(card).tanh, device="fake", min_time=0.01)
    assert timing.unsynchronised == pytest.approx(LAUNCH * 1e-9, rel=0.02)
    assert timing.unsynchronised < timing.median / 100


def test_launch_and_device_time_stand_apart(card):
    x = ones(card)
    timing = time_callable(lambda: x.tanh().tanh(), device="fake", min_time=0.01)
    assert timing.launch == pytest.approx(2 * LAUNCH * 1e-9, rel=0.01)
    # The queue's marks enclose the first launch, during which the device had nothing to do.
    assert timing.device_time == pytest.approx((LAUNCH + 2 * COMPUTE) * 1e-9, rel=0.01)
    assert timing.median == pytest.approx((LAUNCH + 2 * COMPUTE) * 1e-9, rel=0.01)


def test_work_still_queued_from_before_is_not_counted(card):
    x = ones(card)
    for _ in range(50):
        x.tanh()
    timing = time_callable(x.tanh, device="fake", min_time=0.01)
    assert timing.first == pytest.approx((LAUNCH + COMPUTE) * 1e-9, rel=0.01)


class Ticking(clocks.CPUClock):
    """A CPU in virtual time."""

    def __init__(self, tick=20):
        self.time = VirtualTime(tick)
        self.now = self.time.read


def spends(clock, durations):
    waits = iter(durations)
    last = [0]

    def call():
        last[0] = next(waits, last[0])
        clock.time.ns += last[0]

    return call


def test_it_warms_up_until_stable():
    clock = Ticking()
    slow_start = [9_000_000, 5_000_000, 3_000_000, 2_000_000, 1_000_000]
    timing = time_callable(spends(clock, slow_start), clock=clock, min_time=0.05)
    assert timing.first == pytest.approx(9e-3, rel=0.01)
    assert timing.warm_ups == 6  # Four still getting faster after the first, then two more that agree.
    assert timing.low == timing.high == timing.median == pytest.approx(1e-3, rel=0.01)


def test_calls_too_short_for_the_clock_are_repeated():
    clock = Ticking(tick=1000)
    timing = time_callable(spends(clock, [50]), clock=clock, min_time=0.01)
    assert timing.calls_per_run * 50 >= 200 * 1000 / 2
    assert timing.median == pytest.approx(50e-9, rel=0.02)


def test_a_function_that_takes_no_time_ends():
    clock = Ticking(tick=20)
    timing = time_callable(lambda: None, clock=clock, min_time=1e-6)
    assert timing.median < 1e-9


def test_a_slow_function_runs_few_times():
    clock = Ticking()
    timing = time_callable(spends(clock, [5_000_000_000]), clock=clock, min_time=0.1)
    assert timing.runs == 3 and timing.warm_ups == 1


def test_at_least_as_many_runs_as_asked():
    clock = Ticking()
    assert time_callable(spends(clock, [200_000_000]), clock=clock, repeats=9, min_time=0.1).runs == 9


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_collection_is_off_meanwhile_and_then_as_before(collecting):
    seen = set()

    def call():
        seen.add(gc.isenabled())

    before = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        time_callable(call, min_time=0.001)
        assert seen == {False} and gc.isenabled() is collecting
        with pytest.raises(ZeroDivisionError):
            time_callable(lambda: 1 / 0)
        assert gc.isenabled() is collecting
    finally:
        (gc.enable if before else gc.disable)()


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="min_time must be above 0"):
        time_callable(int, min_time=0)


def test_on_the_cpu_there_is_no_launch_to_tell_apart():
    timing = time_callable(lambda: sum(range(100)), min_time=0.002)
    assert timing.launch is timing.device_time is timing.unsynchronised is None
    assert 0 < timing.ci_low <= timing.median <= timing.ci_high
    assert "per call on cpu" in str(timing)


def test_quantiles_are_interpolated():
    assert quantile([1.0], 0.9) == 1.0
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.5
    assert [quantile(range(11), share) for share in (0.1, 0.9)] == [1, 9]


@pytest.mark.parametrize(
    "n, ranks", [(3, (0, 2)), (5, (0, 4)), (6, (0, 5)), (9, (1, 7)), (20, (5, 14)), (100, (39, 60))]
)
def test_the_interval_of_the_median_runs_between_the_tabulated_order_statistics(n, ranks):
    assert median_interval(list(range(n))) == ranks


def test_the_interval_covers_the_median_as_often_as_it_says():
    generator = np.random.default_rng(0)
    hits = 0
    for sample in generator.exponential(size=(2000, 25)):
        low, high = median_interval(sorted(sample))
        hits += low <= np.log(2) <= high
    assert 0.94 < hits / 2000 < 0.99


def test_the_interval_of_many_readings_is_close_to_the_exact_one():
    low, high = median_interval(list(range(2000)))
    assert 950 <= low <= 960 and 1039 <= high <= 1049
