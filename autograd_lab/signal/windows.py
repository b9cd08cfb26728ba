"""``torch.signal.windows``: windows for short-time spectra under PyTorch's names."""

from ..core.public import NAMESPACES

globals().update(NAMESPACES["signal.windows"])
__all__ = sorted(NAMESPACES["signal.windows"])
