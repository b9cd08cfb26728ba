"""A tape as plain data (`schema.Graph`): what every view, picture and text is made from.

The walk is iterative and holds on to nothing: after it, the graph can be freed. Ids are sequence numbers
of ops; leaves and constants, which have none, are numbered -1, -2, … in the order they are met.
"""

from __future__ import annotations

import reprlib
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..autograd.formula import Formula, formula, operand_names
from ..core.tape import LEAF, Aval, Node, Slot, line_of
from ..core.tensor import Parameter, Tensor
from .names import Names
from .schema import PROTOCOL, EdgeColumns, Formulas, Graph, Group, Line, NodeColumns, Saved, Summary
from .summary import as_array, dtype_name, summary

LIMIT = 50_000
NAMED_FORMULAS = 300
VALUES = 2_000

#: tells the execution count of the cell that a file name stands for; set when a shell is there
cell_of: Callable[[str], int | None] = lambda file: None  # noqa: E731


class Ids:
    """Numbers for leaves and constants that stay the same while one tape is watched."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, int]] = {}
        self._last = 0

    def new(self) -> int:
        """A fresh negative number."""
        self._last -= 1
        return self._last

    def of(self, target: Any) -> int:
        """Id of a node or of a leaf or constant tensor."""
        if type(target) is Node:
            return target.seq
        known = self._known.get(id(target))
        if known is not None and known[0]() is target:
            return known[1]
        number = self.new()
        self._known[id(target)] = (weakref.ref(target), number)
        return number

    def seen(self, target: Any) -> bool:
        """Whether a leaf or constant has a number already."""
        known = self._known.get(id(target))
        return known is not None and known[0]() is target


def node_of(tensor: Tensor) -> Node | None:
    """The node that made a tensor, or None."""
    node = tensor._node
    if type(node) is Slot:
        return node.node
    return node if type(node) is Node else None


def reachable(outputs: Iterable[Tensor]) -> list[Node]:
    """All nodes behind the outputs, in forward order; iterative, so a million of them are fine."""
    stack = [node for node in map(node_of, outputs) if node is not None]
    seen = set(stack)
    while stack:
        for edge in stack.pop().edges:
            node = edge.node if type(edge) is Slot else edge
            if type(node) is Node and node not in seen:
                seen.add(node)
                stack.append(node)
    return sorted(seen, key=lambda node: node.seq)


def is_freed(node: Node) -> bool:
    """Whether backward let go of what the node saved."""
    return not isinstance(node.saved, tuple | list)


def known_values(nodes: Iterable[Node], names: Names) -> dict[int, Any]:
    """Outputs of nodes that somebody still holds: the learner, the node itself, or a consumer that saved it."""
    found: dict[int, Any] = {}
    for node in nodes:
        held = names.value(node)
        if held is not None:
            found[node.seq] = held
        elif node.y is not None and isinstance(node.y, np.ndarray | np.generic):
            found.setdefault(node.seq, node.y)
        if is_freed(node):
            continue
        for edge, saved in zip(node.edges, node.saved, strict=False):
            if type(edge) is Node and isinstance(saved, Tensor | np.ndarray | np.generic):
                found.setdefault(edge.seq, saved)
    return found


COLUMNS = tuple(NodeColumns.__annotations__)
PLACE = {name: place for place, name in enumerate(COLUMNS)}
_NEUTRAL: dict[str, Any] = {
    "op": "", "symbol": "", "label": "", "name": "", "shape": [], "dtype": "", "device": "cpu", "group": -1,
    "line": None, "saved_bytes": 0, "saved": [], "value": None, "formula": "", "requires_grad": False,
}  # fmt: skip


class Builder:
    """Collects rows node by node; also used to append while recording.

    names   the learner's names;  ids  numbers of leaves and constants
    rows    one list of cells per node, in the order of `COLUMNS`
    """

    def __init__(self, names: Names | None = None, ids: Ids | None = None) -> None:
        self.names, self.ids = names or Names(), ids or Ids()
        self.rows: list[list[Any]] = []
        self.formulas: Formulas = {}
        self._sources: list[int] = []
        self._targets: list[int] = []
        self._slots: list[int] = []
        self.edges: EdgeColumns = {"source": self._sources, "target": self._targets, "slot": self._slots}
        self.groups: list[Group] = []
        self.values: dict[int, Any] = {}
        self.name_formulas = False
        self.math: dict[int, Formula] = {}
        self._emitted: set[int] = set()
        self._kept: dict[int, int] = {}
        self._group_ids: dict[Any, int] = {}
        self._calls: dict[tuple[int, str], int] = {}
        self._lines: dict[Any, Line | None] = {}
        self._formula_keys: dict[str, Formula] = {}
        self._plain_keys: dict[Any, str] = {}

    # ----- nodes -----

    def row(self, **cells: Any) -> None:
        """Add one node; columns not given get their neutral value."""
        self.rows.append([cells[column] if column in cells else _NEUTRAL[column] for column in COLUMNS])
        self._emitted.add(cells["id"])

    def columns(self, first: int = 0) -> NodeColumns:
        """The rows from one on as columns."""
        rows = self.rows[first:]
        return dict(zip(COLUMNS, map(list, zip(*rows, strict=True)) if rows else ([] for _ in COLUMNS), strict=True))  # type: ignore

    def tensor(self, tensor: Tensor, kind: str = "", group: int = -1) -> int:
        """Add a leaf or constant tensor once, and tell its id. A parameter stands in the box of its first reader."""
        number = self.ids.of(tensor)
        if number in self._emitted:
            return number
        leaf = tensor._node is LEAF
        kind = kind or ("parameter" if isinstance(tensor, Parameter) else "leaf" if leaf else "constant")
        self.row(
            id=number, kind=kind, label=self.names.of(tensor), name="AccumulateGrad" if leaf else "",
            shape=list(tensor.shape), dtype=tensor.dtype.name, device=str(tensor.device),
            value=self.summary(tensor), requires_grad=tensor._node is not None,
            group=group if kind == "parameter" else -1,
        )  # fmt: skip
        return number

    def summary(self, value: Any) -> Summary | None:
        """Summary of a known value, or None."""
        array = None if value is None else as_array(value)
        return None if array is None else summary(array)

    def constant(self, value: Any, group: int = -1) -> int | None:
        """Add what a node keeps of an operand that needs no gradient; None when it keeps nothing."""
        if isinstance(value, Tensor):
            return self.tensor(value if value._node is None else value.detach(), "constant")
        if isinstance(value, Aval):
            number = self.ids.new()
            self.row(id=number, kind="constant", shape=list(value.shape), dtype=dtype_name(value.dtype))
            return number
        array = None if value is None else as_array(value)
        if array is None:
            return None
        number = self.ids.new()
        self.row(
            id=number, kind="constant", shape=list(array.shape), dtype=dtype_name(array.dtype), value=summary(array),
            group=group,
        )  # fmt: skip
        return number

    def op(self, node: Node) -> None:
        """Add an op after the leaves and constants it reads, with its edges."""
        if node.seq in self._emitted:
            return
        freed, seq, row = is_freed(node), node.seq, node.op
        saved = () if freed else node.saved
        group = self.group(node) if node.extra else -1
        device = None
        for slot, edge in enumerate(node.edges):
            if type(edge) is Node:
                source = edge.seq if edge.seq in self._emitted else None
            elif edge is None:
                source = self.constant(saved[slot] if slot < len(saved) else None, group)
            elif type(edge) is Slot:
                source = edge.node.seq if edge.node.seq in self._emitted else None
            else:
                device = str(edge.device)
                source = self.tensor(edge, group=group)
            if source is not None:
                self._sources.append(source)
                self._targets.append(seq)
                self._slots.append(slot)
        shape, dtype = node.shape, node.dtype
        if row.outputs != 1 and shape and type(shape[0]) is not int:  # of several outputs the first tensor
            first = next((nr for nr, one in enumerate(shape) if one is not None), None)
            shape, dtype = ((), "") if first is None else (shape[first], dtype[first])
        kept = [] if freed else self.saved(node)
        size = None if freed else sum([one["bytes"] for one in kept])
        value = self.values.get(seq)
        self.rows.append([  # in the order of COLUMNS: this is done for every node, and names would cost twice the time
            seq, "op", row.name, row.symbol, self.names.of(node), row.grad_name, list(shape), dtype_name(dtype),
            device or self.device(saved), group, self.line(node), size, kept, None if value is None else self.summary(value),
            self.formula(node), True,
        ])  # fmt: skip
        self._emitted.add(seq)

    def device(self, saved: Iterable[Any]) -> str:
        """Device of a node, from what it keeps."""
        return next((str(value.device) for value in saved if isinstance(value, Tensor)), "cpu")

    def saved(self, node: Node) -> list[Saved]:
        """What the node keeps for its rule."""
        found: list[Saved] = []
        for place, value in enumerate((node.y, *node.saved)):
            if value is None or type(value) is Aval:
                continue
            held = getattr(value, "_d", value)
            size = getattr(held, "nbytes", None)
            if size is not None:
                owner = id(held if getattr(held, "base", None) is None else held.base)
                self._kept[owner] = max(self._kept.get(owner, 0), size)
                operand = f"x{place - 1}" if place else "y"
                found.append({"operand": operand, "shape": list(held.shape), "dtype": dtype_name(held.dtype), "bytes": size})
        return found

    def line(self, node: Node) -> Line | None:
        """The learner's line, looked up once per place in the program."""
        where = node.where
        if where not in self._lines:
            found = line_of(where)
            self._lines[where] = found and {
                "file": found.file, "line": found.line, "text": found.text, "cell": cell_of(found.file),
                "function": found.function,
            }  # fmt: skip
        return self._lines[where]

    def group(self, node: Node) -> int:
        """Index of the box of the module at work, made with the boxes around it; -1 for none.

        Each call of a module has a box of its own. A model without modules inside needs none.
        """
        scope = (node.extra or {}).get("scope")
        calls = []
        while scope is not None and scope not in self._group_ids:
            calls.append(scope)
            scope = scope.parent
        group = -1 if scope is None else self._group_ids[scope]
        for scope in reversed(calls):
            if scope.parent is not None or scope.parts:
                again = self._calls[group, scope.label] = self._calls.get((group, scope.label), 0) + 1
                label = scope.label if again == 1 else f"{scope.label} ({again})"
                number = len(self.groups)
                self.groups.append({"id": number, "parent": group, "label": label, "type": scope.kind, "kind": "module"})
                group = number
            self._group_ids[scope] = group
        return group

    # ----- formulas -----

    def formula(self, node: Node) -> str:
        """Key of the node's formula, which is made when it is new."""
        plain = None if self.name_formulas or node.params else (node.op.name, len(node.edges))
        if plain in self._plain_keys:
            key = self._plain_keys[plain]
            self.math[node.seq] = self._formula_keys[key]
            return key
        names, output = self.formula_names(node)
        saved = () if is_freed(node) else node.saved
        constants = {
            slot: value for slot, value in enumerate(saved) if type(value) in (int, float) and slot < len(names)
        }
        # Written formulas do not depend on parameters, which may be large (an index).
        derived = node.op.kind == "elementwise" and (node.params or constants)
        params = reprlib.repr((node.params, constants)) if derived else ""
        key = "|".join([node.op.name, output, ",".join(names), params]).rstrip("|")
        found = self._formula_keys.get(key)
        if found is None:
            found = self._formula_keys[key] = formula(node.op, node.params, names, output, constants)
            every = node.op.arity == "many"
            self.formulas[key] = {
                "forward_mathml": found.forward_mathml(),
                "forward_text": found.forward_text(),
                "rules": [
                    {
                        "slot": -1 if every else slot,
                        "operand": name,
                        "mathml": found.rule_mathml(slot),
                        "text": found.rule_text(slot),
                    }
                    for slot, name in enumerate(names)
                    if slot < len(found.rules) and found.rules[slot] is not None and slot not in constants
                ],
            }
        self.math[node.seq] = found
        if plain is not None and not constants:
            self._plain_keys[plain] = key
        return key

    def formula_names(self, node: Node) -> tuple[tuple[str, ...], str]:
        """Names for operands and output: the learner's in a small graph, else those of the row."""
        if node.op.arity == "many":
            return ("x",), self.names.of(node) or "y"
        plain = list(operand_names(node.op, len(node.edges)))
        if not self.name_formulas or len(plain) > 4:
            return (tuple(plain) if len(plain) <= 4 else ("x",)), "y"
        given = []
        for slot, edge in enumerate(node.edges):
            if edge is None:
                saved = node.saved[slot] if not is_freed(node) and slot < len(node.saved) else None
                given.append(self.names.of(saved) if isinstance(saved, Tensor) else "")
            elif type(edge) is Slot:
                given.append(self.names.of(edge.node, edge.nr))
            else:
                given.append(self.names.of(edge))
        output = self.names.of(node)
        taken = {name for name in [*given, output] if name}
        spare = iter([c for c in "uvwabcdpqrst" if c not in taken])
        names = [g or (p if p not in taken else next(spare)) for g, p in zip(given, plain, strict=True)]
        if not output:
            output = "y" if "y" not in {*names} else next(spare)
        return tuple(names), output

    def graph(self, roots: Sequence[int], title: str, truncated: int = 0) -> Graph:
        """What was collected, as a snapshot."""
        return {
            "protocol": PROTOCOL, "nodes": self.columns(), "edges": self.edges, "groups": self.groups,
            "roots": list(roots), "title": title, "strings_language": "en", "truncated": truncated,
            "saved_unique_bytes": sum(self._kept.values()),
        }  # fmt: skip


class Snapshot:
    """A taken snapshot: `graph` and `formulas` are plain data; `math` holds the formulas by node id."""

    def __init__(self, graph: Graph, formulas: Formulas, math: dict[int, Formula], ids: Ids) -> None:
        self.graph, self.formulas, self.math, self.ids = graph, formulas, math, ids


def take(
    outputs: Tensor | Sequence[Tensor], names: Names | None = None, title: str = "", limit: int = LIMIT
) -> Snapshot:
    """Take a snapshot of the tape behind one or more tensors.

    Args:
        outputs: the tensors.
        names: the learner's names (`names.find_names`).
        title: what the picture is called; "tape of <name>" when not given.
        limit: nodes kept, counted back from the outputs.

    Raises:
        TypeError: for anything that is not a tensor.
    """
    roots = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    for root in roots:
        if not isinstance(root, Tensor):
            raise TypeError(f"a tape belongs to a tensor, got {type(root).__name__}")
    builder = Builder(names)
    nodes = reachable(roots)
    truncated = max(len(nodes) - limit, 0)
    nodes = nodes[truncated:]
    if len(nodes) <= VALUES:
        builder.values = known_values(nodes, builder.names)
    builder.name_formulas = len(nodes) <= NAMED_FORMULAS
    root_ids = []
    for root in roots:
        node = node_of(root)
        if node is not None:
            builder.values[node.seq] = root if type(root._node) is not Slot else builder.values.get(node.seq)
            builder.names.add(root._name or "", root)
    for node in nodes:
        builder.op(node)
    for root in roots:
        node = node_of(root)
        number = node.seq if node is not None else builder.tensor(root)
        if number not in root_ids:
            root_ids.append(number)
    label = builder.names.of(roots[0] if node_of(roots[0]) is None else node_of(roots[0])) if roots else ""
    title = title or (f"tape of {label}" if label else "tape")
    return Snapshot(builder.graph(root_ids, title, truncated), builder.formulas, builder.math, builder.ids)


def snapshot(outputs: Tensor | Sequence[Tensor], names: Names | None = None) -> Graph:
    """The tape behind one or more tensors as plain data."""
    return take(outputs, names).graph
