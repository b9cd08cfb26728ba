"""Checks of dimensions, shapes and dtypes that the public functions share; each raises PyTorch's error."""

import operator

from ..backend import dtype as dt
from ..core.tensor import TENSOR_TYPES, Tensor

_SCALAR_NAMES = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long", "float16": "Half",
    "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
}  # fmt: skip


def scalar_name(dtype):
    """PyTorch's older name of a dtype, as its messages use it: ``Long`` for int64."""
    return _SCALAR_NAMES[dtype.name]


def need_tensor(value, name, position=1, argument="input"):
    """Raise TypeError unless ``value`` is a Tensor."""
    if type(value) not in TENSOR_TYPES and not isinstance(value, Tensor):
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be Tensor, not {type(value).__name__}")


def one_dim(dim, ndim):
    """``dim`` counted from the front. Raises: IndexError out of range, TypeError if it is no whole number."""
    n = ndim or 1
    try:
        if -n <= dim < n:
            return operator.index(dim) % n
    except TypeError:
        raise TypeError(f"dim must be int or a tuple of ints, not {type(dim).__name__}") from None
    raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")


def some_dims(dim, ndim):
    """A tuple of distinct dimensions counted from the front; None stays None, and so does everything for a 0-d tensor.

    Raises: IndexError out of range, RuntimeError for a repeated dimension.
    """
    if dim is None:
        return None
    if type(dim) is int:
        return (one_dim(dim, ndim),) if ndim else _none(one_dim(dim, 0))
    if isinstance(dim, tuple | list):
        out = []
        for d in dim:
            d = one_dim(d, ndim)
            if d in out:
                raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
            out.append(d)
        return tuple(out) if ndim else None
    return (one_dim(dim, ndim),) if ndim else _none(one_dim(dim, 0))


def _none(checked):
    return None


def sizes(args, name="shape"):
    """The whole numbers that ``f(2, 3)``, ``f((2, 3))``, ``f([2, 3])`` or ``f(size)`` means.

    Raises: TypeError for what is not whole.
    """
    if len(args) == 1 and not isinstance(args[0], int):
        inner = args[0]
        if isinstance(inner, tuple | list):
            args = inner
    for a in args:
        if type(a) is not int:
            break
    else:
        return tuple(args)
    try:
        return tuple(operator.index(a) for a in args)
    except TypeError:
        raise TypeError(f"{name} must be whole numbers or a tuple of them, got {args!r}") from None


def number_of(value):
    """A Python number for a number or one-element Tensor."""
    return value.item() if isinstance(value, Tensor) else value


def is_floating(tensor):
    """Whether the dtype is floating or complex."""
    return tensor.dtype.category >= dt.CATEGORY_FLOAT
