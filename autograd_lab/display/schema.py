"""The wire schema: every message and trait between Python and the views, typed once.

The front end's types are generated from this file, so nobody types a name twice:

    python -m autograd_lab.display.schema > widgets/src/protocol.gen.ts

Plain data only: this module imports nothing of the library. Add a field here, regenerate, and the
TypeScript compiler shows every place that must learn about it. Raise `PROTOCOL` when an old view
could misread a new message.
"""

from __future__ import annotations

import textwrap
import types
import typing
from typing import Annotated, Any, Literal, TypedDict, get_args, get_origin, get_type_hints

PROTOCOL = 1
MIME = "application/vnd.autograd_lab+json"

WireNumber = float | Literal["NaN", "Infinity", "-Infinity"]
NodeKind = Literal["leaf", "parameter", "op", "constant", "output"]
View = Literal["graph", "stepper", "timings", "training"]


class Grid(TypedDict):
    """A thumbnail: the array folded to two dimensions (leading ones together) and averaged down to at most
    16 by 16 cells (1 by 64 for one dimension)."""

    rows: int
    cols: int
    values: Annotated[list[WireNumber], "row-major, rows * cols of them"]


class Histogram(TypedDict):
    """Counts of the finite elements in equal bins."""

    edges: Annotated[list[float], "one more than counts"]
    counts: list[int]


class Summary(TypedDict):
    """What a view knows of an array. Statistics are over the finite elements; null when there are none."""

    shape: list[int]
    dtype: str
    min: WireNumber | None
    max: WireNumber | None
    mean: WireNumber | None
    norm: Annotated[WireNumber | None, "square root of the sum of squares of the finite elements"]
    zeros: Annotated[int, "how many elements are exactly 0"]
    nan: int
    inf: int
    size: int
    values: Annotated[list[WireNumber] | None, "all elements, row-major, when size <= 64; magnitudes of complex ones"]
    grid: Annotated[Grid | None, "null when values is given"]
    histogram: Annotated[Histogram | None, "null when values is given or nothing is finite"]


class Line(TypedDict):
    """The learner's line that made a node."""

    file: str
    line: int
    text: str
    cell: Annotated[int | None, "execution count of the notebook cell, when known"]
    function: str


class Saved(TypedDict):
    """One value that a node keeps for its backward rule."""

    operand: Annotated[str, "y for the output, x0, x1, … for the operands"]
    shape: list[int]
    dtype: str
    bytes: int


class NodeColumns(TypedDict):
    """The nodes as columns of equal length, in forward order: a producer stands before its consumers."""

    id: Annotated[list[int], "sequence numbers of ops (>= 0); leaves and constants have negative ids"]
    kind: list[NodeKind]
    op: Annotated[list[str], "name of the row; empty for leaves"]
    symbol: Annotated[list[str], "what the pill shows: ×, +, tanh, @, Σ"]
    label: Annotated[list[str], "the learner's name of the value, or empty"]
    name: Annotated[list[str], "PyTorch's name: TanhBackward0, AccumulateGrad"]
    shape: list[list[int]]
    dtype: list[str]
    device: list[str]
    group: Annotated[list[int], "index into groups, -1 for none"]
    line: list[Line | None]
    saved_bytes: Annotated[list[int | None], "null when unknown (already freed)"]
    saved: list[list[Saved]]
    value: Annotated[list[Summary | None], "null when not known, which never means 0"]
    formula: Annotated[list[str], "key into formulas, or empty"]
    requires_grad: list[bool]


class EdgeColumns(TypedDict):
    """The edges as columns of equal length, in forward direction (producer to consumer)."""

    source: list[int]
    target: list[int]
    slot: Annotated[list[int], "which operand of the target"]


class Group(TypedDict):
    """A box around nodes: a module, a function or a repeated block."""

    id: int
    parent: Annotated[int, "index of the enclosing group, -1 for none"]
    label: Annotated[str, "of a module its attribute path from its caller: 0, fc1, layers.2"]
    type: Annotated[str, "the module's class, or empty"]
    kind: Literal["module", "function", "block"]


class Graph(TypedDict):
    """A snapshot of a tape at one moment."""

    protocol: int
    nodes: NodeColumns
    edges: EdgeColumns
    groups: list[Group]
    roots: Annotated[list[int], "ids of the outputs asked for"]
    title: str
    strings_language: Annotated[str, "en or zh-Hant"]
    truncated: Annotated[int, "nodes of the tape that were left out because there were too many"]
    saved_unique_bytes: Annotated[int, "memory of all that nodes keep, each array counted once"]


class Rule(TypedDict):
    """The cotangent a node sends to one operand."""

    slot: Annotated[int, "number of the operand; -1 for a rule that holds for every operand"]
    operand: Annotated[str, "its name, which two operands may share: x · x"]
    mathml: str
    text: str


class Formula(TypedDict):
    """An op in mathematics: forward, and one rule per differentiable operand."""

    forward_mathml: str
    forward_text: str
    rules: list[Rule]


Formulas = dict[str, Formula]


class Sent(TypedDict):
    """One cotangent on its way to an operand's producer."""

    slot: int
    to: Annotated[int, "id of the node or leaf that receives it"]
    grad: Summary
    total: Annotated[Summary, "the sum held there after adding this one"]
    arrived: Annotated[int, "how many cotangents have arrived there, this one counted"]
    expected: int


class Numbers(TypedDict):
    """A rule with the numbers of one element put in."""

    slot: Annotated[int, "number of the operand"]
    operand: Annotated[str, "its name"]
    index: list[int]
    text: str


class Frame(TypedDict):
    """One step of the backward sweep."""

    step: int
    node: int
    incoming: Summary
    sent: list[Sent]
    numbers: list[Numbers]
    text: Annotated[str, "the step as one spoken sentence"]
    leaf_grad: Annotated[bool, "this step writes .grad of the leaf `node`"]


class Options(TypedDict, total=False):
    """How a view is shown; unknown keys are ignored."""

    direction: Literal["lr", "tb"]
    language: Literal["en", "zh-Hant"]
    height: Annotated[int, "pixels"]
    folded: Annotated[list[int], "indices of the groups shown folded"]


class Selection(TypedDict, total=False):
    """What is selected in the graph: `node` is an id, absent when nothing is."""

    node: int


class Recorded(TypedDict):
    """Where a recorded timing comes from."""

    card: str
    date: str


class TimingRow(TypedDict):
    """One device at one size; times in seconds, null where not measured."""

    device: str
    size: int
    median_s: float
    low_s: float
    high_s: float
    transfer_in_s: float | None
    transfer_out_s: float | None
    launch_s: float | None
    unsynchronised_s: float | None
    recorded: Recorded | None


class Timings(TypedDict):
    """All that the timings view draws."""

    machine: str
    label: str
    rows: list[TimingRow]
    note: str


class Points(TypedDict):
    """Columns of a training run."""

    step: list[int]
    series: Annotated[dict[str, list[WireNumber | None]], "each as long as step"]


class GraphTraits(TypedDict):
    """Synced state of TapeGraph."""

    view: View
    protocol: int
    graph: Graph
    formulas: Formulas
    selection: Selection
    recording: Annotated[bool, "more nodes may arrive by append events"]
    options: Options


class StepperTraits(TypedDict):
    """Synced state of BackwardStepper."""

    view: View
    protocol: int
    graph: Graph
    formulas: Formulas
    frames: list[Frame]
    cursor: Annotated[int, "steps done: 0 is nothing yet, frames.length is all"]
    selection: Selection
    options: Options


class TimingsTraits(TypedDict):
    """Synced state of DeviceTimings."""

    view: View
    protocol: int
    results: Timings
    running: bool
    progress: Annotated[float, "0 to 1"]
    options: Options


class TrainingTraits(TypedDict):
    """Synced state of TrainingView."""

    view: View
    protocol: int
    points: Points
    running: bool
    stop_requested: bool
    total_steps: int | None
    text: str
    options: Options


class MountData(TypedDict, total=False):
    """What a standalone page passes to `mount(el, data)`: the traits of one view, as plain data."""

    view: View
    protocol: int
    graph: Graph
    formulas: Formulas
    frames: list[Frame]
    cursor: int
    selection: Selection
    results: Timings
    points: Points
    total_steps: int | None
    text: str
    options: Options


class AppendEvent(TypedDict):
    """Python to view, while recording: nodes, edges and groups to add."""

    kind: Literal["append"]
    nodes: NodeColumns
    edges: EdgeColumns
    groups: list[Group]
    formulas: Formulas
    roots: list[int]


class RequestArgs(TypedDict, total=False):
    """Arguments of requests; each name uses its own."""

    node: int
    which: Annotated[str, "tensor: value, grad, or the name of a saved operand"]
    cursor: int


class Request(TypedDict):
    """View to Python; answered by a reply with the same id."""

    id: int
    kind: Literal["request"]
    name: Literal["tensor", "goto", "bench", "stop"]
    args: RequestArgs


class ReplyError(TypedDict):
    """Why a request failed, to be shown in the view."""

    kind: Annotated[str, "type of the exception"]
    text: str


class Reply(TypedDict, total=False):
    """Python to view: exactly one of result and error is there."""

    id: int
    kind: Literal["reply"]
    result: Any
    error: ReplyError


_ALIASES = {"WireNumber": WireNumber, "NodeKind": NodeKind, "View": View}
_NAMES = {WireNumber: "WireNumber", NodeKind: "NodeKind", View: "View", Formulas: "Formulas"}
_BASIC = {int: "number", float: "number", str: "string", bool: "boolean", type(None): "null", Any: "unknown"}


def records() -> list[type]:
    """The TypedDicts of this module in order of definition."""
    return [value for value in globals().values() if typing.is_typeddict(value)]


def _spell(hint: Any, alias: bool = True) -> str:
    """A type hint in TypeScript."""
    if hint in _BASIC:
        return _BASIC[hint]
    if alias and hint in _NAMES:
        return _NAMES[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _spell(args[0])
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in args)
    if origin in (types.UnionType, typing.Union):
        # A union swallows the members of an alias inside it; put the alias back.
        if set(get_args(WireNumber)) < set(args):
            rest = [_spell(arg) for arg in args if arg not in get_args(WireNumber)]
            return " | ".join(["WireNumber", *rest])
        return " | ".join(_spell(arg) for arg in args)
    if origin is list:
        inner = _spell(args[0])
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    if origin is dict:
        return f"Record<{_spell(args[0])}, {_spell(args[1])}>"
    return hint.__name__


def typescript() -> str:
    """The text of widgets/src/protocol.gen.ts."""
    out = [
        "// Generated by `python -m autograd_lab.display.schema`. Do not edit: change autograd_lab/display/schema.py.",
        "",
        f"export const PROTOCOL = {PROTOCOL};",
        f'export const MIME = "{MIME}";',
        "",
    ]
    out += [f"export type {name} = {_spell(hint, alias=False)};" for name, hint in _ALIASES.items()]
    out += ["export type Formulas = Record<string, Formula>;"]
    for record in records():
        words = textwrap.wrap(f"/** {' '.join((record.__doc__ or '').split())} */", 120, subsequent_indent=" * ")
        out += ["", *words, f"export interface {record.__name__} {{"]
        optional = "" if record.__total__ else "?"
        for field, hint in get_type_hints(record, include_extras=True).items():
            note = f" // {hint.__metadata__[0]}" if get_origin(hint) is Annotated else ""
            out.append(f"  {field}{optional}: {_spell(hint)};{note}")
        out.append("}")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    print(typescript(), end="")
