"""Floor 4: the engine, ``backward`` and ``grad``, custom functions, gradient checks, formulas of rows."""

from ..core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from .api import backward, grad

__all__ = ["backward", "enable_grad", "grad", "inference_mode", "no_grad", "set_grad_enabled"]
