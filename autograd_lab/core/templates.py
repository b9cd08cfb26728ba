"""More fast templates: views, rows with several outputs, rows of many operands. What they do not cover goes to ``bind``."""

import weakref

import numpy as np

from ..backend import select
from . import bind as general
from .modes import modes
from .recording import recorder
from .storage import storage_of
from .tape import LEAF, Aval, Node, next_seq
from .tensor import TENSOR_TYPES, Tensor

_new = object.__new__
_ndarray = np.ndarray
_FLOATS = frozenset((np.dtype(np.float32), np.dtype(np.float64)))
_BOOL = np.dtype(np.bool_)
_NUMBERS = frozenset((int, float))
_INHERITED = frozenset(("many", "no_grad"))


def view(row):
    """A view of one tensor: shares memory, knows its base and the way from it."""
    bind, forward, arity = general.bind, row.forward, row.arity
    save_y, (save_x,) = row.plans[0]
    if save_y or save_x == 1:
        return lambda *args: bind(row, args[:1], args[1:])
    differentiable = row.differentiable

    def call(x, *params):
        m = modes.now
        if type(x) in TENSOR_TYPES:
            d = x._d
            if m.top is None and type(d) is _ndarray:
                try:
                    r = forward(np, d, *params)
                except ValueError:
                    return bind(row, (x,), params)  # words the error
                t = _new(Tensor)
                t._d = r
                st = x._st
                if st is None:
                    st = storage_of(x)
                t._st = st
                base, kind, step = x._base, x._view_kind, (row, params)
                if base is None or kind == "cast":
                    t._base, t._spec = x, (step,)
                else:
                    t._base, t._spec = base, (*x._spec, step)
                if m.grad:
                    t._view_kind = kind if kind in _INHERITED else "view"
                    views = st.views
                    views.append(weakref.ref(t))
                    if len(views) > st._purge_at:
                        st.purge()
                else:
                    t._view_kind = kind if kind in _INHERITED else "no_grad"
                n = x._node
                if n is None or not m.grad or not differentiable:
                    t._node = None
                    return t
                t._node = node = _new(Node)
                node.op = row
                node.edges = ((x if kind != "cast" else base) if n is LEAF else n,)
                node.saved = (Aval(d.shape, d.dtype),) if save_x else (None,)
                node.versions = node.y = node.y_storage = None
                node.params = params
                node.seq = next_seq()
                node.shape, node.dtype = r.shape, r.dtype
                node.where = node.extra = None
                if m.watch is not None:
                    m.watch(node, (x,), t)
                return t
        elif type(x) is _ndarray and m.top is None:
            return forward(np, x, *params)
        return bind(row, (x,), params)

    return call if arity == 1 else lambda *args: bind(row, args[:arity], args[arity:])


def several(row):
    """One operand, a fixed number of outputs (values and indices)."""
    bind, forward = general.bind, row.forward
    record = general.record
    differentiable = row.differentiable

    def call(x, *params):
        m = modes.now
        if type(x) in TENSOR_TYPES and m.top is None and x._d.dtype in _FLOATS:
            results = forward(np, x._d, *params)
            outputs = []
            for r in results:
                t = _new(Tensor)
                t._d = r
                t._st = t._node = None
                outputs.append(t)
            outputs = tuple(outputs)
            if x._node is not None and m.grad and differentiable:
                record(row, m, (x,), params, results, outputs)
            return outputs
        return bind(row, (x,), params)

    return call


def selection(row):
    """A condition and two choices of one dtype, or one choice and a number (``where``)."""
    bind, record, kernel = general.bind, recorder(row), select.where

    def call(condition, input, other):
        m = modes.now
        if type(condition) in TENSOR_TYPES and m.top is None and condition._d.dtype is _BOOL:
            a, b = type(input) in TENSOR_TYPES, type(other) in TENSOR_TYPES
            dtype = input._d.dtype if a else other._d.dtype if b else None
            if dtype in _FLOATS and (other._d.dtype is dtype if a and b else type(other if a else input) in _NUMBERS):
                try:
                    r = kernel(condition._d, input._d if a else input, other._d if b else other)
                except ValueError:
                    return bind(row, (condition, input, other), ())  # words the error
                t = _new(Tensor)
                t._d = r if r.ndim else r[()]
                t._st = t._node = None
                if m.grad and ((a and input._node is not None) or (b and other._node is not None)):
                    record(m, (condition, input, other), (), r, t)
                return t
        elif type(condition) is _ndarray and m.top is None:
            a, b = type(input), type(other)
            if (a is _ndarray or a in _NUMBERS) and (b is _ndarray or b in _NUMBERS):
                return kernel(condition, input, other)
        return bind(row, (condition, input, other), ())

    return call


def views(row):
    """Several views of one tensor (``split``, ``unbind``)."""
    bind, forward, record = general.bind, row.forward, general.record

    def call(x, *params):
        m = modes.now
        if type(x) not in TENSOR_TYPES or m.top is not None or type(x._d) is not _ndarray:
            return bind(row, (x,), params)
        results = forward(np, x._d, *params)
        st = x._st
        if st is None:
            st = storage_of(x)
        base, kind, chain = x._base, x._view_kind, ()
        if base is None or kind == "cast":
            base = x
        else:
            chain = x._spec
        kind = kind if kind in _INHERITED else "many" if m.grad else "no_grad"
        outputs, live = [], st.views
        for i, r in enumerate(results):
            t = _new(Tensor)
            t._d, t._st, t._node = r, st, None
            t._base, t._spec, t._view_kind = base, (*chain, (row, (*params, i))), kind
            if m.grad:
                live.append(weakref.ref(t))
            outputs.append(t)
        if len(live) > st._purge_at:
            st.purge()
        outputs = tuple(outputs)
        if x._node is not None and m.grad and x._d.dtype.kind not in "iub":
            record(row, m, (x,), params, results, outputs)
        return outputs

    return call


def variadic(row):
    """A list of operands of one dtype, one output."""
    bind, forward = general.bind, row.forward
    keeps_values = "operands" in row.saves

    def call(operands, *params):
        m = modes.now
        if m.top is None and row.outputs == 1:
            arrays, recording, dtype = [], False, None
            for o in operands:
                if type(o) not in TENSOR_TYPES:
                    break
                d = o._d
                if dtype is not d.dtype and dtype is not None:
                    break
                dtype = d.dtype
                arrays.append(d)
                recording = recording or o._node is not None
            else:
                if dtype in _FLOATS:
                    try:
                        r = forward(np, arrays, *params)
                    except ValueError:
                        return bind(row, tuple(operands), params)  # words the error
                    t = _new(Tensor)
                    t._d = r
                    t._st = t._node = None
                    if recording and m.grad:
                        _record_many(row, m, operands, params, r, t, keeps_values)
                    return t
        return bind(row, tuple(operands), params)

    return call


def _record_many(row, m, operands, params, r, t, keeps_values):
    t._node = node = _new(Node)
    node.op = row
    edges = []
    for o in operands:
        n = o._node
        edges.append((o if o._view_kind != "cast" else o._base) if n is LEAF else n)
    node.edges = tuple(edges)
    if keeps_values:
        node.saved, node.versions = tuple(operands), general.versions_of(operands)
    else:
        node.saved, node.versions = tuple([Aval(o._d.shape, o._d.dtype) for o in operands]), None
    node.y = node.y_storage = None
    node.params = params
    node.seq = next_seq()
    node.shape, node.dtype = r.shape, r.dtype
    node.where = node.extra = None
    if m.watch is not None:
        m.watch(node, operands, t)
