"""Names of this package that PyTorch does not have: the lab itself.

    tape(x)               the recorded tape behind a tensor: live graph, static picture, text
    step(loss)            a backward pass to step through
    record()              watch the tape grow while a block runs
    compare_devices(f)    the same function timed on every device at hand
    time_callable(f)      one function timed well
    TrainingView          live loss curve with progress and a stop button
    DeviceTimings         the timings view of a comparison
    DeviceComparison      results of a comparison, to load, save and plot
    record_lines(on)      keep the learner's line with every recorded node
    empty_cache()         give pooled buffers back to the system

None of them shadows a name of PyTorch's, and none is imported before it is used.
"""

import importlib

from .backend.memory import pool
from .core.tape import record_lines

_PLACES = {
    "compare_devices": "profile.devices",
    "time_callable": "profile.bench",
    "DeviceComparison": "profile.results",
    "DeviceTimings": "widgets.timings",
    "TrainingView": "widgets.training",
    "record": "display.live",
    "step": "widgets",
}

NAMES = ("tape", "record_lines", "empty_cache", *_PLACES)


def tape(*tensors, title=""):
    """The tape behind one or more tensors: what was computed from what.

    Returns: a ``Tape``; at the end of a cell it shows the live graph and a static picture, elsewhere ``print`` gives text.
    Example: ``lab.tape(loss)``
    """
    from .display.document import Tape

    return Tape.of(tensors if len(tensors) != 1 else tensors[0], title)


def empty_cache():
    """Give all free blocks of the CPU buffer pool back to the system."""
    pool.empty_cache()


def lookup(name):
    """The extra of this name, importing what it needs now. Raises: AttributeError for another name."""
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__package__}.{_PLACES[name]}"), name)
    raise AttributeError(
        f"module 'autograd_lab' has no attribute {name!r}. If PyTorch has it, it is not supported here (yet): DIFFERENCES.md lists "
        "what differs"
    )


__all__ = ["empty_cache", "lookup", "record_lines", "tape"]
