"""Dropout as modules."""

from .. import functional as F  # noqa: N812 (PyTorch's name)
from ..module import Module


class _Dropout(Module):
    _function = None

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input):
        """The input with some elements zeroed while training."""
        return type(self)._function(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        """The settings."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Zero each element with probability ``p`` while training and scale the rest by 1/(1 − p); the identity in evaluation.

    Args: p: probability of a zero; inplace: overwrite the input. Shape: any, output the same.
    """

    _function = staticmethod(F.dropout)


class Dropout1d(_Dropout):
    """Zero whole channels of (N, C, L) or (C, L) with probability ``p`` while training."""

    _function = staticmethod(F.dropout1d)


class Dropout2d(_Dropout):
    """Zero whole channels of (N, C, H, W) with probability ``p`` while training."""

    _function = staticmethod(F.dropout2d)


class Dropout3d(_Dropout):
    """Zero whole channels of (N, C, D, H, W) with probability ``p`` while training."""

    _function = staticmethod(F.dropout3d)


class AlphaDropout(_Dropout):
    """Dropout that keeps mean and variance of SELU networks."""

    _function = staticmethod(F.alpha_dropout)


class FeatureAlphaDropout(_Dropout):
    """``AlphaDropout`` of whole channels."""

    _function = staticmethod(F.feature_alpha_dropout)
