"""Public arithmetic that takes more than the rows do (``alpha``, ``rounding_mode``, bounds), and PyTorch's second names."""

import numpy as np

from ..backend import dtype as dt
from ..core.bind import write_out
from ..core.op import op
from ..core.public import METHODS, public, publish
from ..core.tensor import TENSOR_TYPES, Tensor
from . import compare, elementwise
from .compare import where
from .dims import need_tensor, scalar_name
from .samples import Sample, binary, mismatched, spread
from .shape import cast_to

_NUMBERS = frozenset((int, float))


def _scaled(other, alpha, input, name):
    """``alpha · other``, with PyTorch's check that a fraction does not scale whole numbers."""
    kinds = [v.dtype.category for v in (input, other) if isinstance(v, Tensor)]
    if isinstance(alpha, float) and max(kinds, default=2) < 2 and not isinstance(other, float):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, bool) and max(kinds, default=0) > 0:
        raise RuntimeError(f"{name}: Boolean alpha only supported for Boolean results.")
    return other * alpha


@public("add", inplace=True)
def add(input, other, *, alpha=1, out=None):
    """``input + alpha · other``, with broadcasting and type promotion."""
    if alpha == 1 and alpha is not True:
        return elementwise.add(input, other, out=out)
    return elementwise.add(input, _scaled(other, alpha, input, "add"), out=out)


@public("sub", "subtract", inplace=True)
def sub(input, other, *, alpha=1, out=None):
    """``input − alpha · other``, with broadcasting and type promotion."""
    if alpha == 1 and alpha is not True:
        return elementwise.sub(input, other, out=out)
    return elementwise.sub(input, _scaled(other, alpha, input, "sub"), out=out)


@public("rsub")
def rsub(input, other, *, alpha=1):
    """``other − alpha · input``."""
    need_tensor(input, "rsub")
    return elementwise.sub(other, input if alpha == 1 else _scaled(input, alpha, input, "rsub"))


def _whole_division(xp, a, b):
    if np.any(np.asarray(b) == 0):
        raise ValueError("ZeroDivisionError")
    return (a - xp.fmod(a, b)) // b


def _kind(a, b):
    return a.dtype.kind if hasattr(a, "dtype") else b.dtype.kind


def _divide_floor(xp, a, b):
    if _kind(a, b) in "iu" and np.any(np.asarray(b) == 0):
        raise ValueError("ZeroDivisionError")
    return xp.floor_divide(a, b)


def _divide_trunc(xp, a, b):
    return _whole_division(xp, a, b) if _kind(a, b) in "iu" else xp.trunc(xp.true_divide(a, b))


def _zero(g, y, a, b):
    return g * 0.0


div_trunc = op(
    "div_trunc", _divide_trunc, _zero, _zero,
    dtypes="arith", symbol="÷", grad_name="Div", samples=binary(low2=0.5, order=1), errors=mismatched, public=False,
    ref=lambda a, b: np.trunc(np.true_divide(a, b)), formula={"forward": "a / b, towards 0", "rules": ["0", "0"]},
)  # fmt: skip
div_floor = op(
    "div_floor", _divide_floor, _zero, _zero, dtypes="arith", symbol="÷", grad_name="Div", samples=binary(low2=0.5, order=1),
    errors=mismatched, public=False, ref=np.floor_divide, formula={"forward": "a / b, downwards", "rules": ["0", "0"]},
)  # fmt: skip


@public("div", "divide", inplace=True)
def div(input, other, *, rounding_mode=None, out=None):
    """``input / other``; ``rounding_mode`` "trunc" rounds towards 0, "floor" downwards (and keeps whole numbers whole).

    Raises: RuntimeError for another mode.
    """
    if rounding_mode is None:
        return elementwise.div(input, other, out=out)
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")
    return (div_trunc if rounding_mode == "trunc" else div_floor)(input, other, out=out)


# ----- bounds -----

clamp_row = op(
    "clamp", lambda xp, x, low, high: xp.minimum(xp.maximum(x, low), high),
    lambda g, y, x, low, high: where((x >= low) & (x <= high), g, 0.0),
    saves="x", dtypes="free", public=False, samples=lambda: iter((
        Sample(spread((3, 4)), params=(-0.5, 1.0)), Sample(spread(()), params=(-0.5, 1.0), note="0-d"),
        Sample(np.array([np.nan, np.inf, -np.inf]), params=(-0.5, 1.0), order=0, note="special"),
    )),
    ref=np.clip, formula={"forward": "x within [low, high]", "rules": ["ḡ where low ≤ x ≤ high, else 0"]},
)  # fmt: skip


@public("clamp", "clip", inplace=True)
def clamp(input, min=None, max=None, *, out=None):
    """``input`` held between ``min`` and ``max`` (numbers or tensors; either may be left out).

    Raises: RuntimeError if both are missing. Example: ``x.clamp(0, 1)``
    """
    if type(min) in _NUMBERS and type(max) in _NUMBERS and type(input) in TENSOR_TYPES:
        if input._d.dtype.kind == "f" or (input._d.dtype.kind == "i" and type(min) is int and type(max) is int):
            value = clamp_row(input, min, max)
            return value if out is None else write_out(out, value)
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if max is None:
        return clamp_min(input, min, out=out)
    if min is None:
        return clamp_max(input, max, out=out)
    return clamp_max(clamp_min(input, min), max, out=out)


def _bound(row, name, input, bound, out):
    need_tensor(input, name)
    if isinstance(bound, float) and bound != bound:
        return input * bound
    if input._d.dtype.kind == "c" or (isinstance(bound, Tensor) and bound._d.dtype.kind == "c"):
        raise NotImplementedError(f"{name}: not implemented for '{scalar_name(input.dtype)}'")
    return row(input, bound, out=out)


@public("clamp_min", inplace=True)
def clamp_min(input, min, *, out=None):
    """``input``, but not below a number or tensor."""
    return _bound(elementwise.clamp_min, "clamp_min", input, min, out)


@public("clamp_max", inplace=True)
def clamp_max(input, max, *, out=None):
    """``input``, but not above a number or tensor."""
    return _bound(elementwise.clamp_max, "clamp_max", input, max, out)


def _checked(row, name, both, inplace=False):
    """The function of a row whose operands must be tensors (``both``, or only the first), and real where order counts."""
    ordered = name in ("maximum", "minimum")

    def function(input, other, *, out=None):
        if type(input) not in TENSOR_TYPES:
            need_tensor(input, name)
        if both and type(other) not in TENSOR_TYPES:
            need_tensor(other, name, 2, "other")
        if ordered and (input._d.dtype.kind == "c" or other._d.dtype.kind == "c"):
            raise NotImplementedError(f"{name}: not implemented for complex numbers, which have no order")
        return row(input, other, out=out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = row.__doc__ or f"{name} of two tensors, elementwise and with broadcasting."
    return public(name, method=both, inplace=inplace)(function)


maximum = _checked(elementwise.maximum, "maximum", True)
minimum = _checked(elementwise.minimum, "minimum", True)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _checked(getattr(compare, _name), _name, False)
atan2 = _checked(elementwise.atan2, "atan2", True, True)
fmod = _checked(elementwise.fmod, "fmod", False)
for _name in ("logical_and", "logical_or", "logical_xor"):
    _checked(getattr(compare, _name), _name, True, True)

nan_to_num_row = op(
    "nan_to_num", lambda xp, x, nan, high, low: xp.nan_to_num(x, nan=nan, posinf=high, neginf=low),
    lambda g, y, x, nan, high, low: where(compare.isfinite(x), g, 0.0),
    saves="x", dtypes="free", kind="structure", ref=lambda x, n, h, low: np.nan_to_num(x, nan=n, posinf=h, neginf=low),
    samples=lambda: iter((
        Sample(spread((3, 4)), params=(0.0, None, None)),
        Sample(np.array([np.nan, np.inf, -np.inf]), params=(1.0, 2.0, 3.0), order=0),
    )),
    formula={"forward": "x, numbers in place of nan and ±inf", "rules": ["ḡ where x is finite, else 0"]},
)  # fmt: skip


@public("nan_to_num", inplace=True)
def nan_to_num(input, nan=None, posinf=None, neginf=None, *, out=None):
    """NaN replaced by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the largest and smallest of the dtype)."""
    value = nan_to_num_row(input, 0.0 if nan is None else nan, posinf, neginf)
    return value if out is None else write_out(out, value)


# ----- combinations -----


@public("addcmul", inplace=True)
def addcmul(input, tensor1, tensor2, *, value=1, out=None):
    """``input + value · tensor1 · tensor2``."""
    product = tensor1 * tensor2
    return elementwise.add(input, product if value == 1 else product * value, out=out)


@public("addcdiv", inplace=True)
def addcdiv(input, tensor1, tensor2, *, value=1, out=None):
    """``input + value · tensor1 / tensor2``. Raises: RuntimeError for whole numbers."""
    if tensor1._d.dtype.kind in "iub" and tensor2._d.dtype.kind in "iub":
        raise RuntimeError("Integer division with addcdiv is no longer supported; use float tensors")
    ratio = tensor1 / tensor2
    return elementwise.add(input, ratio if value == 1 else ratio * value, out=out)


@public("lerp", inplace=True)
def lerp(input, end, weight, *, out=None):
    """``input + weight · (end − input)``."""
    if input._d.dtype != end._d.dtype:
        raise RuntimeError(f"expected dtype {input.dtype.name} for `end` but got dtype {end.dtype.name}")
    return elementwise.add(input, (end - input) * weight, out=out)


@public("round", inplace=True, namespace=("torch", "special"))
def round_(input, *, decimals=0, out=None):
    """To the nearest whole number, halves to the even one; ``decimals`` keeps digits after the point."""
    if decimals == 0:
        return elementwise.round(input, out=out)
    scale = 10.0 ** builtin_abs(decimals)
    value = elementwise.round(input * scale) / scale if decimals > 0 else elementwise.round(input / scale) * scale
    return value if out is None else write_out(out, value)


def builtin_abs(number):
    """|number| of a Python number."""
    return -number if number < 0 else number


@public("logical_not", inplace=True)
def logical_not(input, *, out=None):
    """True where an element is 0."""
    return compare.logical_not(input, out=out)


_SECOND_NAMES = {
    elementwise.abs: ("absolute",), elementwise.mul: ("multiply",), elementwise.neg: ("negative",), elementwise.trunc: ("fix",),
    elementwise.asin: ("arcsin",), elementwise.acos: ("arccos",), elementwise.atan: ("arctan",), atan2: ("arctan2",),
    compare.gt: ("greater",), compare.ge: ("greater_equal",), compare.lt: ("less",), compare.le: ("less_equal",),
    compare.ne: ("not_equal",), div: ("true_divide",),
}  # fmt: skip
_SPECIAL = ("exp2", "expm1", "log1p", "erf")


@public("true_divide", inplace=True)
def true_divide(input, other, *, out=None):
    """``input / other``."""
    return elementwise.div(input, other, out=out)


def _reflected_div(self, other):
    """``other / self``, computed as PyTorch does: the reciprocal times ``other``."""
    return elementwise.reciprocal(self) * other


@public("square", inplace=True)
def square(input, *, out=None):
    """``input²``; the square of a bool is an int64."""
    if input._d.dtype.kind == "b":
        input = cast_to(input, dt.int64)
    return elementwise.square(input, out=out)


def _publish_names():
    for function, names in _SECOND_NAMES.items():
        if function is not div:
            publish(function, names, True, True)
    for name in _SPECIAL:
        publish(getattr(elementwise, name), (name,), False, False, "special")
    publish(elementwise.sigmoid, ("expit",), False, False, "special")
    METHODS["__rdiv__"] = _reflected_div
    METHODS["__rmod__"] = lambda self, other: elementwise.remainder(other, self)


_publish_names()
