"""``save`` and ``load``: nested containers of tensors in PyTorch's zip format, both ways, without ever running code."""

import mmap as mapping
import os
import sys
from pickle import UnpicklingError

import numpy as np

from ..backend.device import device
from ..backend.namespace import backend_for
from .atomic import replacing
from .encoder import Encoder
from .names import ALLOWED, LoadedStorage, StorageType, swap_bytes
from .opcodes import Reader
from .records import ALIGNMENT, RecordReader, RecordWriter
from .safetensors import load_file
from .storages import Describer

_STATE_DICT_WAY = (
    'Whoever made the file can save weights instead: torch.save(model.state_dict(), "weights.pt"); then here: '
    'model.load_state_dict(load("weights.pt")).'
)


def save(obj, f):
    """Write ``obj`` to ``f`` in the format of ``torch.save``; torch reads it with ``weights_only=True``.

    obj  a tensor, Parameter, number, text, bytes, dtype, device, Size, or nested dicts, lists, tuples and sets of them
    f    a path, or a file object with ``write``

    Tensors that share memory share it in the file; of memory that nothing saved looks at, nothing is written. A path
    gets its new content at once when all is written, so a crash leaves the old file whole.

    Raises: PicklingError for other objects (a Module: save its ``state_dict()``); RuntimeError if the folder
    is missing.

    Example: ``save({"model": model.state_dict(), "epoch": 3}, "checkpoint.pt")``
    """
    if not isinstance(f, str | os.PathLike) and not hasattr(f, "write"):
        raise AttributeError(f"expected 'f' to be a path or a file-like object with a 'write' attribute, got {type(f)}")
    describe = Describer(obj)
    pickled = Encoder(describe).dump(obj)
    if not isinstance(f, str | os.PathLike):
        _write(f.write, "archive", pickled, describe.storages)
        if hasattr(f, "flush"):
            f.flush()
        return
    path = os.fspath(f)
    stem = os.path.basename(path).rpartition(".")
    name = stem[0] or stem[2]
    with replacing(path) as file:
        _write(file.write, name if name.isascii() else "archive", pickled, describe.storages)


def _write(write, archive, pickled, storages):
    records = RecordWriter(write, archive)
    records.add("data.pkl", pickled)
    records.add(".format_version", b"1")
    records.add(".storage_alignment", b"%d" % ALIGNMENT)
    records.add("byteorder", sys.byteorder.encode())
    for storage in storages:
        records.add(f"data/{storage.key}", storage.data)
    records.close()


def load(f, map_location=None, *, weights_only=True, mmap=None):
    """Read what ``torch.save`` or ``save`` wrote. Never runs code from the file, whatever ``weights_only`` says.

    f             a path (also of a ``.safetensors`` file), or a file object with ``read``, ``seek`` and ``tell``
    map_location  where tensors go: a device or its name; a dict from the file's locations to others; or a function of
                  (storage, location) that returns ``storage``, ``storage.cpu()``, ``storage.cuda(i)`` or None
    weights_only  as in torch; with False, a file that holds code is refused all the same
    mmap          True maps a file given by path instead of reading it: pages come in when used, changes stay in memory

    Raises: FileNotFoundError; RuntimeError for an archive that is not whole, or a device that is missing;
    UnpicklingError for contents that are damaged or not allowed.

    Example: ``model.load_state_dict(load("weights.pt"))``
    """
    if isinstance(f, str | os.PathLike):
        if os.fspath(f).endswith(".safetensors"):
            if map_location is not None and not isinstance(map_location, str | device):
                raise RuntimeError("Loading a safetensors file takes a device or its name as map_location")
            return load_file(f, "cpu" if map_location is None else map_location)
        with open(f, "rb") as file:
            return _load(file, map_location, weights_only, mmap)
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if not all(hasattr(f, name) for name in ("read", "seek", "tell")):
        raise AttributeError(
            "You can only load from a file that is seekable. Please pre-load the data into a buffer like io.BytesIO "
            "and try to load from it instead."
        )
    return _load(f, map_location, weights_only, None)


def _load(file, map_location, weights_only, mmap):
    start = file.tell()
    magic = file.read(4)
    file.seek(start)
    if not magic:
        raise EOFError("Ran out of input: the file is empty")
    if magic != b"PK\3\4":
        raise _foreign(magic)
    records = RecordReader(file)
    if "constants.pkl" in records:
        raise RuntimeError("Cannot load a TorchScript archive: it holds code. " + _STATE_DICT_WAY)
    storages = _Storages(records, map_location, _mapped(file) if mmap else None)

    def refuse(name):
        return UnpicklingError(
            f"Weights only load failed. Unsupported global: GLOBAL {name} was not an allowed global by default. "
            + ("" if weights_only or weights_only is None else "weights_only=False does not change that: ")
            + "This library never runs code that comes in a file. "
            + _STATE_DICT_WAY
        )

    return Reader(records.read("data.pkl").tobytes(), ALLOWED, storages, refuse).load()


def _foreign(magic):
    if magic[:2] == b"\x80\x02":
        return UnpicklingError(
            "the file is in torch's format from before version 1.6, or a plain pickle. Load it in PyTorch "
            "and torch.save it again."
        )
    return UnpicklingError(f"invalid load key, {magic[:1]!r}: the file was not written by torch.save")


def _mapped(file):
    """The whole file as writable memory that is private to this process."""
    return mapping.mmap(file.fileno(), 0, access=mapping.ACCESS_COPY)


class _Storages:
    """Reads each storage of an archive once, when the pickle first refers to it."""

    def __init__(self, records, map_location, mapped):
        self.records, self.mapped = records, mapped
        self.locate = _locator(map_location)
        self.loaded = {}
        order = records.read("byteorder").tobytes().decode("latin-1") if "byteorder" in records else "little"
        if order not in ("little", "big"):
            raise ValueError(f"Unknown endianness type: {order[:20]!r}")
        self.swap = order != sys.byteorder

    def __call__(self, identity):
        if type(identity) is not tuple or len(identity) != 5 or identity[0] != "storage":
            raise UnpicklingError("Only persistent_load of storage is allowed")
        _, kind, key, location, count = identity
        if type(kind) is not StorageType or type(key) is not str or type(location) is not str or type(count) is not int:
            raise UnpicklingError("a storage in the file is not described as torch describes it")
        known = self.loaded.get(key)
        if known is not None:
            same = known.type.dtype is kind.dtype or {known.type.name, kind.name} == {"UntypedStorage", "ByteStorage"}
            if not same or count * kind.itemsize != known.data.nbytes:
                raise UnpicklingError(f"storage {key} is described in two ways")
            return known
        name = f"data/{key}"
        size = self.records.size(name)
        if count < 0 or count * kind.itemsize != size:
            raise UnpicklingError(
                f"storage {key} shall have {count} elements of {kind.itemsize} bytes, but its record has {size} bytes"
            )
        place = self.locate(location)
        storage = self.loaded[key] = LoadedStorage(key, kind, self._data(name, kind, size), place)
        return storage

    def _data(self, name, kind, size):
        if self.mapped is not None and size:
            data = np.frombuffer(self.mapped, np.uint8, size, self.records.offset(name))
        else:
            data = self.records.read(name)
        if self.swap:
            swap_bytes(data, kind)
        if kind.dtype is not None and kind.dtype.name == "bool" and self.mapped is None:
            np.not_equal(data, 0, out=data.view(np.bool_))  # NumPy relies on a bool being 0 or 1
        return data


class MovableStorage:
    """What a ``map_location`` function is given: where a storage would go, and ways to send it elsewhere."""

    __slots__ = ("device",)

    def __init__(self, place):
        self.device = place

    def cpu(self):
        """This storage on the CPU."""
        return MovableStorage(device("cpu"))

    def cuda(self, index=None):
        """This storage on a CUDA device."""
        return MovableStorage(device("cuda", index))

    def xpu(self, index=None):
        """This storage on an Intel device."""
        return MovableStorage(device("xpu", index))


def _locator(map_location):
    """A function from a location written in the file to a device that is there."""
    if isinstance(map_location, str | device):
        fixed = _available(str(map_location))
        return lambda location: fixed
    if isinstance(map_location, dict):
        return lambda location: _available(str(map_location.get(location, location)))
    if map_location is None:
        return _available
    if not callable(map_location):
        raise TypeError(f"map_location is a device, string, dict or function, not a {type(map_location).__name__}")

    def locate(location):
        chosen = map_location(MovableStorage(device("cpu")), location)
        if chosen is None:
            return _available(location)
        if not isinstance(chosen, MovableStorage):
            raise TypeError(f"a map_location function returns its storage or None, not a {type(chosen).__name__}")
        return _available(str(chosen.device))

    return locate


def _available(location):
    """The device of that name. Raises: RuntimeError with the way out when it is not here."""
    try:
        place = device(location)
        backend_for(place)
    except RuntimeError as error:
        raise RuntimeError(
            f"Attempting to deserialize object on device {location[:40]!r}, which is not available here ({error}) "
            "Load it with map_location='cpu' to map your storages to the CPU."
        ) from None
    return place
