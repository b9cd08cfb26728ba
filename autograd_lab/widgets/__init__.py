"""Live views for JupyterLab: the Python side.

The front end is one ES module, `static/tape.js`, built from `widgets/` in the repository. This module
imports no widget library until a view is asked for.
"""

from __future__ import annotations

from typing import Any


def live_view(document: Any) -> Any:
    """The live view of a `Tape`, `Stepper` or `DeviceComparison`, or None where anywidget is not installed."""
    try:
        import anywidget  # noqa: F401
    except ImportError:
        return None
    if document.view == "stepper":
        from .stepper import BackwardStepper

        return BackwardStepper(document)
    if document.view == "timings":
        from .timings import DeviceTimings

        return DeviceTimings(document)
    from .graph import TapeGraph

    return TapeGraph(document)


def connect() -> None:
    """Tell the displays, which stand a floor below, how to make live views."""
    from ..display import document, live

    document.live_view, live.follow_view = live_view, follow_view


def follow_view(document: Any) -> Any:
    """The live view of a recording that has just begun, or None where anywidget is not installed."""
    widget = live_view(document)
    if widget is not None:
        widget.recording = True
    return widget


def step(loss: Any, gradient: Any = None) -> Any:
    """Record the backward pass of a tensor and step through it.

    Returns:
        A `BackwardStepper` (a live view with `step`, `back`, `run_to`, `reset`, `frames`, `grads`, `apply`);
        where anywidget is not installed the same session without a view.

    Args:
        loss: a tensor that requires grad.
        gradient: the seed, needed when it is no scalar.

    Raises:
        RuntimeError: as `loss.backward()` would.
    """
    from ..core.tape import caller
    from ..display.names import find_names
    from ..display.recording import Stepper

    session = Stepper(loss, gradient, find_names(caller()))
    return live_view(session) or session
