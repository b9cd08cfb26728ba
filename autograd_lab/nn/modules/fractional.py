"""Fractional max pooling, and normalisation across channels as the first networks for images had it, as modules."""

import numpy as np

from ...core.tensor import wrap
from ...ops.shape import reshape
from .. import functional as F  # noqa: N812 (PyTorch's name)
from ..functions.checks import sizes
from ..module import Module


class _FractionalMaxPool(Module):
    _n = 0
    _function = None

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        name, n = self._get_name(), self._n
        self.kernel_size = sizes(kernel_size, n)
        if self._n == 3 and min(self.kernel_size) <= 0:
            raise ValueError(f"kernel_size must be greater than zero, but got {kernel_size}")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        if (output_size is None) == (output_ratio is None):
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio" if output_size is None
                else "only one of output_size and output_ratio may be specified"
            )  # fmt: skip
        self.output_size = None if output_size is None else sizes(output_size, n, "output_size")
        self.output_ratio = output_ratio
        if output_ratio is not None:
            self.output_ratio = tuple(output_ratio) if isinstance(output_ratio, tuple | list) else (output_ratio,) * n
            if not all(0 < r < 1 for r in self.output_ratio):
                raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input):
        """The largest value of each window."""
        return type(self)._function(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest value of each window of images (N, C, H, W), windows standing at random places.

    Args:
        kernel_size: size of the window
        output_size: the new height and width
        output_ratio: or their ratio to the old ones, between 0 and 1
        return_indices: give the places of the largest values too
    """

    _n, _function = 2, staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest value of each window of volumes (N, C, D, H, W), windows standing at random places; see the 2-D form."""

    _n, _function = 3, staticmethod(F.fractional_max_pool3d)


def _reach(channels, size):
    """Which channels PyTorch sums forward and backward, as 0/1 matrices: its windows are not each other's transpose."""
    half = int((size - 1) / 2 + 1)
    forward = np.zeros((channels, channels))
    forward[0, : min(half, channels)] = 1
    for c in range(1, channels):
        forward[c] = forward[c - 1]
        if c < channels - half + 1:
            forward[c, c + half - 1] += 1
        if c > half:
            forward[c, c - half] -= 1
    lead, back = int(size - (size - 1) / 2), np.zeros((channels, channels))
    for c in range(channels):
        for k in range(c - lead, c - lead + size):
            if 0 <= k < channels:
                back[k, c] = 1
    return forward, back


class CrossMapLRN2d(Module):
    """Divide by a power of the mean square over neighbouring channels of images (N, C, H, W).

    Args: size: how many channels; alpha, beta, k: y = x / (k + alpha · mean square)^beta.

    Values and gradients are those of PyTorch, whose window at the first channels differs from ``LocalResponseNorm``'s.
    """

    def __init__(self, size, alpha=1e-4, beta=0.75, k=1):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        """The normalised input."""
        if input._d.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input._d.ndim}D instead.")
        n, c, h, w = input._d.shape
        forward, back = (wrap(m.astype(input._d.dtype)) for m in _reach(c, self.size))
        squares = reshape(input * input, (n, c, h * w))
        sums = back @ squares
        sums = sums + (forward @ squares.detach() - sums.detach())
        scale = reshape(sums, (n, c, h, w)) * (self.alpha / self.size) + self.k
        return input * scale ** (-self.beta)

    def extra_repr(self):
        """The settings."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
