"""Pooling as modules."""

from .. import functional as F  # noqa: N812 (PyTorch's name)
from ..functions.checks import sizes
from ..module import Module


class _Pool(Module):
    _function = None
    _shown = ()

    def extra_repr(self):
        """The settings."""
        return ", ".join(f"{name}={self.__dict__[name]}" for name in self._shown)


class _MaxPool(_Pool):
    _shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, stride if stride is not None else kernel_size
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input):
        """The largest value of each window."""
        return type(self)._function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )


class MaxPool1d(_MaxPool):
    """The largest value of each window of sequences (N, C, L); arguments as ``MaxPool2d``."""

    _function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest value of each window of images (N, C, H, W).

    Args: kernel_size: size of the window; stride: distance of windows (default: kernel_size); padding: −∞ added on every
    side; dilation: distance of the elements of a window; return_indices: also where each was; ceil_mode: windows may hang over.

    Shape: (N, C, H, W) to (N, C, H_out, W_out), H_out = ⌊(H + 2·padding − dilation·(kernel_size − 1) − 1) / stride + 1⌋.

    Example: ``nn.MaxPool2d(2)(torch.randn(20, 16, 50, 32)).shape    # torch.Size([20, 16, 25, 16])``
    """

    _function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest value of each window of volumes (N, C, D, H, W); arguments as ``MaxPool2d``."""

    _function = staticmethod(F.max_pool3d)


class _AvgPool(_Pool):
    _shown = ("kernel_size", "stride", "padding")

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, stride if stride is not None else kernel_size
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input):
        """The mean of each window."""
        return type(self)._function(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override
        )


class AvgPool1d(_AvgPool):
    """The mean of each window of sequences (N, C, L); arguments as ``AvgPool2d`` without divisor_override."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        super().__init__(sizes(kernel_size, 1), None if stride is None else sizes(stride, 1), sizes(padding, 1), ceil_mode,
                         count_include_pad)  # fmt: skip

    def forward(self, input):
        """The mean of each window."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPool):
    """The mean of each window of images (N, C, H, W).

    Args: kernel_size: size of the window; stride: distance of windows (default: kernel_size); padding: zeros added on
    every side; ceil_mode: windows may hang over; count_include_pad: zeros count; divisor_override: divide by this.
    """

    _function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of each window of volumes (N, C, D, H, W); arguments as ``AvgPool2d``."""

    _function = staticmethod(F.avg_pool3d)


class _Adaptive(_Pool):
    _shown = ("output_size",)

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        """The input pooled to the wanted size."""
        return type(self)._function(input, self.output_size)


class AdaptiveAvgPool1d(_Adaptive):
    """Means over as many windows as ``output_size`` says, whatever the input's length."""

    _function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_Adaptive):
    """Means over as many windows as ``output_size`` says, whatever the input's size.

    Args: output_size: a number, or (height, width) where None keeps the input's. Example: ``nn.AdaptiveAvgPool2d((5, 7))``
    """

    _function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_Adaptive):
    """Means over as many windows as ``output_size`` says, whatever the input's size."""

    _function = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMax(_Adaptive):
    def __init__(self, output_size, return_indices=False):
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input):
        """The input pooled to the wanted size."""
        return type(self)._function(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Maxima over as many windows as ``output_size`` says, whatever the input's length."""

    _function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Maxima over as many windows as ``output_size`` says, whatever the input's size."""

    _function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMax):
    """Maxima over as many windows as ``output_size`` says, whatever the input's size."""

    _function = staticmethod(F.adaptive_max_pool3d)


class _LPPool(_Pool):
    _shown = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input):
        """The p-norm of each window."""
        return type(self)._function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPool):
    """The p-norm of each window of sequences: (Σ xᵖ)^(1/p)."""

    _function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """The p-norm of each window of images: (Σ xᵖ)^(1/p)."""

    _function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """The p-norm of each window of volumes: (Σ xᵖ)^(1/p)."""

    _function = staticmethod(F.lp_pool3d)


class _MaxUnpool(_Pool):
    _shown = ("kernel_size", "stride", "padding")
    _n = 0

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = sizes(kernel_size, self._n)
        self.stride = sizes(stride, self._n) if stride is not None else self.kernel_size
        self.padding = sizes(padding, self._n)

    def forward(self, input, indices, output_size=None):
        """Maxima back at the places they came from, zeros elsewhere."""
        return type(self)._function(input, indices, self.kernel_size, self.stride, self.padding, output_size)


class MaxUnpool1d(_MaxUnpool):
    """The inverse of ``MaxPool1d`` as far as there is one, from values and indices."""

    _n, _function = 1, staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """The inverse of ``MaxPool2d`` as far as there is one, from values and indices."""

    _n, _function = 2, staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """The inverse of ``MaxPool3d`` as far as there is one, from values and indices."""

    _n, _function = 3, staticmethod(F.max_unpool3d)
