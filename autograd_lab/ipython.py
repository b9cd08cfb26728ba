"""`%load_ext autograd_lab`: lines recorded, names of cells known, `%%tape` and `%%step`.

Loading is done by `import autograd_lab` when a shell is running; `%load_ext` does the same by hand.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from .core.tape import name_cells, record_lines
from .display import snapshot
from .display.document import Tape
from .display.formatters import show
from .display.names import Names
from .display.recording import Stepper
from .widgets import activity, connect, live_view

_CELL_NAME = re.compile(r"<ipython-input-(\d+)-")
_NO_CELL = snapshot.cell_of

#: tickets of the cells at work: more than one while a magic runs a cell of its own
_tickets: list[int] = []


def cell_finder(shell: Any) -> Any:
    """A function that tells the execution count of the cell a file name stands for."""

    def cell_of(file: str) -> int | None:
        known = getattr(shell.compile, "_filename_map", {})
        if file in known:
            return known[file]
        match = _CELL_NAME.match(file)
        return int(match.group(1)) if match else None

    return cell_of


def _run(shell: Any, line: str, cell: str) -> Any:
    """Run a cell and give the tensor named on the magic's line, or the value of the cell's last expression."""
    hook = shell.displayhook
    hook.write_format_data = lambda *args, **options: None  # its value is shown as a tape, not as a tensor too
    try:
        result = shell.run_cell(cell, store_history=False, silent=False)
    finally:
        del hook.write_format_data
    result.raise_error()
    name = line.strip()
    if name:
        if name not in shell.user_ns:
            raise NameError(f"name {name!r} is not defined after the cell has run")
        return shell.user_ns[name]
    if result.result is None:
        raise ValueError("name the tensor after the magic, or end the cell with an expression")
    return result.result


def _cell_begins(info: Any = None) -> None:
    """Note that a cell is at work: a view's button that asks for timings meanwhile is answered "busy"."""
    _tickets.append(activity.begin("a cell"))


def _cell_ended(result: Any = None) -> None:
    """Note its end, and end training runs that nobody ended (the cell was interrupted, or forgot to)."""
    if _tickets:  # none when the cell began before these hooks were there
        activity.end(_tickets.pop())
    training = sys.modules.get(f"{__package__}.widgets.training")
    if training is not None and not _tickets:
        training.finish_open(getattr(result, "error_in_execution", None))


_EVENTS = {"pre_run_cell": _cell_begins, "post_run_cell": _cell_ended}


def install(shell: Any) -> None:
    """Switch on what a notebook wants: lines in nodes, cells' numbers, magics, word of cells at work.

    Harmless when repeated.
    """
    record_lines(True)
    connect()
    snapshot.cell_of = cell_finder(shell)
    name_cells(snapshot.cell_of)

    def tape(line: str, cell: str) -> None:
        """%%tape [name]: run the cell and show the tape of a tensor."""
        value = _run(shell, line, cell)
        document = Tape(snapshot.take(value, Names().update(shell.user_ns)))
        document._ipython_display_()

    def step(line: str, cell: str) -> None:
        """%%step [name]: run the cell and step backward from a tensor."""
        value = _run(shell, line, cell)
        session = Stepper(value, names=Names().update(shell.user_ns))
        show(session, live_view(session))

    shell.register_magic_function(tape, "cell", "tape")
    shell.register_magic_function(step, "cell", "step")
    for event, hook in _EVENTS.items():
        shell.events.register(event, hook)


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext autograd_lab`."""
    install(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Called by `%unload_ext autograd_lab`: takes away all that `install` brought."""
    record_lines(False)
    snapshot.cell_of = _NO_CELL
    name_cells(None)
    for event, hook in _EVENTS.items():
        if hook in shell.events.callbacks[event]:
            shell.events.unregister(event, hook)
    while _tickets:
        activity.end(_tickets.pop())
    for name in ("tape", "step"):
        shell.magics_manager.magics["cell"].pop(name, None)
