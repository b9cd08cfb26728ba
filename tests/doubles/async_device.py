"""A simulated accelerator: operations return at once and finish later, in virtual time.

Values are computed by a worker thread, so a result really isn't there when its operation returns. Durations are not
slept: every device keeps a time line, and one virtual clock is shared by host and device. So tests see exact,
repeatable times. `gate` holds the worker back for as long as a test wants to look at unfinished work.

    time = VirtualTime()
    host = Device("cpu", time, compute_ns=lambda work: 2 * work, launch_ns=0, asynchronous=False)
    card = Device("fake", time, compute_ns=lambda work: 100 + work // 50, launch_ns=5_000)
    with host.registered(), card.registered(): ...
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

from autograd_lab.backend import clock as clocks


class VirtualTime:
    """The host's time in nanoseconds. Reading it takes `tick`, as reading a real clock does."""

    def __init__(self, tick: int = 20):
        self.ns = 0
        self.tick = tick

    def read(self) -> int:
        self.ns += self.tick
        return self.ns


class Device:
    """One simulated device, and its clock.

    Args:
        name: device type under which arrays and the clock are known.
        time: shared with the other devices of the simulation.
        compute_ns: nanoseconds an operation needs, from the number of multiplications and additions.
        launch_ns: what telling the device to do something costs the host.
        copy_ns_per_byte: speed of the way to and from this device.
        asynchronous: False for a host, whose operations return when they are done.
    """

    hardware = "Simulated card"

    def __init__(
        self,
        name: str,
        time: VirtualTime,
        compute_ns: Callable[[int], int],
        launch_ns: int = 5_000,
        copy_ns_per_byte: float = 0.1,
        asynchronous: bool = True,
    ):
        self.name, self.time, self.compute_ns = name, time, compute_ns
        self.launch_ns, self.copy_ns_per_byte, self.asynchronous = launch_ns, copy_ns_per_byte, asynchronous
        self.free_at = 0
        self.synchronizations = 0
        self.gate = threading.Event()
        self.gate.set()
        self._work: queue.Queue = queue.Queue()
        self._worker: threading.Thread | None = None
        self._failures: list[Exception] = []

    def now(self) -> int:
        return self.time.read()

    def synchronize(self) -> None:
        self.synchronizations += 1
        self._work.join()
        self.time.ns = max(self.time.ns, self.free_at)
        if self._failures:
            raise self._failures.pop()

    def event(self) -> int:
        """The moment at which the device's queue gets here."""
        return max(self.time.ns, self.free_at)

    def elapsed(self, start: int, end: int) -> int:
        return end - start

    @contextmanager
    def registered(self) -> Iterator[Device]:
        """Run the worker and let the library know this device's clock."""
        self._worker = threading.Thread(target=self._serve, name=f"device {self.name}", daemon=True)
        self._worker.start()
        try:
            with clocks.registered(self.name, self):
                yield self
        finally:
            self.gate.set()
            self._work.put(None)
            self._worker.join(timeout=10)

    def submit(self, job: Callable[[], None], duration: int) -> None:
        """Put work into the queue; on a host, also wait for it."""
        self.time.ns += self.launch_ns
        self.free_at = max(self.free_at, self.time.ns) + duration
        self._work.put(job)
        if not self.asynchronous:
            self._work.join()
            self.time.ns = self.free_at

    def _serve(self) -> None:
        while (job := self._work.get()) is not None:
            self.gate.wait()
            try:
                job()
            except Exception as failure:
                # As on a real card: it surfaces at the next synchronisation.
                self._failures.append(failure)
            finally:
                self._work.task_done()
        self._work.task_done()


class Array:
    """An array on a simulated device: a few operations, `to`, and `numpy` which waits."""

    def __init__(self, device: Device, shape: tuple[int, ...]):
        self.device_ = device
        self.shape = shape
        self.nbytes = 4 * int(np.prod(shape, dtype=np.int64))
        self.done = threading.Event()
        self.value: np.ndarray | None = None

    @classmethod
    def of(cls, device: Device, value: np.ndarray) -> Array:
        made = cls(device, value.shape)
        made._fill(np.asarray(value, np.float32))
        return made

    def _fill(self, value: np.ndarray) -> None:
        self.value = value
        self.done.set()

    def _launch(self, shape: tuple[int, ...], work: int, compute: Callable[[], np.ndarray]) -> Array:
        out = Array(self.device_, shape)
        self.device_.submit(lambda: out._fill(compute()), self.device_.compute_ns(work))
        return out

    def __matmul__(self, other: Array) -> Array:
        if other.device_ is not self.device_:
            raise RuntimeError(f"operands on {self.device_.name} and {other.device_.name}")
        n, k = self.shape
        m = other.shape[1]
        return self._launch((n, m), 2 * n * k * m, lambda: self.value @ other.value)

    def tanh(self) -> Array:
        return self._launch(self.shape, self.nbytes // 4, lambda: np.tanh(self.value))

    def to(self, device: str) -> Array:
        """Copy to another device of the simulation. A copy waits for the value, and the host waits for the copy."""
        kind = clocks.split_device(device)[0]
        if kind == self.device_.name:
            return self
        self.device_.synchronize()
        target = clocks.clock_for(kind)
        way = max(self.device_.copy_ns_per_byte, target.copy_ns_per_byte)
        self.device_.time.ns += round(self.nbytes * way)
        return Array.of(target, self.value)

    def numpy(self) -> np.ndarray:
        self.device_.synchronize()
        return self.value


@contextmanager
def simulation(
    host_ns: Callable[[int], int] = lambda work: 200 + work // 2,
    card_ns: Callable[[int], int] = lambda work: 2_000 + work // 200,
    launch_ns: int = 3_000,
    copy_ns_per_byte: float = 0.1,
) -> Iterator[tuple[Device, Device]]:
    """A slow host "cpu" and a fast card "fake" over one virtual time, registered for the block."""
    time = VirtualTime()
    host = Device("cpu", time, host_ns, launch_ns=100, copy_ns_per_byte=0.0, asynchronous=False)
    card = Device("fake", time, card_ns, launch_ns=launch_ns, copy_ns_per_byte=copy_ns_per_byte)
    with ExitStack() as stack:
        stack.enter_context(host.registered())
        stack.enter_context(card.registered())
        yield host, card
