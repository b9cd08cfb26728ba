"""Observers: code outside the core that wants to hear what the core does.

The core draws, prints and times nothing. It calls these points; with nobody listening each costs one
``is None`` (recording) or one empty-tuple test (backward).
"""

from contextlib import contextmanager

from .modes import count_watcher, default_watch, modes


class Observer:
    """Override what you want to hear; every method may be called often, so keep it short."""

    def op_recorded(self, node, operands, output):
        """``node`` was put on the tape for ``output`` (a Tensor or a tuple of them)."""

    def backward_begun(self, roots):
        """A backward sweep starts from these tensors."""

    def node_done(self, step):
        """The engine finished one step (``engine.Step``)."""

    def gradient_accumulated(self, leaf, grad):
        """``leaf.grad`` was written."""

    def backward_ended(self):
        """The sweep is over (also after an exception)."""


def _watch_for(now, observers):
    """The ``watch`` function of a thread that serves the line recorder and all observers."""
    if not observers:
        return default_watch()

    def watch(node, operands, output):
        first = default_watch()
        if first is not None:
            first(node, operands, output, 2)
        elif now.scope is not None:
            node.extra = {"scope": now.scope}
        for observer in observers:
            observer.op_recorded(node, operands, output)

    return watch


@contextmanager
def observe(observer):
    """Let ``observer`` hear this thread while the block runs. Observers nest."""
    now = modes.now
    before = now.observers
    now.observers = (*now.observers, observer)
    now.watch = _watch_for(now, now.observers)
    count_watcher(+1)
    try:
        yield observer
    finally:
        now.observers, now.watch = before, _watch_for(now, before)
        count_watcher(-1)
