"""A size-capped pool of large CPU buffers.

Freed blocks above 128 kB go back to the system and come back as page faults, which cost more than Python does.
The pool keeps its blocks and hands one out again once no array looks into it any more. Small arrays never come here.
"""

import math
import os
import sys
import threading

import numpy as np

LARGE = 1 << 17
"""Bytes from which an array is worth pooling."""


class Block(np.ndarray):
    """A pooled buffer; a class of its own so that arrays cut from it can be told by their ``base``.

    It owns its memory: were it a view, NumPy would make its owner the base of arrays cut from it, and every block in use
    would look free.
    """


def _default_cap():
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        memory = 2 << 30
    return min(256 << 20, memory // 8)


def _references(blocks, place):
    return sys.getrefcount(blocks[place])


# Counted, not known: how many references the interpreter itself holds meanwhile differs between versions of Python.
_UNUSED = _references([Block(1, np.uint8)], 0)


class Pool:
    """Blocks by exact size. ``take`` returns an uninitialised array; a block is free when only the pool refers to it."""

    def __init__(self, cap=None):
        self.cap = _default_cap() if cap is None else cap
        self.held = 0
        self._blocks = {}
        self._lock = threading.Lock()

    def take(self, shape, dtype):
        """An uninitialised array of this shape and dtype, from a free block if there is one."""
        size = dtype.itemsize
        for s in shape:
            size *= s
        with self._lock:
            blocks = self._blocks.get(size)
            if blocks is None:
                blocks = self._blocks[size] = []
            for place in range(len(blocks)):
                if sys.getrefcount(blocks[place]) == _UNUSED:
                    return np.ndarray(shape, dtype, blocks[place])
            if self.held + size > self.cap:
                self._drop_free()
            if self.held + size > self.cap:
                return np.empty(shape, dtype)
            block = Block(size, np.uint8)
            blocks.append(block)
            self.held += size
            return np.ndarray(shape, dtype, block)

    def _drop_free(self):
        for size, blocks in list(self._blocks.items()):
            kept = [blocks[place] for place in range(len(blocks)) if sys.getrefcount(blocks[place]) != _UNUSED]
            self.held -= size * (len(blocks) - len(kept))
            if kept:
                self._blocks[size] = kept
            else:
                del self._blocks[size]

    def empty_cache(self):
        """Give all free blocks back to the system."""
        with self._lock:
            self._drop_free()


pool = Pool()
take = pool.take


def is_fresh(array):
    """Whether no other array can see this one's memory through its base (it owns it, or has a pool block to itself)."""
    base = array.base
    return base is None or type(base) is Block


def _pooled(ufunc, result=None):
    """A ufunc whose result goes into a pooled buffer; its methods (reduce, at, …) are the ufunc's own."""

    def call(*args, **options):
        if options:
            return ufunc(*args, **options)
        dtype = shape = None
        for a in args:
            if isinstance(a, np.ndarray):
                if (dtype is not None and a.dtype is not dtype) or not a.flags.c_contiguous:
                    return ufunc(*args)  # with gaps or transposed: NumPy keeps the layout, on which later sums' rounding depends
                dtype = a.dtype
                shape = a.shape if shape is None or shape == a.shape else np.broadcast_shapes(shape, a.shape)
        if dtype is None or dtype.kind != "f":
            return ufunc(*args)
        return ufunc(*args, out=take(shape, result or dtype))

    for method in ("reduce", "reduceat", "accumulate", "outer", "at"):
        setattr(call, method, getattr(ufunc, method))
    return call


_SAME_DTYPE = (
    "add subtract multiply divide true_divide negative maximum minimum power exp exp2 expm1 log log2 log10 log1p sqrt square "
    "reciprocal absolute abs fabs tanh sinh cosh sin cos tan arcsin arccos arctan arctan2 arcsinh arccosh arctanh hypot "
    "floor ceil trunc rint sign copysign fmax fmin logaddexp"
).split()
_TO_BOOL = "greater greater_equal less less_equal equal not_equal isnan isinf isfinite signbit".split()


class _PooledNumpy:
    """NumPy's namespace for large arrays: ufuncs write into pooled buffers; everything else is NumPy's own."""

    def __getattr__(self, name):
        return getattr(np, name)


pooled_numpy = _PooledNumpy()
for _name in _SAME_DTYPE:
    setattr(pooled_numpy, _name, _pooled(getattr(np, _name)))
for _name in _TO_BOOL:
    setattr(pooled_numpy, _name, _pooled(getattr(np, _name), np.dtype(bool)))

NUMBERS32: dict = {}
NUMBERS64: dict = {}
"""Python numbers as 0-d arrays, by value (see ``number_array``)."""
_FLOAT32 = np.dtype(np.float32)


def number_array(value, dtype):
    """A Python number as a 0-d float32 or float64 array: NumPy takes 0.2 µs longer to look at the number each time."""
    known = NUMBERS32 if dtype is _FLOAT32 else NUMBERS64
    array = known.get(value)
    if array is None:
        array = np.array(value, dtype)
        if value and len(known) < 256:  # not zeros: 0.0 and -0.0 are the same key
            known[value] = array
    return array


HUGE = 1 << 20
"""Bytes from which an array no longer stays in a core's own cache."""
BLOCK = 1 << 16
"""Elements that an elementwise expression works on at a time: its temporaries then stay in the cache."""


def by_blocks(function, args, out=None):
    """``function(*args)`` for an elementwise function of large arrays, block by block into ``out`` or a pooled buffer.

    A chain of NumPy calls over a large array is bound by memory traffic of its temporaries; over blocks it is not. The
    same ufuncs see the same values, so the result is the same to the last bit. Arrays of unequal shape or with gaps are
    handed over whole. ``out`` may be one of ``args``: a block is read before it is written.
    """
    flat, shape = [], None
    for a in args:
        if type(a) is np.ndarray and a.ndim:
            if shape is None:
                shape = a.shape
            if a.shape != shape or not a.flags.c_contiguous:
                return function(*args)
            flat.append(a.reshape(-1))
        else:
            flat.append(a)
    cut = [type(a) is np.ndarray and a.ndim > 0 for a in flat]
    size, flat_out = math.prod(shape), None
    step = -(-size // -(-size // BLOCK))  # blocks of nearly equal length
    for start in range(0, size, step):
        stop = start + step
        parts = [a[start:stop] if c else a for a, c in zip(flat, cut)]  # noqa: B905 (same length; strict costs)
        got = function(*parts)
        if flat_out is None:
            if type(got) is not np.ndarray or got.shape != parts[cut.index(True)].shape or not is_fresh(got) or any(
                got is p for p in parts
            ):
                return function(*args)
            if out is None or out.dtype != got.dtype or out.shape != shape or not out.flags.c_contiguous:
                out = take(shape, got.dtype)
            flat_out = out.reshape(-1)
        flat_out[start:stop] = got
    return out
