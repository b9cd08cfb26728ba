"""Sampling of images at places given by a grid, as spatial transformers do."""

import itertools
import math

import numpy as np

from ...core.tensor import wrap
from ...errors import shape_text
from ...ops.compare import where
from ...ops.elementwise import clamp_max, clamp_min
from ...ops.index import gather_row
from ...ops.matmul import matmul
from ...ops.shape import reshape
from .checks import need_tensor


def affine_grid(theta, size, align_corners=None):
    """The grid of places that affine maps send an image's pixels to, for ``grid_sample``.

    Args:
        theta: (N, 2, 3) for images, (N, 3, 4) for volumes
        size: (N, C, H, W) or (N, C, D, H, W) of the output
        align_corners: −1 and 1 are the centres of the corner pixels, not their outer edges

    Returns: (N, H, W, 2) or (N, D, H, W, 3).
    """
    need_tensor("affine_grid", "theta", theta)
    n, spatial, shape = len(size) - 2, tuple(size[2:]), theta._d.shape
    if theta._d.dtype.kind != "f":
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if n not in (2, 3) or shape != (size[0], n, n + 1):
        raise ValueError(f"Expected a batch of affine matrices of shape {(size[0], n, n + 1)} for size {tuple(size)}. "
                         f"Got {shape_text(shape)}.")  # fmt: skip
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    axes = []
    for s in spatial:
        at = np.linspace(-1, 1, s) if s > 1 else np.zeros(1)
        axes.append(at if align_corners else at * (s - 1) / s)
    planes = np.meshgrid(*axes, indexing="ij")[::-1]
    base = np.stack([*planes, np.ones(spatial)], -1).reshape(-1, n + 1).astype(theta._d.dtype)
    return reshape(matmul(wrap(base), theta.transpose(1, 2)), (size[0], *spatial, n))


def _reflected(at, low, high):
    """Places folded back between ``low`` and ``high``."""
    span = high - low
    if span <= 0:
        return at * 0
    far = (at - low).abs()
    flips = np.floor(far._d / span)
    rest = far - wrap((flips * span).astype(at._d.dtype))
    return where(wrap(flips % 2 == 0), rest + low, span + low - rest)


def _places(at, size, padding_mode, align):
    """Grid numbers from −1 to 1 as pixel numbers, brought inside where ``padding_mode`` says so."""
    at = (at + 1) * ((size - 1) / 2) if align else (at + 1) * (size / 2) - 0.5
    if padding_mode == "reflection":
        at = _reflected(at, 0, size - 1) if align else _reflected(at, -0.5, size - 0.5)
    return at if padding_mode == "zeros" else clamp_max(clamp_min(at, 0.0), float(size - 1))


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The values of images at the places that ``grid`` gives, interpolated.

    Args:
        input: (N, C, H, W) or (N, C, D, H, W)
        grid: (N, h, w, 2) with x and y, or (N, d, h, w, 3) with x, y and z; −1 and 1 are the ends
        mode: bilinear, nearest, or bicubic (images only)
        padding_mode: what stands outside: zeros, border (the nearest pixel), reflection
        align_corners: −1 and 1 are the centres of the corner pixels, not their outer edges

    Returns: (N, C, h, w) or (N, C, d, h, w).
    """
    shape, where_to = need_tensor("grid_sample", "input", input)._d.shape, need_tensor("grid_sample", "grid", grid)._d.shape
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError("nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
                         f"'{padding_mode}'")  # fmt: skip
    n = len(shape) - 2
    if n not in (2, 3) or len(where_to) != len(shape) or where_to[0] != shape[0] or where_to[-1] != n or 0 in shape[1:]:
        raise RuntimeError(
            "grid_sample(): expected input (N, C, H, W) and grid (N, h, w, 2), or input (N, C, D, H, W) and grid (N, d, h, w, 3), "
            f"but got input with sizes {list(shape)} and grid with sizes {list(where_to)}"
        )
    if input._d.dtype != grid._d.dtype:
        raise RuntimeError(f"grid_sample(): expected input and grid to have same dtype, but input has {input.dtype} and grid has "
                           f"{grid.dtype}")  # fmt: skip
    if mode == "bicubic" and n != 2:
        raise RuntimeError("grid_sample(): bicubic interpolation only supports 4D input")
    spatial, count, align = shape[2:], math.prod(where_to[1:-1]), bool(align_corners)
    flat = reshape(grid, (shape[0], 1, count, n))
    at = [_places(flat[..., n - 1 - d], s, "zeros" if mode == "bicubic" else padding_mode, align) for d, s in enumerate(spatial)]
    x = reshape(input, (*shape[:2], math.prod(spatial)))
    total = None
    if mode == "nearest":
        corners = [[(np.rint(a._d), None)] for a in at]
        nowhere = wrap(np.zeros(at[0]._d.shape, bool))
        total = sum(where(nowhere, a, 0.0) for a in at)  # the grid has a gradient here too: 0
    elif mode == "bicubic":
        corners = [_cubic_taps(a, s, padding_mode, align) for a, s in zip(at, spatial, strict=True)]
    else:
        corners = [[(low, 1 - (a - wrap(low))), (low + 1, a - wrap(low))] for a in at for low in [np.floor(a._d)]]
    for corner in itertools.product(*corners):
        part = _corner(x, corner, spatial)
        total = part if total is None else total + part
    return reshape(total, (*shape[:2], *where_to[1:-1]))


def _cubic_taps(at, size, padding_mode, align):
    """The four pixels around each place along one dimension, and their weights (Keys' cubic with a = −3/4, as PyTorch's)."""
    low = np.floor(at._d)
    t = at - wrap(low)
    taps = []
    for k, weight in enumerate((_far(t + 1), _near(t), _near(1 - t), _far(2 - t))):
        place = low + (k - 1)
        if padding_mode == "reflection":
            folded = _reflected(wrap(place), 0, size - 1) if align else _reflected(wrap(place), -0.5, size - 0.5)
            place = folded._d
        if padding_mode != "zeros":
            place = np.clip(place, 0, size - 1)
        taps.append((place, weight))
    return taps


def _near(x):
    return (1.25 * x - 2.25) * x * x + 1


def _far(x):
    return ((-0.75 * x + 3.75) * x - 6) * x + 3


def _corner(x, corner, spatial):
    """The pixels at one corner of the cells around the places, times their weights; 0 outside the image."""
    index, inside, weight = 0, True, None
    for (place, factor), size in zip(corner, spatial, strict=True):
        inside = inside & (place >= 0) & (place < size)
        index = index * size + np.clip(place, 0, size - 1).astype(np.int64)
        if factor is not None:
            weight = factor if weight is None else weight * factor
    index = np.ascontiguousarray(np.broadcast_to(index, (*x._d.shape[:2], index.shape[-1])))
    mask = wrap(inside.astype(x._d.dtype))
    return gather_row(x, wrap(index), 2) * (mask if weight is None else weight * mask)
