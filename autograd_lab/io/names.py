"""The allow-list: the names that may stand in a PyTorch file, and what each of them makes here."""

import math
import sys
from collections import Counter, OrderedDict
from pickle import UnpicklingError

import numpy as np

from ..backend import dtype as dt
from ..backend.device import device
from ..backend.namespace import backend_for
from ..core.size import Size
from ..core.storage import Storage
from ..core.tensor import Parameter, Tensor, wrap
from .opcodes import Constructor, Internal

STORAGE_NAMES = {
    "bool": "BoolStorage",
    "uint8": "ByteStorage",
    "int8": "CharStorage",
    "int16": "ShortStorage",
    "int32": "IntStorage",
    "int64": "LongStorage",
    "float16": "HalfStorage",
    "bfloat16": "BFloat16Storage",
    "float32": "FloatStorage",
    "float64": "DoubleStorage",
    "complex64": "ComplexFloatStorage",
    "complex128": "ComplexDoubleStorage",
}
"""torch's typed storages. Other dtypes live in an untyped storage, and the tensor says its dtype itself."""


class StorageType(Internal):
    """The type named in a storage's persistent id; ``dtype`` is None for untyped bytes."""

    __slots__ = ("name", "dtype")

    def __init__(self, name, dtype):
        self.name, self.dtype = name, dtype

    @property
    def itemsize(self):
        """Bytes per element."""
        return 1 if self.dtype is None else self.dtype.itemsize


class TensorType(Internal):
    """``torch.Tensor`` where a file names the type of a tensor that carries attributes."""

    __slots__ = ()
    name = "torch.Tensor"


class LoadedStorage(Internal):
    """The bytes of one storage while its tensors are being made; these share ``versions``, the core's Storage."""

    __slots__ = ("name", "type", "data", "device", "versions")

    def __init__(self, name, type, data, device):
        self.name, self.type, self.data, self.device = name, type, data, device
        self.versions = Storage()


def swap_bytes(data, type):
    """Turn big-endian elements into little-endian ones, or the other way round, in place. Complex swaps its two halves.

    Raises: UnpicklingError for untyped bytes, whose element size nobody knows.
    """
    if type.dtype is None:
        raise UnpicklingError("an untyped storage was written on a machine of the other byte order")
    width = type.itemsize // (2 if type.dtype.is_complex else 1)
    data.reshape(-1, width)[:] = data.reshape(-1, width)[:, ::-1].copy()


def _integers(values, what):
    if not isinstance(values, tuple) or any(type(v) is not int or v < 0 for v in values):
        raise UnpicklingError(f"a tensor's {what} is {str(values)[:80]}, not a tuple of whole numbers from 0 up")
    return tuple(values)


def _view(storage, offset, size, stride, kind):
    """The array for a tensor inside its storage, after every bound is checked."""
    if type(storage) is not LoadedStorage:
        raise UnpicklingError("a tensor in the file has no storage")
    size, stride = _integers(size, "shape"), _integers(stride, "strides")
    (offset,) = _integers((offset,), "offset")
    if len(size) != len(stride) or len(size) > 64:
        raise UnpicklingError(f"a tensor's shape {list(size)[:8]} and strides {list(stride)[:8]} do not fit together")
    elements = storage.data.nbytes // kind.itemsize
    if 0 in size:
        if math.prod(max(n, 1) for n in size) * kind.itemsize > sys.maxsize:
            raise UnpicklingError(f"a tensor's shape {list(size)} is larger than memory can be")
        return np.empty(size, kind.numpy)
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if last >= elements:
        raise UnpicklingError(
            f"a tensor of shape {list(size)} and strides {list(stride)} at offset {offset} reaches element {last}, but "
            f"storage {storage.name} has {elements}"
        )
    bytes_apart = tuple(min(s * kind.itemsize, sys.maxsize) for s in stride)  # only that of a size 1 can be so large
    return np.ndarray(size, kind.numpy, storage.data, offset * kind.itemsize, bytes_apart)


def _tensor(storage, offset, size, stride, requires_grad, hooks, kind, metadata):
    if hooks:
        raise UnpicklingError("a tensor in the file has hooks, which are code; save it again without them")
    array = _view(storage, offset, size, stride, kind)
    versions = storage.versions
    if metadata:
        if not isinstance(metadata, dict) or not set(metadata) <= {"conj", "neg"}:
            raise UnpicklingError(f"a tensor in the file carries metadata that is not known here: {str(metadata)[:80]}")
        array, versions = np.conj(array) if metadata.get("conj") else array, None
        array = -array if metadata.get("neg") else array
    if storage.device.type != "cpu":
        array, versions = backend_for(storage.device).to_device(array, storage.device), None
    tensor = wrap(array)
    tensor._st = versions
    return _wants_gradient(tensor, requires_grad)


def _wants_gradient(tensor, requires_grad):
    if type(requires_grad) is not bool:
        raise UnpicklingError("requires_grad of a tensor in the file is not True or False")
    if requires_grad and not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        raise UnpicklingError(f"a tensor in the file is {tensor.dtype.name} and requires grad, which cannot be")
    tensor.requires_grad = requires_grad
    return tensor


def _typed_tensor(reader, storage, offset, size, stride, requires_grad, hooks, metadata=None):
    kind = storage.type.dtype or dt.uint8
    return _tensor(storage, offset, size, stride, requires_grad, hooks, kind, metadata)


def _untyped_tensor(reader, storage, offset, size, stride, requires_grad, hooks, kind, metadata=None):
    if not isinstance(kind, dt.dtype):
        raise UnpicklingError("a tensor in the file has no dtype")
    return _tensor(storage, offset, size, stride, requires_grad, hooks, kind, metadata)


def _old_tensor(reader, storage, offset, size, stride):
    return _typed_tensor(reader, storage, offset, size, stride, False, None)


def _parameter(reader, data, requires_grad, hooks):
    if type(data) is not Tensor or hooks:
        raise UnpicklingError("a Parameter in the file is not made of a tensor, or has hooks, which are code")
    return _wants_gradient(Parameter(data, requires_grad=False), requires_grad)


def _parameter_with_attributes(reader, data, requires_grad, hooks, state):
    return _with_attributes(_parameter(reader, data, requires_grad, hooks), state)


def _tensor_with_attributes(reader, rebuild, kind, arguments, state):
    if type(rebuild) is not Constructor or type(kind) is not TensorType or type(arguments) is not tuple:
        raise UnpicklingError("a tensor subclass in the file is not known here; save plain tensors")
    return _with_attributes(rebuild.make(reader, *arguments), state)


def _with_attributes(tensor, state):
    """Attributes the learner had put on the tensor; none may replace what a Tensor has, or start with ``_``."""
    if type(state) is not dict or not isinstance(tensor, Tensor):
        raise UnpicklingError("the attributes of a tensor in the file are not a dict")
    for name, value in state.items():
        if type(name) is not str or name.startswith("_") or hasattr(tensor, name):
            raise UnpicklingError(f"the file overwrites the attribute {str(name)[:80]!r} of a tensor")
        setattr(tensor, name, value)
    return tensor


def _set(reader, values=()):
    return reader.fill_set(_sequence(values), set())


def _frozenset(reader, values=()):
    return frozenset(reader.fill_set(_sequence(values), set()))


def _sequence(values):
    if type(values) not in (list, tuple):
        raise UnpicklingError("a set in the file is not made from a list")
    return values


def _pairs_into(target):
    def make(reader, pairs=()):
        made = target()
        pairs = pairs.items() if type(pairs) is dict else _sequence(pairs)
        for key, value in pairs:
            reader.key(made, key)
            made[key] = value
        return made

    return make


def _complex(reader, real, imaginary):
    if type(real) is not float or type(imaginary) is not float:
        raise UnpicklingError("a complex number in the file is not made of two floats")
    return complex(real, imaginary)


def _encode(reader, text, encoding):
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise UnpicklingError("bytes in the file are not written the way pickle writes them")
    return text.encode("latin-1")


def _bytes(kind):
    def make(reader, data=b""):
        if type(data) is not bytes:  # a number here would ask for that many bytes of memory
            raise UnpicklingError(f"a {kind.__name__} in the file is not made of bytes")
        return kind(data)

    return make


def _size(reader, sizes):
    return Size(_integers(sizes, "shape"))


def _device(reader, kind, index=None):
    if type(kind) is not str or not (index is None or type(index) is int):
        raise UnpicklingError("a device in the file is not written as torch writes it")
    try:
        return device(kind, index)
    except RuntimeError as error:
        raise UnpicklingError(f"a device in the file is not known here: {error}") from None


def _unsupported(what):
    def make(reader, *arguments):
        raise UnpicklingError(f"the file holds {what}, which this library does not have; save it as a dense tensor")

    return make


def _allowed():
    calls = {
        "torch._utils _rebuild_tensor": _old_tensor,
        "torch._utils _rebuild_tensor_v2": _typed_tensor,
        "torch._utils _rebuild_tensor_v3": _untyped_tensor,
        "torch._utils _rebuild_parameter": _parameter,
        "torch._utils _rebuild_parameter_with_state": _parameter_with_attributes,
        "torch._tensor _rebuild_from_type_v2": _tensor_with_attributes,
        "torch._utils _rebuild_sparse_tensor": _unsupported("a sparse tensor"),
        "torch._utils _rebuild_qtensor": _unsupported("a quantised tensor"),
        "torch._utils _rebuild_nested_tensor": _unsupported("a nested tensor"),
        "torch._utils _rebuild_meta_tensor_no_storage": _unsupported("a tensor on the meta device, without values"),
        "torch.serialization _get_layout": lambda reader, name: name,
        "torch Size": _size,
        "torch device": _device,
        "collections OrderedDict": _pairs_into(OrderedDict),
        "collections Counter": _pairs_into(Counter),
        "_codecs encode": _encode,
    }
    for module in ("builtins", "__builtin__"):
        calls |= {
            f"{module} set": _set,
            f"{module} frozenset": _frozenset,
            f"{module} complex": _complex,
            f"{module} bytes": _bytes(bytes),
            f"{module} bytearray": _bytes(bytearray),
        }
    names = {tuple(name.split()): Constructor(name.replace(" ", "."), make) for name, make in calls.items()}
    for kind in dt.ALL:
        names["torch", kind.name] = kind
        if kind.name in STORAGE_NAMES:
            name = STORAGE_NAMES[kind.name]
            names["torch", name] = names["torch.cuda", name] = StorageType(name, kind)
    names["torch.storage", "UntypedStorage"] = StorageType("UntypedStorage", None)
    names["torch", "Tensor"] = TensorType()
    return names


ALLOWED = _allowed()
