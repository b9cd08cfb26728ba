"""A tape in plain text: an indented tree from the output down to the leaves, for terminals and screen readers."""

from __future__ import annotations

from ..autograd.notation import format_number
from .schema import Graph, Summary

LINES = 60
DEEP = 24


def shape_text(shape: list[int] | tuple[int, ...]) -> str:
    """A shape as people write it: 3×4; a scalar has none."""
    return "×".join(map(str, shape)) if shape else "scalar"


def bytes_text(count: int) -> str:
    """A size in bytes with a unit: 1.5 kB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.3g} {unit}" if unit != "B" else f"{count} B"
        count /= 1000  # type: ignore[assignment]
    return ""


def plural(count: int, noun: str) -> str:
    """1 node, 2 nodes, 20,000 nodes."""
    plurals = {"leaf": "leaves"}
    return f"{count:,} {noun if count == 1 else plurals.get(noun, noun + 's')}"


def value_text(value: Summary | None) -> str:
    """What is known of a value, short: a scalar's number, or its range; counts of what is not finite."""
    if value is None:
        return ""
    bad = " ".join(f"{value[key]} {word}" for key, word in (("nan", "NaN"), ("inf", "Inf")) if value[key])
    if value["size"] == 1 and value["values"]:
        return "= " + number(value["values"][0])
    if value["min"] is None:
        return bad
    low, high = number(value["min"]), number(value["max"])
    size = "|·| " if value["dtype"].startswith("complex") else ""
    return size + (f"all {low}" if low == high and not bad else f"{low} … {high}") + (f", {bad}" if bad else "")


def number(value: float | str | None) -> str:
    """A wire number for people."""
    words = {"NaN": "NaN", "Infinity": "∞", "-Infinity": "−∞"}
    if value is None:
        return "–"
    return words[value] if isinstance(value, str) else format_number(value)


def one_line(text: str) -> str:
    """Text of a learner on one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def describe(graph: Graph, row: int) -> str:
    """One node in one line."""
    nodes = graph["nodes"]
    kind, label, shape = nodes["kind"][row], one_line(nodes["label"][row]), shape_text(nodes["shape"][row])
    value = value_text(nodes["value"][row])
    if kind == "constant":
        parts = [label or "constant", shape if shape != "scalar" else "", value]
        if not label and value.startswith("= "):
            parts = [value[2:]]
    elif kind == "op":
        head = f"{label} = {nodes['op'][row]}" if label else nodes["op"][row]
        saved = nodes["saved_bytes"][row]
        kept = "freed" if saved is None else f"saves {bytes_text(saved)}" if saved else ""
        parts = [head, shape, value, kept]
    else:
        parts = [label or kind, *([kind] if label else []), shape, value]
    return "  ".join(part for part in parts if part)


def totals(graph: Graph) -> str:
    """Title and counts in one line."""
    nodes = graph["nodes"]
    kinds = nodes["kind"]
    ops = kinds.count("op")
    leaves, parameters = kinds.count("leaf"), kinds.count("parameter")
    parts = [plural(ops, "op"), plural(leaves, "leaf")] + ([plural(parameters, "parameter")] if parameters else [])
    if graph["saved_unique_bytes"]:
        parts.append(f"{bytes_text(graph['saved_unique_bytes'])} saved for backward")
    if graph["truncated"]:
        parts.append(f"{plural(graph['truncated'], 'earlier op')} left out")
    return f"{one_line(graph['title'])}: {', '.join(parts)}"


def tree(graph: Graph, lines: int = LINES) -> str:
    """The tape as an indented tree.

    Args:
        graph: the snapshot.
        lines: at most this many; what is left out is counted.
    """
    nodes, edges = graph["nodes"], graph["edges"]
    row_of = {number: row for row, number in enumerate(nodes["id"])}
    inputs: dict[int, list[int]] = {}
    for source, target in sorted(
        zip(edges["source"], edges["target"], strict=True), key=lambda pair: pair[1]
    ):
        inputs.setdefault(target, []).append(source)
    out, seen = [totals(graph)], set()
    # An explicit stack: (node, what stands left of it, what stands left of its operands).
    stack = [(root, "", "") for root in reversed(graph["roots"])]
    while stack and len(out) <= lines:
        node, before, below = stack.pop()
        if node not in row_of:
            continue
        operands = inputs.get(node, [])
        if node in seen and operands:
            out.append(f"{before}{describe(graph, row_of[node])}  (above)")
            continue
        seen.add(node)
        out.append(before + describe(graph, row_of[node]))
        if operands and len(below) > 3 * DEEP:
            out.append(f"{below}└─ …")
            continue
        for place in reversed(range(len(operands))):
            last = place == len(operands) - 1
            stack.append((operands[place], below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")))
    missing = len(row_of) - len(seen)
    if missing:
        out.append(f"… {plural(missing, 'more node')}")
    return "\n".join(out)
