"""Other dtypes and devices: ``to`` in its forms, ``float`` … ``bool``, ``type``, ``cpu``, ``cuda``."""

from ..backend import dtype as dt
from ..backend.device import device as Device
from ..backend.namespace import backend_for, device_of
from ..core.op import op
from ..core.public import METHODS, public
from ..core.tensor import Tensor, wrap
from .dims import scalar_name
from .samples import Sample, spread
from .shape import cast, clone


def _moved(xp, x, target, source):
    host = x if source.type == "cpu" else backend_for(source).to_host(x)
    return host if target.type == "cpu" else backend_for(target).to_device(host, target)


move = op(
    "to_device", _moved, lambda g, y, x, target, source: move(g, source, target), kind="structure", grad_name="ToCopy", symbol="to",
    samples=lambda: iter((Sample(spread((3, 4)), params=(Device("cpu"), Device("cpu"))),)), ref=lambda x, t, s: x,
    formula={"forward": "x on another device", "rules": ["ḡ on the device of x"]},
)  # fmt: skip


def _to(input, dtype, device, copy):
    out = input
    if device is not None:
        target, source = Device(device), device_of(input._d)
        if target.type != source.type or (target.index is not None and source.index not in (None, target.index)):
            backend_for(target)  # raises where the library for that device is missing
            out = move(out, target, source)
    if dtype is not None and out._d.dtype != dtype.numpy:
        return cast(out, dtype.numpy)
    return clone(out) if copy and out is input else out


@public("to", namespace=None)
def to(input, *args, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None, other=None):
    """The tensor in another dtype or on another device: ``to(dtype)``, ``to(device)``, ``to(device, dtype)``, ``to(other)``.

    Returns: the tensor itself if nothing changes, unless ``copy=True``. Example: ``x.to(torch.float64)``
    """
    rest = []
    for place, a in enumerate(args):
        if isinstance(a, dt.dtype):
            dtype = a
        elif isinstance(a, str | Device) or (type(a) is int and place == 0):
            device = a
        elif isinstance(a, Tensor):
            other = a
        elif a is not None:
            rest.append(a)
    if rest:
        if not all(isinstance(a, bool) for a in rest):
            raise TypeError(f"to() received an invalid combination of arguments: {', '.join(type(a).__name__ for a in args)}")
        copy = copy or (len(rest) > 1 and rest[1])
    if other is not None:
        dtype, device = other.dtype, other.device
    return _to(input, dtype, device, copy)


def _named(name, dtype):
    numpy_dtype = dtype.numpy

    def convert(input, memory_format=None):
        return input if input._d.dtype == numpy_dtype else cast(input, numpy_dtype)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"The tensor as {dtype.name}; itself if it is that already."
    METHODS[name] = convert
    return convert


_DTYPES = {
    "float": dt.float32, "double": dt.float64, "half": dt.float16, "bfloat16": dt.bfloat16, "long": dt.int64, "int": dt.int32,
    "short": dt.int16, "char": dt.int8, "byte": dt.uint8, "bool": dt.bool_, "cfloat": dt.complex64, "cdouble": dt.complex128,
}  # fmt: skip
for _name, _dtype in _DTYPES.items():
    _named(_name, _dtype)

TYPE_NAMES = {scalar_name(d): d for d in dt.ALL if not d.is_complex}
"""PyTorch's older type names: ``Float`` in ``torch.FloatTensor``."""


@public("type", namespace=None)
def type_(input, dtype=None, non_blocking=False):
    """Without argument the old type name, such as ``torch.FloatTensor``; else the tensor as that dtype or type.

    Raises: ValueError for an unknown type name.
    """
    if dtype is None:
        prefix = "" if input.device.type == "cpu" else f"{input.device.type}."
        return f"torch.{prefix}{scalar_name(input.dtype)}Tensor"
    if isinstance(dtype, dt.dtype):
        return _to(input, dtype, None, False)
    if hasattr(dtype, "dtype") and isinstance(dtype.dtype, dt.dtype):
        return _to(input, dtype.dtype, None, False)
    name = str(dtype).removeprefix("torch.").removeprefix("cuda.").removesuffix("Tensor")
    if name not in TYPE_NAMES:
        raise ValueError(f"invalid type: {dtype!r}")
    return _to(input, TYPE_NAMES[name], "cuda" if "cuda" in str(dtype) else None, False)


@public("type_as", namespace=None)
def type_as(input, other):
    """The tensor in the dtype and on the device of ``other``."""
    return _to(input, other.dtype, other.device, False)


@public("cpu", namespace=None)
def cpu(input, memory_format=None):
    """The tensor in host memory; itself if it is there already."""
    return _to(input, None, "cpu", False)


@public("cuda", namespace=None)
def cuda(input, device=None, non_blocking=False, memory_format=None):
    """The tensor on a CUDA device. Raises: RuntimeError saying what to install where there is none."""
    target = Device("cuda") if device is None else Device(device)
    return _to(input, None, target, False)


@public("xpu", namespace=None)
def xpu(input, device=None, non_blocking=False, memory_format=None):
    """The tensor on an Intel device. Raises: RuntimeError saying what to install where there is none."""
    return _to(input, None, Device("xpu") if device is None else Device(device), False)


@public("pin_memory", namespace=None)
def pin_memory(input, device=None):
    """The tensor itself: host memory is not page-locked here."""
    return input


@public("is_pinned", namespace=None)
def is_pinned(input, device=None):
    """False: host memory is not page-locked here."""
    return False


class memory_format:  # noqa: N801 (PyTorch's name)
    """How dimensions lie in memory; accepted and ignored: arrays here are strided."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"torch.{self._name}"


class _TypeMeta(type):
    """``torch.FloatTensor``: makes CPU tensors of one dtype, and tells whether a tensor is one."""

    def __call__(cls, *args):
        if len(args) == 1 and not isinstance(args[0], int):
            from .create import tensor

            return tensor(args[0], dtype=cls.dtype)
        from .create import empty

        return empty(*args, dtype=cls.dtype) if args else empty(0, dtype=cls.dtype)

    def __instancecheck__(cls, value):
        return isinstance(value, Tensor) and value.dtype is cls.dtype

    def __repr__(cls):
        return f"<class 'torch.{cls.__name__}'>"


def _publish_types():
    from ..core.public import NAMESPACES

    for name in ("preserve_format", "contiguous_format", "channels_last", "channels_last_3d"):
        NAMESPACES["torch"][name] = memory_format(name)
    NAMESPACES["torch"]["memory_format"] = memory_format
    for name, dtype in TYPE_NAMES.items():
        doc = f"``torch.{name}Tensor([1, 2])``: the old way to make a {dtype.name} tensor; use ``tensor(data, dtype=…)``."
        made = _TypeMeta(f"{name}Tensor", (), {"dtype": dtype, "__doc__": doc, "__module__": "torch"})
        NAMESPACES["torch"][made.__name__] = made


_publish_types()

__all__ = ["cpu", "cuda", "move", "to", "type_as", "wrap"]
