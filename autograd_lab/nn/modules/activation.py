"""Activations as modules."""

import numpy as np

from ...core.tensor import Parameter
from ...ops import elementwise
from ...ops.create import full
from .. import functional as F  # noqa: N812 (PyTorch's name)
from ..module import Module


class ReLU(Module):
    """max(x, 0), elementwise.

    Args: inplace: overwrite the input. Shape: any, output the same.
    """

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        """max(x, 0)."""
        return F.relu_(input) if self.inplace else elementwise.relu(input)

    def extra_repr(self):
        """The settings."""
        return "inplace=True" if self.inplace else ""


class Tanh(Module):
    """tanh(x), elementwise: values between −1 and 1. Shape: any, output the same."""

    def forward(self, input):
        """tanh(x)."""
        return elementwise.tanh(input)


class Sigmoid(Module):
    """σ(x) = 1 / (1 + exp(−x)), elementwise: values between 0 and 1. Shape: any, output the same."""

    def forward(self, input):
        """σ(x)."""
        return elementwise.sigmoid(input)


class _Settings(Module):
    """An activation of nn.functional with its settings kept: the base of the classes below."""

    _function = None
    _names = ()
    _shown = ()

    def forward(self, input):
        """The activation of the input."""
        return type(self)._function(input, *(self.__dict__[name] for name in self._names))

    def extra_repr(self):
        """The settings."""
        parts = [f"{name}={self.__dict__[name]}" for name in self._shown]
        return ", ".join(parts + ["inplace=True"] * bool(self.__dict__.get("inplace", False)))


class LeakyReLU(_Settings):
    """x where x > 0, else negative_slope · x.

    Args: negative_slope: the slope below 0; inplace: overwrite the input.
    """

    _function, _names, _shown = staticmethod(F.leaky_relu), ("negative_slope", "inplace"), ("negative_slope",)

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace


class ELU(_Settings):
    """x where x > 0, else alpha · (exp(x) − 1).

    Args: alpha: minus the limit at −∞; inplace: overwrite the input.
    """

    _function, _names, _shown = staticmethod(F.elu), ("alpha", "inplace"), ("alpha",)

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace


class CELU(_Settings):
    """x where x > 0, else alpha · (exp(x / alpha) − 1).

    Args: alpha: minus the limit at −∞; inplace: overwrite the input.
    """

    _function, _names, _shown = staticmethod(F.celu), ("alpha", "inplace"), ("alpha",)

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace


class _InPlace(_Settings):
    _names = ("inplace",)

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


class SELU(_InPlace):
    """scale · elu(x, alpha) with constants that keep mean 0 and variance 1. Args: inplace: overwrite the input."""

    _function = staticmethod(F.selu)


class SiLU(_InPlace):
    """x · σ(x), also called swish. Args: inplace: overwrite the input."""

    _function = staticmethod(F.silu)


class Mish(_InPlace):
    """x · tanh(softplus(x)). Args: inplace: overwrite the input."""

    _function = staticmethod(F.mish)


class Hardswish(_InPlace):
    """x · hardsigmoid(x). Args: inplace: overwrite the input."""

    _function = staticmethod(F.hardswish)


class Hardsigmoid(_InPlace):
    """(x + 3) / 6 limited to [0, 1]. Args: inplace: overwrite the input."""

    _function = staticmethod(F.hardsigmoid)

    def extra_repr(self):
        """Nothing, as in PyTorch."""
        return ""


class GELU(_Settings):
    """x · Φ(x), Φ the normal distribution function.

    Args: approximate: "none", or "tanh" for the cheaper form 0.5x(1 + tanh(√(2/π)(x + 0.044715x³))).
    """

    _function, _names = staticmethod(F.gelu), ("approximate",)

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def extra_repr(self):
        """The settings."""
        return f"approximate={self.approximate!r}"


class Softplus(_Settings):
    """ln(1 + exp(beta · x)) / beta, a smooth ReLU.

    Args: beta: sharpness; threshold: the identity where beta · x is larger.
    """

    _function, _names, _shown = staticmethod(F.softplus), ("beta", "threshold"), ("beta", "threshold")

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold


class Hardtanh(_Settings):
    """x limited to [min_val, max_val]. Args: min_val, max_val: the limits; inplace: overwrite the input."""

    _function, _names, _shown = staticmethod(F.hardtanh), ("min_val", "max_val", "inplace"), ("min_val", "max_val")

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError("max_val must be greater than min_val")


class ReLU6(Hardtanh):
    """x limited to [0, 6]. Args: inplace: overwrite the input."""

    _shown = ()

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)


class Softshrink(_Settings):
    """x moved towards 0 by ``lambd``, 0 between. Args: lambd: how far, at least 0."""

    _function, _names = staticmethod(F.softshrink), ("lambd",)

    def __init__(self, lambd=0.5):
        super().__init__()
        self.lambd = lambd

    def extra_repr(self):
        """The settings."""
        return str(self.lambd)


class Hardshrink(Softshrink):
    """x where |x| > ``lambd``, else 0. Args: lambd: the threshold."""

    _function = staticmethod(F.hardshrink)


class Tanhshrink(Module):
    """x − tanh(x), elementwise."""

    def forward(self, input):
        """x − tanh(x)."""
        return F.tanhshrink(input)


class Softsign(Module):
    """x / (1 + |x|), elementwise."""

    def forward(self, input):
        """x / (1 + |x|)."""
        return F.softsign(input)


class LogSigmoid(Module):
    """ln σ(x), computed without overflow."""

    def forward(self, input):
        """ln σ(x)."""
        return F.logsigmoid(input)


class Threshold(_Settings):
    """x where x > threshold, else ``value``. Args: threshold, value: numbers; inplace: overwrite the input."""

    _function, _names, _shown = staticmethod(F.threshold), ("threshold", "value", "inplace"), ("threshold", "value")

    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace


class GLU(_Settings):
    """The first half of the input, gated by σ of the second half. Args: dim: the dimension that is halved."""

    _function, _names, _shown = staticmethod(F.glu), ("dim",), ("dim",)

    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim


class RReLU(Module):
    """Leaky ReLU whose slope is drawn from [lower, upper) in training and is their mean in evaluation."""

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input):
        """The activation of the input."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self):
        """The settings."""
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class PReLU(Module):
    """x where x > 0, else a · x with a learned slope.

    Args: num_parameters: 1, or the number of channels; init: the first slope.
    """

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(full((num_parameters,), float(init), device=device, dtype=dtype))

    def reset_parameters(self):
        """Set the first slope anew."""
        self.weight._array()[...] = np.float32(self.init)

    def forward(self, input):
        """The activation of the input."""
        return F.prelu(input, self.weight)

    def extra_repr(self):
        """The settings."""
        return f"num_parameters={self.num_parameters}"


class _AlongDim(Module):
    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def extra_repr(self):
        """The settings."""
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """exp(xᵢ) / Σ exp(xⱼ) along ``dim``: positive numbers that sum to 1.

    Args: dim: the dimension. Shape: any, output the same. Example: ``nn.Softmax(dim=1)(torch.randn(2, 3))``
    """

    def forward(self, input):
        """The softmax of the input."""
        return F.softmax(input, self.dim)


class LogSoftmax(_AlongDim):
    """ln softmax(x) along ``dim``. Args: dim: the dimension. Shape: any, output the same."""

    def forward(self, input):
        """The logarithm of the softmax of the input."""
        return F.log_softmax(input, self.dim)

    def extra_repr(self):
        """The settings."""
        return f"dim={self.dim}"


class Softmin(_AlongDim):
    """softmax(−x) along ``dim``. Args: dim: the dimension."""

    def forward(self, input):
        """The softmin of the input."""
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    """Softmax over the channels of each place of an image (N, C, H, W) or (C, H, W)."""

    def forward(self, input):
        """The softmax over channels."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)
