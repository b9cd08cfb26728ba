"""Summaries: what a view is told of an array instead of the array.

A summary never holds on to the array, and never fails: any shape, any dtype (also bfloat16, bool,
complex, empty, all NaN) has one.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from .schema import Grid, Histogram, Summary, WireNumber

LISTED = 64
GRID = 16
LINE = 64
BINS = 20


@cache
def dtype_name(dtype: Any) -> str:
    """Name of a NumPy dtype or of one of ours: float32, bfloat16."""
    return getattr(dtype, "name", None) or str(dtype)


def wire(value: float | int | None) -> WireNumber | None:
    """A number as JSON can carry it: non-finite ones as words."""
    if value is None or isinstance(value, int):
        return value
    if math.isfinite(value):
        return value
    return "NaN" if value != value else ("Infinity" if value > 0 else "-Infinity")


def _exact(value: Any) -> WireNumber:
    """One element, with the shortest decimals that give it back in its own precision (0.1, not 0.10000000149)."""
    if isinstance(value, np.floating):
        return wire(float(str(value)))
    return wire(value.item())


def _readable(array: Any) -> np.ndarray:
    """The array in a dtype NumPy has statistics for; complex ones as magnitudes."""
    array = np.asarray(array)
    if array.dtype.kind == "c":
        return np.abs(array)
    if array.dtype.kind == "b":
        return array.view(np.uint8)
    if array.dtype.kind in "iuf" and array.dtype.type.__module__ == "numpy":
        return array
    return array.astype(np.float32)


def _cuts(size: int, most: int) -> np.ndarray:
    """Where each of at most `most` blocks begins."""
    return np.unique(np.arange(min(size, most)) * size // min(size, most))


def _blocks(array: np.ndarray, cuts: np.ndarray, axis: int) -> np.ndarray:
    lengths = np.diff(np.append(cuts, array.shape[axis]))
    sums = np.add.reduceat(array, cuts, axis=axis)
    return sums / (lengths[:, None] if axis == 0 else lengths)


def grid(array: np.ndarray) -> Grid:
    """Thumbnail of a non-empty array by means of blocks, so that one NaN marks its block."""
    array = _readable(array)
    flat = array.reshape(1, -1) if array.ndim < 2 else array.reshape(-1, array.shape[-1])
    rows, cols = _cuts(flat.shape[0], GRID), _cuts(flat.shape[1], GRID if array.ndim > 1 else LINE)
    with np.errstate(all="ignore"):
        small = _blocks(_blocks(flat.astype(np.float64), rows, 0), cols, 1)
    values = [wire(float(f"{v:.5g}")) for v in small.ravel().tolist()]
    return {"rows": len(rows), "cols": len(cols), "values": values}


def histogram(finite: np.ndarray) -> Histogram | None:
    """Counts of finite values in equal bins; None for no values."""
    if finite.size == 0:
        return None
    low, high = float(finite.min()), float(finite.max())
    if low == high or not math.isfinite(high - low):
        return {"edges": [low, high], "counts": [int(finite.size)]}
    counts, edges = np.histogram(finite.astype(np.float64, copy=False), bins=BINS, range=(low, high))
    return {"edges": [float(f"{e:.6g}") for e in edges.tolist()], "counts": counts.tolist()}


def summary(array: Any) -> Summary:
    """Statistics, and all elements (few) or a thumbnail and histogram (many), of an array.

    Args:
        array: anything NumPy can read as numbers.

    Example:
        >>> summary(np.array([0.0, 2.0], np.float32))["mean"]
        1.0
    """
    given = np.asarray(array)
    name = dtype_name(given.dtype)
    flat = _readable(given).ravel()
    size = flat.size
    result: Summary = {
        "shape": list(given.shape), "dtype": name, "min": None, "max": None, "mean": None, "norm": None,
        "zeros": 0, "nan": 0, "inf": 0, "size": size, "values": None, "grid": None, "histogram": None,
    }  # fmt: skip
    if size == 0:
        result["values"] = []
        return result
    finite = flat
    if flat.dtype.kind == "f":
        mask = np.isfinite(flat)
        if not mask.all():
            finite = flat[mask]
            result["nan"] = int(np.isnan(flat).sum())
            result["inf"] = size - finite.size - result["nan"]
    result["zeros"] = size - int(np.count_nonzero(flat))
    if size == 1 and finite.size:
        result["min"] = result["max"] = result["mean"] = _exact(flat[0])
        result["norm"] = _exact(abs(flat[0]))
    elif finite.size:
        low, high = finite.min(), finite.max()
        result["min"], result["max"] = _exact(low), _exact(high)
        wide = finite.astype(np.float64)
        # Scale first: the square of 1e200 is not a float, the norm is.
        scale = max(abs(float(low)), abs(float(high)), 1e-300)
        result["mean"] = wire(float(f"{float((wide / scale).mean()) * scale:.9g}"))
        wide /= scale
        result["norm"] = wire(float(f"{math.sqrt(float(np.dot(wide, wide))) * scale:.9g}"))
    if size <= LISTED:
        result["values"] = [_exact(v) for v in flat]
    else:
        result["grid"] = grid(given)
        result["histogram"] = histogram(finite)
    return result


def as_array(value: Any) -> np.ndarray | None:
    """The NumPy array behind a Tensor, an array or a number (fetched from its device); None for anything else."""
    take = getattr(value, "_array", None)
    if take is not None:
        value = take()
    if isinstance(value, np.ndarray | np.generic | bool | int | float | complex):
        return np.asarray(value)
    fetch = getattr(value, "get", None) or getattr(value, "asnumpy", None)
    return np.asarray(fetch()) if callable(fetch) and hasattr(value, "dtype") else None
