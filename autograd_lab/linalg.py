"""``torch.linalg``: norms and decompositions, as far as the rows offer them."""

from .core.public import NAMESPACES

globals().update(NAMESPACES["linalg"])
__all__ = sorted(NAMESPACES["linalg"])
