"""PyTorch's dtypes over NumPy's: one object per dtype, and the default floating dtype."""

import ml_dtypes
import numpy as np

_BY_NUMPY: dict = {}
_BY_NAME: dict = {}

CATEGORY_BOOL, CATEGORY_INT, CATEGORY_FLOAT, CATEGORY_COMPLEX = range(4)


class dtype:  # noqa: N801 (PyTorch's name)
    """The element type of a tensor, such as ``float32``.

    Attributes: ``name``; ``numpy`` (the NumPy dtype that stores it); ``itemsize`` in bytes; ``category``
    (bool < integer < float < complex, what type promotion compares); ``is_floating_point``; ``is_complex``; ``is_signed``.
    """

    __slots__ = ("name", "numpy", "itemsize", "category", "is_floating_point", "is_complex", "is_signed", "__weakref__")

    def __init__(self, name, numpy_dtype, category, *aliases):
        self.name = name
        self.numpy = np.dtype(numpy_dtype)
        self.itemsize = self.numpy.itemsize
        self.category = category
        self.is_floating_point = category == CATEGORY_FLOAT
        self.is_complex = category == CATEGORY_COMPLEX
        self.is_signed = name not in ("bool", "uint8", "uint16", "uint32", "uint64")
        _BY_NUMPY[self.numpy] = self
        for alias in (name, *aliases):
            _BY_NAME[alias] = self

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return _named, (self.name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    @property
    def to_complex(self):
        """The complex dtype of the same precision."""
        return {"float64": complex128, "complex128": complex128}.get(self.name, complex64)

    def to_real(self):
        """The real dtype of the same precision."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)


def _named(name):
    return _BY_NAME[name]


bool_ = dtype("bool", np.bool_, CATEGORY_BOOL)
uint8 = dtype("uint8", np.uint8, CATEGORY_INT)
uint16 = dtype("uint16", np.uint16, CATEGORY_INT)
uint32 = dtype("uint32", np.uint32, CATEGORY_INT)
uint64 = dtype("uint64", np.uint64, CATEGORY_INT)
int8 = dtype("int8", np.int8, CATEGORY_INT)
int16 = dtype("int16", np.int16, CATEGORY_INT, "short")
int32 = dtype("int32", np.int32, CATEGORY_INT, "int")
int64 = dtype("int64", np.int64, CATEGORY_INT, "long")
float16 = dtype("float16", np.float16, CATEGORY_FLOAT, "half")
bfloat16 = dtype("bfloat16", ml_dtypes.bfloat16, CATEGORY_FLOAT)
float32 = dtype("float32", np.float32, CATEGORY_FLOAT, "float")
float64 = dtype("float64", np.float64, CATEGORY_FLOAT, "double")
complex64 = dtype("complex64", np.complex64, CATEGORY_COMPLEX, "cfloat")
complex128 = dtype("complex128", np.complex128, CATEGORY_COMPLEX, "cdouble")

ALL = tuple(dict.fromkeys(_BY_NUMPY.values()))

_default = float32


def from_numpy_dtype(numpy_dtype):
    """The library's dtype for a NumPy one; TypeError where PyTorch has no such dtype."""
    try:
        return _BY_NUMPY[numpy_dtype]
    except (KeyError, TypeError):
        pass
    found = _BY_NUMPY.get(np.dtype(numpy_dtype).newbyteorder("="))
    if found is None:
        raise TypeError(
            f"can't convert a NumPy array of dtype {numpy_dtype} to a tensor; supported are "
            + ", ".join(d.name for d in ALL)
        )
    return found


def get_default_dtype():
    """The dtype of new floating tensors made from Python numbers (float32 unless changed)."""
    return _default


def set_default_dtype(d):
    """Set the default floating dtype, process-wide.

    Raises: TypeError if ``d`` is not a floating dtype.
    """
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, got {d!r}")
    _default = d


def default_complex():
    """The complex dtype that goes with the default floating dtype."""
    return complex128 if _default is float64 else complex64


def of_number(value):
    """The dtype that PyTorch gives to a tensor made of this Python number."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    if isinstance(value, complex):
        return default_complex()
    return _default


class finfo:  # noqa: N801 (PyTorch's name)
    """Limits of a floating dtype: bits, eps, max, min, tiny, smallest_normal, resolution, dtype."""

    def __init__(self, type=None):
        kind = type or _default
        if kind.category < CATEGORY_FLOAT:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{kind!r}'")
        kind = kind.to_real()
        info = ml_dtypes.finfo(kind.numpy)
        self.bits = info.bits
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.smallest_normal)
        self.resolution = float(info.resolution)
        self.dtype = kind.name

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:  # noqa: N801 (PyTorch's name)
    """Limits of an integer dtype: bits, max, min, dtype."""

    def __init__(self, type):
        if type.category != CATEGORY_INT:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type!r}'")
        info = np.iinfo(type.numpy)
        self.bits, self.max, self.min, self.dtype = info.bits, int(info.max), int(info.min), type.name

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
