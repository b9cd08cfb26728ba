"""The learner's names of values: variables of a namespace and paths of parameters, found by identity.

A `Names` lives as long as one snapshot is taken; nothing that is displayed holds a tensor alive.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

from ..core.tape import LEAF, Node, Slot
from ..core.tensor import Tensor

_MOST = 5000


def place(tensor: Tensor) -> tuple[int, int]:
    """Where a tensor stands on the tape: (identity, output number); of a leaf or constant its own identity."""
    node = tensor._node
    if node is None or node is LEAF:
        return id(tensor), 0
    return (id(node.node), node.nr) if type(node) is Slot else (id(node), 0)


class Names:
    """Names by place on the tape, and the tensors behind them, to read their values from."""

    def __init__(self) -> None:
        self.by_place: dict[tuple[int, int], str] = {}
        self.tensors: dict[tuple[int, int], Tensor] = {}

    def add(self, name: str, tensor: Tensor) -> None:
        """Give a tensor a name unless it has one."""
        where = place(tensor)
        self.by_place.setdefault(where, tensor._name or name)
        self.tensors.setdefault(where, tensor)

    def update(self, namespace: Mapping[str, Any]) -> Names:
        """Take in the variables of a namespace; those the learner would not have written are passed over."""
        modules = []
        for name, value in list(namespace.items())[:_MOST]:
            if not isinstance(name, str) or name.startswith("_"):
                continue
            if isinstance(value, Tensor):
                self.add(name, value)
            elif type(value) in (list, tuple) and len(value) <= 100:
                for i, item in enumerate(value):
                    if isinstance(item, Tensor):
                        self.add(f"{name}[{i}]", item)
            elif callable(getattr(value, "named_parameters", None)) and not isinstance(value, type):
                modules.append((name, value))
        for name, module in modules:
            self._parameters(name if len(modules) > 1 else "", module)
        return self

    def _parameters(self, prefix: str, module: Any) -> None:
        try:
            found = list(module.named_parameters())
        except Exception:
            return  # a half-built module has no names yet; the picture does without
        for path, parameter in found:
            if isinstance(parameter, Tensor):
                self.add(f"{prefix}.{path}" if prefix else path, parameter)

    def of(self, target: Any, nr: int = 0) -> str:
        """Name of a node's output or of a leaf, or an empty string."""
        if isinstance(target, Tensor):
            return target._name or self.by_place.get((id(target), 0), "")
        return self.by_place.get((id(target), nr), "")

    def value(self, node: Node) -> Tensor | None:
        """A tensor the learner still holds that is the output of a node."""
        return self.tensors.get((id(node), 0))


def find_names(frame: FrameType | None) -> Names:
    """Names a frame can see: its locals first, then its globals."""
    names = Names()
    if frame is not None:
        found = frame.f_locals
        if found is not frame.f_globals:
            names.update(found)
            # Before 3.13 the frame keeps this copy of a function's variables, which would hold tensors that the
            # function drops. Cleared when nobody else has it (three references: the frame, `found`, the argument).
            if frame.f_code.co_flags & CO_OPTIMIZED and type(found) is dict and sys.getrefcount(found) <= 3:
                found.clear()
        names.update(frame.f_globals)
    return names
