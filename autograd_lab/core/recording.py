"""Putting one application of a row on the tape, specialised per row: what the rules read is looked up once, not per call."""

from . import bind as general
from .tape import LEAF, Aval, Node, next_seq
from .tensor import TENSOR_TYPES

_new = object.__new__


def recorder(row):
    """A function ``record(m, operands, params, result, output)`` for a row with one output; faster than ``bind.record``."""
    if row.arity == "many" or row.outputs != 1 or row.joint is not None or row.arity > 3:
        return lambda m, operands, params, result, output: general.record(row, m, operands, params, result, output)
    return _single(row) if row.arity == 1 else _few(row)


def _single(row):
    ((save_y, (save_x,)),) = row.plans

    def record(m, operands, params, result, output):
        x = operands[0]
        output._node = node = _new(Node)
        n = x._node
        node.op = row
        node.edges = ((x if x._view_kind != "cast" else x._base) if n is LEAF else n,)
        node.versions = None
        if save_x == 1:
            node.saved = (x,)
            if x._st is not None:
                node.versions = (x._st.version,)
        elif save_x:
            d = x._d
            node.saved = (Aval(d.shape, d.dtype),)
        else:
            node.saved = (None,)
        node.y = result if save_y else None
        node.y_storage = None
        node.params = params
        node.seq = next_seq()
        node.shape, node.dtype = result.shape, result.dtype
        node.where = node.extra = None
        if m.watch is not None:
            m.watch(node, operands, output)

    return record


def plans_by_need(row):
    """For every set of operands that need gradients (a bit each): (save y?, per operand 0 nothing, 1 values, 2 shape)."""
    out = []
    for need in range(1 << row.arity):
        y, wanted = False, [0] * row.arity
        for i, plan in enumerate(row.plans):
            if need >> i & 1 and row.rules[i] is not None:
                y = y or plan[0]
                for place, want in enumerate(plan[1]):
                    if want == 1 or (want and not wanted[place]):
                        wanted[place] = want
        out.append((y, tuple(wanted)))
    return out


def _few(row):
    if len(row.rules) != row.arity:
        return lambda m, operands, params, result, output: general.record(row, m, operands, params, result, output)
    plans = plans_by_need(row)

    def record(m, operands, params, result, output):
        edges, need, bit = [], 0, 1
        for o in operands:
            if type(o) in TENSOR_TYPES:
                n = o._node
                if n is not None:
                    need |= bit
                    if n is LEAF:
                        n = o if o._view_kind != "cast" else o._base
                edges.append(n)
            else:
                edges.append(None)
            bit += bit
        save_y, wanted = plans[need]
        saved, shared = [], False
        for o, want in zip(operands, wanted):  # noqa: B905 (same length; strict costs)
            if not want:
                saved.append(None)
            elif type(o) in TENSOR_TYPES:
                if want == 1:
                    saved.append(o)
                    shared = shared or o._st is not None
                else:
                    saved.append(Aval(o._d.shape, o._d.dtype))
            else:
                saved.append(o if want == 1 or not hasattr(o, "shape") else Aval(o.shape, o.dtype))
        output._node = node = _new(Node)
        node.op = row
        node.edges = tuple(edges)
        node.saved = tuple(saved)
        node.versions = general.versions_of(saved) if shared else None
        node.y = result if save_y else None
        node.y_storage = None
        node.params = params
        node.seq = next_seq()
        node.shape, node.dtype = result.shape, result.dtype
        node.where = node.extra = None
        if m.watch is not None:
            m.watch(node, operands, output)

    return record
