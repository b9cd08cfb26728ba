"""BackwardStepper: a recorded backward pass, stepped in the browser or from Python."""

from __future__ import annotations

import threading
from typing import Any

import traitlets

from ..display.recording import Stepper
from .base import LabWidget

REST_SECONDS = 0.8


class BackwardStepper(LabWidget):
    """The live view of a `display.recording.Stepper`; its methods are the session's.

    The cursor is shared: buttons in the view move it here, and `step()` here moves the view.

    Example:
        >>> stepper = lab.step(loss)
        >>> stepper.step()["text"]
    """

    view = traitlets.Unicode("stepper").tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)
    formulas = traitlets.Dict().tag(sync=True)
    frames = traitlets.List().tag(sync=True)
    cursor = traitlets.Int(0).tag(sync=True)
    selection = traitlets.Dict().tag(sync=True)
    mounted = ("graph", "formulas", "frames", "cursor", "selection")

    def __init__(self, session: Stepper, **traits: Any) -> None:
        self.session = session
        super().__init__(
            graph=session.graph, formulas=session.formulas, frames=session.frames, cursor=session.cursor,
            options=session.options, **traits,
        )  # fmt: skip
        self._output: Any = None
        self._renewal: threading.Timer | None = None
        session.changed = self._follow_session
        self.observe(self._follow_view, names="cursor")

    def _follow_session(self) -> None:
        if self.cursor != self.session.cursor:
            self.cursor = self.session.cursor
        self._renew_later()

    def _follow_view(self, change: Any) -> None:
        # Compared first, so that the two never chase each other.
        if self.session.cursor != change["new"]:
            self.session._go(change["new"])

    # ----- the session's methods -----

    def step(self, count: int = 1) -> Any:
        """Do the next step (or several); returns its frame."""
        return self.session.step(count)

    def back(self, count: int = 1) -> Any:
        """Undo a step."""
        return self.session.back(count)

    def run_to(self, target: Any) -> Any:
        """Go to the step of a node: id, name, op, node or leaf."""
        return self.session.run_to(target)

    def reset(self) -> None:
        """Back to where nothing is computed yet."""
        self.session.reset()

    def play(self, playing: bool = True) -> None:
        """Start or stop playing."""
        self.session.play(playing)

    def apply(self) -> None:
        """Write the recorded gradients into `.grad`, exactly as `backward()` adds them."""
        self.session.apply()

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self.session.playing

    @property
    def current(self) -> Any:
        """The step just done, or None."""
        return self.session.current

    @property
    def grads(self) -> Any:
        """Gradients of the leaves by name; None is not computed yet."""
        return self.session.grads

    def save(self, path: Any) -> Any:
        """Write to .svg, .html, .dot or .txt."""
        return self.session.save(path)

    def answer_goto(self, cursor: int) -> dict[str, Any]:
        """Move to a step by number."""
        self.session._go(cursor)
        return {"cursor": self.session.cursor}

    # ----- bodies -----

    def shown(self, output: Any) -> None:
        """Told where the static picture stands, so that it can follow the cursor."""
        self._output = output

    def _renew_later(self) -> None:
        """Draw the static picture anew once the cursor has come to rest: a saved notebook shows where it stood."""
        if self._output is None:
            return
        if self._renewal is not None:
            self._renewal.cancel()
        self._renewal = threading.Timer(REST_SECONDS, self._renew)
        self._renewal.daemon = True
        self._renewal.start()

    def _renew(self) -> None:
        self._output.update(self.static_bundle(), raw=True)

    def static_text(self) -> str:
        """The tree, where it stands, the gradients so far."""
        return self.session.text()

    def static_html(self) -> str:
        """The picture at this step."""
        return self.session.static_html()

    def __repr__(self) -> str:
        """One line, shown where the view cannot live."""
        done = f"{self.session.cursor} of {len(self.frames)} steps"
        return f"backward through {self.session.title}: {done} (live view; the picture below needs no kernel)"
