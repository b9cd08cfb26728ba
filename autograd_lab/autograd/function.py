"""``Function``: an op of the learner's own, with its forward and backward.

    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 3 * x**2

    y = Cube.apply(x)

One application is one node of the tape, of kind "function"; its ``ctx`` stands in ``node.params`` and the tensors it saved
in ``node.saved``, so that they are freed, counted and shown like those of any other node. Backward runs on Tensors, under
recording when ``create_graph`` asks for it: double backward works without further code.
"""

import functools
import weakref

import numpy as np

from ..core import bind as core_bind
from ..core.modes import modes, no_grad
from ..core.op import Op
from ..core.storage import storage_of
from ..core.tape import FREED, Node, Slot, next_seq
from ..core.tensor import Tensor, wrap
from ..errors import shape_text
from . import messages


class SavedOutput:
    """An output that its own function saved: the array, without the tensor (whose node would hold itself)."""

    __slots__ = ("array", "nr", "storage")

    def __init__(self, tensor, nr):
        self.storage = storage_of(tensor)
        self.array, self.nr = tensor._array(), nr

    @property
    def shape(self):
        """The output's shape."""
        return self.array.shape

    @property
    def dtype(self):
        """The output's NumPy dtype."""
        return self.array.dtype

    def tensor(self, node):
        """The output as a Tensor with its place on the tape."""
        t = wrap(self.array)
        t._st = self.storage
        t._node = _place(node, self.nr)
        return t


class FunctionCtx:
    """What ``forward`` leaves for ``backward``: saved tensors, marks, and any attributes one sets."""

    def __init__(self):
        self._to_save, self._dirty, self._constant = (), (), ()
        self._materialize, self._node, self.needs_input_grad = True, None, ()

    def save_for_backward(self, *tensors):
        """Keep tensors (inputs, outputs or others; None is allowed) for ``backward``, where ``saved_tensors`` gives them.

        Raises: TypeError for anything else: set an attribute of ``ctx`` instead.
        """
        for place, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {place} is of type {type(t).__name__}; "
                    "keep other values as attributes: ctx.name = value"
                )
        self._to_save = tensors

    @property
    def saved_tensors(self):
        """The tensors given to ``save_for_backward``, in order.

        Raises: RuntimeError if backward freed them already, or if one was changed in place since.
        """
        node = self._node and self._node()
        if node is None:
            return tuple(self._to_save)
        if node.saved is FREED:
            raise messages.freed(node)
        out = []
        for place, s in enumerate(node.saved):
            storage = s.storage if isinstance(s, SavedOutput) else None if s is None else s._st
            if storage is not None and storage.version != node.versions[place]:
                raise _modified(node, place, s, storage)
            out.append(s.tensor(node) if isinstance(s, SavedOutput) else s)
        return tuple(out)

    def mark_dirty(self, *tensors):
        """Say that ``forward`` changed these inputs in place; they must be returned too."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Say that these outputs have no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value):
        """False: ``backward`` gets None, not zeros, for outputs to which no gradient came."""
        self._materialize = bool(value)


def _modified(node, place, saved, storage):
    by = f" by {storage.last[0]}" if storage.last else ""
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: tensor "
        f"{place} saved by {node.name()}, of shape {shape_text(saved.shape)}, is at version {storage.version}; expected version "
        f"{node.versions[place]} instead. It was changed{by}. Usual cure: write x = x + y instead of x += y, or clone() before "
        "changing"
    )


class Function:
    """Base class of custom ops: define ``forward`` and ``backward`` as static methods, call ``apply``.

    ``forward(ctx, *args)`` computes (nothing is recorded inside) and ``backward(ctx, *grad_outputs)`` returns one gradient or
    None per argument. Or split the first: ``forward(*args)`` and ``setup_context(ctx, inputs, output)``.
    """

    _row = None

    @staticmethod
    def forward(*args):
        """Compute the outputs; override."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Save what ``backward`` needs, when ``forward`` takes no ``ctx``; override."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """Gradients of the arguments from those of the outputs; override."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward "
            "mode AD."
        )

    def __call__(self, *args, **kwargs):
        name = type(self).__name__
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with "
            f"static forward method: {name}.apply(x), not {name}()(x)"
        )

    @classmethod
    def apply(cls, *args):
        """Run ``forward`` and put one node on the tape if an argument requires grad. Returns what ``forward`` returned."""
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a._node is not None for a in args)
        edges = tuple(
            core_bind.edge_of(a) if needed else None for a, needed in zip(args, ctx.needs_input_grad, strict=True)
        )
        with no_grad():
            if cls.setup_context is Function.setup_context:
                result = cls.forward(ctx, *args)
            else:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
        outputs = list(result) if isinstance(result, tuple) else [result]
        _check_outputs(cls, ctx, args, outputs, modes.now.grad and any(ctx.needs_input_grad))
        if modes.now.grad and any(ctx.needs_input_grad):
            outputs = _record(cls, ctx, args, edges, outputs, isinstance(result, tuple))
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]


def _check_outputs(cls, ctx, args, outputs, recording):
    if len(outputs) == 1 and not isinstance(outputs[0], Tensor):
        got = type(outputs[0]).__name__
        raise TypeError(f"{cls.__name__}.forward: expected Tensor or tuple of Tensor (got {got}) for return value 0")
    for t in ctx._dirty:
        if not any(t is o for o in outputs):
            raise RuntimeError("Some elements marked as dirty during the forward method were not returned as output.")
        if not any(t is a for a in args):
            raise RuntimeError(f"{cls.__name__}: mark_dirty takes inputs of forward only")
        if recording:
            core_bind.check_inplace(t, cls.__name__)


def _record(cls, ctx, args, edges, outputs, several):
    """Make the node of one application and give the outputs their places on it."""
    node = Node.__new__(Node)
    node.op = _row_of(cls)
    node.edges, node.params = edges, (ctx,)
    node.y = node.y_storage = node.where = node.extra = None
    node.seq = next_seq()
    arrays = [o._d if isinstance(o, Tensor) else None for o in outputs]
    shapes, dtypes = [None if a is None else a.shape for a in arrays], [None if a is None else a.dtype for a in arrays]
    node.shape, node.dtype = (tuple(shapes), tuple(dtypes)) if several else (shapes[0], dtypes[0])
    placed, numbers = [], {}
    for nr, o in enumerate(outputs):
        if not isinstance(o, Tensor):
            placed.append(o)
            continue
        out = o
        live = o._d.dtype.kind in "fcV" and not any(o is t for t in ctx._constant)
        if any(o is t for t in ctx._dirty):
            changed = wrap(o._d)
            changed._node = _place(node, nr)
            core_bind.change(o, changed, cls.__name__)
        elif live:
            if o._node is not None or any(o is a for a in args):
                out = wrap(o._array())  # an input handed back, or a tensor that has a place already
                out._st = storage_of(o)
            out._node = _place(node, nr)
        if live and out is o:
            numbers[id(o)] = nr
        placed.append(out)
    _keep(node, ctx, outputs, placed, numbers)
    ctx._node = weakref.ref(node)
    watch = modes.now.watch
    if watch is not None:
        watch(node, args, tuple(placed) if several else placed[0])
    return placed


def _place(node, nr):
    return Slot(node, nr) if type(node.shape) is tuple and node.shape and type(node.shape[0]) in (tuple, type(None)) else node


def _keep(node, ctx, outputs, placed, numbers):
    """Move what was saved from ``ctx`` to the node; outputs without their tensors, which would make a cycle."""
    saved, versions = [], []
    for t in ctx._to_save:
        if t is not None and id(t) in numbers:
            nr = numbers[id(t)]
            saved.append(SavedOutput(placed[nr], nr))
            versions.append(saved[-1].storage.version)
        else:
            saved.append(t)
            versions.append(0 if t is None else t._version)
    node.saved, node.versions = tuple(saved), tuple(versions)
    ctx._to_save = ctx._dirty = ()


# ----- backward -----


def _row_of(cls):
    """The Op record that stands for a Function class; made on first use, not in the registry."""
    if "_row" in cls.__dict__ and cls._row is not None:
        return cls._row
    row = Op()
    row.name = row.symbol = cls.__name__
    row.kind, row.forward, row.rules, row.joint = "function", functools.partial(_run_backward, cls), (), None
    row.saves, row.plans, row.arity = ("",), None, "many"
    row.dtypes, row.holomorphic, row.outputs, row.nondiff = "free", False, "many", ()
    row.samples = row.errors = row.ref = row.formula = None
    row.grad_name = cls.__name__ + "Backward"
    row.doc, row.upcast, row.simple = cls.__doc__ or "", False, False
    row.call = cls.apply
    cls._row = row
    return row


def _run_backward(cls, node, g, create_graph):
    """Called by the engine: ``cls.backward`` on Tensors; one cotangent (an array, or a Tensor to be recorded) per edge."""
    (ctx,) = node.params
    several = _place(node, 0) is not node
    parts, shapes, dtypes = (g, node.shape, node.dtype) if several else ([g], (node.shape,), (node.dtype,))
    given = []
    for part, shape, dtype in zip(parts, shapes, dtypes, strict=True):
        if part is None and ctx._materialize and shape is not None:
            part = np.zeros(shape, dtype)
        given.append(part if part is None or isinstance(part, Tensor) else wrap(part))
    now = modes.now
    before, now.grad = now.grad, create_graph
    try:
        result = cls.backward(ctx, *given)
    finally:
        now.grad = before
    return _checked(cls, node, result if isinstance(result, tuple | list) else (result,), create_graph)


def _checked(cls, node, result, create_graph):
    name, edges = node.name(), node.edges
    if len(result) > len(edges) and all(r is None for r in result[len(edges) :]):
        result = result[: len(edges)]
    if len(result) != len(edges):
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {len(edges)}, got {len(result)}): "
            f"{cls.__name__}.backward must return one gradient, or None, for each argument of forward"
        )
    out = []
    for place, (r, edge) in enumerate(zip(result, edges, strict=True)):
        if r is None or (edge is None and isinstance(r, Tensor)):
            out.append(None)
            continue
        if not isinstance(r, Tensor):
            raise RuntimeError(
                f"function {name}: expected Variable or None (got {type(r).__name__}) as gradient of input {place}"
            )
        shape = _shape_of(edge)
        if r._d.shape != shape and not _reducible(r._d.shape, shape):
            raise RuntimeError(
                f"Function {name} returned an invalid gradient at index {place} - got {shape_text(r._d.shape)} but expected "
                f"shape compatible with {shape_text(shape)}: the gradient of input {place} must have that input's shape"
            )
        out.append(r if create_graph else r._d)
    return out


def _shape_of(edge):
    if type(edge) is Slot:
        return edge.node.shape[edge.nr]
    return edge.shape if type(edge) is Node else edge._d.shape


def _reducible(have, want):
    """Whether summing over broadcast dimensions leads from one shape to the other."""
    try:
        return np.broadcast_shapes(have, want) == have
    except ValueError:
        return False


class _Once(Function):
    """Passes values on; refuses to be differentiated."""

    @staticmethod
    def forward(ctx, name, count, *tensors):
        ctx.name = name
        return tuple(t.detach() for t in tensors[:count])

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise RuntimeError(
            f"trying to differentiate twice a function that was marked with @once_differentiable ({ctx.name}): its backward has no "
            "derivative. Write it with Tensor operations and drop the mark"
        )


def once_differentiable(fn):
    """Decorator of a ``backward`` whose result cannot be differentiated again (NumPy inside it, say).

    It runs without recording; a second derivative through it raises RuntimeError instead of being silently wrong.
    """

    @functools.wraps(fn)
    def wrapper(ctx, *args):
        with no_grad():
            outputs = fn(ctx, *args)
        if not modes.now.grad:
            return outputs
        node = ctx._node and ctx._node()
        saved = ctx.saved_tensors if node is not None and node.saved is not FREED else ()
        sources = [t for t in (*args, *saved) if isinstance(t, Tensor) and t._node is not None]
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        tensors = [r for r in results if isinstance(r, Tensor)]
        if not sources or not tensors:
            return outputs
        guarded = iter(_Once.apply(fn.__qualname__, len(tensors), *tensors, *sources))
        results = tuple(next(guarded) if isinstance(r, Tensor) else r for r in results)
        return results if isinstance(outputs, tuple) else results[0]

    return wrapper


__all__ = ["Function", "FunctionCtx", "once_differentiable"]
