"""A backward pass recorded once and replayed at leisure.

`record_backward` drives the same generator that `backward()` drains, with `retain_graph=True` and
`accumulate=False`, so that recording changes neither the graph nor any `.grad`. Hooks of the graph run, because
they take part in the result. Grad mode is the engine's business: it is set around each rule only, so the
learner's next cell records as usual.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from ..autograd.api import seed
from ..autograd.engine import sweep
from ..autograd.leaves import write_grad
from ..core.tape import Node
from ..core.tensor import Tensor, wrap
from . import svg
from .document import Tape
from .frames import FrameMaker, measure, numbers
from .names import Names
from .schema import Frame, Graph
from .snapshot import Snapshot, reachable, take
from .summary import as_array, summary
from .text import one_line, plural

MOST_FRAMES = 2_000
GENEROUS = 200


def seed_for(root: Tensor, gradient: Any = None) -> Any:
    """The cotangent a backward pass starts from, checked as `backward` checks it.

    Raises:
        TypeError: for anything that is not a tensor.
        RuntimeError: when the tensor needs no gradient, or is no scalar and no gradient of its shape is given.
    """
    if not isinstance(root, Tensor):
        raise TypeError(f"stepping backward starts from a tensor, got {type(root).__name__}")
    if gradient is not None and not isinstance(gradient, Tensor):
        gradient = wrap(np.asarray(gradient))
    return np.asarray(seed(0, root, gradient, False), root._d.dtype)


class Recording:
    """What `record_backward` brings back: `frames`, the complete gradients of leaves, and the snapshot."""

    def __init__(self, frames: list[Frame], grads: list[tuple[Tensor, Any]], snapshot: Snapshot, steps: int) -> None:
        self.frames, self.grads, self.snapshot, self.steps = frames, grads, snapshot, steps


def spoken_names(graph: Graph) -> dict[int, str]:
    """What each node is called in a sentence: the learner's name, or the op."""
    nodes = graph["nodes"]
    return {
        identity: label or op or kind
        for identity, label, op, kind in zip(nodes["id"], nodes["label"], nodes["op"], nodes["kind"], strict=True)
    }


def _retained(nodes: list[Node]) -> list[tuple[Tensor, Any]]:
    """Tensors whose retained `.grad` the sweep would add to, with what stands there now."""
    found = []
    for node in nodes:
        for reference in ((node.extra or {}).get("retained") or {}).values():
            tensor = reference()
            if tensor is not None:
                found.append((tensor, tensor._grad))
    return found


def _kept(steps: int, most: int) -> Callable[[int, Any], bool]:
    """Which steps of a long run become frames: the first, the leaves, and every so many between."""
    if steps <= most:
        return lambda place, step: True
    stride = math.ceil(steps / (most * 0.75))
    return lambda place, step: isinstance(step.node, Tensor) or place % stride == 0


def record_backward(root: Tensor, gradient: Any = None, names: Names | None = None) -> Recording:
    """Run backward from `root` and keep a frame per step.

    Args:
        root: a tensor that requires grad.
        gradient: the seed, needed when `root` is no scalar.
        names: the learner's names.

    Raises:
        RuntimeError: as `backward` does (no gradient wanted, no scalar, graph freed, changed in place).
    """
    start = seed_for(root, gradient)
    snapshot = take(root, names)
    nodes = reachable([root])
    maker = FrameMaker(snapshot.ids, snapshot.math, spoken_names(snapshot.graph), len(nodes) <= GENEROUS)
    keep = _kept(len(nodes), MOST_FRAMES)
    before = _retained(nodes)
    frames: list[Frame] = []
    grads: list[tuple[Tensor, Any]] = []
    place = 0
    try:
        for step in sweep([root], [start], retain_graph=True, accumulate=False):
            went = maker.count(step)
            if isinstance(step.node, Tensor):
                grads.append((step.node, np.array(as_array(step.g))))
            if keep(place, step):
                nums = []
                if isinstance(step.node, Node):
                    nums = numbers(step.node, snapshot.math.get(step.node.seq), step.g, step.grads, maker.generous)
                frames.append(maker.frame(place, step, went, nums))
            place += 1
    finally:
        for tensor, grad in before:
            tensor._grad = grad
    return Recording(maker.finish(frames), grads, snapshot, place)


class Stepper(Tape):
    """A recorded backward pass with a cursor: `step`, `back`, `run_to`, `reset`, `play`.

    Nothing of the program is touched: `.grad` stays as it is until `apply()`. `cursor` counts the steps done;
    0 means that nothing is computed yet.
    """

    view = "stepper"

    def __init__(self, root: Tensor, gradient: Any = None, names: Names | None = None) -> None:
        self._recording = record_backward(root, gradient, names)
        super().__init__(self._recording.snapshot)
        self.frames = self._recording.frames
        self.cursor = 0
        self.playing = False
        self.changed: Callable[[], None] = lambda: None

    # ----- moving -----

    def _go(self, cursor: int) -> Frame | None:
        self.cursor = min(max(cursor, 0), len(self.frames))
        self.changed()
        return self.current

    @property
    def current(self) -> Frame | None:
        """The step just done, or None before the first."""
        return self.frames[self.cursor - 1] if self.cursor else None

    def step(self, count: int = 1) -> Frame | None:
        """Do the next step (or several); stays at the end."""
        return self._go(self.cursor + count)

    def back(self, count: int = 1) -> Frame | None:
        """Undo a step; stays at the beginning."""
        return self._go(self.cursor - count)

    def reset(self) -> None:
        """Back to where nothing is computed yet."""
        self.playing = False
        self._go(0)

    def play(self, playing: bool = True) -> None:
        """Start or stop playing; the view moves the cursor, a program without a view goes to the end."""
        self.playing = playing
        self.changed()

    def run_to(self, target: int | str | Node | Tensor) -> Frame | None:
        """Go to the step of a node: its id, its learner's name or op, the node or leaf itself.

        Raises:
            KeyError: when no step is about it.
        """
        identity = self.identify(target)
        for place, frame in enumerate(self.frames, 1):
            if frame["node"] == identity:
                return self._go(place)
        raise KeyError(f"no step of this backward pass is about {target!r}")

    def identify(self, target: int | str | Node | Tensor) -> int:
        """Id of a node given in any way.

        Raises:
            KeyError: when it is not on this tape.
        """
        nodes = self.graph["nodes"]
        if isinstance(target, Node):
            return target.seq
        if isinstance(target, Tensor):
            node = target.grad_fn
            return self._recording.snapshot.ids.of(target) if node is None else node.seq
        if isinstance(target, int):
            return target
        for column in ("label", "op", "name"):
            if target in nodes[column]:  # type: ignore[literal-required]
                return nodes["id"][nodes[column].index(target)]  # type: ignore[literal-required]
        raise KeyError(f"no node of this tape is called {target!r}")

    # ----- results -----

    @property
    def grads(self) -> dict[str, np.ndarray | None]:
        """Gradients of the leaves by name, as far as the cursor has come; None is not computed yet."""
        done = {frame["node"] for frame in self.frames[: self.cursor] if frame["leaf_grad"]}
        found = {}
        for name, identity, grad in self._leaves():
            found[name] = grad if identity in done else None
        return found

    def _leaves(self) -> list[tuple[str, int, np.ndarray]]:
        nodes = self.graph["nodes"]
        row_of = {identity: row for row, identity in enumerate(nodes["id"])}
        found, used = [], set()
        for leaf, grad in self._recording.grads:
            identity = self._recording.snapshot.ids.of(leaf)
            row = row_of.get(identity)
            name = (nodes["label"][row] if row is not None else "") or f"leaf {-identity}"
            name = name if name not in used else f"{name} ({-identity})"
            used.add(name)
            found.append((name, identity, grad))
        return found

    def apply(self) -> None:
        """Write the recorded gradients into `.grad`, exactly as `backward()` adds them."""
        for leaf, grad in self._recording.grads:
            write_grad(leaf, grad.copy() if grad.ndim else grad[()], True, False)

    # ----- bodies -----

    def data(self) -> dict[str, Any]:
        """The replay as plain data."""
        return {**super().data(), "frames": self.frames, "cursor": self.cursor}

    def text(self) -> str:
        """The tree, where the replay stands, and the gradients so far."""
        lines = [super().text(), ""]
        told = f" ({plural(self._recording.steps, 'step')} in all, key steps kept)"
        more = told if self._recording.steps > len(self.frames) else ""
        lines.append(f"backward: step {self.cursor} of {len(self.frames)}{more}")
        if self.current is not None:
            lines.append(f"  {one_line(self.current['text'])}")
        for name, grad in self.grads.items():
            lines.append(f"  {one_line(name)}.grad  {'–' if grad is None else measure(summary(grad))}")
        return "\n".join(lines)

    def below(self) -> str:
        """Under the picture: where the replay stands, and the gradients of the leaves so far."""
        told = self.current["text"] if self.current else "nothing is computed yet"
        lines = [f"step {self.cursor} of {len(self.frames)}: {one_line(told)}"]
        for name, grad in self.grads.items():
            lines.append(f"{one_line(name)}.grad {'–' if grad is None else measure(summary(grad))}")
        return "".join(f'<div style="font-size:12px">{escape(line)}</div>' for line in lines)

    def svg(self, direction: str = "LR") -> str | None:
        """The picture at the step where the replay stands."""
        return svg.draw(self.graph, direction, frames=self.frames[: self.cursor])
