"""Rich displays of tensors and modules, and how documents are shown in IPython.

IPython is imported here and in `ipython.py` alone, and only inside functions that run when a shell is there.
A display never raises: what fails falls back to text.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from html import escape
from typing import Any

from .summary import as_array, summary
from .text import bytes_text, plural, shape_text
from .thumbs import facts, thumbnail

MODULE_ROWS = 200
_DIM = "opacity:.75"
_PRE = "margin:0;white-space:pre;overflow-x:auto;font-family:var(--jp-code-font-family,monospace);font-size:13px"


def shell() -> Any:
    """The running IPython shell, or None. Never imports IPython."""
    loaded = sys.modules.get("IPython")
    return None if loaded is None else loaded.get_ipython()


def has_kernel() -> bool:
    """Whether outputs go to a front end that may show live views."""
    return hasattr(shell(), "kernel")


def safely(function: Callable[[Any], str], value: Any) -> str | None:
    """The HTML of a value, or None (which makes the front end show text) when making it fails."""
    try:
        return function(value)
    except Exception:
        return None


def show(document: Any, widget: Any = None) -> None:
    """Show a document: the live view where there is a kernel, and below it its static bundle.

    Args:
        document: has `static_bundle()`; if it has `shown(handle)`, that is told the handle with which the static
            bundle can be replaced later (a training run whose last state comes when it ends).
        widget: the live view, or None.
    """
    if shell() is None:
        print(document)
        return
    from IPython.display import display

    if widget is not None and has_kernel():
        show_live(widget)
    handle = display(document.static_bundle(), raw=True, display_id=True)
    shown = getattr(document, "shown", None)
    if shown is not None:
        shown(handle)


def show_live(widget: Any) -> None:
    """Show only the live view; a view that cannot be sent is left to the picture below it."""
    from IPython.display import display

    try:
        bundle, metadata = widget.live_bundle()
    except Exception:
        return
    display(bundle, metadata=metadata, raw=True)


# ----- tensors -----


def badge(text: str, strong: bool = False) -> str:
    """A small label."""
    weight = "font-weight:600;" if strong else ""
    style = f"{weight}border:1px solid currentColor;border-radius:3px;padding:0 4px;margin-right:4px;font-size:11px"
    return f'<span style="{style}">{escape(text)}</span>'


def tensor_html(tensor: Any) -> str:
    """A tensor: PyTorch's text first, beside it what a picture tells faster."""
    array = as_array(tensor)
    told = summary(array)
    fn = tensor.grad_fn
    parts = [f"{shape_text(told['shape'])} · {tensor.dtype.name} · {tensor.device} · {bytes_text(tensor.nbytes)}"]
    if fn is not None:
        line = fn.line()
        parts.append(f"made by {fn.name()}" + (f", line {line.line}" if line else ""))
    elif tensor.requires_grad:
        parts.append("leaf that requires grad")
    rows = "".join(f"<div>{escape(part)}</div>" for part in parts)
    numbers = facts(told)
    if numbers:
        cells = " · ".join(f"{escape(name)} <b>{escape(value)}</b>" for name, value in numbers)
        rows += f'<div style="font-variant-numeric:tabular-nums">{cells}</div>'
    if told["nan"] or told["inf"]:
        rows += badge("not finite", strong=True)
    try:
        picture = thumbnail(array)
    except Exception:
        picture = ""
    beside = f"display:flex;gap:10px;align-items:flex-start;font-size:12px;{_DIM}"
    side = f'<div style="{beside}">{picture}<div>{rows}</div></div>'
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:8px 24px;align-items:flex-start">'
        f'<pre style="{_PRE}">{escape(repr(tensor))}</pre>{side}</div>'
    )


# ----- modules -----


def _own(module: Any) -> list[tuple[str, Any]]:
    return [(name, p) for name, p in module._parameters.items() if p is not None]


def _module_rows(module: Any) -> list[tuple[int, str, Any]]:
    """(depth, name, module) of the tree in order; iterative. A module met twice stands there without children."""
    rows, seen = [], set()
    stack = [(0, "", module)]
    while stack and len(rows) < MODULE_ROWS:
        depth, name, one = stack.pop()
        rows.append((depth, name, one))
        if id(one) in seen:
            continue
        seen.add(id(one))
        for child_name, child in reversed(list(one._modules.items())):
            if child is not None:
                stack.append((depth + 1, child_name, child))
    return rows


def module_html(module: Any) -> str:
    """A module as an indented tree: parameters with shapes, counts and bytes, mode and frozen marks."""
    body = []
    for depth, name, one in _module_rows(module):
        own = _own(one)
        frozen = bool(own) and not any(p.requires_grad for _, p in own)
        shapes = ", ".join(f"{key} {shape_text(tuple(p.shape))}" for key, p in own)
        parameters = list(one.parameters())
        count = sum(p.numel() for p in parameters)
        size = sum(p.nbytes for p in parameters)
        extra = one.extra_repr() if callable(getattr(one, "extra_repr", None)) else ""
        head = (f"{escape(name)}: " if name else "") + f"<b>{escape(type(one).__name__)}</b>"
        marks = badge("frozen") if frozen else ""
        if depth == 0 or one.training != module.training:
            marks += badge("train" if one.training else "eval")
        right = f"<td style='text-align:right'>{count:,}</td><td style='text-align:right'>{bytes_text(size)}</td>"
        body.append(
            f"<tr><td style='text-align:left;padding-left:{8 + 18 * depth}px'>{head} "
            f"<span style='{_DIM}'>{escape(extra)}</span> {marks}</td>"
            f"<td style='text-align:left;{_DIM}'>{escape(shapes)}</td>{right if count else '<td>–</td><td>–</td>'}</tr>"
        )
    total = len(list(module.modules()))
    more = f"<caption>{plural(total - len(body), 'more module')}</caption>" if total > len(body) else ""
    head = "".join(
        f"<th style='text-align:{side}'>{word}</th>"
        for word, side in (("module", "left"), ("its own", "left"), ("parameters", "right"), ("bytes", "right"))
    )
    return (
        f"<table style='font-size:12px;font-variant-numeric:tabular-nums'>{more}<thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>"
    )
