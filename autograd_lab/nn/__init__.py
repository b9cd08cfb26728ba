"""``nn``: modules, parameters, losses, initialisers and their functional forms, under PyTorch's names."""

from . import functional, init, modules, parameter, utils
from .module import Module
from .module_hooks import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)  # fmt: skip
from .modules import *  # noqa: F403
from .modules import __all__ as _modules
from .modules.linear_cross_entropy import LinearCrossEntropyOptions
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer", "LinearCrossEntropyOptions", "Module", "Parameter", "UninitializedBuffer", "UninitializedParameter", "functional",
    "init", "modules", "parameter", "register_module_forward_hook", "register_module_forward_pre_hook",
    "register_module_full_backward_hook", "register_module_full_backward_pre_hook", "utils",
    *_modules,
]  # fmt: skip
