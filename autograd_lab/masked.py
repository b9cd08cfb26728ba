"""``torch.masked``: reductions and normalisations with a ``mask`` keyword, under PyTorch's names."""

from .core.public import NAMESPACES

globals().update(NAMESPACES["masked"])
__all__ = sorted(NAMESPACES["masked"])
