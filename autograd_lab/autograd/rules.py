"""Calling a node's rules: the saved values checked and made ready, then one cotangent per edge."""

import numpy as np

from ..backend.memory import by_blocks, number_array
from ..core.bind import record
from ..core.modes import modes
from ..core.tape import FREED, LEAF, Node, Slot
from ..core.tensor import TENSOR_TYPES, Tensor, wrap
from ..ops.shape import cast
from . import messages

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def check_version(node, operand, storage):
    """Raise if a saved operand (None: the saved output) was changed in place since it was saved."""
    expected = 0 if node.versions is None or operand is None else node.versions[operand]
    if storage.version != expected:
        raise messages.modified(node, operand, storage, expected)


def operands(node, create):
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
            args.append(s._d if not create else _cast_on_tape(s) if s._view_kind == "cast" and s._node is LEAF else s)
        else:
            args.append(s)
    y = node.y
    if y is not None and create:
        y = _reattached(node)
    return args, y, held


def _cast_on_tape(saved):
    """A leaf's promoted copy as a result of casting the leaf, so that what the rule records leads to the leaf itself."""
    t = wrap(saved._d)
    record(cast.op, modes.now, (saved._base,), (saved._d.dtype,), saved._d, t)
    return t


def run(node, g, create):
    """Call the node's rules. Returns one cotangent (or None) per edge, and whether anything was held for them."""
    op = node.op
    if op.kind == "function":
        return op.forward(node, g, create), True
    args, y, held = operands(node, create)
    dtype = node.dtype
    if dtype is not _F32 and dtype is not _F64:
        g, args, y = _prepared(node, g, args, y, create)
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


def _prepared(node, g, args, y, create):
    """Several outputs: zeros where nothing arrived. Half precision: float32. Complex: conjugated operands."""
    dtypes, op = node.dtype, node.op
    if type(dtypes) is tuple:
        g = tuple(
            _zeros(s, d, create) if part is None and i not in op.nondiff else part
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


def _zeros(shape, dtype, create):
    z = np.zeros(shape, dtype)
    return wrap(z) if create else z


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


# ----- large arrays -----


def plain_operands(node):
    """What the rules of a plain node read after ``g``: the output, the operands, the parameters. And whether any was saved."""
    y, saved, op = node.y, node.saved, node.op
    held = y is not None
    if held and node.y_storage is not None:
        check_version(node, None, node.y_storage)
    args = [y]
    for place, s in enumerate(saved):
        if type(s) in TENSOR_TYPES:
            if s._st is not None:
                check_version(node, place, s._st)
            held = True
            s = s._d
        elif type(s) is float and node.shape and type(op.forward) is str:
            s = number_array(s, node.dtype)
        args.append(s)
    args += node.params
    return args, held


def large_rules(node, args, g_is_ours, state):
    """Elementwise rules over arrays too large for the cache: block by block, and a chain of nodes in one pass.

    A node that follows alone (one place to go to, nothing waiting for it, nothing newer on the heap) is complete as soon
    as this one is done, so its rule can run on each block while that is in the cache. With ``g_is_ours`` the result is
    written over ``g``. Sums are formed in the order of the plain sweep, so that every bit is the same.
    Returns: the edges that get something, and what each gets.
    """
    pairs = _pairs(node)
    g = args[0]
    if _apart(pairs, state):
        outs = [by_blocks(rule, args) for _, rule in pairs[:-1]]
        free = g_is_ours and all(out is not g for out in outs)
        return [e for e, _ in pairs], [*outs, by_blocks(pairs[-1][1], args, g if free else None)]
    edge, rule = _sole(pairs)
    stages, flat = [(rule, len(args) - 1)], args
    while _follows(edge, node, state.heap, state.pending):
        follower = edge
        pairs = _pairs(follower)
        if _apart(pairs, state):
            break
        more, held = plain_operands(follower)
        edge, rule = _sole(pairs)
        stages.append((rule, len(more)))
        flat += more
        if held and not state.retain:
            follower.saved, follower.y = FREED, None
    return [edge], [by_blocks(_composed(stages), flat, g if g_is_ours else None)]


def _pairs(node):
    return [(e, r) for e, r in zip(node.edges, node.op.rules, strict=True) if e is not None and r is not None]


def _apart(pairs, state):
    """Whether two results may not be summed first: they go to two places, or to one where something waits already."""
    if len(pairs) < 2:
        return False
    edge = pairs[0][0]
    if len(pairs) > 2 or edge is not pairs[1][0] or type(edge) is Slot:
        return True
    return edge.seq in state.pending if type(edge) is Node else id(edge) in state.leaves


def _sole(pairs):
    """The one place that one or two rules lead to, and their sum."""
    if len(pairs) == 1:
        return pairs[0]
    one, two = pairs[0][1], pairs[1][1]
    return pairs[0][0], lambda *args: one(*args) + two(*args)


def _follows(edge, node, heap, pending):
    return (
        type(edge) is Node and edge.op.simple and edge.op.kind == "elementwise" and edge.extra is None
        and edge.saved is not FREED and edge.shape == node.shape and edge.dtype is node.dtype
        and edge.seq not in pending and (not heap or -heap[0] < edge.seq)
    )  # fmt: skip


def _composed(stages):
    if len(stages) == 1:
        return stages[0][0]

    def run(g, *rest):
        start = 0
        for rule, count in stages:
            stop = start + count
            g = rule(g, *rest[start:stop])
            start = stop
        return g

    return run
