"""What all views share: the bundle, the protocol number, requests answered by id, a static body.

A view is built and returned at once whether or not a front end listens (graders and `CI` run headless).
Subclass, set `view`, add traits named as in `display/schema.py`, and write `answer_<name>` methods
for the requests the view may send:

    class Counter(LabWidget):
        view = traitlets.Unicode("graph").tag(sync=True)
        def answer_tensor(self, node=None, which="value"): ...
"""

from __future__ import annotations

import threading
from typing import Any

import anywidget
import traitlets

from ..display import html
from ..display.formatters import show
from ..display.html import bundle
from ..display.schema import PROTOCOL, MountData


class LabWidget(anywidget.AnyWidget):
    """Base of the live views."""

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    view = traitlets.Unicode("graph").tag(sync=True)
    protocol = traitlets.Int(PROTOCOL).tag(sync=True)
    options = traitlets.Dict().tag(sync=True)

    #: traits that a standalone page needs, besides view, protocol and options
    mounted: tuple[str, ...] = ()

    @traitlets.default("_esm")
    def _read_esm(self) -> str:
        return bundle("tape.js")

    @traitlets.default("_css")
    def _read_css(self) -> str:
        return bundle("tape.css")

    def __init__(self, **traits: Any) -> None:
        # Requests may come on another thread while a cell runs (subshells): one at a time.
        self._turn = threading.Lock()
        super().__init__(**traits)
        self.on_msg(self._receive)

    def open(self) -> None:
        """Open the channel to the front end."""
        super().open()
        # ipykernel 7.4 takes a message to the shell that last wrote on this channel: while a cell trains, the one that
        # is at work, and a stop button would wait for the end. We want the subshell that the front end has chosen.
        if hasattr(self.comm, "_reply_subshell_for"):
            self.comm._reply_subshell_for = lambda data, chosen: chosen

    def _receive(self, _: Any, message: dict, buffers: list) -> None:
        """Answer a request; an error becomes a reply, since nobody reads a callback's traceback."""
        if not isinstance(message, dict) or message.get("kind") != "request":
            return
        reply: dict[str, Any] = {"id": message.get("id"), "kind": "reply"}
        try:
            answer = getattr(self, f"answer_{message.get('name')}", None)
            if answer is None:
                raise ValueError(f"{type(self).__name__} has no request named {message.get('name')!r}")
            if not self._turn.acquire(timeout=5):
                raise RuntimeError("busy: another request is still being answered")
            try:
                reply["result"] = answer(**message.get("args") or {})
            finally:
                self._turn.release()
        except Exception as error:
            reply["error"] = {"kind": type(error).__name__, "text": str(error)}
        self.send(reply)

    def data(self) -> MountData:
        """The view as plain data: what a standalone page passes to `mount`."""
        return {name: getattr(self, name) for name in ("view", "protocol", "options", *self.mounted)}

    def __repr__(self) -> str:
        """One line: it is what an export shows in the live view's place, above the static picture."""
        return f"{type(self).__name__}: live view (needs a running kernel)"

    # ----- the static body: subclasses override these two -----

    def static_text(self) -> str:
        """The view in plain text, without a front end."""
        return repr(self)

    def static_html(self) -> str:
        """The view as a static cell output (see `display.html.static`)."""
        return html.static(None, self.static_text())

    def static_bundle(self) -> dict[str, Any]:
        """The second output: picture, text, and the data for the exporter."""
        return html.static_bundle(self.static_text(), self.static_html, self.data)

    # ----- notebooks -----

    def live_bundle(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The first output: the live view, marked so that the exporter knows it."""
        found = super()._repr_mimebundle_()
        data, metadata = found if isinstance(found, tuple) else (found, {})
        return {**(data or {}), "text/plain": repr(self)}, {**metadata, "autograd_lab": self.view}

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.live_bundle()

    def _ipython_display_(self) -> None:
        show(self, self)
