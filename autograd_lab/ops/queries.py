"""Questions about tensors: equal, close, what type, how many."""

import math

import numpy as np

from ..backend import dtype as dt
from ..core.printing import set_printoptions
from ..core.public import NAMESPACES, public
from ..core.tensor import Tensor, wrap
from .dims import need_tensor


def _close(input, other, rtol, atol, equal_nan, name):
    if input._d.dtype != other._d.dtype:
        raise RuntimeError(f"{input.dtype.name} did not match {other.dtype.name} in {name}(): cast one of them first")
    if rtol < 0 or atol < 0:
        raise RuntimeError(f"{'rtol' if rtol < 0 else 'atol'} must be greater than or equal to zero, but got {min(rtol, atol)}")
    a, b = input._d, other._d
    if a.dtype.kind not in "fcV" and a.dtype.kind in "iub":
        close = a == b
        if (rtol or atol) and a.dtype.kind != "b":
            wide = np.abs(a.astype(np.float64) - b.astype(np.float64))
            close = close | (wide <= atol + rtol * np.abs(b.astype(np.float64)))
        return close
    with np.errstate(all="ignore"):
        close = a == b
        allowed = atol + np.abs(rtol * b)
        close = close | (np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) <= allowed))
    return close | (np.isnan(a) & np.isnan(b)) if equal_nan else close


@public("isclose")
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Per element, whether |input − other| ≤ atol + rtol · |other|."""
    need_tensor(other, "isclose", 2, "other")
    return wrap(np.asarray(_close(input, other, rtol, atol, equal_nan, "isclose")))


@public("allclose")
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close: |input − other| ≤ atol + rtol · |other|. Returns a Python bool."""
    need_tensor(other, "allclose", 2, "other")
    return bool(np.all(_close(input, other, rtol, atol, equal_nan, "allclose")))


@public("equal")
def equal(input, other):
    """Whether two tensors have the same shape and elements. Returns a Python bool. Raises: TypeError for a number."""
    need_tensor(input, "equal")
    need_tensor(other, "equal", 2, "other")
    return input._d.shape == other._d.shape and bool(np.all(input._d == other._d))


@public("isin", method=False)
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Per element, whether it occurs among ``test_elements``."""
    a, b = (v._d if isinstance(v, Tensor) else v for v in (elements, test_elements))
    return wrap(np.isin(a, b, invert=invert))


@public("is_tensor", method=False)
def is_tensor(obj):
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, Tensor)


@public("is_storage", method=False)
def is_storage(obj):
    """False: storages are not objects of their own here."""
    return False


@public("numel", method=False)
def numel(input):
    """The number of elements."""
    return input._d.size


@public("is_floating_point", method=False)
def is_floating_point(input):
    """Whether the dtype is a floating one."""
    return input.is_floating_point()


@public("is_complex", method=False)
def is_complex(input):
    """Whether the dtype is complex."""
    return input.is_complex()


@public("is_nonzero")
def is_nonzero(input):
    """Whether the single element is not 0. Raises: RuntimeError for more or fewer elements."""
    return bool(input)


@public("is_signed", namespace=None)
def is_signed(input):
    """Whether the dtype has negative numbers."""
    return input.dtype.is_signed


@public("is_same_size")
def is_same_size(input, other):
    """Whether two tensors have the same shape."""
    return input._d.shape == other._d.shape


@public("result_type", method=False)
def result_type(tensor1, tensor2):
    """The dtype that arithmetic on these operands gives."""
    from ..core.bind import common_dtype

    return common_dtype((tensor1, tensor2))


@public("get_default_device", method=False)
def get_default_device():
    """The device of new tensors: the CPU."""
    from ..backend.device import CPU

    return CPU


@public("typename", method=False)
def typename(obj):
    """The type's name; for a tensor its old type name."""
    return obj.type() if isinstance(obj, Tensor) else f"{type(obj).__module__}.{type(obj).__qualname__}".removeprefix("builtins.")


NAMESPACES["torch"].update(pi=math.pi, e=math.e, inf=math.inf, nan=math.nan, newaxis=None)
public("set_printoptions", method=False)(set_printoptions)

__all__ = ["allclose", "dt", "equal", "isclose"]
