"""How is training going: a live loss curve, a progress bar, and a button that really stops."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import traitlets

from ..display import html
from ..display.formatters import has_kernel, show
from ..profile.training import TrainingLog, progress_text
from . import activity
from .base import LabWidget

__all__ = ["TrainingView", "finish_open"]

Item = TypeVar("Item")
INTERVAL = 0.25
# Outside `with` nobody may tell when a run ends; after this many seconds without a sign it no longer counts as running.
FRESH = 30.0
_open: weakref.WeakSet[TrainingView] = weakref.WeakSet()


def finish_open(error: BaseException | None = None) -> None:
    """End the runs that nobody ended: for the shell to call when a cell has ended, with what it raised."""
    for view in list(_open):
        view._ended_by(type(error) if error is not None else None)
        view.finish()


class TrainingView(LabWidget):
    """A loss curve that grows while a cell trains, at most four updates a second; the last state is always sent.

    Args:
        total_steps: how many steps the run will have, for the time left; None when not known.
        title: shown above the curve.

    Example:
        with TrainingView(total_steps=200) as view:
            for step in range(200):
                loss = train_one_step()
                view.log(step, loss=loss, lr=0.1)
                if view.stopped:
                    break

    or let it walk over the batches, with a tqdm bar; it ends by itself when the stop button is pressed:

        view = TrainingView()
        for x, y in view.track(loader):
            view.log(loss=train_one_step(x, y))

    Where the front end delivers button presses only when the cell has ended (JupyterLab before 4.4), interrupt the
    kernel: inside `with` the view then still shows its last state. A stopped view stays stopped; make a new one for a
    new run.
    """

    view = traitlets.Unicode("training").tag(sync=True)
    points = traitlets.Dict({"step": [], "series": {}}).tag(sync=True)
    running = traitlets.Bool(False).tag(sync=True)
    stop_requested = traitlets.Bool(False).tag(sync=True)
    total_steps = traitlets.Int(None, allow_none=True).tag(sync=True)
    text = traitlets.Unicode("").tag(sync=True)
    mounted = ("points", "total_steps", "text")

    def __init__(
        self,
        total_steps: int | None = None,
        title: str = "Training",
        *,
        now: Callable[[], float] = time.monotonic,
        **traits: Any,
    ) -> None:
        self.title = title
        self._log = TrainingLog()
        self._now = now
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._ticket: int | None = None
        self._depth = 0
        self._shown_at = self._began = -float("inf")
        self._count = 0
        self._end = ""
        self._counts_itself = False
        self._handles: list[Any] = []
        super().__init__(**{"total_steps": total_steps} | traits)

    @property
    def stopped(self) -> bool:
        """Whether someone asked to stop: by the button, or by `stop()`."""
        return bool(self.stop_requested)

    def stop(self) -> None:
        """Ask the loop to stop: `stopped` becomes True and `track` ends after the current item."""
        self.stop_requested = True

    def answer_stop(self) -> bool:
        """The button."""
        self.stop()
        return True

    def log(self, step: int | None = None, **values: Any) -> None:
        """Note numbers of a step (by default the one after the last), and show them when it is time to.

        Args:
            step: number of the step.
            values: numbers or tensors with one element; the first name is the curve, usually `loss`.

        Raises:
            TypeError: a value is neither; the text names it.
        """
        with self._lock:
            self._log.add(step, values)
            self._count += 1
            if not self.running:
                self._start()
            self._sign()
            now = self._now()
            if now - self._shown_at >= INTERVAL:
                self._show(now)
            elif self._timer is None:
                # The last values of a burst must not wait for a next call that may never come.
                self._timer = threading.Timer(INTERVAL - (now - self._shown_at), self._show_late)
                self._timer.daemon = True
                self._timer.start()
            if self._depth == 0 and self.total_steps and self._log.done >= self.total_steps:
                self.finish()

    def track(
        self, items: Iterable[Item], total: int | None = None, description: str = "training", bar: bool = True
    ) -> Iterator[Item]:
        """Walk over items (batches, steps) with a tqdm bar until they end or the stop button is pressed.

        Args:
            items: what to walk over.
            total: how many there are, when `len(items)` can't tell.
            description: written before the bar.
            bar: False for no bar, which needs no tqdm.

        Raises:
            ImportError: tqdm is missing.
        """
        if total is None and hasattr(items, "__len__"):
            total = len(items)
        make_bar = _bar_maker(total, description) if bar else None
        if total and (self.total_steps is None or self._counts_itself) and self._depth == 0:
            # Epoch after epoch over the same loader: each adds its steps.
            self._counts_itself = True
            self.total_steps = (self.total_steps or 0) + total
        return self._walk(items, make_bar)

    def _walk(self, items: Iterable[Item], make_bar: Callable[[], Any] | None) -> Iterator[Item]:
        with self:
            # Made after the view has shown itself, so that the bar stands in one place below it.
            shown = make_bar() if make_bar is not None else None
            try:
                if self.stopped:
                    return
                for item in items:
                    yield item
                    self._sign()
                    if shown is not None:
                        shown.set_postfix_str(self._log.numbers_text(), refresh=False)
                        shown.update(1)
                    if self.stopped:
                        break
            finally:
                if shown is not None:
                    shown.close()

    def __enter__(self) -> TrainingView:
        with self._lock:
            self._depth += 1
            if not self.running:
                self._start()
            self._sign()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        with self._lock:
            self._depth -= 1
            self._ended_by(kind)
            if self._depth == 0:
                self.finish()

    def _ended_by(self, kind: type[BaseException] | None) -> None:
        if kind is None or self._end:
            return
        if kind is GeneratorExit:
            # The loop over `track` was left: by break, or by an exception that a generator cannot see.
            self._end = "" if self.stopped else "ended early"
        else:
            self._end = "interrupted" if kind is KeyboardInterrupt else f"ended by {kind.__name__}"

    def finish(self) -> None:
        """Send the last state and mark the run as ended. Logging again goes on with it."""
        with self._lock:
            self._cancel()
            activity.end(self._ticket)
            self._ticket = None
            _open.discard(self)
            if not self._end:
                at_end = self.total_steps and self._log.done >= self.total_steps
                self._end = "stopped" if self.stopped and not at_end else "done"
            with self.hold_sync():
                self.running = False
                self._show(self._now())
            for handle in self._handles:
                handle.update(self.static_bundle(), raw=True)

    def numbers(self) -> dict[str, float]:
        """The latest value of every series."""
        return dict(self._log.latest)

    def svg(self) -> str:
        """The curve as a static SVG, as it stands now."""
        with self._lock:
            return self._log.svg(self.title, progress_text(self._log.done, self.total_steps, None, self._end))

    def static_text(self) -> str:
        """Where the run stands, in one line."""
        return f"{self.title}: {self.text or 'no step yet'}"

    def static_html(self) -> str:
        """The curve as a static cell output."""
        return html.static(self.svg(), self.static_text())

    def shown(self, handle: Any) -> None:
        """Keep the static picture's handle: the picture is renewed when the run ends."""
        self._handles.append(handle)

    def __repr__(self) -> str:
        """One line, shown where the view cannot live."""
        return f"{self.title}: training (live view; the picture below needs no kernel)"

    def _start(self) -> None:
        self._end = ""
        _open.add(self)
        self._began, self._count = self._now(), 0
        with self.hold_sync():
            self.running = True
            self.text = self._state()
        if not self._handles and has_kernel():
            # Nobody has shown it yet: it stands where the loop starts.
            show(self, self)

    def _sign(self) -> None:
        """Let others know that training is still going on."""
        self._ticket = activity.begin("training", FRESH, self._ticket)

    def _state(self) -> str:
        spent = self._now() - self._began
        rate = self._count / spent if spent > 0 and self._count > 1 else None
        state = progress_text(self._log.done, self.total_steps, rate, self._end)
        said = self._log.numbers_text()
        return f"{state} · {said}" if said else state

    def _show(self, now: float) -> None:
        self._cancel()
        self._shown_at = now
        with self.hold_sync():
            self.points, self.text = self._log.points(), self._state()

    def _show_late(self) -> None:
        with self._lock:
            if self._timer is not None and threading.current_thread() is self._timer:
                self._show(self._now())

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _bar_maker(total: int | None, description: str) -> Callable[[], Any]:
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError("track() shows a tqdm bar: pip install tqdm, or track(…, bar=False)") from error
    # In a notebook the error stream has a red ground; in a terminal the output may be piped elsewhere.
    in_notebook = type(sys.stdout).__module__.startswith("ipykernel")
    stream = sys.stdout if in_notebook else sys.stderr
    return lambda: tqdm(total=total, desc=description, file=stream, mininterval=INTERVAL)
