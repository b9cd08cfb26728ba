"""TapeGraph: the recorded tape as a live graph."""

from __future__ import annotations

from typing import Any

import traitlets

from ..display.document import Tape
from .base import LabWidget


class TapeGraph(LabWidget):
    """The live view of a tape.

    Example:
        >>> TapeGraph(lab.tape(loss))
    """

    view = traitlets.Unicode("graph").tag(sync=True)
    graph = traitlets.Dict().tag(sync=True)
    formulas = traitlets.Dict().tag(sync=True)
    selection = traitlets.Dict().tag(sync=True)
    recording = traitlets.Bool(False).tag(sync=True)
    mounted = ("graph", "formulas", "selection")

    def __init__(self, document: Tape, **traits: Any) -> None:
        self.document = document
        super().__init__(graph=document.graph, formulas=document.formulas, options=document.options, **traits)

    def append(self, event: dict[str, Any]) -> None:
        """Send nodes and edges that were recorded since the last time (`schema.AppendEvent`)."""
        self.send(event)

    def settle(self, document: Tape) -> None:
        """Set the trait to the whole tape: what a view opened later, or a saved notebook, shows."""
        self.document = document
        with self.hold_sync():
            self.formulas, self.graph, self.recording = document.formulas, document.graph, False

    def answer_tensor(self, node: int, which: str = "value") -> dict[str, Any]:
        """What is known of a node's value."""
        nodes = self.graph["nodes"]
        if node not in nodes["id"]:
            raise KeyError(f"no node {node} on this tape")
        return {"node": node, "which": which, "value": nodes["value"][nodes["id"].index(node)]}

    def static_text(self) -> str:
        """The tree."""
        return self.document.text()

    def static_html(self) -> str:
        """The picture."""
        return self.document.static_html()

    def __repr__(self) -> str:
        """One line, shown where the view cannot live."""
        return f"{self.document.title}: {len(self.document)} nodes (live view; the picture below needs no kernel)"
