"""Linear maps, convolutions and their transposes, unfolding, of nn.functional."""

import math

import numpy as np

from ...core.tensor import Tensor
from ...errors import shape_text
from ...ops import conv as rows
from ...ops import matmul
from ...ops.embedding import pad_row
from ...ops.index import index_row
from ...ops.shape import reshape
from .checks import constant, need_tensor, sizes


def linear(input, weight, bias=None):
    """input @ weightᵀ + bias, over the last dimension of ``input``.

    Raises: RuntimeError where sizes do not fit; the text names both shapes.
    """
    need_tensor("linear", "input", input)
    if weight._d.ndim == 1:
        out = matmul.matmul(input, weight)
        return out if bias is None else out + bias
    if bias is not None and bias._d.ndim != 1:
        return matmul.linear(input, weight, None) + bias
    return matmul.linear(input, weight, bias)


def bilinear(input1, input2, weight, bias=None):
    """x₁ᵀ W x₂ + b for every W along the first dimension of ``weight``."""
    o, i, j = weight._d.shape
    if input1._d.shape[-1] != i or input2._d.shape[-1] != j or input1._d.shape[:-1] != input2._d.shape[:-1]:
        raise RuntimeError(
            f"bilinear(): inputs {shape_text(input1._d.shape)} and {shape_text(input2._d.shape)} do not fit "
            f"weight {shape_text(weight._d.shape)}"
        )
    lead = input1._d.shape[:-1]
    a, b = reshape(input1, (-1, i)), reshape(input2, (-1, 1, j))
    middle = reshape(matmul.matmul(a, reshape(weight.permute(1, 0, 2), (i, o * j))), (-1, o, j))
    out = reshape((middle * b).sum(-1), (*lead, o))
    return out if bias is None else out + bias


def _geometry(name, n, input, weight, stride, padding, dilation, groups):
    """Check the arguments of a convolution; returns (batched input, stride, padding, dilation, whether a batch was added)."""
    need_tensor(name, "input", input)
    need_tensor(name, "weight", weight)
    stride, dilation = sizes(stride, n, "stride"), sizes(dilation, n, "dilation")
    shape, kernel = input._d.shape, weight._d.shape
    if len(kernel) != n + 2:
        raise RuntimeError(f"{name}: expected a {n + 2}-dimensional weight, but got weight of size {shape_text(kernel)}")
    if len(shape) not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: {shape_text(shape)}"
        )
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(dilation) <= 0:
        raise RuntimeError("dilation should be greater than zero")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if not isinstance(padding, str):
        padding = sizes(padding, n, "padding")
        if min(padding) < 0:
            raise RuntimeError("negative padding is not supported")
    alone = len(shape) == n + 1
    return reshape(input, (1, *shape)) if alone else input, stride, padding, dilation, alone


def _check_bias(name, bias, channels):
    if bias is not None and bias._d.shape != (channels,):
        raise RuntimeError(
            f"{name}: expected bias to be 1-dimensional with {channels} elements, but got bias of size "
            f"{shape_text(bias._d.shape)} instead"
        )


def _convolution(name, n, input, weight, bias, stride, padding, dilation, groups):
    x, stride, padding, dilation, alone = _geometry(name, n, input, weight, stride, padding, dilation, groups)
    shape, kernel = x._d.shape, weight._d.shape
    _check_bias(name, bias, kernel[0])
    if shape[1] != kernel[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {shape_text(kernel)}, expected input{shape_text(input._d.shape)} to have "
            f"{kernel[1] * groups} channels, but got {shape[1]} channels instead"
        )
    if kernel[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got {shape_text(kernel)}"
        )
    if isinstance(padding, str):
        x, padding = _named_padding(padding, x, kernel[2:], stride, dilation)
    full = [s + 2 * p for s, p in zip(x._d.shape[2:], padding, strict=True)]
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel[2:], strict=True)]
    if any(r > f for r, f in zip(reach, full, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, full))}). Kernel size: "
            f"({' x '.join(map(str, reach))}). Kernel size can't be greater than actual input size"
        )
    y = rows.conv(x, weight, bias, stride, padding, dilation, groups)
    return reshape(y, y._d.shape[1:]) if alone else y


def _named_padding(name, x, kernel, stride, dilation):
    if name == "valid":
        return x, (0,) * len(kernel)
    if name != "same":
        raise RuntimeError(f"Invalid padding string: '{name}'; use 'same', 'valid' or numbers")
    if max(stride) > 1:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
    if any(t % 2 for t in total):
        x = pad_row(x, ((0, 0), (0, 0), *((0, t % 2) for t in total)), 0)
    return x, tuple(t // 2 for t in total)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolve (N, C, L) with (O, C/groups, K): each output is a weighted sum over a window."""
    return _convolution("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolve images (N, C, H, W) with (O, C/groups, kH, kW): each output is a weighted sum over a window."""
    return _convolution("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Convolve volumes (N, C, D, H, W) with (O, C/groups, kD, kH, kW)."""
    return _convolution("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def _transposed(name, n, input, weight, bias, stride, padding, output_padding, groups, dilation):
    x, stride, padding, dilation, alone = _geometry(name, n, input, weight, stride, padding, dilation, groups)
    extra = sizes(output_padding, n, "output_padding")
    shape, kernel = x._d.shape, weight._d.shape
    channels = kernel[1] * groups
    _check_bias(name, bias, channels)
    if shape[1] != kernel[0]:
        raise RuntimeError(
            f"Given transposed=1, weight of size {shape_text(kernel)}, expected "
            f"input{shape_text(input._d.shape)} to have {kernel[0]} "
            f"channels, but got {shape[1]} channels instead"
        )
    if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        raise RuntimeError(f"output padding must be smaller than either stride or dilation, but got output_padding={list(extra)}")
    out = tuple(
        (s - 1) * t - 2 * p + d * (k - 1) + e + 1
        for s, t, p, d, k, e in zip(shape[2:], stride, padding, dilation, kernel[2:], extra, strict=True)
    )
    if min(out) <= 0:
        raise RuntimeError(
            f"Given input size per channel: {shape_text(shape[2:])}. Calculated output size: {shape_text(out)}. Too small"
        )
    y = rows.conv_input(x, weight, out, stride, padding, dilation, groups)
    if bias is not None:
        y = y + reshape(bias, (1, channels, *(1,) * n))
    return reshape(y, y._d.shape[1:]) if alone else y


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The adjoint of ``conv1d`` in its input, as a layer that enlarges."""
    return _transposed("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The adjoint of ``conv2d`` in its input, as a layer that enlarges."""
    return _transposed("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The adjoint of ``conv3d`` in its input, as a layer that enlarges."""
    return _transposed("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


# ----- windows as columns -----


def _one_hot_kernel(channels, kernel, dtype):
    """The weight that makes a convolution copy each element of each window to a channel of its own."""
    k = math.prod(kernel)
    weight = np.zeros((channels, k, k), dtype)
    weight[:, np.arange(k), np.arange(k)] = 1
    return weight.reshape(channels * k, 1, *kernel)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The windows of images (N, C, H, W) as columns (N, C·kH·kW, number of windows)."""
    need_tensor("unfold", "input", input)
    if input.ndim not in (3, 4):
        raise RuntimeError(f"Expected 3D or 4D (batch mode) tensor for input, but got: {shape_text(input._d.shape)}")
    kernel, stride = sizes(kernel_size, 2), sizes(stride, 2)
    padding, dilation = sizes(padding, 2), sizes(dilation, 2)
    alone = input.ndim == 3
    x = reshape(input, (1, *input._d.shape)) if alone else input
    out = rows.out_sizes(x._d.shape[2:], kernel, stride, padding, dilation)
    if min(out) <= 0 or min(kernel) <= 0 or min(stride) <= 0 or min(dilation) <= 0 or min(padding) < 0:
        raise RuntimeError(
            f"unfold: given input with spatial size {shape_text(x._d.shape[2:])}, kernel_size={kernel}, dilation={dilation}, "
            f"padding={padding}, stride={stride}, calculated shape of the array of sliding blocks as {out}, but "
            "its components must be at least one"
        )
    if any(padding):
        x = pad_row(x, ((0, 0), (0, 0), *((p, p) for p in padding)), 0)
    n, c, h, w = x._d.shape
    places = np.arange(h * w).reshape(1, 1, h, w)
    index = rows.windows(np, places, kernel, stride, dilation, out).reshape(math.prod(kernel), math.prod(out))
    y = reshape(index_row(reshape(x, (n, c, h * w)), (slice(None), slice(None), index)), (n, c * math.prod(kernel), math.prod(out)))
    return reshape(y, y._d.shape[1:]) if alone else y


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns (N, C·kH·kW, L) added back to images (N, C, H, W): the adjoint of ``unfold``."""
    need_tensor("fold", "input", input)
    kernel, out = sizes(kernel_size, 2), sizes(output_size, 2)
    stride, padding, dilation = sizes(stride, 2), sizes(padding, 2), sizes(dilation, 2)
    alone = input.ndim == 2
    if input.ndim not in (2, 3):
        raise RuntimeError(f"Expected 2D or 3D (batch mode) tensor for input, but got: {shape_text(input._d.shape)}")
    x = reshape(input, (1, *input._d.shape)) if alone else input
    k = math.prod(kernel)
    blocks = rows.out_sizes(out, kernel, stride, padding, dilation)
    if x._d.shape[1] % k:
        raise RuntimeError(f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
                           f"input.size(1)={x._d.shape[1]} and kernel_size={kernel}.")  # fmt: skip
    if x._d.shape[2] != math.prod(blocks):
        raise RuntimeError(f"expected size of input's dimension 2 to match the calculated number of sliding blocks "
                           f"{' * '.join(map(str, blocks))} = {math.prod(blocks)}, but got "
                           f"input.size(2)={x._d.shape[2]}.")  # fmt: skip
    channels = x._d.shape[1] // k
    weight = constant(_one_hot_kernel(channels, kernel, x._d.dtype))
    y = rows.conv_input(reshape(x, (*x._d.shape[:2], *blocks)), weight, out, stride, padding, dilation, channels)
    return reshape(y, y._d.shape[1:]) if alone else y


# ----- borders -----


def pad(input, pad, mode="constant", value=None):
    """A border around the last dimensions: ``pad`` holds (before, after) from the last dimension backwards.

    Args: mode: constant (with ``value``), reflect, replicate or circular. Negative sizes crop a constant border.
    """
    need_tensor("pad", "input", input)
    pad = tuple(int(p) for p in (pad.tolist() if isinstance(pad, Tensor) else pad))
    shape = input._d.shape
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) // 2 > len(shape):
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of "
            f"dimension {len(shape)}"
        )
    borders = [(0, 0)] * len(shape)
    for i in range(len(pad) // 2):
        borders[len(shape) - 1 - i] = (pad[2 * i], pad[2 * i + 1])
    if mode == "constant":
        return _constant(input, borders, 0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(shape) not in (len(pad) // 2 + 1, len(pad) // 2 + 2):
        raise NotImplementedError(
            "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now; got "
            f"{len(pad)} sizes for an input of shape {shape_text(shape)}"
        )
    for dim, (before, after) in enumerate(borders):
        if before or after:
            input = index_row(input, (slice(None),) * dim + (_border_index(mode, shape[dim], before, after, dim),))
    return input


def _constant(input, borders, value):
    shape = input._d.shape
    if any(a + b + s < 0 for s, (a, b) in zip(shape, borders, strict=True)):
        raise RuntimeError(
            f"The input size {shape_text(shape)}, plus negative padding {borders}, resulted in a negative output size"
        )
    if any(a < 0 or b < 0 for a, b in borders):
        input = input[tuple(slice(max(-a, 0), s - max(-b, 0)) for s, (a, b) in zip(shape, borders, strict=True))]
        borders = [(max(a, 0), max(b, 0)) for a, b in borders]
    return pad_row(input, tuple(borders), value)


def _border_index(mode, size, before, after, dim):
    at = np.arange(-before, size + after)
    if mode == "replicate":
        return np.clip(at, 0, size - 1)
    if mode == "circular":
        if before > size or after > size:
            raise RuntimeError(
                f"Padding value causes wrapping around more than once: ({before}, {after}) at dimension {dim} of size {size}"
            )
        kept = np.arange(max(-before, 0), size - max(-after, 0))
        return kept[np.arange(-max(before, 0), len(kept) + max(after, 0)) % len(kept)]
    if before >= size or after >= size:
        raise RuntimeError(
            f"Padding size should be less than the corresponding input dimension, but got: padding ({before}, "
            f"{after}) at dimension "
            f"{dim} of input of size {size}"
        )
    at = np.abs(at)
    return np.where(at >= size, 2 * (size - 1) - at, at)
