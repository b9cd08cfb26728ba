"""Pictures of tapes: snapshots as plain data, and their bodies in text, SVG and HTML."""

from __future__ import annotations

from typing import Any


def attach(tensor_class: type, module_class: type | None = None) -> None:
    """Give tensors and modules their rich display (`_repr_html_`); the code behind it is loaded on first use."""

    def tensor_html(self: Any) -> str | None:
        from .formatters import safely, tensor_html

        return safely(tensor_html, self)

    def module_html(self: Any) -> str | None:
        from .formatters import module_html, safely

        return safely(module_html, self)

    tensor_class._repr_html_ = tensor_html  # type: ignore[attr-defined]
    if module_class is not None:
        module_class._repr_html_ = module_html  # type: ignore[attr-defined]
