"""Binds the registered functions to Tensor: methods, operators, in-place twins. Importing it completes the class."""

import functools
import sys

import numpy as np

from .autograd.api import tensor_backward
from .core import bind as core_bind
from .core.modes import modes
from .core.public import INPLACE, METHODS, NAMESPACES
from .core.tape import Node
from .core.tensor import Tensor, wrap
from .errors import shape_text
from .ops import compare, elementwise, matmul


def _references_of_a_local():
    local = object()
    return sys.getrefcount(local)


# Counted, not known: Python 3.14 borrows a local where earlier versions hold one reference more for the argument.
_UNSHARED = _references_of_a_local()


def in_place(function, name):
    """The in-place twin of a function: compute the new value, check that it fits, write it, move the history."""

    def call(self, *args, **kwargs):
        core_bind.check_inplace(self, name)
        shadow = self
        if modes.now.grad:
            shadow = wrap(self._d)
            shadow._node = self._node
        result = function(shadow, *args, **kwargs)
        r, d = result._d, self._d
        if r.shape != d.shape:
            raise RuntimeError(
                f"{name}: output with shape {shape_text(d.shape)} doesn't match the broadcast shape {shape_text(r.shape)}; "
                "an in-place result must keep the tensor's shape"
            )
        if r.dtype is not d.dtype and r.dtype != d.dtype:
            _check_castable(result, self, name)
        if shadow is not self and type(result._node) is Node and sys.getrefcount(shadow) > _UNSHARED:
            # A rule reads the old value, whose memory is about to be overwritten.
            shadow._d = np.array(shadow._d)
            if shadow._st is not None:  # a view of it was saved: compute from the copy instead
                result = function(shadow, *args, **kwargs)
        return core_bind.change(self, result, name)

    call.__name__ = name
    call.__doc__ = f"In-place version of ``{name[:-1]}``."
    return call


def _check_castable(result, target, name):
    from .backend.promotion import can_cast

    if not can_cast(result.dtype, target.dtype):
        raise RuntimeError(
            f"{name}: result type {result.dtype.name} can't be cast to the desired output type {target.dtype.name}; "
            "use the version that makes a new tensor"
        )


def _reflected(function):
    def call(self, other):
        return function(other, self)

    return call


def _not_for_others(function):
    """An operator that lets Python try the other operand's method when that is no Tensor, number or array."""

    @functools.wraps(function)
    def call(self, other):
        if other is None:
            return NotImplemented
        try:
            return function(self, other)
        except TypeError:
            if isinstance(other, Tensor | int | float | complex | np.ndarray):
                raise
            return NotImplemented

    return call


_OPERATORS = {
    "add": elementwise.add, "sub": elementwise.sub, "mul": elementwise.mul, "truediv": elementwise.div, "pow": elementwise.pow,
    "mod": elementwise.remainder, "floordiv": elementwise.floor_divide, "matmul": matmul.matmul, "and": compare.bitwise_and,
    "or": compare.bitwise_or, "xor": compare.bitwise_xor,
}  # fmt: skip


def _bind_operators():
    for name, function in _OPERATORS.items():
        setattr(Tensor, f"__{name}__", function)
        commutes = name in ("add", "mul", "and", "or", "xor")
        setattr(Tensor, f"__r{name}__", function if commutes else _reflected(function))
        if name != "matmul":
            setattr(Tensor, f"__i{name}__", in_place(function, f"{function.__name__}_"))
    Tensor.__rtruediv__ = METHODS["__rdiv__"]
    for name in ("lt", "le", "gt", "ge"):
        setattr(Tensor, f"__{name}__", getattr(compare, name))
    Tensor.__eq__ = _not_for_others(compare.eq)
    Tensor.__ne__ = _not_for_others(compare.ne)
    Tensor.__neg__ = elementwise.neg
    Tensor.__pos__ = lambda self: self
    Tensor.__abs__ = elementwise.abs
    Tensor.__invert__ = compare.bitwise_not


def _bind_methods():
    Tensor.backward = tensor_backward
    for name, function in METHODS.items():
        if name not in Tensor.__dict__:
            setattr(Tensor, name, function)
    for name, function in INPLACE.items():
        if name not in Tensor.__dict__:
            setattr(Tensor, name, in_place(function, name))


_FUNCTIONS_IN_PLACE = """
    abs acos acosh addmv arccos arccosh arcsin arcsinh arctan arctanh as_strided asin asinh atan atanh ceil clamp clamp_max
    clamp_min clip conj_physical cos cosh deg2rad detach erf erfc exp exp2 expm1 fix floor frac gcd i0 index_put lcm ldexp log
    log10 log1p log2 logit nan_to_num neg negative rad2deg reciprocal relu resize_as round rsqrt sigmoid sin sinc sinh sqrt
    square tan tanh trunc xlogy
""".split()
"""The methods whose in-place twin PyTorch offers as a function too: ``torch.sqrt_(x)``."""


def _publish_functions():
    for name in _FUNCTIONS_IN_PLACE:
        NAMESPACES["torch"].setdefault(name + "_", getattr(Tensor, name + "_"))


def bind_all():
    """Complete Tensor with everything registered so far; offer in-place twins as functions."""
    _bind_operators()
    _bind_methods()
    _publish_functions()


__all__ = ["bind_all", "in_place"]
