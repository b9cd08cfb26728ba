"""A tape as a static SVG: DOT made with `graphviz`, laid out by `pygraphviz` (or `dot` on the PATH), drawn here.

Only sizes and node numbers go through the layout program, so no text of a learner is ever parsed by it.
Elements carry `class="agl-node"` and `data-node-id`. Where no layout program is at hand `draw` gives None
and the caller shows text.
"""

from __future__ import annotations

import math
import shutil
import subprocess
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from . import theme
from .schema import Frame, Graph
from .text import bytes_text, number, one_line, plural, shape_text, totals, value_text

MOST = 400
SHAPED_EDGES = 120
HEIGHT = 34
_INCH = 72.0

Point = tuple[float, float]


class Box(NamedTuple):
    """What is written in a node and how large it is."""

    text: str
    small: str
    width: float
    height: float


def text_width(text: str, size: float = theme.SIZE) -> float:
    """Width in pixels, estimated: East Asian wide characters count full, others by rough classes."""
    total = 0.0
    for char in text:
        if unicodedata.east_asian_width(char) in "WF":
            total += 1.0
        elif unicodedata.combining(char):
            continue
        else:
            total += 0.32 if char in "iljtf.,:;|!'()[] " else 0.85 if char in "mwMW@—" else 0.58
    return total * size


def shorten(text: str, most: int = 24) -> str:
    """Keep both ends of a long name."""
    text = one_line(text)
    return text if len(text) <= most else text[: most // 2] + "…" + text[-(most // 2 - 1) :]


def box(graph: Graph, row: int) -> Box:
    """The words and size of one node."""
    nodes = graph["nodes"]
    kind, label, shape = nodes["kind"][row], shorten(nodes["label"][row]), nodes["shape"][row]
    value = nodes["value"][row]
    if kind == "op":
        text, small = shorten(nodes["symbol"][row] or nodes["op"][row]), shorten(nodes["op"][row])
        small = "" if small == text else small
        if label:
            small = f"{label} = {small}" if small else label
    elif kind == "constant":
        known = value is not None and value["size"] == 1 and value["values"]
        text = label or (number(value["values"][0]) if known else "constant")  # type: ignore[index]
        small = shape_text(shape) if shape else ""
    else:
        text, small = label or kind, shape_text(shape)
        if value is not None and value["size"] == 1 and value["values"]:
            small = number(value["values"][0])
    width = max(text_width(text), text_width(small, theme.SMALL)) + (22 if kind != "constant" else 8)
    return Box(text, small, max(width, 34.0 if kind != "constant" else 12.0), HEIGHT if small else 28.0)


def shown_rows(graph: Graph, most: int = MOST) -> list[int]:
    """Rows to draw: all, or the last ones (nearest to the output) of a long tape."""
    rows = range(len(graph["nodes"]["id"]))
    return list(rows[-most:])


def dot(graph: Graph, direction: str = "LR") -> Any:
    """The tape as a `graphviz.Digraph` with readable labels.

    Raises:
        ImportError: when the graphviz package is not installed.
    """
    import graphviz

    made = graphviz.Digraph("tape", graph_attr={"rankdir": direction}, node_attr={"fontname": "sans-serif"})
    nodes, edges = graph["nodes"], graph["edges"]
    shapes = {"op": "ellipse", "leaf": "box", "parameter": "box", "constant": "plaintext"}
    for row, identity in enumerate(nodes["id"]):
        words = box(graph, row)
        kind = nodes["kind"][row]
        extra = {"peripheries": "2"} if kind == "parameter" or identity in graph["roots"] else {}
        label = graphviz.escape("\n".join(filter(None, (words.text, words.small))))
        made.node(_dot_name(identity), label=label, shape=shapes.get(kind, "box"), **extra)
    for source, target in zip(edges["source"], edges["target"], strict=True):
        made.edge(_dot_name(source), _dot_name(target))
    return made


def _dot_name(identity: int) -> str:
    return f"n{identity}" if identity >= 0 else f"m{-identity}"


def _layout_dot(graph: Graph, rows: list[int], boxes: dict[int, Box], direction: str) -> str:
    import graphviz

    attributes = {"rankdir": direction, "nodesep": "0.25", "ranksep": "0.45", "pad": "0.1"}
    made = graphviz.Digraph(graph_attr=attributes, node_attr={"shape": "box", "fixedsize": "true", "label": ""})
    ids = graph["nodes"]["id"]
    shown = {ids[row] for row in rows}
    for row in rows:
        size = boxes[row]
        made.node(_dot_name(ids[row]), width=f"{size.width / _INCH:.3f}", height=f"{size.height / _INCH:.3f}")
    edges = graph["edges"]
    for source, target in zip(edges["source"], edges["target"], strict=True):
        if source in shown and target in shown:
            made.edge(_dot_name(source), _dot_name(target))
    return made.source


def _plain(source: str) -> str | None:
    """Graphviz' plain output of DOT text, from whichever Graphviz is at hand."""
    try:
        import pygraphviz

        drawn = pygraphviz.AGraph(string=source)
        drawn.layout(prog="dot")
        return drawn.draw(format="plain", prog="dot").decode()
    except Exception:
        program = shutil.which("dot")
        if program is None:
            return None
        try:
            done = subprocess.run(
                [program, "-Tplain"], input=source, capture_output=True, text=True, timeout=60, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout


class Layout(NamedTuple):
    """Where things lie, in pixels: centres by node id, splines by pair of ids."""

    width: float
    height: float
    centres: dict[int, Point]
    splines: list[tuple[int, int, list[Point]]]


def layout(graph: Graph, rows: list[int], boxes: dict[int, Box], direction: str = "LR") -> Layout | None:
    """Positions from Graphviz, or None when there is none."""
    try:
        plain = _plain(_layout_dot(graph, rows, boxes, direction))
    except ImportError:
        return None
    if plain is None:
        return None
    width = height = 0.0
    centres, splines = {}, []
    for line in plain.splitlines():
        words = line.split(" ")
        if words[0] == "graph":
            width, height = float(words[2]) * _INCH, float(words[3]) * _INCH
        elif words[0] == "node":
            centres[_identity(words[1])] = (float(words[2]) * _INCH, height - float(words[3]) * _INCH)
        elif words[0] == "edge":
            count = int(words[3])
            numbers = [float(word) * _INCH for word in words[4 : 4 + 2 * count]]
            points = [(x, height - y) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
            splines.append((_identity(words[1]), _identity(words[2]), points))
    return Layout(width, height, centres, splines)


def _identity(name: str) -> int:
    return int(name[1:]) if name[0] == "n" else -int(name[1:])


def _tooltip(graph: Graph, row: int) -> str:
    nodes = graph["nodes"]
    parts = [f"{nodes['name'][row] or nodes['kind'][row]}  {shape_text(nodes['shape'][row])} {nodes['dtype'][row]}"]
    if nodes["label"][row]:
        parts.insert(0, one_line(nodes["label"][row]))
    value = value_text(nodes["value"][row])
    if value:
        parts.append(value)
    if nodes["saved_bytes"][row]:
        parts.append(f"saves {bytes_text(nodes['saved_bytes'][row])} for backward")  # type: ignore[arg-type]
    line = nodes["line"][row]
    if line:
        place = f"cell [{line['cell']}], line" if line["cell"] is not None else "line"
        parts.append(f"{place} {line['line']}: {one_line(line['text'])}")
    return "\n".join(parts)


def _draw_node(graph: Graph, row: int, words: Box, centre: Point, current: bool) -> str:
    nodes = graph["nodes"]
    kind, identity, value = nodes["kind"][row], nodes["id"][row], nodes["value"][row]
    w, h = words.width, words.height
    x, y = -w / 2, -h / 2
    radius = h / 2 if kind == "op" else 6
    parts = [f"<title>{escape(_tooltip(graph, row))}</title>"]
    if identity in graph["roots"]:
        ring = f'x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="{w + 7:.1f}" height="{h + 7:.1f}" rx="{radius + 3.5:.1f}"'
        parts.append(f'<rect class="agl-s-ring" {ring}/>')
    if current:
        halo = f'x="{x - 7:.1f}" y="{y - 7:.1f}" width="{w + 14:.1f}" height="{h + 14:.1f}" rx="{radius + 7:.1f}"'
        parts.append(f'<rect class="agl-s-current" {halo}/>')
    if kind != "constant":
        parts.append(
            f'<rect class="agl-s-shape" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="{radius:.1f}"/>'
        )
    if kind == "parameter":
        inner = f'x="{x + 2.5:.1f}" y="{y + 2.5:.1f}" width="{w - 5:.1f}" height="{h - 5:.1f}" rx="4"'
        parts.append(f'<rect class="agl-s-inner" {inner}/>')
    base = -1 if words.small else 4.5
    parts.append(f'<text text-anchor="middle" y="{base}">{escape(words.text)}</text>')
    if words.small:
        parts.append(f'<text class="agl-s-small" text-anchor="middle" y="12">{escape(words.small)}</text>')
    if nodes["saved_bytes"][row] and kind == "op":
        parts.append(f'<circle class="agl-s-saved" cx="{w / 2 - 4:.1f}" cy="{y + 3:.1f}" r="3.5"/>')
    if value is not None and (value["nan"] or value["inf"]):
        parts.append(
            f'<path class="agl-s-bad" d="M{x - 2:.1f} {y - 6:.1f}h18l4 4v6l-4 4h-18l-4 -4v-6z"/>'
            f'<text class="agl-s-bad-word" text-anchor="middle" x="{x + 7:.1f}" y="{y + 4:.1f}">'
            f"{'NaN' if value['nan'] else 'Inf'}</text>"
        )
    return (
        f'<g class="agl-node agl-s-{kind}" data-node-id="{identity}" '
        f'transform="translate({centre[0]:.1f} {centre[1]:.1f})">{"".join(parts)}</g>'
    )


def _beyond(point: Point, toward: Point, distance: float) -> Point:
    """The point at a distance from `point`, in the direction that leads from `toward` to it."""
    (bx, by), (ax, ay) = point, toward
    length = max(math.hypot(bx - ax, by - ay), 1e-9)
    return bx + distance * (bx - ax) / length, by + distance * (by - ay) / length


def _arrow(base: Point, tip: Point, css: str) -> str:
    """A head from the middle of its base to its tip."""
    (bx, by), (tx, ty) = base, tip
    length = max(math.hypot(tx - bx, ty - by), 1e-9)
    nx, ny = -(ty - by) / length * 3.4, (tx - bx) / length * 3.4
    points = f"{tx:.1f},{ty:.1f} {bx + nx:.1f},{by + ny:.1f} {bx - nx:.1f},{by - ny:.1f}"
    return f'<polygon class="{css}" points="{points}"/>'


def _draw_edge(points: list[Point], note: str, back: float | None) -> str:
    """One edge; `back` is the width of its backward stroke, None when no gradient has come along it."""
    # The spline ends a little before the node; the head fills the gap.
    tip = _beyond(points[-1], points[-2], 9)
    curve = "C" + " ".join(f"{x:.1f} {y:.1f}" for x, y in points[1:])
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}{curve}"
    if back is None:
        parts = [f'<path class="agl-s-edge" d="{path}"/>', _arrow(points[-1], tip, "agl-s-arrow")]
    else:
        whole = f"{path}L{tip[0]:.1f} {tip[1]:.1f}"
        base = _beyond(points[0], points[1], -9)
        parts = [
            f'<path class="agl-s-back" d="{whole}" stroke-width="{back:.1f}"/>',
            _arrow(base, _beyond(points[0], points[1], 3), "agl-s-back-arrow"),
        ]
    if note:
        mx, my = points[len(points) // 2]
        place = f'text-anchor="middle" x="{mx:.1f}" y="{my - 4:.1f}"'
        parts.append(f'<text class="agl-s-small" {place}>{escape(note)}</text>')
    return "".join(parts)


def _strokes(frames: Sequence[Frame]) -> dict[tuple[int, int], float]:
    """Width of the backward stroke by edge: the logarithm of the gradient's norm, between 1.4 and 5 pixels."""
    found = {}
    for frame in frames:
        for one in frame["sent"]:
            norm = one["grad"]["norm"]
            size = math.log10(norm) if isinstance(norm, int | float) and norm > 0 else -3.0
            found[(one["to"], frame["node"])] = min(max(3.0 + 0.6 * size, 1.4), 5.0)
    return found


def draw(
    graph: Graph, direction: str = "LR", most: int = MOST, frames: Sequence[Frame] = ()
) -> str | None:
    """The picture as SVG text, or None when no layout program is at hand.

    Args:
        graph: the snapshot.
        direction: LR (left to right) or TB (top to bottom).
        most: nodes drawn; of a longer tape the part nearest to the output is shown, and says so.
        frames: backward steps done so far; their edges carry a second stroke, the last node a halo.
    """
    rows = shown_rows(graph, most)
    boxes = {row: box(graph, row) for row in rows}
    placed = layout(graph, rows, boxes, direction)
    if placed is None:
        return None
    nodes = graph["nodes"]
    left_out = len(nodes["id"]) - len(rows) + graph["truncated"]
    row_of = {nodes["id"][row]: row for row in rows}
    shaped = len(placed.splines) <= SHAPED_EDGES
    strokes = _strokes(frames)
    edges = []
    for source, target, points in placed.splines:
        row = row_of[source]
        note = shape_text(nodes["shape"][row]) if shaped and nodes["kind"][row] == "op" and nodes["shape"][row] else ""
        edges.append(_draw_edge(points, note, strokes.get((source, target))))
    current = frames[-1]["node"] if frames else None
    ids = nodes["id"]
    drawn = [_draw_node(graph, row, boxes[row], placed.centres[ids[row]], ids[row] == current) for row in rows]
    pad, caption = 8, 18 if left_out else 0
    width, height = placed.width + 2 * pad, placed.height + 2 * pad + caption
    note = ""
    if left_out:
        words = escape(plural(left_out, "earlier node"))
        note = f'<text class="agl-s-small" x="{pad}" y="{height - 6:.0f}">{words} left out</text>'
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="agl-picture" role="img" '
        f'{size} style="max-width:100%;height:auto">'
        f"<title>{escape(totals(graph))}</title><style>{theme.css('agl-picture')}</style>"
        f'<g transform="translate({pad} {pad})">{"".join(edges)}{"".join(drawn)}</g>{note}</svg>'
    )
