"""The safetensors format, read and written by the safetensors package: names, shapes and bytes; never code."""

import os

import numpy as np

from ..backend import dtype as dt
from ..backend.device import device as device_named
from ..backend.namespace import backend_for
from ..core.tensor import Tensor, wrap
from .atomic import replacing

_NAMES = {
    "bool": "BOOL", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "int8": "I8", "int16": "I16", "int32": "I32",
    "int64": "I64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "complex64": "C64",
}  # fmt: skip
_KINDS = {_NAMES[kind.name]: kind for kind in dt.ALL if kind.name in _NAMES}


def _package():
    try:
        import safetensors  # only programs that use the format need the package
    except ImportError:
        raise RuntimeError("this file format needs the safetensors package: pip install safetensors") from None
    return safetensors


def save_file(tensors, filename, metadata=None):
    """Write a dict of name -> tensor to a ``.safetensors`` file. Views are written out: the format shares nothing.

    metadata  a dict of text to text, kept in the header

    Raises: ValueError for a dtype that the format lacks (complex128) or something that is not a tensor; RuntimeError
    without the safetensors package.
    """
    if metadata is not None and any(type(part) is not str for pair in metadata.items() for part in pair):
        raise ValueError("metadata is a dict of text to text")
    entries = {}
    for name, tensor in tensors.items():
        if type(name) is not str or not isinstance(tensor, Tensor) or tensor.dtype.name not in _NAMES:
            what = f"a tensor of {tensor.dtype.name}" if isinstance(tensor, Tensor) else f"a {type(tensor).__name__}"
            raise ValueError(f"{name!r} is {what}; safetensors holds named tensors of {', '.join(_NAMES)}")
        array = np.asarray(backend_for(tensor.device).to_host(tensor._array()), order="C")
        entries[name] = array
    _package()
    from safetensors.numpy import save

    content = save(entries, metadata)
    with replacing(os.fspath(filename)) as file:
        file.write(content)


def load_file(filename, device="cpu"):
    """Read a ``.safetensors`` file into a dict of name -> tensor.

    Raises: FileNotFoundError; RuntimeError for a file that is damaged, or whose dtype is not known here.
    """
    place = device_named(device)
    backend = backend_for(place)
    package = _package()
    with open(filename, "rb") as file:
        content = file.read()
    tensors = {}
    try:
        for name, entry in package.deserialize(content):
            if entry["dtype"] not in _KINDS:
                raise ValueError(f"{name!r} has dtype {entry['dtype']!r}, which is not known here")
            kind = _KINDS[entry["dtype"]]
            data = np.frombuffer(bytearray(entry["data"]), np.uint8)
            if kind is dt.bool_:
                data = (data != 0).view(np.uint8)  # NumPy relies on a bool being 0 or 1
            tensors[name] = wrap(backend.to_device(data.view(kind.numpy).reshape(entry["shape"]), place))
    except (package.SafetensorError, ValueError) as error:
        raise RuntimeError(f"{os.fspath(filename)}: not a whole safetensors file: {error}") from None
    return tensors
