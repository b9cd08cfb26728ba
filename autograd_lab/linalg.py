"""``torch.linalg``: equations, decompositions, norms and more under PyTorch's names."""

from .core.public import NAMESPACES
from .ops.linalg_checks import LinAlgError

globals().update(NAMESPACES["linalg"])
__all__ = [*sorted(NAMESPACES["linalg"]), "LinAlgError"]
