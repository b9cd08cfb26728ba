"""Thumbnails of tensors as inline SVG: a heat map, a line, or a histogram."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np

from .schema import Summary
from .summary import grid, histogram
from .text import number

WIDTH, HEIGHT = 120, 72
_POSITIVE, _NEGATIVE, _BAD = "#d55e00", "#0072b2", "#c01f1f"
_INK = "var(--jp-content-font-color1, currentColor)"


def kind_of(shape: tuple[int, ...]) -> str:
    """Which thumbnail suits a shape: heat for 2-d and image-like, line for 1-d, else histogram; none for few values."""
    size = math.prod(shape)
    if size < 2:
        return "none"
    if len(shape) == 1:
        return "line"
    if len(shape) == 2 or (len(shape) in (3, 4) and shape[-3] in (1, 3) and min(shape[-2:]) >= 4):
        return "heat"
    return "histogram"


def _svg(inner: str, label: str, width: float = WIDTH, height: float = HEIGHT) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="agl-thumb" role="img" aria-label="{escape(label)}" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">{inner}</svg>'
    )


def heat(array: np.ndarray) -> str:
    """A heat map, diverging and centred on 0; an element that is not finite is red and crossed out."""
    plane = array if array.ndim == 2 else array.reshape(-1, *array.shape[-3:])[0].mean(axis=0)
    small = grid(plane)
    rows, cols = small["rows"], small["cols"]
    finite = [abs(v) for v in small["values"] if not isinstance(v, str)]
    top = max(finite, default=0.0) or 1.0
    side = min(WIDTH / cols, HEIGHT / rows, 14)
    cells = []
    for place, value in enumerate(small["values"]):
        x, y = place % cols * side, place // cols * side
        if isinstance(value, str):
            cells.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}" fill="{_BAD}"/>')
            cells.append(f'<path d="M{x:.1f} {y:.1f}l{side:.1f} {side:.1f}" stroke="#fff" stroke-width="1"/>')
        else:
            colour = _POSITIVE if value > 0 else _NEGATIVE
            opacity = f"{abs(value) / top:.2f}"
            cells.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}" fill="{colour}" '
                f'fill-opacity="{opacity}"/>'
            )
    edge = f'fill="none" stroke="{_INK}" stroke-opacity=".3"'
    frame = f'<rect width="{cols * side:.1f}" height="{rows * side:.1f}" {edge}/>'
    label = f"heat map, blue below 0, orange above, scale ±{number(top)}"
    return _svg("".join(cells) + frame, label, cols * side, rows * side)


def line(array: np.ndarray) -> str:
    """A line over the index, with the zero line where it lies inside; gaps where values are not finite."""
    values = [v for v in grid(array)["values"]]
    finite = [v for v in values if not isinstance(v, str)]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    span = (high - low) or 1.0
    step = WIDTH / max(len(values) - 1, 1)
    path, pen = [], "M"
    for place, value in enumerate(values):
        if isinstance(value, str):
            pen = "M"
            continue
        path.append(f"{pen}{place * step:.1f} {HEIGHT - 4 - (value - low) / span * (HEIGHT - 8):.1f}")
        pen = "L"
    zero = ""
    if low < 0 < high:
        y = HEIGHT - 4 + low / span * (HEIGHT - 8)
        zero = f'<path d="M0 {y:.1f}H{WIDTH}" stroke="{_INK}" stroke-opacity=".3" stroke-dasharray="2 2"/>'
    drawn = f'<path d="{"".join(path)}" fill="none" stroke="{_NEGATIVE}" stroke-width="1.5"/>'
    return _svg(zero + drawn, f"values by index from {number(low)} to {number(high)}")


def bars(array: np.ndarray) -> str:
    """A histogram of the finite elements."""
    flat = array.ravel()
    found = histogram(flat[np.isfinite(flat)] if flat.dtype.kind == "f" else flat)
    if found is None:
        return ""
    top = max(found["counts"]) or 1
    width = WIDTH / len(found["counts"])
    drawn = "".join(
        f'<rect x="{i * width + 0.5:.1f}" y="{HEIGHT - count / top * HEIGHT:.1f}" width="{max(width - 1, 1):.1f}" '
        f'height="{count / top * HEIGHT:.1f}" fill="{_NEGATIVE}"/>'
        for i, count in enumerate(found["counts"])
    )
    return _svg(drawn, f"histogram from {number(found['edges'][0])} to {number(found['edges'][-1])}")


def thumbnail(array: Any) -> str:
    """The thumbnail that suits an array, or an empty string."""
    array = np.asarray(array)
    if array.dtype.kind == "c":
        array = np.abs(array)
    elif array.dtype.kind not in "iuf":
        array = array.astype(np.float32)
    drawers = {"heat": heat, "line": line, "histogram": bars}
    drawer = drawers.get(kind_of(array.shape))
    with np.errstate(all="ignore"):
        return drawer(array) if drawer else ""


def facts(summary: Summary) -> list[tuple[str, str]]:
    """Names and values of what is worth knowing beside a tensor's numbers."""
    found = []
    if summary["size"] > 1 and summary["min"] is not None:
        found += [(key, number(summary[key])) for key in ("min", "mean", "max")]  # type: ignore[literal-required]
    if summary["zeros"] and summary["size"] > 1:
        found.append(("zeros", f"{100 * summary['zeros'] / summary['size']:.3g} %"))
    found += [(word, f"{summary[key]:,}") for key, word in (("nan", "NaN"), ("inf", "Inf")) if summary[key]]  # type: ignore[literal-required]
    return found
