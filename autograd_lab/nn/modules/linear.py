"""Linear layers."""

import math

from ...core.tensor import Parameter
from ...ops.create import empty
from ...ops.matmul import linear
from .. import functional as F  # noqa: N812 (PyTorch's name)
from .. import init
from ..module import Module


class Identity(Module):
    """Gives its input back; takes and ignores any arguments.

    Shape: input (*), output (*).
    """

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        """The input."""
        return input


class Linear(Module):
    """Apply a linear map: y = x Aᵀ + b.

    Args:
        in_features: size of each input
        out_features: size of each output
        bias: learn an additive bias

    Shape: input (*, in_features), output (*, out_features).

    ``weight`` (out_features, in_features) and ``bias`` start uniform in ±1/√in_features.

    Example::

        m = nn.Linear(20, 30)
        m(torch.randn(128, 20)).shape    # torch.Size([128, 30])
    """

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw first values anew."""
        if self.weight._d.size == 0:
            return
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        """The linear map of the input."""
        p = self._parameters
        if "weight" in p and "bias" in p:
            return linear(input, p["weight"], p["bias"])
        return F.linear(input, self.weight, self.bias)  # parametrised: the attributes are computed

    def extra_repr(self):
        """Sizes and whether there is a bias."""
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """Apply a bilinear map: y = x₁ᵀ A x₂ + b.

    Args: in1_features, in2_features, out_features: sizes; bias: learn an additive bias.

    Shape: inputs (*, in1_features) and (*, in2_features), output (*, out_features).
    """

    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(empty(out_features, in1_features, in2_features, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw first values anew."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1, input2):
        """The bilinear map of the inputs."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self):
        """Sizes and whether there is a bias."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
