"""Convolution in one to three dimensions by columns: windows of the input side by side, then one matrix product.

Three rows that are each other's rules: ``conv`` (input and weight), ``conv_input`` (its adjoint in the input, which is
the transposed convolution) and ``conv_weight`` (its adjoint in the weight). Parameters are tuples with one entry per
spatial dimension. All three go through the batch in pieces whose columns stay in the processor's cache (``Pieces``).
"""

import math

import numpy as np

from ..backend.memory import LARGE, take
from ..core.op import op
from .index import slice_view
from .reduce import sum_row
from .samples import ErrorSample, Sample, spread

PIECE = 1 << 16
"""Elements of the columns that are worked on at once."""


def out_sizes(sizes, kernel, stride, padding, dilation):
    """How many windows fit along each spatial dimension."""
    return tuple(
        (s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, t, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True)
    )


def plain(xp):
    """The array library itself, for calls whose results go into given memory (``xp`` may be the pooled form of NumPy)."""
    return np if getattr(xp, "__name__", "numpy") == "numpy" else xp


def empty(xp, shape, dtype):
    """Uninitialised memory; large buffers of the CPU come from the pool."""
    if plain(xp) is np and math.prod(shape) * dtype.itemsize >= LARGE:
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
    steps = tuple(s * d for s, d in zip(spatial, dilation, strict=True)) + tuple(
        s * t for s, t in zip(spatial, stride, strict=True)
    )
    return plain(xp).lib.stride_tricks.as_strided(x, (*x.shape[: x.ndim - n], *kernel, *out), (*x.strides[: x.ndim - n], *steps))


def place(offset, stride, dilation, out):
    """The index of the elements that meet one kernel position, in a padded array."""
    return (slice(None), slice(None)) + tuple(
        slice(o * d, o * d + t * (n - 1) + 1, t) for o, d, t, n in zip(offset, dilation, stride, out, strict=True)
    )


class Pieces:
    """A convolution's batch, piece by piece: a padded copy of some samples, and their columns.

    With stride 1 the columns keep the padded rows' full width, so that they are copied in long runs; what the surplus
    places hold is cut off (``conv``), or meets zeros (the adjoints).
    """

    def __init__(self, xp, n, channels, sizes, kernel, stride, padding, dilation, out, dtype):
        self.xp, self.kernel, self.stride, self.dilation, self.out = xp, kernel, stride, dilation, out
        full = tuple(s + 2 * p for s, p in zip(sizes, padding, strict=True))
        wide = max(stride) == 1
        self.places = (*out[:-1], full[-1]) if wide else out
        self.length = math.prod(self.places)
        self.depth = channels * math.prod(kernel)
        self.most = max(1, min(n, PIECE // max(self.depth * self.length, 1)))
        tail = (kernel[-1] - 1) * dilation[-1] if wide else 0
        size = channels * self.most * math.prod(full)
        self.buffer = xp.zeros(size + tail, dtype)
        self.padded = self.buffer[:size].reshape(channels, self.most, *full)
        self.inside = inner(2, padding, sizes)
        self.columns = empty(xp, (self.depth * self.most * self.length,), dtype)
        steps = self.padded.strides
        self.steps = (
            steps[0], *(s * d for s, d in zip(steps[2:], dilation, strict=True)), steps[1],
            *(s * t for s, t in zip(steps[2:], stride, strict=True)),
        )  # fmt: skip
        self.ranges = [(a, min(a + self.most, n)) for a in range(0, n, self.most)]
        lib = plain(xp)
        shape = (channels, *kernel, self.most, *self.places)
        self.windows = lib.lib.stride_tricks.as_strided(self.padded, shape, self.steps)
        self.shape = shape
        self.offsets = [(slice(None), *offset) for offset in np.ndindex(*kernel)]

    def view(self, count):
        """The windows of ``count`` padded samples: (channels, *kernel, count, *places), without copying."""
        return self.windows if count == self.most else self.windows[(slice(None),) * (1 + len(self.kernel)) + (slice(0, count),)]

    def filled(self, x):
        """The columns (depth, count · length) of some samples."""
        count = x.shape[0]
        self.padded[:, :count][self.inside] = x.swapaxes(0, 1)
        columns = self.columns[: self.depth * count * self.length]
        view = self.view(count)
        columns.reshape(view.shape)[...] = view
        return columns.reshape(self.depth, count * self.length)

    def widened(self, g, buffer):
        """Cotangents of some samples as (channels, count · length), zeros in the surplus places (where ``buffer`` has them)."""
        count, channels = g.shape[:2]
        flat = buffer[: channels * count * self.length].reshape(channels, count, *self.places)
        flat[..., : self.out[-1]] = g.swapaxes(0, 1)
        if self.places[-1] != self.out[-1]:
            flat[..., self.out[-1] :] = 0
        return flat.reshape(channels, count * self.length)

    def narrowed(self, y, count):
        """A product (channels, count · length) as (count, channels, *out)."""
        return y.reshape(-1, count, *self.places)[..., : self.out[-1]].swapaxes(0, 1)

    def returned(self, columns, count):
        """Columns added back to where they were taken from: (count, channels, *sizes)."""
        self.buffer[...] = 0
        view = self.view(count)
        columns, add = columns.reshape(view.shape), plain(self.xp).add
        for at in self.offsets:
            part = view[at]
            add(part, columns[at], out=part)
        return self.padded[:, :count][self.inside].swapaxes(0, 1)


def _pointwise(kernel, stride, padding):
    return math.prod(kernel) == 1 and max(stride) == 1 and not any(padding)


def _conv(xp, x, weight, bias, stride, padding, dilation, groups):
    kernel = weight.shape[2:]
    out = out_sizes(x.shape[2:], kernel, stride, padding, dilation)
    n, o = x.shape[0], weight.shape[0]
    y = empty(xp, (n, o, *out), x.dtype)
    per_in, per_out = x.shape[1] // groups, o // groups
    if per_in != weight.shape[1]:
        raise RuntimeError(
            f"convolution: weight {list(weight.shape)} does not fit an input of {x.shape[1]} channels in {groups} groups"
        )
    if groups == 1 and _pointwise(kernel, stride, padding):
        xp.matmul(weight.reshape(o, -1), x.reshape(n, per_in, -1), out=y.reshape(n, o, -1))
    else:
        pieces = Pieces(xp, n, per_in, x.shape[2:], kernel, stride, padding, dilation, out, x.dtype)
        product = xp.empty((per_out, pieces.most * pieces.length), x.dtype)
        for i in range(groups):
            flat = weight[i * per_out : (i + 1) * per_out].reshape(per_out, -1)
            for a, b in pieces.ranges:
                columns = pieces.filled(x[a:b, i * per_in : (i + 1) * per_in])
                part = xp.matmul(flat, columns, out=product[:, : columns.shape[1]] if b - a == pieces.most else None)
                y[a:b, i * per_out : (i + 1) * per_out] = pieces.narrowed(part, b - a)
    if bias is not None:
        y += bias.reshape(o, *(1,) * len(out))
    return y


def _conv_input(xp, g, weight, sizes, stride, padding, dilation, groups):
    kernel, out = weight.shape[2:], g.shape[2:]
    n, o = g.shape[:2]
    per_in, per_out = weight.shape[1], o // groups
    x = empty(xp, (n, per_in * groups, *sizes), g.dtype)
    if groups == 1 and _pointwise(kernel, stride, padding) and tuple(sizes) == out:
        xp.matmul(weight.reshape(o, -1).T, g.reshape(n, o, -1), out=x.reshape(n, per_in, -1))
        return x
    pieces = Pieces(xp, n, per_in, sizes, kernel, stride, padding, dilation, out, g.dtype)
    wide = xp.empty(per_out * pieces.most * pieces.length, g.dtype)
    for i in range(groups):
        back = xp.ascontiguousarray(weight[i * per_out : (i + 1) * per_out].reshape(per_out, -1).T)
        for a, b in pieces.ranges:
            columns = pieces.columns[: pieces.depth * (b - a) * pieces.length].reshape(pieces.depth, -1)
            xp.matmul(back, pieces.widened(g[a:b, i * per_out : (i + 1) * per_out], wide), out=columns)
            x[a:b, i * per_in : (i + 1) * per_in] = pieces.returned(columns, b - a)
    return x


def _conv_weight(xp, x, g, kernel, stride, padding, dilation, groups):
    n, o, out = x.shape[0], g.shape[1], g.shape[2:]
    per_in, per_out = x.shape[1] // groups, o // groups
    pieces = Pieces(xp, n, per_in, x.shape[2:], kernel, stride, padding, dilation, out, x.dtype)
    wide = xp.empty(per_out * pieces.most * pieces.length, g.dtype)
    total = xp.zeros((groups, per_out, pieces.depth), x.dtype)
    part = xp.empty((per_out, pieces.depth), x.dtype)
    for i in range(groups):
        for a, b in pieces.ranges:
            columns = pieces.filled(x[a:b, i * per_in : (i + 1) * per_in])
            cotangent = pieces.widened(g[a:b, i * per_out : (i + 1) * per_out], wide)
            total[i] += xp.matmul(cotangent, columns.T, out=part)
    return total.reshape(o, per_in, *kernel)


def _spatial(x):
    return tuple(range(2, x.ndim))


def _samples():
    one = ((1,), (0,), (1,), 1)
    yield Sample(spread((2, 3, 6)), spread((4, 3, 2), seed=1), spread((4,), seed=2), params=one, note="1d")
    yield Sample(
        spread((2, 3, 6, 5)), spread((4, 3, 3, 2), seed=1), spread((4,), seed=2), params=((2, 1), (1, 0), (1, 2), 1), note="2d"
    )
    yield Sample(spread((2, 4, 5, 5)), spread((6, 2, 3, 3), seed=1), None, params=((1, 1), (1, 1), (1, 1), 2), note="groups")
    yield Sample(spread((2, 8, 5, 4)), spread((8, 8, 3, 3), seed=1), spread((8,), seed=2), params=((1, 1), (1, 1), (1, 1), 1),
                 note="by sample", order=1)  # fmt: skip
    yield Sample(spread((9, 2, 5, 4)), spread((3, 2, 3, 2), seed=1), spread((3,), seed=2), params=((1, 2), (1, 0), (1, 1), 1),
                 note="batch last", order=1)  # fmt: skip
    yield Sample(
        spread((1, 2, 3, 3, 3)), spread((2, 2, 2, 2, 2), seed=1), None, params=((1,) * 3, (0,) * 3, (1,) * 3, 1), note="3d", order=1
    )


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
    saves=("x.shape weight", "x weight.shape", ""), kind="matmul", dtypes="match", symbol="∗", samples=_samples, errors=_errors,
    ref=_reference,
    formula={"forward": "x ∗ W + b", "rules": ["ḡ ∗ᵀ W", "x ∗ ḡ", "Σ ḡ over batch and positions"]},
)  # fmt: skip


def _conv_as(out, x, weight, *geometry):
    """The convolution cut to ``out`` windows: a transposed one with output padding has room for more."""
    y = conv(x, weight, None, *geometry)
    return y if y.shape[2:] == out else slice_view(y, (slice(None), slice(None), *(slice(0, n) for n in out)))


def _input_samples():
    yield Sample(
        spread((2, 4, 3, 2)), spread((4, 3, 3, 2), seed=1), params=((6, 5), (2, 1), (1, 0), (1, 2), 1), note="stride, dilation"
    )
    yield Sample(spread((2, 4, 4)), spread((4, 1, 3), seed=1), params=((6,), (1,), (0,), (1,), 2), note="groups")
    yield Sample(
        spread((2, 8, 5, 4)), spread((8, 8, 3, 3), seed=1), params=((5, 4), (1, 1), (1, 1), (1, 1), 1), note="by sample", order=1
    )


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
    saves=("g.shape weight", "g weight.shape"), kind="matmul", dtypes="match", grad_name="Convolution", symbol="∗ᵀ",
    samples=_input_samples,
    ref=_input_reference, formula={"forward": "g ∗ᵀ W", "rules": ["c ∗ W", "c ∗ g"]},
)  # fmt: skip


def _weight_samples():
    yield Sample(
        spread((2, 3, 6, 5)), spread((2, 4, 3, 3), seed=1), params=((3, 2), (2, 1), (1, 0), (1, 2), 1), note="stride, dilation"
    )
    yield Sample(spread((2, 4, 5)), spread((2, 6, 4), seed=1), params=((2,), (1,), (0,), (1,), 2), note="groups")
    yield Sample(
        spread((2, 8, 4, 4)), spread((2, 8, 4, 4), seed=1), params=((3, 3), (1, 1), (1, 1), (1, 1), 1), note="by sample", order=1
    )


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
    saves=("x.shape g", "x g.shape"), kind="matmul", dtypes="match", grad_name="ConvolutionWeight", symbol="∗",
    samples=_weight_samples,
    ref=_weight_reference, formula={"forward": "x ∗ g", "rules": ["g ∗ᵀ c", "x ∗ c"]},
)  # fmt: skip
