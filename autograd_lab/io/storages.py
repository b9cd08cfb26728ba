"""What of an object goes into a file: each tensor's bytes as a storage, everything else described for the encoder."""

from collections import Counter, OrderedDict
from pickle import PicklingError
from typing import NamedTuple

import numpy as np

from ..backend import dtype as dt
from ..backend.device import device
from ..backend.namespace import backend_for
from ..core.size import Size
from ..core.tensor import TENSOR_TYPES, Parameter, Tensor
from .encoder import Call, Name, Persistent
from .names import STORAGE_NAMES
from .opcodes import CONTAINERS

_WALKED = frozenset(CONTAINERS)
_GRAIN = 16


def tensors_in(root):
    """Every tensor in nested containers, once each, in no particular order."""
    found, stack, seen = [], [root], set()
    while stack:
        value = stack.pop()
        kind = type(value)
        if id(value) in seen:
            continue
        if kind in TENSOR_TYPES:
            seen.add(id(value))
            found.append(value)
            stack.extend(attributes(value).values())
        elif kind in _WALKED:
            seen.add(id(value))
            stack.extend(value)
            if isinstance(value, dict):
                stack.extend(value.values())
                stack.extend(vars(value).values() if kind is OrderedDict else ())
    return found


def attributes(tensor):
    """The attributes that the learner put on a tensor (the library's own start with ``_``)."""
    return {name: value for name, value in vars(tensor).items() if not name.startswith("_")}


class _Placed(NamedTuple):
    """Where a tensor lies: ``array`` in bytes ``low`` to ``high`` of memory, inside ``owner`` (None: of its own)."""

    tensor: Tensor
    array: np.ndarray
    owner: np.ndarray | None
    low: int
    high: int


class Stored:
    """One storage of the file. ``typed`` is its dtype's name, or "" for plain bytes that hold several dtypes."""

    __slots__ = ("data", "typed", "key")

    def __init__(self, data, typed):
        self.data, self.typed, self.key = data, typed, None


def _host(tensor):
    array = tensor._array()
    if not isinstance(array, np.ndarray):
        array = backend_for(tensor.device).to_host(array)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _owner(array):
    """The array whose memory this one looks at; as_strided puts a dummy between the two."""
    while True:
        base = array.base
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)
            if not isinstance(base, np.ndarray):
                return array
        array = base


def _flat_bytes(owner):
    """The memory of a gap-free array as uint8, in address order; None if it has gaps or runs backward."""
    order = sorted(range(owner.ndim), key=lambda axis: -owner.strides[axis])
    rows = np.asarray(owner).transpose(order)
    return rows.reshape(-1).view(np.uint8) if rows.flags.c_contiguous else None


def _place(tensor):
    array = _host(tensor)
    owner = _owner(array)
    if array.size and all(s >= 0 and s % array.itemsize == 0 for s in array.strides) and _flat_bytes(owner) is not None:
        low = array.__array_interface__["data"][0]
        reach = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True))
        return _Placed(tensor, array, owner, low, low + reach + array.itemsize)
    return _compact(tensor, array)


def _compact(tensor, array):
    """A tensor that gets bytes of its own: an empty one, or one whose strides PyTorch can't express."""
    array = array if array.size == 0 and all(s >= 0 for s in array.strides) else np.ascontiguousarray(array)
    return _Placed(tensor, array, None, 0, array.nbytes)


def plan(root):
    """id of each tensor in ``root`` -> (its placement, its Stored).

    Tensors share a storage if they share the core's Storage, or if their bytes overlap; it then spans them all.
    """
    plans, groups = {}, {}
    for placed in map(_place, tensors_in(root)):
        if placed.owner is None:
            _store([placed], plans)
        else:
            shared = placed.tensor._st
            key = (id(placed.owner), id(placed) if shared is None else id(shared))
            groups.setdefault(key, []).append(placed)
    spans = {}
    for (owner, _), members in groups.items():
        low, high = min(p.low for p in members), max(p.high for p in members)
        spans.setdefault(owner, []).append((low, high, members))
    for of_owner in spans.values():
        merged = []
        for low, high, members in sorted(of_owner, key=lambda span: span[:2]):
            if merged and low < merged[-1][0]:
                merged[-1] = (max(high, merged[-1][0]), merged[-1][1] + members)
            else:
                merged.append((high, members))
        for _, members in merged:
            _store(members, plans)
    return plans


def _store(members, plans):
    """Make the storage that holds these tensors."""
    kinds = {placed.array.dtype for placed in members}
    name = dt.from_numpy_dtype(members[0].array.dtype).name
    typed = name if len(kinds) == 1 and name in STORAGE_NAMES else ""
    owner = members[0].owner
    if owner is None:
        stored = Stored(np.ascontiguousarray(members[0].array).reshape(-1).view(np.uint8), typed)
        plans[id(members[0].tensor)] = (members[0], 0, stored)
        return
    start = owner.__array_interface__["data"][0]
    low, high = min(placed.low for placed in members), max(placed.high for placed in members)
    if len(kinds) > 1:
        low -= (low - start) % _GRAIN
    stored = Stored(_flat_bytes(owner)[low - start : high - start], typed)
    for placed in members:
        offset, rest = divmod(placed.low - low, placed.array.itemsize)
        if rest:
            _store([_compact(placed.tensor, placed.array)], plans)
        else:
            plans[id(placed.tensor)] = (placed, offset, stored)


class Describer:
    """Tells the encoder how each object is written; ``storages`` lists the storages in the order of their keys."""

    def __init__(self, root):
        self.plans = plan(root)
        self.storages = []

    def __call__(self, value):
        kind = type(value)
        if kind is Parameter:
            return self._parameter(value)
        if kind is Tensor:
            return self._plain_tensor(value)
        if kind is _Data:
            return value.call
        if kind is OrderedDict:
            return Call(Name("collections", "OrderedDict"), (), value.items(), vars(value))
        if kind is Counter:
            return Call(Name("collections", "Counter"), (dict(value),))
        if kind is set or kind is frozenset:
            return Call(Name("__builtin__", kind.__name__), (list(value),))
        if kind is bytes:
            return Call(Name("_codecs", "encode"), (value.decode("latin-1"), "latin1"))
        if kind is bytearray:
            return Call(Name("__builtin__", "bytearray"), (bytes(value),) if value else ())
        if kind is complex:
            return Call(Name("__builtin__", "complex"), (value.real, value.imag))
        if kind is Size:
            return Call(Name("torch", "Size"), (tuple(value),))
        if kind is dt.dtype:
            return Name("torch", value.name)
        if kind is device:
            return Call(Name("torch", "device"), (value.type,) if value.index is None else (value.type, value.index))
        raise refusal(value)

    def _parameter(self, value):
        state = attributes(value)
        data = _Data(self._tensor(value, False))
        if state:
            arguments = (data, value.requires_grad, OrderedDict(), state)
            return Call(Name("torch._utils", "_rebuild_parameter_with_state"), arguments)
        return Call(Name("torch._utils", "_rebuild_parameter"), (data, value.requires_grad, OrderedDict()))

    def _plain_tensor(self, value):
        state = attributes(value)
        call = self._tensor(value, value.requires_grad)
        if state:
            arguments = (call.function, Name("torch", "Tensor"), call.arguments, state)
            return Call(Name("torch._tensor", "_rebuild_from_type_v2"), arguments)
        return call

    def _tensor(self, value, requires_grad):
        placed, offset, stored = self.plans[id(value)]
        array = placed.array
        if stored.key is None:
            stored.key = str(len(self.storages))
            self.storages.append(stored)
        strides = tuple(s // array.itemsize for s in array.strides)
        if array.flags.c_contiguous:
            strides = _row_major(array.shape)
        kind = Name("torch", STORAGE_NAMES[stored.typed]) if stored.typed else Name("torch.storage", "UntypedStorage")
        count = len(stored.data) // (array.itemsize if stored.typed else 1)
        storage = Persistent(("storage", kind, stored.key, str(value.device), count))
        arguments = (storage, offset, tuple(array.shape), strides, requires_grad, OrderedDict())
        if stored.typed:
            return Call(Name("torch._utils", "_rebuild_tensor_v2"), arguments)
        return Call(Name("torch._utils", "_rebuild_tensor_v3"), (*arguments, Name("torch", value.dtype.name)))


class _Data:
    """The plain tensor inside a Parameter, already described."""

    __slots__ = ("call",)

    def __init__(self, call):
        self.call = call


def _row_major(shape):
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def refusal(value):
    """The PicklingError for an object that a file of weights can't hold, with what to do instead."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    if isinstance(value, Tensor):
        cure = "Take the plain tensor out of the subclass: x.data"
    elif hasattr(value, "state_dict"):
        cure = 'Save its state: save(x.state_dict(), "weights.pt"), and later x.load_state_dict(load("weights.pt"))'
    elif isinstance(value, np.ndarray):
        cure = "Turn it into a tensor: from_numpy(x)"
    elif isinstance(value, np.generic):
        cure = "Turn it into a Python number: x.item()"
    elif callable(value):
        cure = "Functions and classes are code; save the numbers they need"
    elif isinstance(value, dict | list | tuple | set | str | int | float):
        base = next(b for b in (dict, list, tuple, set, str, int, float) if isinstance(value, b))
        cure = f"Turn it into a plain {base.__name__}: {base.__name__}(x)"
    else:
        cure = "Take the tensors, numbers and text out of it into a dict"
    return PicklingError(f"cannot save a {kind}: a file holds tensors, numbers, text and containers of them. {cure}")
