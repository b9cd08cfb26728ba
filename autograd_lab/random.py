"""``torch.random``: the process-wide generator, and ``fork_rng`` to leave it as it was."""

import contextlib

from .core.public import NAMESPACES
from .ops.seeding import get_rng_state, set_rng_state

globals().update(NAMESPACES["random"])


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True):
    """The generator continues afterwards as if nothing had been drawn inside the block."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)


__all__ = [*sorted(NAMESPACES["random"]), "fork_rng"]
