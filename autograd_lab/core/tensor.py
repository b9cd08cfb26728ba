"""Tensor state: an array, a place on the tape, a gradient. Methods that compute are bound from rows in methods.py.

A 0-d result stays an unboxed NumPy scalar (``np.float32``, which keeps float32 rounding) until someone needs memory
to look at: a view, an in-place change, ``numpy()``. ``_array()`` boxes.
"""

import copy
import weakref

import numpy as np

from ..backend import dtype as dt
from ..backend.namespace import device_of
from ..errors import shape_text
from .conversions import Conversions
from .size import Size
from .storage import Storage, storage_of
from .tape import LEAF, LeafHooks, Node, Slot, add_hook

_new = object.__new__


class Tensor(Conversions):
    """An array with a dtype, a device and, when gradients are wanted, a place on the tape.

    ``Tensor(2, 3)`` is uninitialised memory of that shape and ``Tensor([1, 2])`` a float32 copy, as in PyTorch; use
    ``tensor(...)`` for data.
    """

    __slots__ = ("_d", "_node", "_st", "__dict__", "__weakref__")

    _grad = None
    _base = None
    _spec = None
    _view_kind = None
    _hooks = None
    _name = None
    _retains_grad = False
    __array_priority__ = 1000
    __array_ufunc__ = None  # an ndarray on the left of an operator defers to the Tensor on the right

    def __new__(cls, *args, **kwargs):
        t = _new(cls)
        t._st = t._node = None
        if len(args) == 1 and not isinstance(args[0], int):
            source = args[0]
            if isinstance(source, Tensor):
                t._d = source._array()
                t._st = storage_of(source)
            elif isinstance(source, Size):
                t._d = np.empty(tuple(source), dt.get_default_dtype().numpy)
            else:
                t._d = np.array(source, dt.get_default_dtype().numpy)
        elif args:
            t._d = np.empty(args, dt.get_default_dtype().numpy)
        else:
            t._d = np.empty((0,), dt.get_default_dtype().numpy)
        return t

    # ----- the array -----

    def _array(self):
        """The ndarray behind this tensor; boxes an unboxed 0-d value so that it can be shared and changed."""
        d = self._d
        if isinstance(d, np.generic):
            d = self._d = np.array(d)
        return d

    @property
    def shape(self):
        """The sizes, as a ``Size``."""
        return Size(self._d.shape)

    @property
    def ndim(self):
        """The number of dimensions."""
        return self._d.ndim

    @property
    def dtype(self):
        """The element type."""
        return dt.from_numpy_dtype(self._d.dtype)

    @property
    def device(self):
        """Where the array lives."""
        return device_of(self._d)

    @property
    def itemsize(self):
        """Bytes per element."""
        return self._d.dtype.itemsize

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self._d.nbytes

    def size(self, dim=None):
        """The sizes, or the size of one dimension.

        Raises: IndexError if ``dim`` is out of range.
        """
        shape = self._d.shape
        if dim is None:
            return Size(shape)
        if not -len(shape) <= dim < len(shape):
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-max(len(shape), 1)}, {max(len(shape), 1) - 1}], "
                f"but got {dim}) for a tensor of shape {shape_text(shape)}"
            )
        return shape[dim]

    def dim(self):
        """The number of dimensions."""
        return self._d.ndim

    ndimension = dim

    def numel(self):
        """The number of elements."""
        return self._d.size

    nelement = numel

    def element_size(self):
        """Bytes per element."""
        return self._d.dtype.itemsize

    def stride(self, dim=None):
        """Steps in elements from one index to the next, per dimension."""
        d = self._array()
        strides = tuple(s // d.itemsize for s in d.strides)
        if d.size == 0 or 1 in d.shape:
            strides = _canonical_strides(d, strides)
        return strides if dim is None else strides[dim]

    def _owner(self):
        d = self._array()
        while isinstance(d.base, np.ndarray):
            d = d.base
        return d

    def storage_offset(self):
        """Elements between the start of the storage and this tensor's first element."""
        d, owner = self._array(), self._owner()
        return (d.__array_interface__["data"][0] - owner.__array_interface__["data"][0]) // d.itemsize if d.size else 0

    def data_ptr(self):
        """Address of the first element."""
        return self._array().__array_interface__["data"][0]

    def is_contiguous(self, *, memory_format=None):
        """Whether elements lie in row-major order without gaps."""
        return bool(self._array().flags.c_contiguous)

    def is_floating_point(self):
        """Whether the dtype is a floating one."""
        return self.dtype.is_floating_point

    def is_complex(self):
        """Whether the dtype is complex."""
        return self._d.dtype.kind == "c"

    @property
    def is_cuda(self):
        """Whether the array is on a CUDA device."""
        return self.device.type == "cuda"

    @property
    def is_sparse(self):
        """Always False: there are no sparse tensors here."""
        return False

    @property
    def layout(self):
        """Always ``torch.strided``."""
        return "torch.strided"

    # ----- gradients -----

    @property
    def requires_grad(self):
        """Whether gradients flow to this tensor."""
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, value):
        if value:
            if self._node is None:
                kind = self._d.dtype.kind
                if kind in "iub":
                    raise RuntimeError(
                        f"only Tensors of floating point and complex dtype can require gradients; this one is {self.dtype.name} "
                        f"of shape {shape_text(self._d.shape)}. Whole numbers have no derivative: convert with .float() first"
                    )
                self._node = LEAF
        elif self._node is not None:
            if self._node is not LEAF:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
                    "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
                )
            self._node = None

    def requires_grad_(self, requires_grad=True):
        """Set ``requires_grad`` and return the tensor."""
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self):
        """True for tensors the learner made, False for results of recorded ops."""
        return self._node is None or self._node is LEAF

    @property
    def grad_fn(self):
        """The node that made this tensor, or None for a leaf."""
        node = self._node
        if type(node) is Slot:
            return node.node
        return node if type(node) is Node else None

    @property
    def output_nr(self):
        """Which output of its node this tensor is."""
        return self._node.nr if type(self._node) is Slot else 0

    @property
    def grad(self):
        """The gradient that ``backward`` accumulated here, or None."""
        return self._grad

    @grad.setter
    def grad(self, value):
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got {type(value).__name__}")
            if value._d.shape != self._d.shape:
                raise RuntimeError(
                    f"assigned grad has data of a different size: {shape_text(value._d.shape)}, "
                    f"the tensor has {shape_text(self._d.shape)}"
                )
            if value._d.dtype != self._d.dtype:
                raise RuntimeError(f"assigned grad has dtype {value.dtype.name}, the tensor has {self.dtype.name}")
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
        self._grad = value

    @grad.deleter
    def grad(self):
        self._grad = None

    def retain_grad(self):
        """Keep ``.grad`` of this non-leaf tensor at the next ``backward``.

        Raises: RuntimeError if the tensor needs no gradient.
        """
        node = self._node
        if node is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if node is LEAF or self._retains_grad:
            return
        self._retains_grad = True
        fn, nr = (node.node, node.nr) if type(node) is Slot else (node, 0)
        fn.notes().setdefault("retained", {})[nr] = weakref.ref(self)

    @property
    def retains_grad(self):
        """Whether ``retain_grad`` was called on this non-leaf tensor."""
        return self._retains_grad

    def register_hook(self, hook):
        """Call ``hook(grad)`` when this tensor's gradient is complete; what it returns (if not None) replaces it.

        Returns: a handle with ``remove()``. Raises: RuntimeError if the tensor needs no gradient.
        """
        node = self._node
        if node is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if node is LEAF:
            return add_hook(self._leaf_hooks().tensor, hook)
        fn, nr = (node.node, node.nr) if type(node) is Slot else (node, 0)
        return add_hook(fn.notes().setdefault("tensor_hooks", {}).setdefault(nr, {}), hook)

    def register_post_accumulate_grad_hook(self, hook):
        """Call ``hook(tensor)`` after ``.grad`` of this leaf was written."""
        if self._node is not LEAF:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return add_hook(self._leaf_hooks().post, hook)

    def _leaf_hooks(self):
        if self._hooks is None:
            self._hooks = LeafHooks()
        return self._hooks

    @property
    def _version(self):
        """How often this memory was changed in place."""
        return 0 if self._st is None else self._st.version

    def detach(self):
        """The same memory off the tape: no gradient flows through the result. In-place changes are noticed by the tape."""
        t = wrap(self._array())
        t._st = storage_of(self)
        return t

    def detach_(self):
        """Take this tensor off the tape, in place. Raises: RuntimeError for a view."""
        if self._base is not None:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        self._node = None
        return self

    @property
    def data(self):
        """The same memory off the tape, without the version check: edits through it are not noticed by ``backward``."""
        return wrap(self._array())

    @data.setter
    def data(self, value):
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        self._d = value._array()
        self._st = None

    def is_shared(self):
        """False: memory is not shared between processes."""
        return False

    # ----- text and copies -----

    def __format__(self, spec):
        if self._d.ndim == 0 and type(self) is Tensor:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __copy__(self):
        t = wrap(self._array(), type(self))
        t._st = storage_of(self)
        t._node = self._node
        return t

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment; "
                "use .detach().clone()"
            )
        t = memo[id(self)] = wrap(self._array().copy(order="K"), type(self))
        t._node = self._node
        if self._grad is not None:
            t._grad = copy.deepcopy(self._grad, memo)
        return t

    def __reduce_ex__(self, protocol):
        return _rebuild, (type(self), self._array(), self.requires_grad)


def _canonical_strides(array, strides):
    """Row-major strides where NumPy leaves those of empty or one-long dimensions arbitrary."""
    if not array.flags.c_contiguous:
        return strides
    out, step = [], 1
    for s in reversed(array.shape):
        out.append(step)
        step *= max(s, 1)
    return tuple(reversed(out))


def _rebuild(cls, array, requires_grad):
    t = wrap(array, cls)
    if requires_grad:
        t._node = LEAF
    return t


def wrap(array, cls=Tensor):
    """A tensor around an array or NumPy scalar, without copying and off the tape."""
    t = _new(cls)
    t._d = array
    t._st = t._node = None
    return t


class Parameter(Tensor):
    """A tensor that a Module finds among its parameters; requires grad by default.

    Example: ``self.weight = Parameter(empty(3, 2))``
    """

    def __new__(cls, data=None, requires_grad=True):
        source = wrap(np.empty((0,), dt.get_default_dtype().numpy)) if data is None else data
        t = wrap(source._array(), cls)
        t._st = source._st
        t.requires_grad = requires_grad
        return t

    def __repr__(self):
        return "Parameter containing:\n" + Tensor.__repr__(self)


TENSOR_TYPES = frozenset((Tensor, Parameter))
"""The exact types that the fast paths accept; subclasses take the general path."""

__all__ = ["TENSOR_TYPES", "Parameter", "Storage", "Tensor", "wrap"]
