"""Resizing of images, and shuffling between channels and positions, of nn.functional."""

import math

import numpy as np

from ...errors import shape_text
from ...ops.resample import resample
from ...ops.shape import permute_view, reshape
from .checks import need_tensor
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

_MODES = {
    "nearest": (3, 4, 5), "nearest-exact": (3, 4, 5), "area": (3, 4, 5), "linear": (3,), "bilinear": (4,), "trilinear": (5,),
    "bicubic": (4,),
}  # fmt: skip
_UNALIGNED = ("nearest", "area", "nearest-exact")


def interpolate(
    input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False
):  # fmt: skip
    """Resize the positions of (N, C, L), (N, C, H, W) or (N, C, D, H, W).

    Args:
        size: the new sizes, a number or one per dimension; or scale_factor: what to multiply the old ones by
        mode: nearest, nearest-exact, linear (3-D), bilinear, bicubic (4-D), trilinear (5-D), area
        align_corners: the corner elements of input and output stand at the same place (linear and cubic modes)
        recompute_scale_factor: work with the ratio of the rounded sizes instead of ``scale_factor``
        antialias: widen the filter where the image shrinks (bilinear, bicubic)

    Example: ``F.interpolate(torch.randn(1, 3, 8, 8), scale_factor=2).shape    # torch.Size([1, 3, 16, 16])``
    """
    need_tensor("interpolate", "input", input)
    shape = input._d.shape
    n = len(shape) - 2
    if mode in _UNALIGNED:
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
            )
    out, factors = _wanted(shape, size, scale_factor, recompute_scale_factor or (mode == "area" and size is None))
    if antialias and not (mode in ("bilinear", "bicubic") and n == 2):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    if mode not in _MODES or len(shape) not in _MODES[mode]:
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {len(shape)}D) for the modes: nearest | linear | "
            f"bilinear | bicubic | trilinear | area | nearest-exact (got {mode})"
        )
    if min(*shape[1:], *out) <= 0:
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input {shape_text(shape)} and output {out}")
    if input._d.dtype.kind not in "f" and mode not in ("nearest", "nearest-exact") and input._d.dtype.itemsize != 2:
        raise NotImplementedError(f"interpolate in mode {mode} is for floating tensors, not {input.dtype}")
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[n - 1](input, out)
    double = input._d.dtype == np.float64
    for i in range(n):
        index, weight = _terms(mode, shape[i + 2], out[i], factors and factors[i], bool(align_corners), antialias, double)
        input = resample(input, index, weight, shape[i + 2], i + 2)
    return input


def _wanted(shape, size, scale_factor, recompute):
    """The new sizes, and the factors that were given (None: take the ratio of the sizes)."""
    n = len(shape) - 2
    if (size is None) == (scale_factor is None):
        which = "either" if size is None else "only one of"
        raise ValueError(f"{which} size or scale_factor should be defined")
    given = size if scale_factor is None else scale_factor
    given = tuple(given) if isinstance(given, list | tuple) else (given,) * n
    if len(given) != n:
        raise ValueError(
            f"Input and {'output' if scale_factor is None else 'scale_factor'} must have the same number of spatial dimensions, "
            f"but got input with spatial dimensions of {list(shape[2:])} and {given}"
        )
    if scale_factor is None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        if not all(isinstance(s, int | np.integer) for s in given):
            raise TypeError(f"expected size to be one of int or a tuple of ints, but got size {given}")
        return given, None
    return tuple(int(s * f) for s, f in zip(shape[2:], given, strict=True)), None if recompute else given


def _terms(mode, old, new, factor, align, antialias, double):
    """Which inputs each output along one dimension is a sum of, and with which weights: (index, weight) for ``resample``."""
    real = np.float64 if double else np.float32
    places = np.arange(new)
    if mode.startswith("nearest"):
        step = np.float32(1.0 / factor) if factor else np.float32(old) / np.float32(new)
        shift = np.float32(0.5 if mode == "nearest-exact" else 0)
        index = np.floor((places.astype(np.float32) + shift) * step).astype(np.int64)
        return np.minimum(index, old - 1)[None], None
    if align:
        step = real(old - 1) / real(new - 1) if new > 1 else real(0)
    else:
        step = real(1.0 / factor) if factor else real(old) / real(new)
    if antialias:
        return _widened(mode, old, places.astype(real), step)
    at = places.astype(real) * step if align else (places.astype(real) + real(0.5)) * step - real(0.5)
    if mode != "bicubic":
        at = np.minimum(np.maximum(at, 0), old - 1)
        low = np.minimum(np.floor(at).astype(np.int64), old - 1)
        high = at - low
        return np.stack([low, np.minimum(low + 1, old - 1)]), np.stack([1 - high, high])
    low = np.floor(at)
    t = at - low
    index = low.astype(np.int64) + np.arange(-1, 3)[:, None]
    weight = np.stack([_cubic(t + 1, -0.75), _cubic(t, -0.75), _cubic(1 - t, -0.75), _cubic(2 - t, -0.75)])
    return np.clip(index, 0, old - 1), weight


def _cubic(x, a):
    """The convolution kernel of cubic interpolation at distances ``x``."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _widened(mode, old, places, step):
    """The terms of a filter that is as wide as the outputs are apart."""
    reach = 1 if mode == "bilinear" else 2
    wide = max(step, 1)
    centre = step * (places + 0.5)
    first = np.maximum((centre - reach * wide + 0.5).astype(np.int64), 0)
    count = np.minimum((centre + reach * wide + 0.5).astype(np.int64), old) - first
    k = np.arange(count.max())[:, None]
    distance = (first + k - centre + 0.5) / wide
    weight = np.maximum(1 - np.abs(distance), 0) if mode == "bilinear" else _cubic(distance, -0.5)
    weight = np.where(k < count, weight, 0)
    return np.minimum(first + k, old - 1), weight / weight.sum(0)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The older name of ``interpolate``."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """``interpolate`` in mode nearest."""
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """``interpolate`` in mode bilinear with aligned corners."""
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# ----- between channels and positions -----


def pixel_shuffle(input, upscale_factor):
    """(*, C·r², H, W) to (*, C, H·r, W·r): channels become positions.

    Raises: RuntimeError where the channels cannot be divided by r².
    """
    shape, r = need_tensor("pixel_shuffle", "input", input)._d.shape, upscale_factor
    if len(shape) < 3:
        raise RuntimeError(f"pixel_shuffle expects input to have at least 3 dimensions, but got {len(shape)} dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *lead, c, h, w = shape
    if c % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={c} is not divisible by {r * r}"
        )
    n = len(lead)
    x = reshape(input, (*lead, c // (r * r), r, r, h, w))
    x = permute_view(x, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return reshape(x, (*lead, c // (r * r), h * r, w * r))


def pixel_unshuffle(input, downscale_factor):
    """(*, C, H·r, W·r) to (*, C·r², H, W): the inverse of ``pixel_shuffle``.

    Raises: RuntimeError where height or width cannot be divided by r.
    """
    shape, r = need_tensor("pixel_unshuffle", "input", input)._d.shape, downscale_factor
    if len(shape) < 3:
        raise RuntimeError(f"pixel_unshuffle expects input to have at least 3 dimensions, but got {len(shape)} dimension(s)")
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *lead, c, h, w = shape
    for name, s in (("height", h), ("width", w)):
        if s % r:
            raise RuntimeError(f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but {s} is not by {r}")
    n = len(lead)
    x = reshape(input, (*lead, c, h // r, r, w // r, r))
    x = permute_view(x, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return reshape(x, (*lead, c * r * r, h // r, w // r))


def channel_shuffle(input, groups):
    """Deal the channels of (N, C, …) anew: one of each group after another.

    Raises: RuntimeError where the channels cannot be divided by ``groups``.
    """
    shape = need_tensor("channel_shuffle", "input", input)._d.shape
    if len(shape) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups: {groups}")
    if shape[1] % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups.")
    x = reshape(input, (shape[0], groups, shape[1] // groups, math.prod(shape[2:])))
    return reshape(permute_view(x, (0, 2, 1, 3)), shape)


native_channel_shuffle = channel_shuffle
