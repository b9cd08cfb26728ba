"""Floor 5: files. ``save`` and ``load`` in PyTorch's own format; reading runs no code."""

from .torch_zip import load, save

__all__ = ["load", "save"]
