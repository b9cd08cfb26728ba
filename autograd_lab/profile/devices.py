"""The same function on every device at hand, over growing sizes: `compare_devices`."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..backend import clock as clocks
from ..backend.device import TYPES
from ..backend.device import device as as_device
from ..backend.namespace import backend_for
from . import machine
from .bench import quantile, time_callable
from .results import DeviceComparison, Row

__all__ = ["Plan", "compare_devices", "what_a_gpu_needs"]

DEFAULT_SIZES = (16, 32, 64, 128, 256, 512, 1024)
TRANSFERS = 5


@dataclass(frozen=True)
class Plan:
    """What to time where, kept with the results so that a view can run it again."""

    fn: Callable[..., Any]
    make_inputs: Callable[[int], Any]
    sizes: tuple[int, ...]
    devices: tuple[str, ...]
    label: str
    min_time: float

    def run(self, report: Callable[[float, list[Row]], None] | None = None, bar: Any = None) -> DeviceComparison:
        """Time every device at every size.

        Args:
            report: called with the share done (0 to 1) and the rows so far, after each measurement.
            bar: a tqdm bar to move.
        """
        rows: list[Row] = []
        total = len(self.devices) * len(self.sizes)
        for size in self.sizes:
            for device in self.devices:
                if bar is not None:
                    bar.set_postfix_str(f"{device}, size {size}", refresh=False)
                try:
                    rows.append(self.measure(device, size))
                except BaseException as error:
                    error.add_note(f"This happened while timing {self.label!r} at size {size} on {device}.")
                    raise
                if bar is not None:
                    bar.update(1)
                if report is not None:
                    report(len(rows) / total, rows)
        rows.sort(key=lambda row: (self.devices.index(row.device), row.size))
        hardware = {device: clocks.clock_for(device).hardware for device in self.devices}
        return DeviceComparison(
            rows=rows,
            machine=machine.describe(),
            label=self.label,
            note=what_a_gpu_needs() if not any(map(_is_remote, self.devices)) else "",
            hardware=hardware,
            date=datetime.date.today().isoformat(),
            plan=self,
        )

    def measure(self, device: str, size: int) -> Row:
        """One device at one size: inputs made on the host, moved, the call timed, the result moved back."""
        inputs = self.make_inputs(size)
        remote = _is_remote(device)
        here = move(inputs, device) if remote else inputs
        call = _caller(self.fn, here)
        timing = time_callable(call, device=device, min_time=self.min_time)
        transfer_in = transfer_out = 0.0
        if remote:
            clock = clocks.clock_for(device)
            result = call()
            transfer_in = _median_of(lambda: move(inputs, device), clock)
            transfer_out = _median_of(lambda: move(result, "cpu"), clock)
        return Row(
            device=device,
            size=size,
            median=timing.median,
            low=timing.low,
            high=timing.high,
            ci_low=timing.ci_low,
            ci_high=timing.ci_high,
            transfer_in=transfer_in,
            transfer_out=transfer_out,
            launch=timing.launch,
            device_time=timing.device_time,
            unsynchronised=timing.unsynchronised,
            first=timing.first,
            runs=timing.runs,
        )


def compare_devices(
    fn: Callable[..., Any],
    make_inputs: Callable[[int], Any],
    sizes: Iterable[int] = DEFAULT_SIZES,
    devices: Iterable[Any] | None = None,
    *,
    label: str | None = None,
    min_time: float = 0.05,
    progress: bool = True,
) -> DeviceComparison:
    """Time `fn` on every device at hand, over growing sizes, and show the curves.

    Args:
        fn: called with the inputs: `fn(*inputs)` for a tuple or list, `fn(**inputs)` for a dict, else `fn(inputs)`.
        make_inputs: gives the inputs for a size, on the CPU. They are moved by their `to` and the way is timed apart.
        sizes: whole numbers above 0; what they mean is up to `make_inputs`.
        devices: "cpu", "cuda:0", …; by default those at hand, the CPU first.
        label: what to call it; by default the name of `fn`.
        min_time: seconds of readings for each device and size.
        progress: show a tqdm bar when it takes longer than a second (if tqdm is installed).

    Returns:
        The results: `rows`, `table()`, `svg()`, `to_csv()`, `to_json()`, `plot()`, `crossover()`; shown as a live view.

    Raises:
        RuntimeError: a device is not at hand; the text says what is missing.
        Whatever `fn` or `make_inputs` raise, with a note that names size and device.

    Example:
        >>> import numpy as np
        >>> result = compare_devices(np.tanh, lambda n: np.ones(n), sizes=(8, 64), min_time=0.001)
        >>> [row.size for row in result.rows]
        [8, 64]
    """
    wanted = tuple(sizes)
    for size in wanted:
        if isinstance(size, bool) or not hasattr(size, "__index__") or size <= 0:
            raise ValueError(f"sizes must be whole numbers above 0, got {size!r}; make_inputs turns one into shapes")
    if not wanted:
        raise ValueError("sizes is empty: give at least one size")
    names = tuple(dict.fromkeys(str(d) for d in devices)) if devices is not None else tuple(clocks.at_hand())
    if not names:
        raise ValueError("devices is empty: give at least one device, or leave it out for those at hand")
    for name in names:
        _require(name)
    plan = Plan(
        fn=fn,
        make_inputs=make_inputs,
        sizes=tuple(sorted({int(size) for size in wanted})),
        devices=names,
        label=label or getattr(fn, "__name__", type(fn).__name__).replace("<lambda>", "function"),
        min_time=min_time,
    )
    bar = _bar(len(plan.sizes) * len(names)) if progress else None
    try:
        return plan.run(bar=bar)
    finally:
        if bar is not None:
            bar.close()


def what_a_gpu_needs() -> str:
    """What is missing here for a GPU, and how to install it; for the note under a picture with the CPU alone."""
    return (
        "Only the CPU is at hand. The same program runs on a GPU with its driver and one of: "
        "NVIDIA: pip install 'autograd_lab[cuda12]' or 'autograd_lab[cuda13]' (as the driver's CUDA version); "
        "AMD: pip install 'autograd_lab[rocm]'; Intel: pip install 'autograd_lab[xpu]'."
    )


def move(value: Any, device: str) -> Any:
    """Copy tensors (or lists, tuples, dicts of them) to a device; leaves stay leaves and keep requires_grad.

    Raises:
        TypeError: a NumPy array for another device than the CPU.
    """
    if isinstance(value, dict):
        return {key: move(item, device) for key, item in value.items()}
    if isinstance(value, list | tuple):
        moved = [move(item, device) for item in value]
        return type(value)(*moved) if hasattr(value, "_fields") else type(value)(moved)
    if hasattr(value, "detach") and hasattr(value, "requires_grad_"):
        return value.detach().to(device).requires_grad_(value.requires_grad)
    if hasattr(value, "to"):
        return value.to(device)
    if type(value).__module__ == "numpy" and hasattr(value, "__array__") and device != "cpu":
        raise TypeError(f"make_inputs gave a NumPy array, which cannot go to {device}: use lab.tensor(array)")
    return value


def _is_remote(device: str) -> bool:
    return clocks.split_device(device)[0] != "cpu"


def _require(device: str) -> None:
    """Raise what the back end says is missing, or that nothing can time this device."""
    if clocks.split_device(device)[0] in TYPES:
        backend_for(as_device(device))
    clocks.clock_for(device)


def _caller(fn: Callable[..., Any], inputs: Any) -> Callable[[], Any]:
    if isinstance(inputs, dict):
        return lambda: fn(**inputs)
    if isinstance(inputs, list | tuple):
        return lambda: fn(*inputs)
    return lambda: fn(inputs)


def _median_of(work: Callable[[], Any], clock: clocks.Clock) -> float:
    """Median seconds of a few runs, waited for; the first, which reserves memory, is thrown away."""
    readings: list[float] = []
    for _ in range(TRANSFERS + 1):
        clock.synchronize()
        start = clock.now()
        work()
        clock.synchronize()
        readings.append((clock.now() - start) * 1e-9)
    return quantile(sorted(readings[1:]), 0.5)


def _bar(total: int) -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc="timing", unit="measurement", delay=1.0, leave=False)
