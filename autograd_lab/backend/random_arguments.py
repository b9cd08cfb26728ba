"""Arguments of random draws, checked; errors have PyTorch's types and words."""

import math
import operator

import ml_dtypes
import numpy as np

MANTISSA = {
    np.dtype(np.float16): 11, np.dtype(ml_dtypes.bfloat16): 8, np.dtype(np.float32): 24, np.dtype(np.float64): 53,
}  # fmt: skip
"""Bits of precision of the floating dtypes."""


def size_of(shape):
    """The number of elements and the shape as a tuple; RuntimeError where a size is negative."""
    shape = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    for size in shape:
        if size < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(shape)}")
    return math.prod(shape), shape


def whole(value, function, name):
    """``value`` as an int, else TypeError in PyTorch's words."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{function}(): argument '{name}' must be int, not {type(value).__name__}") from None


def floating(dtype, kernel):
    """The NumPy dtype, if it is a floating one."""
    dtype = np.dtype(dtype)
    if dtype not in MANTISSA:
        raise NotImplementedError(f'"{kernel}" not implemented for {dtype}; use a floating dtype')
    return dtype


def check_uniform(low, high, dtype):
    """Raise PyTorch's error for bounds that are out of order or out of range."""
    limit = float(ml_dtypes.finfo(dtype).max)
    for name, bound in (("from", low), ("to", high)):
        if not -limit <= bound <= limit:
            raise RuntimeError(f"{name} is out of bounds for {dtype}: {bound} is not within ±{limit:.6g}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}")
    if high - low > limit:
        raise RuntimeError(f"uniform_ expects to-from <= {limit:.6g}, but found to={high} and from={low}")


def check_integers(low, high, dtype):
    """Raise PyTorch's error for an empty range or for bounds that ``dtype`` cannot hold."""
    if not -(1 << 63) <= low < 1 << 63 or high > 1 << 63:
        raise ValueError(f"Overflow when unpacking long long: the range [{low}, {high}) goes beyond int64")
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if dtype.kind == "b":
        least, most = 0, 1
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        least, most = int(info.min), int(info.max)
    elif dtype in MANTISSA:
        most = int(float(ml_dtypes.finfo(dtype).max))
        least = -most
    else:
        raise RuntimeError(f"randint handles only integral, floating-point and boolean types, got {dtype}")
    for name, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= most:
            raise RuntimeError(f"{name} is out of bounds for {dtype}: {bound} is not within [{least}, {most}]")


def check_permutation(n, dtype):
    """Raise PyTorch's error for a length that is negative or that ``dtype`` cannot count to."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    if dtype in MANTISSA:
        most = (1 << MANTISSA[dtype]) + 1
    elif dtype.kind in "iu":
        most = int(np.iinfo(dtype).max)
    else:
        raise NotImplementedError(f'"randperm" not implemented for {dtype}')
    if n > most:
        raise RuntimeError(f"n cannot be greater than {most} for {dtype}, got n={n}")
