"""Pooling of nn.functional: maxima and means over windows, adaptive forms, unpooling."""

import math

import numpy as np

from ...errors import shape_text
from ...ops import pool as rows
from ...ops.index import gather_row
from ...ops.matmul import matmul
from ...ops.shape import reshape, transpose_view
from .checks import constant, need_tensor, sizes


def _check(name, n, input, kernel, stride, padding, dilation=None):
    need_tensor(name, "input", input)
    shape = input._d.shape
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"{name}: Expected {n + 1}D or {n + 2}D (batch mode) tensor, but got input of size {shape_text(shape)}")
    if 0 in shape[len(shape) - n - 1 :]:
        raise RuntimeError(
            f"{name}: Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got: {shape_text(shape)}"
        )
    if min(kernel) <= 0:
        raise RuntimeError(f"{name}: kernel size should be greater than zero, but got {list(kernel)}")
    if min(stride) <= 0:
        raise RuntimeError(f"{name}: stride should not be zero, but got {list(stride)}")
    if dilation is not None and min(dilation) <= 0:
        raise RuntimeError(f"{name}: dilation should be greater than zero, but got {list(dilation)}")
    for k, p, d in zip(kernel, padding, dilation or (1,) * n, strict=True):
        if p < 0 or p > (d * (k - 1) + 1) // 2:
            raise RuntimeError(
                f"{name}: pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
            )


def _stride(stride, kernel, n):
    return kernel if stride is None or (isinstance(stride, list | tuple) and not stride) else sizes(stride, n, "stride")


def _check_out(name, shape, out, n):
    if min(out) <= 0:
        raise RuntimeError(
            f"{name}: Given input size: {shape_text(shape[len(shape) - n - 1 :])}. Calculated output size: {shape_text(out)}. "
            "Output size is too small"
        )


def _max_pool(name, n, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    kernel = sizes(kernel_size, n)
    stride, padding, dilation = _stride(stride, kernel, n), sizes(padding, n, "padding"), sizes(dilation, n, "dilation")
    _check(name, n, input, kernel, stride, padding, dilation)
    shape = input._d.shape
    out = rows.pool_sizes(shape[len(shape) - n :], kernel, stride, padding, dilation, ceil_mode)
    _check_out(name, shape, out, n)
    values, chosen = rows.max_pool(input, kernel, stride, padding, dilation, out)
    if not return_indices:
        return values
    return values, constant(_flat_index(chosen._array(), shape[len(shape) - n :], kernel, stride, padding, dilation))


def _flat_index(chosen, spatial, kernel, stride, padding, dilation):
    """Kernel positions as PyTorch's indices: places in the flattened spatial dimensions."""
    n = len(kernel)
    offsets = np.unravel_index(chosen.astype(np.int64), kernel)
    flat = np.zeros(chosen.shape, np.int64)
    for i in range(n):
        start = np.arange(chosen.shape[chosen.ndim - n + i]) * stride[i] - padding[i]
        at = start.reshape(-1, *(1,) * (n - 1 - i)) + offsets[i] * dilation[i]
        flat = flat * spatial[i] + at
    return flat


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest value of each window of (N, C, L); with ``return_indices`` also where it was."""
    return _max_pool("max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest value of each window of (N, C, H, W); with ``return_indices`` also where it was."""
    return _max_pool("max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest value of each window of (N, C, D, H, W); with ``return_indices`` also where it was."""
    return _max_pool("max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """``max_pool1d`` with the indices."""
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """``max_pool2d`` with the indices."""
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """``max_pool3d`` with the indices."""
    return max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def _avg_pool(name, n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    kernel = sizes(kernel_size, n)
    stride, padding = _stride(stride, kernel, n), sizes(padding, n, "padding")
    _check(name, n, input, kernel, stride, padding)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    shape = input._d.shape
    out = rows.pool_sizes(shape[len(shape) - n :], kernel, stride, padding, (1,) * n, ceil_mode)
    _check_out(name, shape, out, n)
    return rows.avg_pool(input, kernel, stride, padding, out, count_include_pad, divisor_override)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """The mean of each window of (N, C, L)."""
    return _avg_pool("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """The mean of each window of (N, C, H, W)."""
    return _avg_pool("avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    """The mean of each window of (N, C, D, H, W)."""
    return _avg_pool("avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _lp_pool(n, input, norm_type, kernel_size, stride, ceil_mode):
    kernel = sizes(kernel_size, n)
    total = _avg_pool(f"lp_pool{n}d", n, input**norm_type, kernel, stride, (0,) * n, ceil_mode, True, 1)
    return (total.sign() * total.abs().relu()) ** (1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of (N, C, L)."""
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of (N, C, H, W)."""
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of (N, C, D, H, W)."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


# ----- adaptive: the output's size is given -----


def _targets(name, n, input, output_size):
    need_tensor(name, "input", input)
    shape = input._d.shape
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(f"{name}: Expected {n + 1}D or {n + 2}D tensor, but got {shape_text(shape)}")
    given = output_size if isinstance(output_size, list | tuple) else (output_size,) * n
    if len(given) != n:
        raise RuntimeError(f"{name}: output_size must be {n} numbers, got {list(given)}")
    spatial = shape[len(shape) - n :]
    out = tuple(s if o is None else int(o) for s, o in zip(spatial, given, strict=True))
    if min(out) < 0:
        raise RuntimeError(f"{name}: elements of output_size must be greater than or equal to 0, but got {list(out)}")
    return spatial, out


def _bounds(size, out):
    i = np.arange(out)
    return (i * size) // out, -(-((i + 1) * size) // out)


def _adaptive_avg(n, input, output_size):
    spatial, out = _targets(f"adaptive_avg_pool{n}d", n, input, output_size)
    if all(o and s % o == 0 for s, o in zip(spatial, out, strict=True)):
        kernel = tuple(s // o for s, o in zip(spatial, out, strict=True))
        return rows.avg_pool(input, kernel, kernel, (0,) * n, out, True, None)
    x = input
    for i, (s, o) in enumerate(zip(spatial, out, strict=True)):
        start, end = _bounds(s, o)
        at = np.arange(s)
        means = ((at >= start[:, None]) & (at < end[:, None])) / np.maximum(end - start, 1)[:, None]
        dim = x._d.ndim - n + i
        last = x._d.ndim - 1
        x = x if dim == last else transpose_view(x, dim, last)
        x = matmul(x, constant(np.ascontiguousarray(means.T).astype(x._d.dtype)))
        x = x if dim == last else transpose_view(x, dim, last)
    return x


def adaptive_avg_pool1d(input, output_size):
    """Means over as many windows as ``output_size`` says."""
    return _adaptive_avg(1, input, output_size)


def adaptive_avg_pool2d(input, output_size):
    """Means over as many windows as ``output_size`` (rows, columns) says."""
    return _adaptive_avg(2, input, output_size)


def adaptive_avg_pool3d(input, output_size):
    """Means over as many windows as ``output_size`` says."""
    return _adaptive_avg(3, input, output_size)


def _adaptive_max(n, input, output_size, return_indices):
    spatial, out = _targets(f"adaptive_max_pool{n}d", n, input, output_size)
    d = input._array()
    lead = d.shape[: d.ndim - n]
    bounds = [_bounds(s, o) for s, o in zip(spatial, out, strict=True)]
    places = np.arange(math.prod(spatial)).reshape(spatial)
    chosen = np.zeros((*lead, *out), np.int64)
    for at in np.ndindex(*out):
        window = tuple(slice(int(b[0][a]), int(b[1][a])) for a, b in zip(at, bounds, strict=True))
        flat = d[(..., *window)].reshape(*lead, -1)
        chosen[(..., *at)] = places[window].reshape(-1)[flat.argmax(-1)]
    index = constant(chosen.reshape(*lead, -1))
    values = reshape(gather_row(reshape(input, (*lead, -1)), index, len(lead)), (*lead, *out))
    return (values, constant(chosen)) if return_indices else values


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """Maxima over as many windows as ``output_size`` says."""
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """Maxima over as many windows as ``output_size`` says."""
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """Maxima over as many windows as ``output_size`` says."""
    return _adaptive_max(3, input, output_size, return_indices)


# ----- back from maxima -----


def _max_unpool(n, input, indices, kernel_size, stride, padding, output_size):
    kernel = sizes(kernel_size, n)
    stride, padding = _stride(stride, kernel, n), sizes(padding, n, "padding")
    d = input._d
    lead, spatial = d.shape[: d.ndim - n], d.shape[d.ndim - n :]
    if indices._d.shape != d.shape:
        raise RuntimeError(
            "Expected shape of indices to be same as that of the input tensor "
            f"({shape_text(d.shape)}) but got {shape_text(indices._d.shape)}"
        )
    usual = tuple((s - 1) * t + k - 2 * p for s, t, k, p in zip(spatial, stride, kernel, padding, strict=True))
    out = usual if output_size is None else tuple(output_size)[-n:]
    if any(not u - t < o < u + t for u, o, t in zip(usual, out, stride, strict=True)):
        raise ValueError(f"invalid output_size {tuple(out)}: each size must be within one stride of {usual}")
    index = indices._array()
    if index.size and (index.min() < 0 or index.max() >= math.prod(out)):
        raise RuntimeError(f"found an invalid max index: {int(index.max())} (output volumes are of size {'x'.join(map(str, out))})")
    flat = rows.unpool(reshape(input, (*lead, -1)), constant(index.reshape(*lead, -1)), math.prod(out))
    return reshape(flat, (*lead, *out))


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Maxima back at the places they came from, zeros elsewhere."""
    return _max_unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Maxima back at the places they came from, zeros elsewhere."""
    return _max_unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Maxima back at the places they came from, zeros elsewhere."""
    return _max_unpool(3, input, indices, kernel_size, stride, padding, output_size)
