"""From a row to a fast Python callable, by closures from a few templates.

Each template holds the common case inline: plain Tensors of one floating dtype, no interpreter. Everything else
(numbers on the left, promotion, half precision, other devices, symbols, raw arrays, errors) falls through to ``bind``.
A template costs about 0.3 µs above NumPy's own ufunc, and 0.2 µs more when it records.
"""

import operator
from functools import partial

import numpy as np

from ..backend.memory import HUGE, LARGE, NUMBERS32, NUMBERS64, by_blocks, number_array, pooled_numpy
from . import bind as general
from . import templates
from .modes import modes
from .recording import recorder
from .tape import LEAF, Aval, Node, next_seq
from .tensor import TENSOR_TYPES, Tensor

_new = object.__new__
_ndarray = np.ndarray
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_NUMBERS = frozenset((float, int))
_SCALAR_KERNELS = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "true_divide": operator.truediv}
"""For unboxed 0-d values: NumPy's ufuncs take ten times longer on a NumPy scalar than its operators."""


def callable_for(row):
    """The specialised callable of a row."""
    if row.arity == "many":
        return templates.variadic(row)
    if row.kind == "view" and row.outputs == 1:
        return templates.view(row)
    if row.kind == "view" and row.arity == 1:
        return templates.views(row)
    if row.outputs not in (1, "many") and row.arity == 1 and row.kind != "view":
        return templates.several(row)
    if row.outputs != 1 or row.arity > 3:
        return _general(row)
    if row.kind == "elementwise" and row.arity == 1 and row.dtypes in ("same", "float"):
        return _unary(row)
    if row.kind == "elementwise" and row.arity == 2 and row.dtypes in ("arith", "float"):
        return _binary(row)
    if row.kind == "elementwise" and row.dtypes == "compare":
        return _comparison(row)
    if row.dtypes == "tail":
        return templates.selection(row)
    return _generic(row)


def kernels(row):
    """The forward for small arrays and for large ones (whose results come from the pool)."""
    forward = row.forward
    if isinstance(forward, str):
        return getattr(np, forward), getattr(pooled_numpy, forward)
    kernel = partial(forward, np)
    if row.kind == "elementwise":
        pooled = partial(forward, pooled_numpy)
        return kernel, lambda *args: by_blocks(kernel, args) if args[0].nbytes >= HUGE else pooled(*args)
    return kernel, partial(forward, pooled_numpy)


def _unary(row):
    kernel, large = kernels(row)
    bind = general.bind
    ((save_y, (save_x,)),) = row.plans
    constant = not row.differentiable

    def call(input, *, out=None):
        if type(input) in TENSOR_TYPES and out is None:
            d = input._d
            dtype = d.dtype
            m = modes.now
            if (dtype is _F32 or dtype is _F64) and m.top is None:
                r = kernel(d) if d.nbytes < LARGE else large(d)
                t = _new(Tensor)
                t._d = r
                t._st = None
                n = input._node
                if n is None or constant or not m.grad:
                    t._node = None
                    return t
                t._node = node = _new(Node)
                node.op = row
                node.edges = (input if n is LEAF else n,)
                node.versions = None
                if save_x == 1:
                    node.saved = (input,)
                    if input._st is not None:
                        node.versions = (input._st.version,)
                else:
                    node.saved = (Aval(d.shape, dtype),) if save_x else (None,)
                node.y = r if save_y else None
                node.y_storage = None
                node.params = ()
                node.seq = next_seq()
                node.shape = r.shape
                node.dtype = dtype
                node.where = node.extra = None
                if m.watch is not None:
                    m.watch(node, (input,), t)
                return t
        elif type(input) is _ndarray and out is None and modes.now.top is None:
            return kernel(input) if input.nbytes < LARGE else large(input)
        return bind(row, (input,), (), out)

    return call


def _binary(row):
    kernel, large = kernels(row)
    bind = general.bind
    differentiable = row.differentiable
    (y_a, save_a), (y_b, save_b) = row.plans if differentiable else ((False, (0, 0)),) * 2
    a_for_a, b_for_a = save_a
    a_for_b, b_for_b = save_b
    ufunc = isinstance(row.forward, str)
    scalar = _SCALAR_KERNELS.get(row.forward, kernel) if ufunc else kernel

    def call(input, other, *, out=None):
        try:
            if type(input) in TENSOR_TYPES and out is None:
                da = input._d
                dtype = da.dtype
                m = modes.now
                if (dtype is _F32 or dtype is _F64) and m.top is None:
                    if type(other) in TENSOR_TYPES:
                        db = other._d
                        if db.dtype is not dtype:
                            return bind(row, (input, other), (), out)
                        nb = other._node
                    elif type(other) in _NUMBERS:
                        nb, db = None, other
                        if ufunc and type(da) is _ndarray:
                            db = (NUMBERS32 if dtype is _F32 else NUMBERS64).get(other)
                            if db is None:
                                db = number_array(other, dtype)
                    else:
                        return bind(row, (input, other), (), out)
                    if type(da) is _ndarray:
                        r = kernel(da, db) if da.nbytes < LARGE else large(da, db)
                    else:
                        r = scalar(da, db)
                    t = _new(Tensor)
                    t._d = r
                    t._st = None
                    na = input._node
                    if not differentiable or (na is None and nb is None) or not m.grad:
                        t._node = None
                        return t
                    t._node = node = _new(Node)
                    node.op = row
                    node.edges = (input if na is LEAF else na, other if nb is LEAF else nb)
                    sa = input if (na is not None and a_for_a == 1) or (nb is not None and a_for_b == 1) else None
                    sb = other if (na is not None and b_for_a == 1) or (nb is not None and b_for_b == 1) else None
                    node.saved = (sa, sb)
                    node.versions = None
                    if (sa is not None and sa._st is not None) or (
                        sb is not None and type(sb) in TENSOR_TYPES and sb._st is not None
                    ):
                        node.versions = general.versions_of(node.saved)
                    node.y = r if (na is not None and y_a) or (nb is not None and y_b) else None
                    node.y_storage = None
                    node.params = ()
                    node.seq = next_seq()
                    node.shape = r.shape
                    node.dtype = dtype
                    node.where = node.extra = None
                    if m.watch is not None:
                        m.watch(node, (input, other), t)
                    return t
        except (ValueError, OverflowError):
            pass  # shapes that do not broadcast, numbers out of range: bind words the error
        return bind(row, (input, other), (), out)

    return call


def _comparison(row):
    kernel, large = kernels(row)
    bind = general.bind

    def call(input, other, *, out=None):
        if type(input) in TENSOR_TYPES and type(other) in TENSOR_TYPES and out is None:
            da, db = input._d, other._d
            if da.dtype is db.dtype and modes.now.top is None and da.shape == db.shape:
                t = _new(Tensor)
                t._d = kernel(da, db)
                t._st = t._node = None
                return t
        elif type(input) in TENSOR_TYPES and type(other) in _NUMBERS and out is None:
            da = input._d
            dtype = da.dtype
            if (dtype is _F32 or dtype is _F64) and modes.now.top is None:
                t = _new(Tensor)
                t._d = kernel(da, other)
                t._st = t._node = None
                return t
        return bind(row, (input, other), (), out)

    return call


def _generic(row):
    """Rows that are not elementwise: one operand, or two or three of one dtype."""
    kernel, large = kernels(row)
    bind = general.bind
    record = recorder(row)
    arity, match = row.arity, row.dtypes == "match"
    differentiable, free = row.differentiable, row.dtypes in ("same", "free", "match")

    def alone(x, *params):
        if type(x) in TENSOR_TYPES:
            m = modes.now
            d = x._d
            dtype = d.dtype
            if free and (dtype is _F32 or dtype is _F64) and m.top is None:
                r = kernel(d, *params) if d.nbytes < LARGE else large(d, *params)
                t = _new(Tensor)
                t._d = r
                t._st = t._node = None
                if x._node is not None and m.grad and differentiable and r.dtype.kind not in "iub":
                    record(m, (x,), params, r, t)
                return t
        elif type(x) is _ndarray and modes.now.top is None:
            return kernel(x, *params) if x.nbytes < LARGE else large(x, *params)
        return bind(row, (x,), params)

    def together(*args):
        x, operands, params = args[0], args[:arity], args[arity:]
        m = modes.now
        if m.top is not None or not free:
            return bind(row, operands, params)
        if type(x) in TENSOR_TYPES:
            d = x._d
            dtype = d.dtype
            if dtype is not _F32 and dtype is not _F64:
                return bind(row, operands, params)
            arrays, recording = [], False
            for o in operands:
                if type(o) in TENSOR_TYPES:
                    a = o._d
                    if match and a.dtype is not dtype:
                        return bind(row, operands, params)
                    arrays.append(a)
                    if o._node is not None:
                        recording = True
                elif o is None or type(o) in _NUMBERS:
                    arrays.append(o)
                else:
                    return bind(row, operands, params)
            r = kernel(*arrays, *params) if d.nbytes < LARGE else large(*arrays, *params)
            t = _new(Tensor)
            t._d = r
            t._st = t._node = None
            if recording and m.grad and differentiable and r.dtype.kind not in "iub":
                record(m, operands, params, r, t)
            return t
        if type(x) is _ndarray:
            for o in operands:
                if type(o) is not _ndarray and type(o) not in _NUMBERS:
                    return bind(row, operands, params)
            return kernel(*args) if x.nbytes < LARGE else large(*args)
        return bind(row, operands, params)

    return alone if arity == 1 else together


def _general(row):
    bind = general.bind
    arity = row.arity

    def call(*args):
        return bind(row, args[:arity], args[arity:])

    return call
