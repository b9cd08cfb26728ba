"""From one step of the sweep to one frame: summaries, numbers put into the rule, and a spoken sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.formula import Formula
from ..autograd.notation import format_number
from ..autograd.symbols import Expr, Written
from ..core.tape import Node, Slot
from ..core.tensor import Tensor
from .schema import Frame, Numbers, Sent, Summary
from .snapshot import is_freed
from .summary import as_array, summary
from .text import number, one_line, shape_text

ALL_ENTRIES = 16
FEW_ENTRIES = 4


def first_part(g: Any) -> Any:
    """Of the cotangents of a node with several outputs, the first that arrived."""
    if isinstance(g, tuple | list):
        return next((part for part in g if part is not None), None)
    return g


def environment(node: Node, math: Formula, g: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays behind the names of a node's formula, spread to the shape of the cotangent."""
    found: dict[str, Any] = {"g_bar": g}
    if node.y is not None:
        found[math.output] = node.y
    for name, saved in zip(math.operands, () if is_freed(node) else node.saved, strict=False):
        found.setdefault(name, saved)
    arrays = {}
    for name, value in found.items():
        array = None if value is None else as_array(value)
        if array is None:
            continue
        if array.dtype.kind == "V":
            array = array.astype(np.float32)
        try:
            arrays[name] = np.broadcast_to(array, g.shape)
        except ValueError:
            continue
    return arrays


def entries(g: np.ndarray, generous: bool) -> list[tuple[int, ...]]:
    """Which elements get their numbers: all of a small array, else the ones with the largest cotangents."""
    if g.size <= (ALL_ENTRIES if generous else 1):
        return list(np.ndindex(g.shape))
    few = FEW_ENTRIES if generous else 1
    size = np.abs(np.nan_to_num(g, nan=np.inf)).ravel()
    order = np.argsort(-size, kind="stable")[:few]
    return [tuple(int(i) for i in np.unravel_index(place, g.shape)) for place in order]


def numbers(node: Node, math: Formula | None, g: Any, sent: list[Any], generous: bool = True) -> list[Numbers]:
    """Rules of an elementwise node with the numbers of a few elements put in."""
    g = first_part(g)
    if math is None or g is None or node.op.kind != "elementwise":
        return []
    g = np.asarray(g)
    if g.size == 0 or g.dtype.kind == "c":
        return []
    values = environment(node, math, g)
    places = entries(g, generous)
    found: list[Numbers] = []
    for slot, (operand, rule, grad) in enumerate(zip(math.operands, math.rules, sent, strict=False)):
        if rule is None or grad is None or type(rule) is Written or not rule.names() <= values.keys():
            continue
        terms = g.size // max(np.size(grad), 1)
        note = f"  (one of {terms:,} terms of a sum)" if terms > 1 else ""
        for index in places:
            text = _with_numbers(rule, {name: values[name][index] for name in rule.names()})
            if text:
                found.append({"slot": slot, "operand": operand, "index": list(index), "text": text + note})
    return found


def _with_numbers(rule: Expr, values: dict[str, Any]) -> str:
    try:
        return rule.numbers(values)
    except Exception:
        return ""  # a function we cannot compute by name has no numbers line


def measure(value: Summary | None) -> str:
    """A gradient in speech: a scalar's number, or its norm; words where it is not finite."""
    if value is None:
        return "nothing"
    if value["nan"] or value["inf"]:
        return f"{value['nan']} NaN and {value['inf']} Inf of {value['size']}"
    if value["size"] == 1 and value["values"]:
        return number(value["values"][0])
    return f"norm {number(value['norm'])} ({shape_text(value['shape'])})"


def heard(g: Any, incoming: Summary) -> str:
    """What came in, in speech; of several outputs each with its number: "[0] norm 1.2 (3), [2] norm 0.5 (3)"."""
    if not isinstance(g, tuple | list):
        return measure(incoming)
    came = [(nr, part) for nr, part in enumerate(g) if part is not None]
    told = [f"[{nr}] {measure(summary(as_array(part)))}" for nr, part in came[:FEW_ENTRIES]]
    return ", ".join(told + (["…"] if len(came) > FEW_ENTRIES else [])) or "nothing"


def sentence(head: str, came: str, incoming: Summary, sent: list[Sent], names: list[str]) -> str:
    """The step as one sentence: "tanh: incoming 0.412, local derivative 0.635, passes 0.262 to u"."""
    parts = [f"incoming {came}"]
    g = incoming["values"][0] if incoming["size"] == 1 and incoming["values"] else None
    for one, name in zip(sent, names, strict=True):
        out = one["grad"]
        value = out["values"][0] if out["size"] == 1 and out["values"] else None
        if isinstance(g, int | float) and isinstance(value, int | float) and g != 0:
            parts.append(f"local derivative {format_number(value / g)}")
        text = f"passes {measure(out)} to {name}"
        if one["expected"] > 1:
            text += f" ({one['arrived']} of {one['expected']}, sum now {measure(one['total'])})"
        parts.append(text)
    if not sent:
        parts.append("passes nothing on")
    return f"{head}: {', '.join(parts)}"


def partial_totals(step: Any, went: list[tuple[int, tuple[int, int], int]]) -> list[Any]:
    """The sum at each target just after each arrival.

    The engine adds in place, so when one step sends two cotangents to one target, both see the last sum: the
    earlier ones are found by taking away what came later.
    """
    totals: list[Any] = []
    later: dict[tuple[int, int], Any] = {}
    for slot, target, _ in reversed(went):
        total = as_array(step.totals[slot]) if target not in later else later[target]
        totals.append(total)
        later[target] = total - as_array(step.grads[slot])
    return totals[::-1]


class FrameMaker:
    """Makes frames one after another, counting what has arrived where.

    ids      numbers of leaves;  math  formulas by node id;  labels  spoken names by node id
    """

    def __init__(self, ids: Any, math: dict[int, Formula], labels: dict[int, str], generous: bool) -> None:
        self.ids, self.math, self.labels, self.generous = ids, math, labels, generous
        self.arrived: dict[tuple[int, int], int] = {}
        self.places: list[tuple[Sent, tuple[int, int]]] = []
        self.told: list[tuple[str, list[str]]] = []

    def name(self, identity: int) -> str:
        """How a node is spoken of."""
        return self.labels.get(identity) or f"node {identity}"

    def target(self, edge: Any) -> int:
        """Id of where an edge leads."""
        return self.ids.of(edge.node if type(edge) is Slot else edge)

    def count(self, step: Any) -> list[tuple[int, tuple[int, int], int]]:
        """(slot, (target, output number), how many have arrived there) of everything the step sent."""
        if isinstance(step.node, Tensor):
            return []
        found = []
        for slot, (edge, grad) in enumerate(zip(step.node.edges, step.grads, strict=False)):
            if edge is not None and grad is not None:
                target = self.target(edge), edge.nr if type(edge) is Slot else 0
                self.arrived[target] = self.arrived.get(target, 0) + 1
                found.append((slot, target, self.arrived[target]))
        return found

    def frame(self, place: int, step: Any, went: list[tuple[int, tuple[int, int], int]], nums: list[Numbers]) -> Frame:
        """The frame of a step whose arrivals were counted."""
        identity = self.ids.of(step.node)
        g = as_array(first_part(step.g))
        incoming = summary(np.zeros(0) if g is None else g)
        sent: list[Sent] = []
        names: list[str] = []
        totals = partial_totals(step, went)
        for (slot, target, arrived), total in zip(went, totals, strict=True):
            after = summary(as_array(step.grads[slot]))
            sent.append(
                {"slot": slot, "to": target[0], "grad": after, "total": after if arrived == 1 else summary(total),
                 "arrived": arrived, "expected": arrived}
            )  # fmt: skip
            self.places.append((sent[-1], target))
            part = f"[{target[1]}]" if type(step.node.edges[slot]) is Slot else ""
            names.append(one_line(self.name(target[0])) + part)
        leaf = isinstance(step.node, Tensor)
        frame: Frame = {
            "step": place, "node": identity, "incoming": incoming, "sent": sent, "numbers": nums, "text": "",
            "leaf_grad": leaf,
        }  # fmt: skip
        self.told.append((heard(step.g, incoming), names))
        return frame

    def finish(self, frames: list[Frame]) -> list[Frame]:
        """Fill in what is only known at the end: how many cotangents each sum had, and so the sentences."""
        for one, target in self.places:
            one["expected"] = self.arrived[target]
        for frame, (came, names) in zip(frames, self.told, strict=True):
            head = one_line(self.name(frame["node"]))
            if frame["leaf_grad"]:
                frame["text"] = f"{head}.grad is complete: {measure(frame['incoming'])}"
            else:
                frame["text"] = sentence(head, came, frame["incoming"], frame["sent"], names)
        return frames
