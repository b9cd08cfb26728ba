"""Where does the time go: curves of one function on every device at hand."""

from __future__ import annotations

import time
from typing import Any

import traitlets

from ..profile.devices import Plan
from ..profile.results import DeviceComparison
from . import activity
from .base import LabWidget

__all__ = ["DeviceTimings"]

EMPTY = {"machine": "", "label": "", "rows": [], "note": ""}
# Four updates a second are as many as one can read, and keep the channel free.
INTERVAL = 0.25


class DeviceTimings(LabWidget):
    """The live view of a `DeviceComparison`.

    Its button measures again (request "bench"); while something trains in this session the answer is "busy".

    Args:
        comparison: results to show, as `compare_devices` returns them or `DeviceComparison.load` reads them.

    Example:
        view = DeviceTimings(compare_devices(fn, make_inputs))
    """

    view = traitlets.Unicode("timings").tag(sync=True)
    results = traitlets.Dict(EMPTY).tag(sync=True)
    running = traitlets.Bool(False).tag(sync=True)
    progress = traitlets.Float(0.0).tag(sync=True)
    mounted = ("results",)

    def __init__(self, comparison: DeviceComparison | None = None, **traits: Any) -> None:
        if comparison is not None:
            traits = {"results": comparison.to_wire(), "progress": 1.0} | traits
        self.comparison = comparison
        self._handles: list[Any] = []
        super().__init__(**traits)

    def answer_bench(self) -> dict[str, int]:
        """Measure again, sending rows as they come; give the number of rows.

        Raises:
            ValueError: the results were loaded and can't be measured here.
            RuntimeError: something else is at work.
        """
        plan: Plan | None = self.comparison.plan if self.comparison is not None else None
        if plan is None:
            raise ValueError("these results were recorded elsewhere: call compare_devices to measure on this machine")
        activity.refuse_when_busy()
        recorded = [row for row in self.comparison.rows if row.recorded is not None]
        sent = 0.0

        def report(share: float, rows: list) -> None:
            nonlocal sent
            if time.monotonic() - sent >= INTERVAL:
                sent = time.monotonic()
                partial = DeviceComparison([*rows, *recorded], self.comparison.machine, plan.label)
                with self.hold_sync():
                    self.results, self.progress = partial.to_wire(), share

        before = self.results
        with self.hold_sync():
            self.running, self.progress = True, 0.0
        try:
            with activity.working("a timing"):
                fresh = plan.run(report=report)
            fresh.rows += recorded
            self.comparison = fresh
            before = fresh.to_wire()
        finally:
            with self.hold_sync():
                self.results, self.running, self.progress = before, False, 1.0
        for handle in self._handles:
            handle.update(self.static_bundle(), raw=True)
        return {"rows": len(fresh.rows)}

    def static_text(self) -> str:
        """The results as plain text."""
        return self.comparison.text() if self.comparison is not None else "No timings yet"

    def static_html(self) -> str:
        """The results as a static cell output."""
        return (self.comparison or DeviceComparison([], {}, "Timings")).static_html()

    def shown(self, handle: Any) -> None:
        """Keep the static picture's handle, to renew the picture after measuring again."""
        self._handles.append(handle)

    def __repr__(self) -> str:
        """One line, shown where the view cannot live."""
        label = self.comparison.label if self.comparison is not None else "timings"
        return f"{label}: timings (live view; the picture below needs no kernel)"
