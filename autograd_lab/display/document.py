"""`Tape`: what `lab.tape(loss)` returns, with three bodies: live view, static picture, plain text.

In a notebook two outputs are shown: the live view, and below it the static picture, which is folded while the
view lives and stands open wherever it does not (saved notebook without kernel, exported page, code host).
The second output also carries the data, so that the exporter can put a stepping page in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..core.tape import caller
from ..core.tensor import Tensor
from . import html, svg, text
from .names import find_names
from .schema import PROTOCOL
from .snapshot import Snapshot, take

#: makes the live view of a document, or gives None where there is none; set by the composition root
live_view: Callable[[Tape], Any] | None = None


class Tape:
    """A snapshot of a tape, to look at, save and export.

    `graph` and `formulas` are plain data (`schema.Graph`); nothing here keeps a tensor alive.
    """

    view = "graph"

    def __init__(self, snapshot: Snapshot) -> None:
        self.graph, self.formulas = snapshot.graph, snapshot.formulas
        self.options: dict[str, Any] = {}

    @classmethod
    def of(cls, outputs: Tensor | Sequence[Tensor], title: str = "") -> Tape:
        """The tape behind one or more tensors, with the caller's names."""
        return cls(take(outputs, find_names(caller()), title))

    def __len__(self) -> int:
        """Nodes of the snapshot: ops, leaves and constants."""
        return len(self.graph["nodes"]["id"])

    @property
    def title(self) -> str:
        """What the picture is called."""
        return self.graph["title"]

    # ----- bodies -----

    def data(self) -> dict[str, Any]:
        """The view as plain data (`schema.MountData`)."""
        return {
            "view": self.view, "protocol": PROTOCOL, "graph": self.graph, "formulas": self.formulas, "selection": {},
            "options": self.options,
        }  # fmt: skip

    def text(self) -> str:
        """Plain text: an indented tree."""
        return text.tree(self.graph)

    def svg(self, direction: str = "LR") -> str | None:
        """The static picture, or None where no Graphviz is at hand."""
        return svg.draw(self.graph, direction)

    def to_dot(self, direction: str = "LR") -> Any:
        """The tape as a `graphviz.Digraph`."""
        return svg.dot(self.graph, direction)

    def static_html(self) -> str:
        """The picture as a cell output; text where there is no picture."""
        words = self.text()
        try:
            picture = self.svg()
        except Exception:
            picture = None  # a picture that fails leaves the text
        return html.static(picture, words, self.below())

    def below(self) -> str:
        """HTML under the picture, escaped; none for a graph."""
        return ""

    def standalone(self) -> str:
        """One HTML page that works without a kernel and a network."""
        return html.document(self.data(), self.static_html(), self.title)

    def save(self, path: str | Path) -> Path:
        """Write to a file; its ending says what: .svg, .html, .dot, .txt.

        Raises:
            ValueError: for another ending.
            RuntimeError: for .svg where no Graphviz is at hand.
        """
        path = Path(path)
        if path.suffix == ".svg":
            content = self.svg()
            if content is None:
                raise RuntimeError("no picture without Graphviz: pip install pygraphviz graphviz, or dot on the PATH")
        elif path.suffix == ".html":
            content = self.standalone()
        elif path.suffix == ".dot":
            content = self.to_dot().source
        elif path.suffix == ".txt":
            content = self.text() + "\n"
        else:
            raise ValueError(f"cannot save a tape as {path.suffix or path.name!r}: use .svg, .html, .dot or .txt")
        path.write_text(content, encoding="utf-8")
        return path

    def __repr__(self) -> str:
        return self.text()

    # ----- notebooks -----

    def static_bundle(self) -> dict[str, Any]:
        """The second output: picture, text, and the data for the exporter."""
        return html.static_bundle(self.text(), self.static_html, self.data)

    def _repr_html_(self) -> str:
        return self.static_html()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return self.static_bundle()

    def _ipython_display_(self) -> None:
        from .formatters import show

        show(self, live_view(self) if live_view is not None else None)
