"""Making tensors: from data, filled, ranges, random. These have no derivative, so they are functions, not rows."""

import functools
import math

import numpy as np

from ..backend import dtype as dt
from ..backend import random as rnd
from ..backend.box_muller import fused_float64
from ..backend.device import CPU, device
from ..backend.namespace import backend_for
from ..core.bind import write_out
from ..core.public import public
from ..core.size import Size
from ..core.tape import LEAF
from ..core.tensor import Tensor, wrap
from .assign import overwritten
from .shape import cast_to


def place(array, dtype=None, device_=None, requires_grad=False):
    """Wrap an array as a new leaf, with a dtype, device and ``requires_grad``."""
    if device_ is not None:
        target = device(device_)
        if target != CPU:
            array = backend_for(target).to_device(array, target)
    t = wrap(array)
    if requires_grad:
        t.requires_grad = True
    return t


def into_out(make):
    """Let a function that makes a tensor write it into ``out=`` instead, in the dtype that ``out`` has."""

    @functools.wraps(make)
    def made(*args, out=None, **options):
        if out is None:
            return make(*args, **options)
        if options.get("dtype") not in (None, out.dtype):
            raise RuntimeError(f"dtype {options['dtype']!r} does not match dtype of out parameter ({out.dtype!r})")
        return write_out(out, make(*args, **options | {"dtype": out.dtype}))

    return made


def _dtype(dtype, fallback=None):
    return (dtype or fallback or dt.get_default_dtype()).numpy


def shape_from(size):
    """The shape that ``f(2, 3)``, ``f((2, 3))`` or ``f(torch.Size)`` means.

    Raises: TypeError for sizes that are not whole, RuntimeError for negative ones.
    """
    if len(size) == 1 and isinstance(size[0], tuple | list):
        size = size[0]
    try:
        shape = tuple(s.__index__() for s in size)
    except (AttributeError, TypeError):
        raise TypeError(f"a shape must be whole numbers or a tuple of them, got {size!r}") from None
    if min(shape, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return shape


# ----- from data -----


@public(method=False)
def tensor(data, *, dtype=None, device=None, requires_grad=False):
    """A new tensor that copies ``data``: numbers, nested lists, NumPy arrays or tensors.

    Python floats become the default dtype, ints int64. A tensor among the data is copied off the tape.
    Raises: ValueError for lists of unequal length, TypeError for what is no number.
    """
    kind = type(data)
    if kind is float and dtype is None and device is None:
        t = wrap(dt.get_default_dtype().numpy.type(data))
        if requires_grad:
            t._node = LEAF
        return t
    return place(_array_from(data, dtype), dtype, device, requires_grad)


def _array_from(data, dtype):
    if isinstance(data, Tensor):
        array = np.array(data._d)
    elif isinstance(data, np.ndarray | np.generic):
        array = np.array(data)
        dt.from_numpy_dtype(array.dtype)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
    else:
        array = _array_from_python(data, dtype)
    if dtype is not None and array.dtype != dtype.numpy:
        if array.dtype.kind == "c" and not dtype.is_complex:
            array = array.real
        array = array.astype(dtype.numpy)
    return array


def _array_from_python(data, dtype):
    data = _plain(data)
    try:
        array = np.array(data)
    except ValueError:
        raise ValueError(f"expected sequences of equal length at every level, got {str(data)[:60]}…") from None
    if array.dtype.kind == "O":
        if dtype is not None or not array.size:
            return np.array(data, (dtype or dt.get_default_dtype()).numpy)
        raise RuntimeError("Overflow when unpacking long: an integer is too large for int64")
    if array.dtype.kind not in "biufc":
        raise TypeError(f"new(): invalid data type '{type(data).__name__}': a tensor holds numbers, got {str(data)[:60]}")
    if array.size == 0 and array.dtype == np.float64:
        return array.astype((dtype or dt.get_default_dtype()).numpy)
    if dtype is None and _of_python(data):
        if array.dtype.kind == "f":
            return array.astype(dt.get_default_dtype().numpy)
        if array.dtype.kind == "c":
            return array.astype(dt.default_complex().numpy)
    return array


def _plain(data):
    """Nested data with tensors replaced by what NumPy understands."""
    if isinstance(data, Tensor):
        return data._array()
    if isinstance(data, list | tuple):
        return [_plain(v) for v in data]
    return data


def _of_python(data):
    """Whether nested data holds Python numbers (whose precision is the default) rather than arrays."""
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return not isinstance(data, np.ndarray | np.generic) or isinstance(data, float) and not isinstance(data, np.generic)


@public(method=False)
def as_tensor(data, dtype=None, device=None):
    """A tensor of ``data``, sharing memory with a NumPy array and returning a tensor as it is where it can."""
    if isinstance(data, Tensor):
        return data if dtype is None or data.dtype is dtype else cast_to(data, dtype)
    if isinstance(data, np.ndarray):
        t = from_numpy(data)
        return t if dtype is None else cast_to(t, dtype)
    return tensor(data, dtype=dtype, device=device)


@public("from_numpy", method=False)
def from_numpy(ndarray):
    """A tensor that shares memory with a NumPy array. Raises: TypeError for other types and unsupported dtypes."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    dt.from_numpy_dtype(ndarray.dtype)
    if not ndarray.dtype.isnative:
        raise TypeError("arrays in foreign byte order are not supported: use array.astype(array.dtype.newbyteorder('='))")
    return wrap(ndarray)


@public(method=False)
def scalar_tensor(s, *, dtype=None, device=None, requires_grad=False):
    """A 0-d tensor of the default dtype holding one number."""
    return place(np.array(s, _dtype(dtype)), dtype, device, requires_grad)


# ----- filled -----


def _filled(function, name, doc):
    @into_out
    def make(*size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, memory_format=None):
        return place(function(shape_from(size), _dtype(dtype)), dtype, device, requires_grad)

    def like(input, *, dtype=None, device=None, requires_grad=False, memory_format=None, layout=None):
        return place(function(input._d.shape, _dtype(dtype, input.dtype)), dtype, device, requires_grad)

    def new(input, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
        return place(function(shape_from(size), _dtype(dtype, input.dtype)), dtype, device, requires_grad)

    for made, full in ((make, name), (like, name + "_like"), (new, "new_" + name)):
        made.__name__ = made.__qualname__ = full
    make.__doc__ = f"A tensor of the given sizes {doc}."
    like.__doc__ = f"A tensor of the shape and dtype of ``input`` {doc}."
    new.__doc__ = f"A tensor of the given sizes and the dtype of ``input`` {doc}."
    public(name, method=False)(make)
    public(name + "_like", method=False)(like)
    public("new_" + name, namespace=None)(new)
    return make, like


zeros, zeros_like = _filled(np.zeros, "zeros", "filled with 0")
ones, ones_like = _filled(np.ones, "ones", "filled with 1")
empty, empty_like = _filled(np.empty, "empty", "with whatever memory held")


def _fill_dtype(value, dtype):
    return (dtype or dt.of_number(value)).numpy


@public(method=False)
@into_out
def full(size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None):
    """A tensor of shape ``size`` filled with one number."""
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    shape = shape_from((size,) if not isinstance(size, int) else ((size,),))
    return place(np.full(shape, value, _fill_dtype(value, dtype)), dtype, device, requires_grad)


@public("full_like", method=False)
def full_like(input, fill_value, *, dtype=None, device=None, requires_grad=False, memory_format=None, layout=None):
    """A tensor of the shape and dtype of ``input`` filled with one number."""
    return place(np.full(input._d.shape, fill_value, _dtype(dtype, input.dtype)), dtype, device, requires_grad)


@public("new_full", namespace=None)
def new_full(input, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    """A tensor of shape ``size`` and the dtype of ``input`` filled with one number."""
    return place(np.full(shape_from((size,)), fill_value, _dtype(dtype, input.dtype)), dtype, device, requires_grad)


@public("new_tensor", namespace=None)
def new_tensor(input, data, *, dtype=None, device=None, requires_grad=False):
    """A new tensor of ``data`` with the dtype of ``input``."""
    return tensor(data, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)


@public(method=False)
@into_out
def eye(n, m=None, *, dtype=None, device=None, requires_grad=False, layout=None):
    """The n×m matrix with ones on the diagonal."""
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"n must be greater or equal to 0, got {n} and {m}")
    return place(np.eye(n, n if m is None else m, dtype=_dtype(dtype)), dtype, device, requires_grad)


# ----- ranges -----


@public(method=False)
@into_out
def arange(start=0, end=None, step=1, *, dtype=None, device=None, requires_grad=False, layout=None):
    """Values from ``start`` (included) to ``end`` (excluded) in steps: int64 if all are whole, else the default dtype.

    Raises: RuntimeError if the step is 0 or leads away from ``end``.
    """
    if end is None:
        start, end = 0, start
    start, end, step = (v.item() if isinstance(v, Tensor | np.generic) else v for v in (start, end, step))
    if dtype is not None and dtype.category < dt.CATEGORY_FLOAT:
        start, end, step = int(start), int(end), int(step)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if math.isinf(start) or math.isinf(end):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (step > 0 and start > end) or (step < 0 and start < end):
        raise RuntimeError(f"upper bound and lower bound inconsistent with step sign: start={start}, end={end}, step={step}")
    if dtype is None:
        dtype = dt.int64 if all(isinstance(v, int) for v in (start, end, step)) else dt.get_default_dtype()
    n = math.ceil((end - start) / step)
    if dtype.category == dt.CATEGORY_FLOAT:
        array = (start + step * np.arange(n, dtype=np.float64)).astype(dtype.numpy)
    else:
        array = (int(start) + int(step) * np.arange(n)).astype(dtype.numpy)
    return place(array, dtype, device, requires_grad)


@public(method=False)
@into_out
def linspace(start, end, steps, *, dtype=None, device=None, requires_grad=False, layout=None):
    """``steps`` evenly spaced values from ``start`` to ``end``, both included."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    start, end = (v.item() if isinstance(v, Tensor) else v for v in (start, end))
    kind = _dtype(dtype, dt.default_complex() if isinstance(start, complex) or isinstance(end, complex) else None)
    return place(_evenly(start, end, steps, kind), dtype, device, requires_grad)


def _evenly(start, end, steps, kind):
    """PyTorch's numbers: from the start up to the middle, then from the end downwards, by fused multiply-adds."""
    fine = kind if kind.kind in "fc" and kind.itemsize > 2 else np.dtype(np.float32)
    if kind.kind in "iu":
        start, end = int(start), int(end)
    first, last = fine.type(start), fine.type(end)
    if steps < 2:
        return np.full(steps, first).astype(kind)
    step = (last - first) / fine.type(steps - 1)
    half = steps // 2
    up, down = np.arange(half), np.arange(steps - 1 - half, -1, -1)
    if fine.kind == "c":
        return np.concatenate([first + step * up, last - step * down]).astype(kind)
    if fine == np.float64:
        up, down = fused_float64(up.astype(fine), step, first), fused_float64(down.astype(fine), -step, last)
    else:
        up, down = (float(first) + float(step) * up), (float(last) - float(step) * down)
    return np.concatenate([up, down]).astype(fine).astype(kind)


# ----- random -----


def _drawn(draw, name, doc):
    @into_out
    def make(*size, generator=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
        return place(draw(shape_from(size), _dtype(dtype), generator or rnd.default_generator), dtype, device, requires_grad)

    def like(input, *, dtype=None, device=None, requires_grad=False, memory_format=None, layout=None, generator=None):
        return place(draw(input._d.shape, _dtype(dtype, input.dtype), rnd.default_generator), dtype, device, requires_grad)

    make.__name__, like.__name__ = name, name + "_like"
    make.__doc__ = f"A tensor of the given sizes {doc}; the numbers are PyTorch's for the same seed."
    like.__doc__ = f"A tensor of the shape and dtype of ``input`` {doc}."
    public(name, method=False)(make)
    public(name + "_like", method=False)(like)
    return make, like


def _uniform(shape, dtype, source):
    if dtype.kind == "c":
        return source.uniform((*shape, 2), _real_of(dtype)).view(dtype)[..., 0]
    return source.uniform(shape, dtype)


def _normal(shape, dtype, source):
    if dtype.kind == "c":
        return source.normal((*shape, 2), _real_of(dtype), 0.0, math.sqrt(0.5)).view(dtype)[..., 0]
    return source.normal(shape, dtype)


def _real_of(dtype):
    return np.dtype(np.float64 if dtype.itemsize == 16 else np.float32)


rand, rand_like = _drawn(_uniform, "rand", "drawn uniformly from [0, 1)")
randn, randn_like = _drawn(_normal, "randn", "drawn from the normal distribution N(0, 1)")


@public(method=False)
@into_out
def randint(low, high=None, size=None, *, generator=None, dtype=None, device=None, requires_grad=False, layout=None):
    """Whole numbers drawn uniformly from [low, high). ``randint(high, size)`` starts at 0."""
    if size is None:
        low, high, size = 0, low, high
    if high <= low:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    array = (generator or rnd.default_generator).randint(low, high, shape_from((size,)), (dtype or dt.int64).numpy)
    return place(array, dtype, device, requires_grad)


@public(method=False)
@into_out
def randperm(n, *, generator=None, dtype=None, device=None, requires_grad=False, layout=None):
    """A random permutation of 0 … n−1."""
    return place((generator or rnd.default_generator).randperm(n, (dtype or dt.int64).numpy), dtype, device, requires_grad)


@public(method=False)
@into_out
def normal(
    mean=0.0, std=1.0, size=None, *, generator=None, dtype=None, device=None, requires_grad=False, layout=None,
    pin_memory=False,
):  # fmt: skip
    """Normal values with the given means and standard deviations (numbers or tensors)."""
    tensors = [v for v in (mean, std) if isinstance(v, Tensor)]
    shape = np.broadcast_shapes(*(t._d.shape for t in tensors)) if tensors else shape_from((size,))
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    kind = tensors[0].dtype.numpy if tensors else _dtype(dtype)
    drawn = (generator or rnd.default_generator).normal(shape, kind)
    mean, std = (v._d if isinstance(v, Tensor) else v for v in (mean, std))
    return place((drawn * std + mean).astype(kind), dtype, device, requires_grad)


@public(method=True)
def bernoulli(input, p=None, *, generator=None, out=None):
    """0 or 1, where ``input`` holds each element's probability of 1 (or ``p`` all elements')."""
    source = generator or rnd.default_generator
    if p is None:
        drawn = np.asarray(source.bernoulli_tensor(input._array())).astype(input._d.dtype)
    else:
        drawn = source.bernoulli_scalar(p, input._d.shape, input._d.dtype)
    result = overwritten(input, drawn)
    return result if out is None else write_out(out, result)


__all__ = ["Size", "arange", "as_tensor", "empty", "eye", "from_numpy", "full", "linspace", "ones", "ones_like", "place", "rand",
           "randint", "randn", "randperm", "shape_from", "tensor", "zeros", "zeros_like"]  # fmt: skip
