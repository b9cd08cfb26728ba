"""``torch.fft``: Fourier transforms under PyTorch's names."""

from .core.public import NAMESPACES

globals().update(NAMESPACES["fft"])
__all__ = sorted(NAMESPACES["fft"])
