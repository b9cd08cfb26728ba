"""What the engine does for nodes that carry hooks, and for ``inputs=``: which nodes matter, what to collect."""

import numpy as np

from ..core.tape import LEAF, Node, Slot
from ..core.tensor import Tensor, wrap
from .leaves import total_on_tape


def _as_tensor(g):
    return g if isinstance(g, Tensor) or g is None else wrap(g)


def _like(value, g):
    """A hook's result in the form the sweep works with (array or Tensor)."""
    if isinstance(g, Tensor) or not isinstance(value, Tensor):
        return value
    return value._d


def call_tensor_hooks(hooks, g):
    """Run a tensor's hooks on its complete gradient; what a hook returns replaces it."""
    for hook in tuple(hooks.values()):
        result = hook(_as_tensor(g))
        if result is not None:
            if not isinstance(result, Tensor):
                raise TypeError(f"expected hook to return a Tensor or None, got {type(result).__name__}")
            before = g._d if isinstance(g, Tensor) else g
            if result._d.shape != before.shape:
                raise RuntimeError(
                    f"hook '{getattr(hook, '__name__', hook)}' has changed the size of value: "
                    f"{tuple(before.shape)} became {tuple(result._d.shape)}"
                )
            g = _like(result, g)
    return g


def before(state, node, g):
    """Prehooks, tensor hooks, retained gradients and captured inputs of one node; returns the (changed) cotangent."""
    extra = node.extra
    parts = list(g) if type(g) is list else [g]
    for hook in tuple(extra.get("prehooks", {}).values()):
        result = hook(tuple(map(_as_tensor, parts)))
        if result is not None:
            result = result if isinstance(result, tuple) else (result,)
            parts = [_like(r, p) for r, p in zip(result, parts, strict=True)]
    for nr, hooks in extra.get("tensor_hooks", {}).items():
        if parts[nr] is not None:
            parts[nr] = call_tensor_hooks(hooks, parts[nr])
    for nr, reference in extra.get("retained", {}).items():
        tensor = reference()
        if tensor is not None and parts[nr] is not None:
            _retain(tensor, parts[nr])
    if state.plan is not None:
        for nr, part in enumerate(parts):
            if (node.seq, nr) in state.plan.wanted:
                state.plan.captured[(node.seq, nr)] = part
    return parts if type(g) is list else parts[0]


def _retain(tensor, g):
    if isinstance(g, Tensor):
        tensor._grad = total_on_tape(tensor._grad, g)
    else:
        g = np.array(g) if tensor._grad is None else tensor._grad._d + g
        tensor._grad = wrap(g)


def after(state, node, outs, g):
    """Node hooks: ``hook(grad_inputs, grad_outputs)`` may replace what goes on."""
    hooks = node.extra.get("hooks")
    if not hooks:
        return outs
    given = tuple(g) if type(g) is list else (g,)
    for hook in tuple(hooks.values()):
        result = hook(tuple(map(_as_tensor, outs)), tuple(map(_as_tensor, given)))
        if result is not None:
            result = result if isinstance(result, tuple) else (result,)
            outs = [_like(r, o) for r, o in zip(result, outs, strict=True)]
    return outs


# ----- inputs= -----


def input_key(tensor):
    """The key under which a wanted input's gradient is collected."""
    node = tensor._node
    if node is LEAF:
        return id(tensor)
    if type(node) is Slot:
        return (node.node.seq, node.nr)
    return (node.seq, 0)


class Plan:
    """Which nodes lie between the roots and the wanted inputs, and what was collected for these.

    wanted    the inputs by key; needed  nodes to visit; terminal  nodes that only collect and need not run
    """

    __slots__ = ("wanted", "needed", "terminal", "captured")

    def collected(self, inputs):
        """The gradients of the wanted inputs in their order, None where no path led to them."""
        return [None if t._node is None else self.captured.get(input_key(t)) for t in inputs]


def plan_inputs(roots, inputs):
    """Mark the nodes that lie between the roots and the wanted inputs; nothing else will run."""
    plan = Plan()
    plan.captured = {}
    plan.wanted = {input_key(t): t for t in inputs if t._node is not None}
    wanted_nodes = {t.grad_fn.seq for t in inputs if t.grad_fn is not None}
    for t in inputs:
        if t.grad_fn is not None:
            t.grad_fn.notes()
    found, stack = {}, [t.grad_fn for t in roots if t.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node.seq in found:
            continue
        found[node.seq] = node
        for edge in node.edges:
            if edge is not None and not isinstance(edge, Tensor):
                stack.append(edge if type(edge) is Node else edge.node)
    plan.needed, plan.terminal = set(), set()
    for seq in sorted(found):
        leads = any(_leads(edge, plan.wanted, plan.needed) for edge in found[seq].edges)
        if leads or seq in wanted_nodes:
            plan.needed.add(seq)
            if not leads:
                plan.terminal.add(seq)
    return plan


def _leads(edge, wanted, needed):
    if edge is None:
        return False
    if isinstance(edge, Tensor):
        return id(edge) in wanted
    return (edge if type(edge) is Node else edge.node).seq in needed


def leaf_hooks(leaf, g, own):
    """Run a leaf's hooks on its complete gradient; returns the gradient and whether nobody else holds it."""
    changed = call_tensor_hooks(leaf._hooks.tensor, g)
    return changed, own and changed is g
