"""Fractional max pooling: windows at random places, so that the size shrinks by any ratio."""

import math

import numpy as np

from ...core.tensor import wrap
from ...errors import shape_text
from ...ops.create import rand
from ...ops.index import gather_row
from ...ops.shape import reshape
from .checks import need_tensor, sizes


def _starts(sample, size, out, kernel):
    """Where the windows along one dimension start, for every sample (N, C): (N, C, out)."""
    places = np.full((*sample.shape, out), size - kernel, np.int64)
    if out > 1:
        step = sample.dtype.type(size - kernel) / sample.dtype.type(out - 1)
        i = np.arange(out - 1).astype(sample.dtype)
        places[..., :-1] = ((i + sample[..., None]) * step).astype(np.int64) - (sample * step).astype(np.int64)[..., None]
    return places


def _pool(name, n, input, kernel_size, output_size, output_ratio, return_indices, samples):
    need_tensor(name, "input", input)
    shape = input._d.shape
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if len(shape) not in (n + 1, n + 2) or 0 in shape[-n - 1 :]:
        raise RuntimeError(f"{name}(): Expected a non-empty {n + 1}D or {n + 2}D input, but got size {shape_text(shape)}")
    kernel, spatial = sizes(kernel_size, n), shape[-n:]
    if output_size is None:
        ratio = output_ratio if isinstance(output_ratio, tuple | list) else (output_ratio,) * n
        output_size = tuple(int(s * r) for s, r in zip(spatial, ratio, strict=True))
    out = sizes(output_size, n, "output_size")
    for s, k, o in zip(spatial, kernel, out, strict=True):
        if k <= 0 or o <= 0 or o + k - 1 > s:
            raise RuntimeError(f"{name}(): pool size {kernel} and output size {out} do not fit input of size {shape_text(shape)}")
    lead = (1, shape[0]) if len(shape) == n + 1 else shape[:2]
    if samples is None:
        samples = rand(*lead, n, dtype=input.dtype)
    drawn = samples._array().astype(input._d.dtype)[: lead[0]]
    if drawn.shape != (*lead, n):
        raise RuntimeError(f"{name}(): expected random samples of shape {(*lead, n)}, got {shape_text(drawn.shape)}")
    flat = np.zeros((*lead, *(1,) * (2 * n)), np.int64)
    for d in range(n):  # PyTorch's samples of images stand in the order width, height; those of volumes in order
        sample = drawn[..., n - 1 - d if n == 2 else d]
        at = _starts(sample, spatial[d], out[d], kernel[d])[..., None] + np.arange(kernel[d])
        view = [1] * (2 * n)
        view[d], view[n + d] = out[d], kernel[d]
        flat = flat * spatial[d] + at.reshape(*lead, *view)
    flat = flat.reshape(*lead, math.prod(out), math.prod(kernel))
    x = reshape(input, (*lead, math.prod(spatial)))
    window = np.take_along_axis(x._d[:, :, None], flat, -1)
    chosen = np.take_along_axis(flat, window.argmax(-1)[..., None], -1)[..., 0]
    result = (*lead, *out) if len(shape) == n + 2 else (shape[0], *out)
    values = reshape(gather_row(x, wrap(chosen), 2), result)
    return (values, wrap(chosen.reshape(result))) if return_indices else values


def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):  # fmt: skip
    """The largest value of each window, windows of (N, C, H, W) standing at random places.

    Args: output_size: the new height and width; or output_ratio: between 0 and 1; return_indices: give the places too.
    """
    return _pool("fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):  # fmt: skip
    """The largest value of each window, windows of (N, C, D, H, W) standing at random places; see the 2-D form."""
    return _pool("fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, return_indices, _random_samples)


def fractional_max_pool2d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):  # fmt: skip
    """``fractional_max_pool2d`` with the places."""
    return _pool("fractional_max_pool2d", 2, input, kernel_size, output_size, output_ratio, True, _random_samples)


def fractional_max_pool3d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):  # fmt: skip
    """``fractional_max_pool3d`` with the places."""
    return _pool("fractional_max_pool3d", 3, input, kernel_size, output_size, output_ratio, True, _random_samples)
