"""Line charts as static SVG, for outputs that no longer have a kernel or a script: timing curves and loss curves.

Colours are the theme's (`theme.py`), light and dark; every line has its own marker and its name at its end, so that
nothing depends on colour. All text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from . import theme

__all__ = ["Series", "format_count", "format_number", "format_seconds", "line_chart"]

# Okabe–Ito without yellow, whose contrast with white is too low for a thin line; the last ones suit both grounds.
COLOURS = ("var(--agl-s-blue)", "var(--agl-s-vermillion)", "var(--agl-s-green)", "#cc79a7", "#a08000", "#6f8ea5")
GREY = "var(--agl-s-dim)"
SCOPE = "agl-chart"
UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
TOP, BOTTOM, LEFT = 56, 48, 74
LONGEST_NAME = 36


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart.

    Attributes:
        name: written at its end.
        x, y: the points; a None in y leaves a gap, a NaN or infinity a gap and a badge with the word.
        low, high: a band around the line, or empty.
        dashed: for results recorded elsewhere. quiet: thin and grey, for a reading shown only as a warning.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    dashed: bool = False
    quiet: bool = False


def format_seconds(seconds: float | None) -> str:
    """A time with four significant digits and its unit: "123.4 µs". None, not measured, is "–".

    >>> format_seconds(0.00012345)
    '123.5 µs'
    """
    if seconds is None:
        return "–"
    if not math.isfinite(seconds):
        return format_number(seconds)
    if seconds == 0:
        return "0 s"
    unit, scale = next((u for u in UNITS if abs(seconds) >= u[1] * 0.99995), UNITS[-1])
    return f"{format_number(seconds / scale)} {unit}"


def format_number(value: float | None) -> str:
    """Four significant digits, plain where it can be; "NaN" and "Infinity" as words; None is "–".

    >>> format_number(0.0234567), format_number(1234567.0)
    ('0.02346', '1234567')
    """
    if value is None:
        return "–"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "−Infinity"
    size = abs(value)
    if size != 0 and (size < 1e-4 or size >= 1e9):
        text = f"{value:.3e}"
    elif size >= 1000:
        text = f"{value:.0f}"
    else:
        text = f"{value:#.4g}"
        if float(text) == int(float(text)) and size < 1000 and value == int(value):
            text = str(int(value))
    return text.replace("-", "−")


def format_count(value: float) -> str:
    """A size or a step on an axis: "512", "10,000"."""
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


class Scale:
    """Maps a range of data onto a range of pixels, and proposes ticks."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool):
        if log:
            low, high = low / 1.15, high * 1.15
        elif low == high:
            low, high = low - (abs(low) or 1) * 0.5, high + (abs(high) or 1) * 0.5
        self.log, self.low, self.high, self.start, self.end = log, low, high, start, end

    def __call__(self, value: float) -> float:
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    def ticks(self) -> list[float]:
        """Round numbers inside the range: 1-2-5 in every decade when there are few decades, else decades alone."""
        if self.log:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            steps = (1, 2, 5) if last - first <= 3 else (1,)
            places = [step * 10.0**decade for decade in range(first, last + 1) for step in steps]
            inside = [place for place in places if self.low <= place <= self.high]
            return inside[:: math.ceil(len(inside) / 9)] if inside else [self.low, self.high]
        raw = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw)
        first = math.ceil(self.low / step - 1e-9)
        return [n * step for n in range(first, math.floor(self.high / step + 1e-9) + 1)]


def line_chart(
    series: Sequence[Series],
    *,
    title: str,
    description: str,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
    x_ticks: Sequence[float] | None = None,
    x_text: Callable[[float], str] = format_count,
    y_text: Callable[[float], str] = lambda value: f"{value:g}".replace("-", "−"),
    y_from_zero: bool = False,
    footer: Sequence[str] = (),
    width: int = 640,
    height: int = 340,
) -> str:
    """Draw lines with bands over two axes and return one `<svg>` element.

    Args:
        series: the lines. On a logarithmic axis points at or below 0 are left out.
        title, description: shown above, and read out by screen readers.
        x_ticks: where to put ticks, when the points themselves are few; else round numbers.
        footer: lines of small text below the axes.

    Example:
        >>> line_chart([Series("cpu", [1, 2], [0.1, 0.2])], title="t", description="d", x_label="x", y_label="y")[:4]
        '<svg'
    """
    full = height + 16 * len(footer)
    names = max((min(len(line.name), LONGEST_NAME) for line in series), default=0)
    edge = width - max(70, round(24 + 6.5 * names))
    xs = [x for s in series for x, y in zip(s.x, s.y, strict=True) if _drawn(x, log_x) and y is not None]
    ys = [y for s in series for y in [*s.y, *s.low, *s.high] if _drawn(y, log_y)]
    body: list[str] = []
    if not xs or not ys:
        body.append(_text(width / 2, height / 2, "No points yet", anchor="middle"))
    else:
        x_scale = Scale(min(xs), max(xs), LEFT, edge, log_x)
        low = min(0.0, *ys) if y_from_zero and not log_y else min(ys)
        y_scale = Scale(low, max(ys), height - BOTTOM, TOP, log_y)
        body += _axes(x_scale, y_scale, x_ticks, x_text, y_text)
        labels: list[tuple[float, str, str]] = []
        colour = 0
        for number, line in enumerate(series):
            stroke = GREY if line.quiet else COLOURS[colour % len(COLOURS)]
            colour += not line.quiet
            body += _line(line, number, stroke, x_scale, y_scale)
            ends = [y for x, y in zip(line.x, line.y, strict=True) if _drawn(x, log_x) and _drawn(y, log_y)]
            if ends:
                labels.append((y_scale(ends[-1]), line.name, stroke))
        body += _end_labels(labels, edge + 10, height)
    body.append(_text((LEFT + edge) / 2, height - 10, x_label, anchor="middle", size=12))
    body.append(_text(LEFT - 62, TOP - 14, y_label, size=12))
    body += [_text(12, height + 12 + 16 * n, text, size=11) for n, text in enumerate(footer)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{SCOPE}" role="img" viewBox="0 0 {width} {full}" '
        f'width="{width}" style="max-width:100%;height:auto"><title>{escape(title)}</title>'
        f"<desc>{escape(description)}</desc><style>{theme.css(SCOPE)}</style>"
        + _text(12, 16, title, size=13, weight="600")
        + "".join(body)
        + "</svg>"
    )


def _drawn(value: float | None, log: bool) -> bool:
    return value is not None and math.isfinite(value) and (value > 0 or not log)


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 11, weight: str = "400") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" style="font-size:{size}px;font-weight:{weight}">'
        f"{escape(text)}</text>"
    )


def _axes(
    x_scale: Scale,
    y_scale: Scale,
    x_ticks: Sequence[float] | None,
    x_text: Callable[[float], str],
    y_text: Callable[[float], str],
) -> list[str]:
    left, right, bottom, top = x_scale.start, x_scale.end, y_scale.start, y_scale.end
    out = [
        f'<path d="M{left:g} {top:g}V{bottom:g}H{right:g}" fill="none" stroke="currentColor" stroke-opacity=".6"/>',
    ]
    ticks = sorted(set(x_ticks)) if x_ticks else x_scale.ticks()
    last = -math.inf
    for tick in ticks:
        x = x_scale(tick)
        out.append(f'<path d="M{x:g} {bottom:g}v4" stroke="currentColor" stroke-opacity=".6"/>')
        # Leave out a label that would run into the one before it.
        if x - last >= 8 * len(x_text(tick)):
            out.append(_text(x, bottom + 16, x_text(tick), anchor="middle"))
            last = x
    for tick in y_scale.ticks():
        y = y_scale(tick)
        out.append(f'<path d="M{left:g} {y:g}H{right:g}" stroke="currentColor" stroke-opacity=".12"/>')
        out.append(_text(left - 6, y + 4, y_text(tick), anchor="end"))
    return out


def _line(line: Series, number: int, stroke: str, x_scale: Scale, y_scale: Scale) -> list[str]:
    out: list[str] = []
    if line.low and line.high:
        edge = [
            (x_scale(x), y_scale(low), y_scale(high))
            for x, low, high in zip(line.x, line.low, line.high, strict=True)
            if _drawn(x, x_scale.log) and _drawn(low, y_scale.log) and _drawn(high, y_scale.log)
        ]
        if len(edge) > 1:
            ring = [(x, high) for x, _, high in edge] + [(x, low) for x, low, _ in reversed(edge)]
            points = " ".join(f"{x:g},{y:g}" for x, y in ring)
            out.append(f'<polygon points="{points}" style="fill:{stroke}" fill-opacity=".18"/>')
    path, pen_down, marks = "", False, []
    for x, y in zip(line.x, line.y, strict=True):
        if not _drawn(x, x_scale.log):
            continue
        if not _drawn(y, y_scale.log):
            pen_down = False
            if y is not None and not math.isfinite(y):
                marks.append(_badge(x_scale(x), y_scale.end, format_number(y)))
            continue
        assert y is not None
        px, py = x_scale(x), y_scale(y)
        path += f"{'L' if pen_down else 'M'}{px:g} {py:g}"
        pen_down = True
        if len(line.x) <= 40 and not line.quiet:
            marks.append(_marker(number, px, py, stroke))
    dash = ' stroke-dasharray="6 4"' if line.dashed else ""
    thickness = 1.2 if line.quiet else 2
    if path:
        out.append(f'<path d="{path}" fill="none" style="stroke:{stroke}" stroke-width="{thickness}"{dash}/>')
    return out + marks


def _marker(number: int, x: float, y: float, fill: str) -> str:
    """Circle, square, triangle, diamond: a second sign beside the colour."""
    shape = number % 4
    if shape == 0:
        return f'<circle cx="{x:g}" cy="{y:g}" r="3" style="fill:{fill}"/>'
    path = ("", "m-3 -3h6v6h-6z", "m0 -4l4 7h-8z", "m0 -4l4 4l-4 4l-4 -4z")[shape]
    return f'<path d="M{x:g} {y:g}{path}" style="fill:{fill}"/>'


def _badge(x: float, y: float, word: str) -> str:
    mark = f'<path d="M{x:g} {y:g}m-4 0l4 7l4 -7z" style="fill:var(--agl-s-red)"/>'
    return mark + _text(x, y - 3, word, anchor="middle", weight="600")


def _end_labels(labels: list[tuple[float, str, str]], x: float, height: int) -> list[str]:
    """Names at the ends of the lines, pushed apart so that they don't cover one another."""
    out, last = [], -math.inf
    for y, name, stroke in sorted(labels):
        place = min(max(y, last + 14), height - 4)
        last = place
        short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
        out.append(f'<path d="M{x - 8:g} {y:g}L{x - 2:g} {place:g}" style="stroke:{stroke}" fill="none"/>')
        out.append(_text(x, place + 4, short))
    return out
