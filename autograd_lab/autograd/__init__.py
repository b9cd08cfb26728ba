"""Floor 4: the engine, ``backward`` and ``grad``, custom functions, gradient checks, formulas of rows."""

from ..core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from . import function
from .api import backward, grad
from .function import Function
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function", "GradcheckError", "backward", "enable_grad", "function", "grad", "gradcheck", "gradgradcheck", "inference_mode",
    "no_grad", "set_grad_enabled",
]  # fmt: skip
