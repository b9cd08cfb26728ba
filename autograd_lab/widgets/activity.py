"""Who is at work in this process: while a cell trains, a view's request to measure is answered "busy".

Where the front end sends messages on a subshell, a button's callback runs on another thread while a cell is still
running. Timing then would measure both. Whoever runs long (a training view, the shell's own cell hooks) says so here.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["begin", "end", "refuse_when_busy", "working"]

_lock = threading.Lock()
_at_work: dict[int, tuple[str, float]] = {}
_tickets = itertools.count()


def begin(what: str, lasting: float = math.inf, ticket: int | None = None) -> int:
    """Note that something is at work; return the ticket to `end` it with.

    Args:
        what: "training", "a cell": the subject of "… is running".
        lasting: seconds after which it counts as ended by itself, for work whose end nobody may tell.
        ticket: one from before, to renew.
    """
    with _lock:
        if ticket is None:
            ticket = next(_tickets)
        _at_work[ticket] = what, time.monotonic() + lasting
        return ticket


def end(ticket: int | None) -> None:
    """Note that it ended. Ending twice, or a ticket of None, does nothing."""
    with _lock:
        if ticket is not None:
            _at_work.pop(ticket, None)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Be at work for the block."""
    ticket = begin(what)
    try:
        yield
    finally:
        end(ticket)


def refuse_when_busy() -> None:
    """Raise RuntimeError naming what is at work, if anything is."""
    with _lock:
        now = time.monotonic()
        what = next((what for what, until in _at_work.values() if until > now), None)
    if what is not None:
        raise RuntimeError(f"busy: {what} is running, and timings taken meanwhile would be wrong. Try again after it.")
