"""Convolution in one to three dimensions by columns: windows of the input side by side, then one matrix product.

Three rows that are each other's rules: ``conv`` (input and weight), ``conv_input`` (its adjoint in the input, which is
the transposed convolution) and ``conv_weight`` (its adjoint in the weight). Parameters are tuples with one entry per
spatial dimension. With few channels the columns of the whole batch are built at once; from 8 channels on, one sample's
columns at a time, which stay in the processor's cache.
"""

import math

import numpy as np

from ..backend.memory import LARGE, take
from ..core.op import op
from .index import slice_view
from .reduce import sum_row
from .samples import ErrorSample, Sample, spread

FEW_CHANNELS = 8


def out_sizes(sizes, kernel, stride, padding, dilation):
    """How many windows fit along each spatial dimension."""
    return tuple(
        (s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, t, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True)
    )


def empty(xp, shape, dtype):
    """Uninitialised memory; large buffers of the CPU come from the pool."""
    if getattr(xp, "__name__", "numpy") == "numpy" and math.prod(shape) * dtype.itemsize >= LARGE:
        return take(shape, dtype)
    return xp.empty(shape, dtype)


def padded(xp, x, padding, value=0):
    """``x`` with a border of ``value`` around its spatial dimensions."""
    if not any(padding):
        return x if x.flags.c_contiguous else xp.ascontiguousarray(x)
    n = x.ndim - len(padding)
    out = empty(xp, (*x.shape[:n], *(s + 2 * p for s, p in zip(x.shape[n:], padding, strict=True))), x.dtype)
    out[...] = value
    out[inner(n, padding, x.shape[n:])] = x
    return out


def inner(lead, padding, sizes):
    """The index of what lies inside the border."""
    return (slice(None),) * lead + tuple(slice(p, p + s) for p, s in zip(padding, sizes, strict=True))


def windows(xp, x, kernel, stride, dilation, out):
    """A view of a padded, contiguous (N, C, *sizes) array: (N, C, *kernel, *out)."""
    n = len(kernel)
    spatial = x.strides[2:]
    steps = tuple(s * d for s, d in zip(spatial, dilation, strict=True)) + tuple(s * t for s, t in zip(spatial, stride, strict=True))
    lib = np if getattr(xp, "__name__", "numpy") == "numpy" else xp
    return lib.lib.stride_tricks.as_strided(x, (*x.shape[: x.ndim - n], *kernel, *out), (*x.strides[: x.ndim - n], *steps))


def place(offset, stride, dilation, out):
    """The index of the elements that meet one kernel position, in a padded array."""
    return (slice(None), slice(None)) + tuple(
        slice(o * d, o * d + t * (n - 1) + 1, t) for o, d, t, n in zip(offset, dilation, stride, out, strict=True)
    )


def _columns(xp, x, kernel, stride, padding, dilation, out):
    """(N, C·K, P): the columns of a whole batch."""
    n, c = x.shape[:2]
    if math.prod(kernel) == 1 and math.prod(stride) == 1:
        return padded(xp, x, padding).reshape(n, c, -1)
    view = windows(xp, padded(xp, x, padding), kernel, stride, dilation, out)
    cols = empty(xp, view.shape, x.dtype)
    cols[...] = view
    return cols.reshape(n, c * math.prod(kernel), math.prod(out))


def _by_sample(x, groups, kernel):
    return groups == 1 and x.shape[1] >= FEW_CHANNELS and x.shape[0] > 1 and math.prod(kernel) > 1


def _conv(xp, x, weight, bias, stride, padding, dilation, groups):
    kernel = weight.shape[2:]
    out = out_sizes(x.shape[2:], kernel, stride, padding, dilation)
    n, o, p = x.shape[0], weight.shape[0], math.prod(out)
    y = empty(xp, (n, o, p), x.dtype)
    flat = weight.reshape(o, -1)
    if _by_sample(x, groups, kernel):
        view = windows(xp, padded(xp, x, padding), kernel, stride, dilation, out)
        buffer = xp.empty(view.shape[1:], x.dtype)
        cols = buffer.reshape(-1, p)
        for i in range(n):
            buffer[...] = view[i]
            xp.matmul(flat, cols, out=y[i])
    else:
        cols = _columns(xp, x, kernel, stride, padding, dilation, out)
        if groups == 1:
            xp.matmul(flat, cols, out=y)
        else:
            y = xp.matmul(flat.reshape(groups, o // groups, -1), cols.reshape(n, groups, -1, p)).reshape(n, o, p)
    if bias is not None:
        y += bias.reshape(o, 1)
    return y.reshape(n, o, *out)


def _conv_input(xp, g, weight, sizes, stride, padding, dilation, groups):
    kernel, out = weight.shape[2:], g.shape[2:]
    n, o, p = g.shape[0], g.shape[1], math.prod(out)
    c = weight.shape[1] * groups
    reach = tuple(d * (k - 1) - q for d, k, q in zip(dilation, kernel, padding, strict=True))
    if groups == 1 and c >= FEW_CHANNELS and math.prod(stride) == 1 and min(reach) >= 0 and o * math.prod(sizes) <= 2 * c * p:
        flipped = xp.ascontiguousarray(xp.flip(weight, tuple(range(2, weight.ndim))).swapaxes(0, 1))
        return _conv(xp, g, flipped, None, stride, reach, dilation, 1)
    back = weight.reshape(groups, o // groups, -1).swapaxes(1, 2)
    full = tuple(s + 2 * q for s, q in zip(sizes, padding, strict=True))
    x = empty(xp, (n, c, *full), g.dtype)
    x[...] = 0
    g = xp.ascontiguousarray(g)
    if groups == 1 and c >= FEW_CHANNELS and n > 1:
        for i in range(n):
            _add_columns(x[i : i + 1], xp.matmul(back[0], g[i].reshape(o, p)), kernel, stride, dilation, out)
    elif groups == 1:
        cols = xp.matmul(back[0], g.reshape(n, o, p), out=empty(xp, (n, back.shape[1], p), g.dtype))
        _add_columns(x, cols, kernel, stride, dilation, out)
    else:
        _add_columns(x, xp.matmul(back, g.reshape(n, groups, -1, p)), kernel, stride, dilation, out)
    return x[inner(2, padding, sizes)] if any(padding) else x


def _add_columns(x, cols, kernel, stride, dilation, out):
    """Add columns back to where they were taken from."""
    cols = cols.reshape(x.shape[0], x.shape[1], *kernel, *out)
    for offset in np.ndindex(*kernel):
        x[place(offset, stride, dilation, out)] += cols[(slice(None), slice(None), *offset)]


def _conv_weight(xp, x, g, kernel, stride, padding, dilation, groups):
    n, o, out = x.shape[0], g.shape[1], g.shape[2:]
    p = math.prod(out)
    g = xp.ascontiguousarray(g)
    per = x.shape[1] // groups
    if _by_sample(x, groups, kernel):
        view = windows(xp, padded(xp, x, padding), kernel, stride, dilation, out)
        buffer = xp.empty(view.shape[1:], x.dtype)
        cols = buffer.reshape(-1, p)
        total, part = xp.zeros((o, cols.shape[0]), x.dtype), xp.empty((o, cols.shape[0]), x.dtype)
        for i in range(n):
            buffer[...] = view[i]
            xp.matmul(g[i].reshape(o, p), cols.T, out=part)
            total += part
    else:
        cols = _columns(xp, x, kernel, stride, padding, dilation, out).reshape(n, groups, -1, p)
        parts = xp.matmul(g.reshape(n, groups, o // groups, p), cols.swapaxes(2, 3))
        total = xp.add.reduce(parts, axis=0)
    return total.reshape(o, per, *kernel)


def _spatial(x):
    return tuple(range(2, x.ndim))


def _samples():
    one = ((1,), (0,), (1,), 1)
    yield Sample(spread((2, 3, 6)), spread((4, 3, 2), seed=1), spread((4,), seed=2), params=one, note="1d")
    yield Sample(spread((2, 3, 6, 5)), spread((4, 3, 3, 2), seed=1), spread((4,), seed=2), params=((2, 1), (1, 0), (1, 2), 1), note="2d")
    yield Sample(spread((2, 4, 5, 5)), spread((6, 2, 3, 3), seed=1), None, params=((1, 1), (1, 1), (1, 1), 2), note="groups")
    yield Sample(spread((2, 8, 5, 4)), spread((8, 8, 3, 3), seed=1), spread((8,), seed=2), params=((1, 1), (1, 1), (1, 1), 1),
                 note="by sample", order=1)  # fmt: skip
    yield Sample(spread((1, 2, 3, 3, 3)), spread((2, 2, 2, 2, 2), seed=1), None, params=((1,) * 3, (0,) * 3, (1,) * 3, 1), note="3d", order=1)


def _reference(x, weight, bias, stride, padding, dilation, groups):
    x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in padding)))
    kernel = weight.shape[2:]
    out = out_sizes(x.shape[2:], kernel, stride, (0,) * len(kernel), dilation)
    y = np.zeros((x.shape[0], weight.shape[0], *out), x.dtype)
    per_in, per_out = x.shape[1] // groups, weight.shape[0] // groups
    for o in range(weight.shape[0]):
        channels = x[:, o // per_out * per_in : (o // per_out + 1) * per_in]
        for offset in np.ndindex(*kernel):
            part = channels[place(offset, stride, dilation, out)]
            y[:, o] += (part * weight[o][(slice(None), *offset)].reshape(1, -1, *(1,) * len(kernel))).sum(1)
    return y if bias is None else y + bias.reshape(-1, *(1,) * len(kernel))


def _errors():
    yield ErrorSample(np.ones((1, 3, 4)), np.ones((2, 2, 2)), None, params=((1,), (0,), (1,), 1), error=RuntimeError, match="conv")


conv = op(
    "convolution", _conv,
    lambda g, y, x, weight, bias, *geometry: conv_input(g, weight, x.shape[2:], *geometry),
    lambda g, y, x, weight, bias, *geometry: conv_weight(x, g, weight.shape[2:], *geometry),
    lambda g, y, x, weight, bias, *geometry: sum_row(g, (0, *_spatial(g)), False),
    saves=("x.shape weight", "x weight.shape", ""), kind="matmul", dtypes="match", symbol="∗", samples=_samples, ref=_reference,
    formula={"forward": "x ∗ W + b", "rules": ["ḡ ∗ᵀ W", "x ∗ ḡ", "Σ ḡ over batch and positions"]},
)  # fmt: skip


def _conv_as(out, x, weight, *geometry):
    """The convolution cut to ``out`` windows: a transposed one with output padding has room for more."""
    y = conv(x, weight, None, *geometry)
    return y if y.shape[2:] == out else slice_view(y, (slice(None), slice(None), *(slice(0, n) for n in out)))


def _input_samples():
    yield Sample(spread((2, 4, 3, 2)), spread((4, 3, 3, 2), seed=1), params=((6, 5), (2, 1), (1, 0), (1, 2), 1), note="stride, dilation")
    yield Sample(spread((2, 4, 4)), spread((4, 1, 3), seed=1), params=((6,), (1,), (0,), (1,), 2), note="groups")
    yield Sample(spread((2, 8, 5, 4)), spread((8, 8, 3, 3), seed=1), params=((5, 4), (1, 1), (1, 1), (1, 1), 1), note="by sample", order=1)


def _input_reference(g, weight, sizes, stride, padding, dilation, groups):
    full = tuple(s + 2 * p for s, p in zip(sizes, padding, strict=True))
    x = np.zeros((g.shape[0], weight.shape[1] * groups, *full), g.dtype)
    per_in, per_out = weight.shape[1], weight.shape[0] // groups
    for o in range(weight.shape[0]):
        channels = x[:, o // per_out * per_in : (o // per_out + 1) * per_in]
        for offset in np.ndindex(*weight.shape[2:]):
            w = weight[o][(slice(None), *offset)].reshape(1, -1, *(1,) * len(sizes))
            channels[place(offset, stride, dilation, g.shape[2:])] += g[:, o : o + 1] * w
    return x[inner(2, padding, sizes)]


conv_input = op(
    "convolution_transpose", _conv_input,
    lambda c, y, g, weight, sizes, *geometry: _conv_as(g.shape[2:], c, weight, *geometry),
    lambda c, y, g, weight, sizes, *geometry: conv_weight(c, g, weight.shape[2:], *geometry),
    saves=("g.shape weight", "g weight.shape"), kind="matmul", dtypes="match", grad_name="Convolution", symbol="∗ᵀ", samples=_input_samples,
    ref=_input_reference, formula={"forward": "g ∗ᵀ W", "rules": ["c ∗ W", "c ∗ g"]},
)  # fmt: skip


def _weight_samples():
    yield Sample(spread((2, 3, 6, 5)), spread((2, 4, 3, 3), seed=1), params=((3, 2), (2, 1), (1, 0), (1, 2), 1), note="stride, dilation")
    yield Sample(spread((2, 4, 5)), spread((2, 6, 4), seed=1), params=((2,), (1,), (0,), (1,), 2), note="groups")
    yield Sample(spread((2, 8, 4, 4)), spread((2, 8, 4, 4), seed=1), params=((3, 3), (1, 1), (1, 1), (1, 1), 1), note="by sample", order=1)


def _weight_reference(x, g, kernel, stride, padding, dilation, groups):
    x = np.pad(x, ((0, 0), (0, 0), *((p, p) for p in padding)))
    per_in, per_out = x.shape[1] // groups, g.shape[1] // groups
    w = np.zeros((g.shape[1], per_in, *kernel), x.dtype)
    for o in range(g.shape[1]):
        channels = x[:, o // per_out * per_in : (o // per_out + 1) * per_in]
        for offset in np.ndindex(*kernel):
            part = channels[place(offset, stride, dilation, g.shape[2:])] * g[:, o : o + 1]
            w[o][(slice(None), *offset)] = part.sum(axis=(0, *range(2, x.ndim)))
    return w


conv_weight = op(
    "convolution_weight", _conv_weight,
    lambda c, y, x, g, kernel, *geometry: conv_input(g, c, x.shape[2:], *geometry),
    lambda c, y, x, g, kernel, *geometry: _conv_as(g.shape[2:], x, c, *geometry),
    saves=("x.shape g", "x g.shape"), kind="matmul", dtypes="match", grad_name="ConvolutionWeight", symbol="∗", samples=_weight_samples,
    ref=_weight_reference, formula={"forward": "x ∗ g", "rules": ["g ∗ᵀ c", "x ∗ c"]},
)  # fmt: skip
