"""`jupyter nbconvert --to autograd_lab`: an HTML page whose graphs live and step without kernel and network.

Each view's static output carries its data (`schema.MIME`); the exporter puts the standalone document in its
place and drops the live view above it, which has no kernel to talk to.
"""

from __future__ import annotations

import copy
from typing import Any

from nbconvert.exporters.html import HTMLExporter

from . import html
from .schema import MIME

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def _is_live(output: dict[str, Any]) -> bool:
    return bool(output.get("metadata", {}).get("autograd_lab"))


def _has_views(notebook: Any) -> bool:
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return any(WIDGET_VIEW in output.get("data", {}) for output in outputs)


def _has_tex(notebook: Any) -> bool:
    sources = ("".join(cell.get("source", "")) for cell in notebook.cells if cell.get("cell_type") == "markdown")
    return any("$" in source or "\\(" in source or "\\begin{" in source for source in sources)


def replace_views(notebook: Any) -> int:
    """Put standalone documents in the place of views, in the notebook given. Returns how many."""
    count = 0
    for cell in notebook.cells:
        if cell.get("cell_type") != "code":
            continue
        outputs = cell.get("outputs", [])
        if not any(MIME in output.get("data", {}) for output in outputs):
            continue
        kept = []
        for output in outputs:
            data = output.get("data", {})
            if WIDGET_VIEW in data and _is_live(output):
                continue
            if MIME in data:
                try:
                    unpacked = html.unpack(data[MIME])
                except ValueError:
                    kept.append(output)  # damaged, or of another version: its picture stays
                    continue
                fallback = data.get("text/html", "")
                fallback = fallback if isinstance(fallback, str) else "".join(fallback)
                data["text/html"] = html.fragment(unpacked, fallback, with_bundle=count == 0)
                count += 1
            kept.append(output)
        cell["outputs"] = kept
    return count


class StandaloneExporter(HTMLExporter):
    """HTML with live graphs, offline."""

    export_from_notebook = "HTML with live autograd_lab views"

    def from_notebook_node(self, nb: Any, resources: Any = None, **kwargs: Any) -> tuple[str, dict[str, Any]]:
        """Convert a notebook; the one given is left as it is."""
        nb = copy.deepcopy(nb)
        replace_views(nb)
        # Addresses of scripts on other machines: none is needed by our views, MathJax only by TeX in the text.
        self.require_js_url = self.jquery_url = self.mermaid_js_url = ""
        if not _has_tex(nb):
            self.mathjax_url = ""
        if not _has_views(nb):
            # Saved widget state would make the page fetch a widget manager from a CDN, for nothing.
            nb.metadata.pop("widgets", None)
        return super().from_notebook_node(nb, resources, **kwargs)
