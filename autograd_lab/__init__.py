"""autograd_lab: tensors, autograd, nn and optim on NumPy under PyTorch's names, and a lab to see them work.

    import autograd_lab as torch     # runs a learner's PyTorch program
    import autograd_lab as lab       # the same module: lab.tape(loss), lab.step(loss), lab.record()

Names that PyTorch lacks stand in ``extras.py``.
"""

# ruff: noqa: E402, I001 (the order matters: the warnings' filter first, rows before methods, methods before namespaces)

import warnings as _warnings

# NumPy reports overflow and invalid values as warnings; PyTorch returns inf and nan silently. Only for our own modules.
_warnings.filterwarnings(
    "ignore", r"(divide by zero|invalid value|overflow|underflow) encountered", RuntimeWarning, module=r"autograd_lab(\.|$)"
)

from .version import __version__
from .backend.dtype import (
    bfloat16, complex64, complex128, dtype, finfo, float16, float32, float64, get_default_dtype, iinfo, int8, int16, int32, int64,
    set_default_dtype, uint8, uint16, uint32, uint64,
)  # fmt: skip
from .backend.dtype import bool_ as bool
from .backend.device import device
from .backend.promotion import can_cast, promote_types
from .core.modes import (
    enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled,
)  # fmt: skip
from .core.size import Size
from .core.tensor import Parameter as _Parameter
from .core.tensor import Tensor
from .ops import register as _register
from .methods import bind_all as _bind_all
from .core.public import NAMESPACES as _NAMESPACES

_register()

from . import nn, optim, utils

_bind_all()
globals().update(_NAMESPACES["torch"])

from . import autograd, backends, cuda, display, extras, fft, io, linalg, masked, random, signal, special, xpu
from .backends import are_deterministic_algorithms_enabled, use_deterministic_algorithms
from .extras import empty_cache, record_lines, tape
from .io import load, save

float, double, half = float32, float64, float16
short, int, long = int16, int32, int64
cfloat, cdouble = complex64, complex128
strided = "torch.strided"

display.attach(Tensor, nn.Module)


def __getattr__(name):
    return extras.lookup(name)


def __dir__():
    return sorted({*globals(), *extras.NAMES})


def load_ipython_extension(shell):
    """Called by ``%load_ext autograd_lab``."""
    from .ipython import load_ipython_extension

    load_ipython_extension(shell)


def unload_ipython_extension(shell):
    """Called by ``%unload_ext autograd_lab``."""
    from .ipython import unload_ipython_extension

    unload_ipython_extension(shell)


def _greet_shell():
    """Switch on displays, magics and line recording when an IPython shell is running; never import IPython for it."""
    import sys

    if "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
        if shell is not None:
            from .ipython import install

            install(shell)


_greet_shell()
