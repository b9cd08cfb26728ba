"""`lab.record()`: watch the tape grow while a block runs.

An observer turns nodes into rows at most twenty times a second and lets go of them, so that watching a training
loop keeps no graph alive. The last state is always told, also when the block raises.
"""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.observers import Observer, observe
from ..core.tape import Node, caller
from .document import Tape
from .formatters import has_kernel, show, show_live
from .names import Names, find_names
from .schema import AppendEvent
from .snapshot import LIMIT, PLACE, Builder, Snapshot

INTERVAL = 0.05
_ID, _KIND, _LABEL, _VALUE = (PLACE[name] for name in ("id", "kind", "label", "value"))

#: makes an empty live view that follows a recording, or gives None; set by the composition root
follow_view: Callable[[Tape], Any] | None = None


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without the garbage collector, which would walk the many rows that a batch makes, all of which stay."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


class LiveTape(Tape, Observer):
    """What `record()` gives: a tape that grows while its block runs.

    Example:
        >>> with lab.record() as tape:
        ...     loss = model(x).sum()
        >>> len(tape)
    """

    def __init__(self, show: bool = True, title: str = "recorded tape", interval: float = INTERVAL) -> None:
        self._builder = Builder()
        self._title = title
        super().__init__(Snapshot(self._builder.graph([], title), self._builder.formulas, {}, self._builder.ids))
        self._show, self._interval = show, interval
        self._pending: list[Node] = []
        self._alive: dict[int, weakref.ref] = {}
        self._told = (0, 0, 0)
        self._left_out = 0
        self._next = 0.0
        self._context: Any = None
        self.widget: Any = None
        self.recording = False
        self.events = 0

    # ----- the block -----

    def __enter__(self) -> LiveTape:
        if self._show and follow_view is not None and has_kernel():
            self.widget = follow_view(self)
            if self.widget is not None:
                show_live(self.widget)
        self.recording = True
        self._next = time.monotonic() + self._interval
        self._context = observe(self)
        self._context.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._context.__exit__(*exc)
        self._context = None
        self.recording = False
        try:
            self._finish(find_names(caller()))
        except Exception as error:  # watching must not break what is watched
            self.graph["title"] = f"{self._title} (incomplete: {error})"
        if self.widget is not None:
            self.widget.settle(self)
            show(self)

    def op_recorded(self, node: Node, operands: Any, output: Any) -> None:
        """Keep the node for the next batch."""
        if len(self._alive) + len(self._pending) >= LIMIT:
            self._left_out += 1
            return
        self._pending.append(node)
        now = time.monotonic()
        if now >= self._next:
            try:
                self._flush(find_names(caller(2)))
            except Exception:
                pass  # watching must not break what is watched; the end of the block tries again
            # A batch that took long waits as long for the next: the block gets at least half of the time.
            end = time.monotonic()
            self._next = end + max(self._interval, end - now)

    # ----- batches -----

    def _flush(self, names: Names) -> None:
        """Turn pending nodes into rows, and tell the view about them."""
        nodes, self._pending = self._pending, []
        builder = self._builder
        builder.names = names
        with _no_collection():
            for node in nodes:  # values are read once, at the end: summaries on the way would slow the block down
                builder.op(node)
                self._alive[node.seq] = weakref.ref(node)
        builder.names = Names()
        event = self._event()
        if event is not None:
            self.events += 1
            if self.widget is not None:
                self.widget.append(event)

    def _event(self) -> AppendEvent | None:
        """Rows and edges since the last event."""
        rows, edges, groups = self._builder.rows, self._builder.edges, self._builder.groups
        before, self._told = self._told, (len(rows), len(edges["source"]), len(groups))
        if before == self._told:
            return None
        return {
            "kind": "append",
            "nodes": self._builder.columns(before[0]),
            "edges": {name: column[before[1] :] for name, column in edges.items()},  # type: ignore[attr-defined,typeddict-item]
            "groups": groups[before[2] :],
            "formulas": self._builder.formulas,
            "roots": [],
        }

    def _finish(self, names: Names) -> None:
        """The last batch, names that were given only after an op ran, and the roots."""
        self._flush(names)
        builder = self._builder
        row_of = {row[_ID]: row for row in builder.rows}
        for identity, reference in self._alive.items():
            node = reference()
            if node is None:
                continue
            row = row_of[identity]
            row[_LABEL] = names.of(node) or row[_LABEL]
            if row[_VALUE] is None:
                row[_VALUE] = builder.summary(names.value(node))
        used = set(builder.edges["source"])
        roots = [row[_ID] for row in builder.rows if row[_KIND] == "op" and row[_ID] not in used]
        self.graph = builder.graph(roots, self._title, self._left_out)
        self.formulas = builder.formulas
        self._alive = {}


def record(show: bool = True) -> LiveTape:
    """Watch the tape while a block runs: `with lab.record() as tape:`.

    In a notebook the graph grows below the cell; elsewhere nothing is shown and `tape` holds what was recorded.

    Args:
        show: show the live view when there is a notebook.
    """
    return LiveTape(show)
