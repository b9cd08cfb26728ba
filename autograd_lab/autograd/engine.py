"""The engine: one reverse sweep over the tape, written as a generator.

It takes nodes in falling sequence order, calls each node's rule, un-broadcasts, casts and accumulates what comes out,
and yields after each node. ``backward()`` drains it; the stepper calls ``next``. Leaves come last. Rules run on raw
arrays, or on Tensors with recording on when ``create_graph`` is asked for; grad mode is set around each rule call and
never across a ``yield``.

An edge key is the sequence number of the node; cotangents that have arrived wait in ``pending`` under it.
"""

from heapq import heappop, heappush, heapreplace

import numpy as np

from ..backend.memory import HUGE, LARGE, by_blocks, is_fresh, number_array, pooled_numpy
from ..core.modes import modes
from ..core.tape import FREED, LEAF, Node, Slot
from ..core.tensor import TENSOR_TYPES, Tensor, wrap
from ..ops.shape import cast, sum_to
from . import hooks, messages
from .leaves import write_grad

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


class Sweep:
    """The state of one sweep: cotangents waiting at nodes and leaves, and who owns their buffers.

    heap           negated sequence numbers of the nodes that wait
    nodes, pending node and cotangent by sequence number
    leaves         by ``id``: (leaf, cotangent so far, whether nobody else holds that array)
    owned          keys whose buffer an addition of this sweep made: only these are added to in place
    plan           which nodes lead to ``inputs=``, or None
    """

    __slots__ = ("create", "retain", "heap", "nodes", "pending", "leaves", "owned", "plan")

    def __init__(self, create, retain):
        self.create, self.retain = create, retain
        self.heap, self.nodes, self.pending, self.leaves, self.owned = [], {}, {}, {}, set()
        self.plan = None

    def begin(self, roots, grads):
        """Bring the seeds to the roots and return what to run first, as ``next`` does."""
        for root, g in zip(roots, grads, strict=True):
            node = root._node
            new = self.arrive(root if node is LEAF else node, g)[2]
            if new:
                heappush(self.heap, -new)
        return self.next()

    def next(self):
        """The newest node that waits, as (key, node, cotangent); (0, None, None) when none does."""
        if not self.heap:
            return 0, None, None
        key = -heappop(self.heap)
        return key, self.nodes.pop(key), self.pending.pop(key)

    # ----- arrivals -----

    def fit(self, g, shape, dtype):
        """Un-broadcast and cast a cotangent to the shape and dtype of the tensor it belongs to."""
        d = g._d if self.create else g
        if d.shape != shape:
            g = sum_to(g, shape)
            d = g._d if self.create else g
        if d.dtype is not dtype and d.dtype != dtype:
            g = cast(g, dtype)
        return g

    def add(self, key, before, g, owned):
        """Accumulate; in place only into a buffer that an earlier addition of this sweep made."""
        if self.create:
            return before + g
        if key in owned:
            return np.add(before, g, out=before)
        total = before + g if g.nbytes < LARGE else pooled_numpy.add(before, g)
        if type(total) is np.ndarray:
            owned.add(key)
        return total

    def arrive(self, edge, g, fresh=False):
        """Bring a cotangent to where ``edge`` leads. Returns (g as fitted, the total so far, key of a new node or 0)."""
        kind = type(edge)
        if kind is Node:
            key = edge.seq
            if self.plan is not None and key not in self.plan.needed:
                return g, g, 0
            g = self.fit(g, edge.shape, edge.dtype)
            before = self.pending.get(key)
            if before is None:
                self.pending[key] = g
                self.nodes[key] = edge
                return g, g, key
            total = self.pending[key] = self.add(key, before, g, self.owned)
            return g, total, 0
        if kind is Slot:
            return self._arrive_slot(edge, g)
        key = id(edge)
        if self.plan is not None and key not in self.plan.wanted:
            return g, g, 0
        fitted = self.fit(g, edge._d.shape, edge._d.dtype)
        before = self.leaves.get(key)
        if before is None:
            self.leaves[key] = (edge, fitted, fresh or fitted is not g)
            return fitted, fitted, 0
        total = self.add(key, before[1], fitted, self.owned)
        self.leaves[key] = (edge, total, True)
        return fitted, total, 0

    def _arrive_slot(self, edge, g):
        node, nr = edge.node, edge.nr
        key = node.seq
        if self.plan is not None and key not in self.plan.needed:
            return g, g, 0
        g = self.fit(g, node.shape[nr], node.dtype[nr])
        waiting = self.pending.get(key)
        new = 0
        if waiting is None:
            waiting = self.pending[key] = [None] * len(node.shape)
            self.nodes[key] = node
            new = key
        before = waiting[nr]
        waiting[nr] = g if before is None else self.add((key, nr), before, g, self.owned)
        return g, waiting[nr], new

    # ----- one rule -----

    def operands(self, node):
        """The saved values as the rule wants them; checks that they were neither freed nor changed in place."""
        saved = node.saved
        if saved is FREED:
            raise messages.freed(node)
        if node.y_storage is not None:
            check_version(node, None, node.y_storage)
        args = []
        held = node.y is not None
        for i, s in enumerate(saved):
            if type(s) in TENSOR_TYPES or isinstance(s, Tensor):
                held = True
                st = s._st
                if st is not None:
                    check_version(node, i, st)
                args.append(s if self.create else s._d)
            else:
                args.append(s)
        y = node.y
        if y is not None and self.create:
            y = _reattached(node)
        return args, y, held

    def run(self, node, g):
        """Call the node's rules. Returns one cotangent (or None) per edge, and whether anything was held for them."""
        op = node.op
        if op.kind == "function":
            return op.forward(node, g, self.create), True
        args, y, held = self.operands(node)
        dtype = node.dtype
        if dtype is not _F32 and dtype is not _F64:
            g, args, y = self._prepared(node, g, args, y)
        edges = node.edges
        if op.joint is not None:
            needs = tuple(e is not None for e in edges)
            if op.arity == "many":
                return op.joint(needs, g, y, args, *node.params), held
            return op.joint(needs, g, y, *args, *node.params), held
        params = node.params
        if params:
            args = (*args, *params)
        return [
            rule(g, y, *args) if e is not None and rule is not None else None
            for e, rule in zip(edges, op.rules, strict=False)
        ], held

    def _prepared(self, node, g, args, y):
        """Several outputs: zeros where nothing arrived. Half precision: float32. Complex: conjugated operands."""
        dtypes, op = node.dtype, node.op
        if type(dtypes) is tuple:
            g = tuple(
                self._zeros(s, d) if part is None and i not in op.nondiff else part
                for i, (part, s, d) in enumerate(zip(g, node.shape, dtypes, strict=True))
            )
            dtypes_ = [d for i, d in enumerate(dtypes) if i not in op.nondiff]
        else:
            dtypes_ = (dtypes,)
        if op.upcast and any(d.itemsize == 2 and d.kind in "fV" for d in dtypes_):
            widen = lambda v: cast(v, _F32) if _is_half(v) else v  # noqa: E731
            g = tuple(map(widen, g)) if type(g) is tuple else widen(g)
            args = [widen(a) for a in args]
            y = tuple(map(widen, y)) if type(y) is tuple else widen(y)
        if op.holomorphic and any(d.kind == "c" for d in dtypes_):
            args = [_conjugate(a) for a in args]
            y = tuple(map(_conjugate, y)) if type(y) is tuple else _conjugate(y)
        return g, args, y

    def _zeros(self, shape, dtype):
        z = np.zeros(shape, dtype)
        return wrap(z) if self.create else z


def _is_half(value):
    d = value._d if isinstance(value, Tensor) else value
    dtype = getattr(d, "dtype", None)
    return dtype is not None and dtype.itemsize == 2 and dtype.kind in "fV" and hasattr(d, "astype")


def _conjugate(value):
    d = value._d if isinstance(value, Tensor) else value
    if isinstance(d, complex):
        return d.conjugate()
    if not hasattr(d, "conj") or d.dtype.kind != "c":
        return value
    return value.conj()


def _reattached(node):
    """The saved output as a Tensor on the tape again (the node itself must not hold it: that would be a cycle)."""
    if type(node.shape) is tuple and node.shape and type(node.shape[0]) is tuple:
        out = []
        for nr, d in enumerate(node.y):
            t = wrap(d)
            if nr not in node.op.nondiff:
                t._node = Slot(node, nr)
            out.append(t)
        return tuple(out)
    t = wrap(node.y)
    t._node = node
    return t


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
    Returns: the first node that is not plain, as (key, node, cotangent), or (0, None, None) at the end of the tape.
    """
    heap, pending, leaves, owned, retain = state.heap, state.pending, state.leaves, state.owned, state.retain
    while True:
        dtype, op, saved, y = node.dtype, node.op, node.saved, node.y
        if (dtype is not _F32 and dtype is not _F64) or node.extra is not None or not op.simple or saved is FREED:
            return key, node, g
        new = 0
        held = y is not None
        if held and node.y_storage is not None:
            check_version(node, None, node.y_storage)
        args = [g, y]
        for s in saved:
            if type(s) in TENSOR_TYPES:
                if s._st is not None:
                    check_version(node, len(args) - 2, s._st)
                held = True
                args.append(s._d)
            elif type(s) is float and type(op.forward) is str:
                args.append(number_array(s, dtype))
            else:
                args.append(s)
        if node.params:
            args += node.params
        large = g.nbytes >= HUGE and op.kind == "elementwise"
        for edge, rule in zip(node.edges, op.rules):  # noqa: B905 (one rule per edge; strict costs)
            if edge is None or rule is None:
                continue
            out = by_blocks(rule, args) if large else rule(*args)
            if type(edge) is Node:
                if out.shape != edge.shape or out.dtype is not edge.dtype:
                    out = state.fit(out, edge.shape, edge.dtype)
                seq = edge.seq
                if seq == new:
                    in_hand = state.add(seq, in_hand, out, owned)
                    continue
                before = pending.get(seq)
                if before is not None:
                    pending[seq] = state.add(seq, before, out, owned)
                elif new:
                    pending[seq], state.nodes[seq] = out, edge
                    heappush(heap, -seq)
                else:
                    new, new_node, in_hand = seq, edge, out
            elif type(edge) in TENSOR_TYPES:
                d = edge._d
                own = out is not g and (type(out) is not np.ndarray or out.base is None or is_fresh(out))
                if out.shape != d.shape or out.dtype is not d.dtype:
                    out = state.fit(out, d.shape, d.dtype)
                    own = True
                seq = id(edge)
                before = leaves.get(seq)
                if before is not None:
                    out, own = state.add(seq, before[1], out, owned), True
                leaves[seq] = (edge, out, own)
            else:
                found = state.arrive(edge, out)[2]
                if found:
                    heappush(heap, -found)
        if held and not retain:
            node.saved = FREED
            node.y = None
        if owned:
            owned.discard(key)
        if new:
            if not heap or -heap[0] < new:
                key, node, g = new, new_node, in_hand
                continue
            state.nodes[new], pending[new] = new_node, in_hand
            key = -heapreplace(heap, -new)
        elif heap:
            key = -heappop(heap)
        else:
            return 0, None, None
        node, g = state.nodes.pop(key), pending.pop(key)


def run_general(state, key, node, g):
    """Run one node of any kind; nodes newly reached go to the heap. Returns its Step."""
    step, found = _general(state, node, g)
    for seq in found:
        heappush(state.heap, -seq)
    if state.owned:
        state.owned.discard(key)
    return step


def check_version(node, operand, storage):
    """Raise if a saved operand (None: the saved output) was changed in place since it was saved."""
    expected = 0 if node.versions is None or operand is None else node.versions[operand]
    if storage.version != expected:
        raise messages.modified(node, operand, storage, expected)


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
            outs, held = state.run(node, g)
            if node.extra is not None:
                outs = hooks.after(state, node, outs, g)
            sent, totals, found = _send(state, node, g, outs)
        finally:
            now.grad = before
    else:
        outs, held = state.run(node, g)
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
