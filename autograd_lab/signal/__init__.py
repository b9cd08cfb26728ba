"""``torch.signal``: windows for spectra."""

from . import windows

__all__ = ["windows"]
