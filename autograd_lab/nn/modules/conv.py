"""Convolutions and transposed convolutions as modules."""

import math

from ...core.tensor import Parameter
from ...ops.create import empty
from .. import functional as F  # noqa: N812 (PyTorch's name)
from .. import init
from ..functions.checks import sizes
from ..module import Module


class _ConvNd(Module):
    """What all convolutions share: checks, parameters and their first values, printing."""

    _n = 0
    _transposed = False

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias,
                 padding_mode,
                 device, dtype):  # fmt: skip
        super().__init__()
        n = self._n
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
            if padding == "same" and max(sizes(stride, n)) != 1:
                raise ValueError("padding='same' is not supported for strided convolutions")
        modes = ("zeros", "reflect", "replicate", "circular")
        if padding_mode not in modes:
            raise ValueError(f"padding_mode must be one of {set(modes)}, but got padding_mode='{padding_mode}'")
        if self._transposed and padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        self.kernel_size, self.stride, self.dilation = sizes(kernel_size, n), sizes(stride, n), sizes(dilation, n)
        self.padding = padding if isinstance(padding, str) else sizes(padding, n)
        self.output_padding, self.transposed = sizes(output_padding, n), self._transposed
        first, second = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        self.weight = Parameter(empty(first, second // groups, *self.kernel_size, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw first values anew: uniform in ±1/√(values per output)."""
        if self.weight._d.size == 0:
            return
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight._d.shape[1:])
            if fan_in:
                init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in))

    def _bordered(self, input):
        """The input with its border, and the padding that is left for the convolution."""
        if self.padding_mode == "zeros":
            return input, self.padding
        if self.padding == "valid":
            return input, 0
        border = []
        for i in reversed(range(self._n)):
            if self.padding == "same":
                total = self.dilation[i] * (self.kernel_size[i] - 1)
                border += [total // 2, total - total // 2]
            else:
                border += [self.padding[i]] * 2
        return F.pad(input, border, self.padding_mode), 0

    def extra_repr(self):
        """Sizes, and settings that are not the default."""
        s = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        n = self._n
        if self.padding != (0,) * n:
            s += f", padding={self.padding}"
        if self.dilation != (1,) * n:
            s += f", dilation={self.dilation}"
        if self.output_padding != (0,) * n:
            s += f", output_padding={self.output_padding}"
        if self.groups != 1:
            s += f", groups={self.groups}"
        if self.bias is None:
            s += ", bias=False"
        if self.padding_mode != "zeros":
            s += f", padding_mode={self.padding_mode}"
        return s


class _Conv(_ConvNd):
    _function = None

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode, device, dtype
        )

    def forward(self, input):
        """The convolution of the input."""
        input, padding = self._bordered(input)
        return type(self)._function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv):
    """Convolve sequences (N, C, L): each output is a weighted sum over a window.

    Args:
        in_channels, out_channels: numbers of channels
        kernel_size: length of the window
        stride: distance of windows
        padding: zeros added at both ends, or "same", "valid"
        dilation: distance of the elements of a window
        groups: channels are cut into as many independent groups
        bias: learn an additive bias
        padding_mode: zeros, reflect, replicate or circular

    Shape: (N, C_in, L) or (C_in, L) to (N, C_out, L_out) or (C_out, L_out),
    L_out = ⌊(L + 2·padding − dilation·(kernel_size − 1) − 1) / stride + 1⌋.
    """

    _n, _function = 1, staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Convolve images (N, C, H, W): each output is a weighted sum over a window.

    Args:
        in_channels, out_channels: numbers of channels
        kernel_size: size of the window, a number or (height, width)
        stride: distance of windows
        padding: zeros added on every side, or "same", "valid"
        dilation: distance of the elements of a window
        groups: channels are cut into as many independent groups
        bias: learn an additive bias
        padding_mode: zeros, reflect, replicate or circular

    Shape: (N, C_in, H, W) or (C_in, H, W) to (N, C_out, H_out, W_out) or (C_out, H_out, W_out),
    H_out = ⌊(H + 2·padding − dilation·(kernel_size − 1) − 1) / stride + 1⌋, W_out likewise.

    Example::

        m = nn.Conv2d(16, 33, 3, stride=2)
        m(torch.randn(20, 16, 50, 100)).shape    # torch.Size([20, 33, 24, 49])
    """

    _n, _function = 2, staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Convolve volumes (N, C, D, H, W); arguments and shapes as ``Conv2d`` with one dimension more."""

    _n, _function = 3, staticmethod(F.conv3d)


class _ConvTranspose(_ConvNd):
    _transposed = True
    _function = None

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1,
                 padding_mode="zeros", device=None, dtype=None):  # fmt: skip
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            output_padding,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _extra(self, input, output_size):
        """The output padding that gives ``output_size``. Raises: ValueError where none does."""
        if output_size is None:
            return self.output_padding
        n = self._n
        wanted = list(output_size)[-n:]
        spatial = input._d.shape[-n:]
        least = [
            (s - 1) * t - 2 * p + d * (k - 1) + 1
            for s, t, p, d, k in zip(spatial, self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        ]
        most = [low + t - 1 for low, t in zip(least, self.stride, strict=True)]
        if any(not low <= w <= high for low, w, high in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {least} to {most} (for an input of {spatial})"
            )
        return tuple(w - low for w, low in zip(wanted, least, strict=True))

    def forward(self, input, output_size=None):
        """The transposed convolution of the input; ``output_size`` chooses among the sizes that a stride leaves open."""
        extra = self._extra(input, output_size)
        return type(self)._function(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)


class ConvTranspose1d(_ConvTranspose):
    """The transposed convolution of sequences; see ``ConvTranspose2d``."""

    _n, _function = 1, staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """The transposed convolution of images: spreads each input over a window, so it enlarges where ``Conv2d`` shrinks.

    Args: as ``Conv2d``; output_padding: size added to one side of the output, to choose among those a stride leaves open.

    Shape: (N, C_in, H, W) to (N, C_out, H_out, W_out),
    H_out = (H − 1)·stride − 2·padding + dilation·(kernel_size − 1) + output_padding + 1.
    """

    _n, _function = 2, staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """The transposed convolution of volumes; see ``ConvTranspose2d``."""

    _n, _function = 3, staticmethod(F.conv_transpose3d)
