"""The engine: one reverse sweep over the tape, written as a generator.

It takes nodes in falling sequence order, calls each node's rule, un-broadcasts, casts and accumulates what comes out,
and yields after each node. ``backward()`` drains it; the stepper calls ``next``. Leaves come last. Rules run on raw
arrays, or on Tensors with recording on when ``create_graph`` is asked for; grad mode is set around each rule call and
never across a ``yield``.

arrivals.py holds what has arrived where, rules.py calls the rules, leaves.py writes ``.grad``, hooks.py what hooks want.
"""

from heapq import heappop, heappush, heapreplace

import numpy as np

from ..backend.memory import LARGE, is_fresh
from ..core.modes import modes
from ..core.tape import FREED, Node
from ..core.tensor import TENSOR_TYPES
from . import hooks
from .arrivals import Sweep, is_ours
from .leaves import write_grad
from .rules import large_rules, plain_operands, run

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


class Step:
    """What one step of the sweep did.

    node    the Node whose rule ran, or the leaf Tensor whose gradient is complete
    g       the complete incoming cotangent (a tuple for a node with several outputs; None where nothing arrived)
    grads   per edge, the cotangent sent along it, un-broadcast and cast; None where there is none
    totals  per edge, what has arrived at its target so far, this one included
    """

    __slots__ = ("node", "g", "grads", "totals")

    def __init__(self, node, g, grads=(), totals=()):
        self.node, self.g, self.grads, self.totals = node, g, grads, totals


def sweep(roots, grads, *, retain_graph=False, create_graph=False, inputs=None, accumulate=True, report=True):
    """Sweep backward from ``roots`` with their cotangents ``grads``; yields a Step after each node.

    roots         tensors that require grad
    grads         one array per root (a Tensor with ``create_graph``)
    inputs        collect the gradients of these tensors only; they end up in the generator's return value, in order
    accumulate    write ``.grad`` of leaves
    report        False: nobody looks, so run through without yielding (``backward``)
    Returns: the list of gradients of ``inputs`` (None where unreachable), or None.
    """
    state = Sweep(create_graph, retain_graph or create_graph)
    observers = modes.now.observers
    report = report or observers != ()
    plain = not (create_graph or report or inputs is not None)
    node = roots[0]._node
    if plain and len(roots) == 1 and type(node) is Node and grads[0].dtype is node.dtype:
        key, g = node.seq, grads[0]
    else:
        if inputs is not None:
            state.plan = hooks.plan_inputs(roots, inputs)
        for o in observers:
            o.backward_begun(roots)
        key, node, g = state.begin(roots, grads)
    try:
        while key:
            if plain:
                key, node, g = run_plain(state, key, node, g)
                if not key:
                    break
            step = run_general(state, key, node, g)
            if report:
                for o in observers:
                    o.node_done(step)
                yield step
            key, node, g = state.next()
        for leaf, g, own in state.leaves.values():
            if leaf._hooks is not None:
                g, own = hooks.leaf_hooks(leaf, g, own)
            if inputs is not None:
                state.plan.captured[id(leaf)] = g
            elif accumulate:
                write_grad(leaf, g, own, create_graph)
                for o in observers:
                    o.gradient_accumulated(leaf, leaf._grad)
            if report:
                yield Step(leaf, g)
    finally:
        for o in observers:
            o.backward_ended()
    return None if inputs is None else state.plan.collected(inputs)


def run_plain(state, key, node, g):
    """Run nodes in falling order as long as they are plain: one real output, no hooks, a rule per operand.

    The newest node just reached stays in hand (``new``), so a chain never touches the heap or the dictionaries.
    ``mine``: nobody else holds ``g``, so that a large rule may write over it.
    Returns: the first node that is not plain, as (key, node, cotangent), or (0, None, None) at the end of the tape.
    """
    heap, pending, leaves, owned, retain = state.heap, state.pending, state.leaves, state.owned, state.retain
    mine, in_hand = False, None
    while True:
        op, saved, dtype = node.op, node.saved, node.dtype
        if not op.simple or (dtype is not _F32 and dtype is not _F64) or node.extra is not None or saved is FREED:
            return key, node, g
        new, edges, rules = 0, node.edges, op.rules
        args, held = plain_operands(node)
        args.insert(0, g)
        large = g.nbytes >= LARGE and op.kind == "elementwise"
        if large:
            edges, rules = large_rules(node, args, mine, state)
        for edge, rule in zip(edges, rules):  # noqa: B905 (one rule per edge; strict costs)
            if edge is None or rule is None:
                continue
            out = rule if large else rule(*args)
            if type(edge) is Node:
                if out.shape != edge.shape or out.dtype is not edge.dtype:
                    out = state.fit(out, edge.shape, edge.dtype)
                seq = edge.seq
                if seq == new:
                    in_hand, in_hand_mine = state.add(seq, in_hand, out, owned), True
                    continue
                before = pending.get(seq)
                if before is not None:
                    pending[seq] = state.add(seq, before, out, owned)
                elif new:
                    pending[seq], state.nodes[seq] = out, edge
                    heappush(heap, -seq)
                else:
                    new, new_node, in_hand, in_hand_mine = seq, edge, out, large and is_ours(out, g, mine, edges)
            elif type(edge) in TENSOR_TYPES:
                d, leaf_key = edge._d, id(edge)
                ours = is_ours(out, g, mine, edges) if out is g or out.base is not None else True
                if out.shape != d.shape or out.dtype is not d.dtype:
                    out, ours = state.fit(out, d.shape, d.dtype), True
                before = leaves.get(leaf_key)
                if before is not None:
                    out, ours = state.add(leaf_key, before[1], out, owned), True
                leaves[leaf_key] = (edge, out, ours)
            else:
                found = state.arrive(edge, out)[2]
                if found:
                    heappush(heap, -found)
        if held and not retain:
            node.saved, node.y = FREED, None
        mine = False
        if owned:
            owned.discard(key)
        if new:
            if not heap or -heap[0] < new:
                key, node, g, mine = new, new_node, in_hand, in_hand_mine
                continue
            state.nodes[new], pending[new] = new_node, in_hand
            key = -heapreplace(heap, -new)
        elif heap:
            key = -heappop(heap)
        else:
            return 0, None, None
        node, g, mine = state.nodes.pop(key), pending.pop(key), key in owned


def run_general(state, key, node, g):
    """Run one node of any kind; nodes newly reached go to the heap. Returns its Step."""
    step, found = _general(state, node, g)
    for seq in found:
        heappush(state.heap, -seq)
    if state.owned:
        state.owned.discard(key)
    return step


def _general(state, node, g):
    """One node with everything that may come: hooks, recording, several outputs, joint rules, functions."""
    if node.extra is not None:
        g = hooks.before(state, node, g)
    if state.plan is not None and node.seq in state.plan.terminal:
        return Step(node, g), ()
    if state.create:
        now = modes.now
        before = now.grad
        now.grad = True
        try:
            outs, held = run(node, g, state.create)
            if node.extra is not None:
                outs = hooks.after(state, node, outs, g)
            sent, totals, found = _send(state, node, g, outs)
        finally:
            now.grad = before
    else:
        outs, held = run(node, g, state.create)
        if node.extra is not None:
            outs = hooks.after(state, node, outs, g)
        sent, totals, found = _send(state, node, g, outs)
    if held and not state.retain:
        node.saved = FREED
        node.y = None
    return Step(node, tuple(g) if type(g) is list else g, sent, totals), found


def _is_part(out, g):
    """Whether a rule handed on the incoming cotangent, or that of one output, instead of making something new."""
    return any(out is part for part in g) if type(g) is list else out is g


def _send(state, node, g, outs):
    """Bring a rule's results to their edges. Returns what was sent, the totals there, and the nodes newly reached."""
    sent, totals, found = [], [], []
    for edge, out in zip(node.edges, outs, strict=False):
        if edge is None or out is None:
            sent.append(None)
            totals.append(None)
            continue
        kind = type(out)
        if kind is np.ndarray:
            fresh = is_fresh(out) and node.op.kind != "function" and not _is_part(out, g)
        else:
            fresh = kind not in TENSOR_TYPES  # NumPy scalars cannot be changed
        out, total, key = state.arrive(edge, out, fresh)
        sent.append(out)
        totals.append(total)
        if key:
            found.append(key)
    return sent, totals, found
