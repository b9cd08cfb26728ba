"""The safetensors format: a length, a JSON header that says where each tensor lies, then the bytes; never code."""

import json
import math
import os
import struct

import numpy as np

from ..backend import dtype as dt
from ..backend.device import device as device_named
from ..backend.namespace import backend_for
from ..core.tensor import Tensor, wrap
from .atomic import replacing

_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "float16": "F16",
    "bfloat16": "BF16",
    "float32": "F32",
    "float64": "F64",
    "complex64": "C64",
}
_KINDS = {_NAMES[kind.name]: kind for kind in dt.ALL if kind.name in _NAMES}
MAX_HEADER = 100_000_000


def save_file(tensors, filename, metadata=None):
    """Write a dict of name -> tensor to a ``.safetensors`` file. Views are written out: the format shares nothing.

    metadata  a dict of text to text, kept in the header

    Raises: ValueError for a dtype that the format lacks (complex128) or something that is not a tensor.
    """
    header, arrays, position = {}, [], 0
    if metadata is not None:
        if any(type(part) is not str for pair in metadata.items() for part in pair):
            raise ValueError("metadata is a dict of text to text")
        header["__metadata__"] = dict(metadata)
    by_width = sorted(tensors.items(), key=lambda item: (-getattr(item[1], "itemsize", 0), str(item[0])))
    for name, tensor in by_width:
        if type(name) is not str or not isinstance(tensor, Tensor) or tensor.dtype.name not in _NAMES:
            what = f"a tensor of {tensor.dtype.name}" if isinstance(tensor, Tensor) else f"a {type(tensor).__name__}"
            raise ValueError(f"{name!r} is {what}; safetensors holds named tensors of {', '.join(_NAMES)}")
        array = np.ascontiguousarray(backend_for(tensor.device).to_host(tensor._array()))
        end = position + array.nbytes
        header[name] = {
            "dtype": _NAMES[tensor.dtype.name],
            "shape": list(tensor.shape),
            "data_offsets": [position, end],
        }
        arrays.append(array.reshape(-1).view(np.uint8))
        position = end
    encoded = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    encoded += b" " * (-len(encoded) % 8)
    with replacing(os.fspath(filename)) as file:
        file.write(struct.pack("<Q", len(encoded)) + encoded)
        for array in arrays:
            file.write(array)


def load_file(filename, device="cpu"):
    """Read a ``.safetensors`` file into a dict of name -> tensor, every size checked before memory is taken.

    Raises: FileNotFoundError; RuntimeError for a file that is damaged, or whose dtype is not known here.
    """
    place = device_named(device)
    backend = backend_for(place)
    with open(filename, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            entries, start = _header(file, size)
            tensors = {}
            for name, (kind, shape, begin, end) in sorted(entries.items(), key=lambda item: item[1][2:]):
                file.seek(start + begin)
                data = np.empty(end - begin, np.uint8)
                if file.readinto(data) != len(data):
                    raise ValueError(f"{name!r} is cut short")
                if kind is dt.bool_:
                    np.not_equal(data, 0, out=data.view(np.bool_))  # NumPy relies on a bool being 0 or 1
                array = data.view(kind.numpy).reshape(shape)
                tensors[name] = wrap(backend.to_device(array, place))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, struct.error) as error:
            raise RuntimeError(f"{os.fspath(filename)}: not a whole safetensors file: {error}") from None
    return tensors


def _header(file, size):
    """(name -> (dtype, shape, begin, end), where the data start), after all of it is checked."""
    (length,) = struct.unpack("<Q", file.read(8))
    start = 8 + length
    if length > MAX_HEADER or start > size:
        raise ValueError(f"its header claims {length} bytes")
    header = json.loads(file.read(length).decode(), object_pairs_hook=_without_repeats)
    header.pop("__metadata__", None)
    entries = {name: _entry(name, **entry) for name, entry in header.items()}
    at = 0
    for begin, end in sorted(entry[2:] for entry in entries.values()):
        if begin != at:
            raise ValueError(f"tensors overlap or leave a gap at byte {at}")
        at = end
    if start + at != size:
        raise ValueError(f"it has {size - start} bytes of data where its header describes {at}")
    return entries, start


def _entry(name, dtype, shape, data_offsets):
    begin, end = data_offsets
    if dtype not in _KINDS:
        raise ValueError(f"{name!r} has dtype {dtype!r}, which is not known here")
    if any(type(n) is not int or n < 0 for n in (*shape, begin, end)) or len(shape) > 64:
        raise ValueError(f"{name!r} has a shape or offsets that cannot be")
    kind = _KINDS[dtype]
    if math.prod(shape) * kind.itemsize != end - begin:
        raise ValueError(f"{name!r} of shape {shape} and dtype {kind.name} does not fit its {end - begin} bytes")
    return kind, tuple(shape), begin, end


def _without_repeats(pairs):
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name stands twice in its header")
    return made
