"""``torch.special``: special functions under PyTorch's names."""

from .core.public import NAMESPACES

globals().update(NAMESPACES["special"])
__all__ = sorted(NAMESPACES["special"])
