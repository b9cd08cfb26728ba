"""Whole numbers: greatest common divisor, least common multiple, bit shifts."""

import numpy as np

from ..core.op import op
from ..core.public import publish
from ..core.tensor import Tensor
from .arithmetic import _checked
from .samples import ErrorSample, Sample


def _not_whole():
    yield ErrorSample(np.ones(3), np.ones(3), match="whole numbers only")
    yield ErrorSample(np.ones((2, 3), int), np.ones((2, 4), int), match="must match the size of tensor b")


def _whole(name):
    def samples():
        a = np.arange(-6, 6).reshape(3, 4)
        yield Sample(a, np.abs(a[1]) + 1, order=0)
        yield Sample(a, 2, order=0, note="number")

    def forward(xp, a, b):
        if (a if hasattr(a, "dtype") else b).dtype.kind not in "iu":
            raise ValueError(f'"{name}" is implemented for whole numbers only; cast with .long()')
        return _FORWARDS[name](xp, a, b)

    return op(name, forward, arity=2, dtypes="arith", samples=samples, errors=_not_whole, ref=_REFS[name], public=False)


def _bits_of(a, b):
    return 8 * (a if hasattr(a, "dtype") else b).dtype.itemsize


def _left(xp, a, b):
    outside = (np.asarray(b) < 0) | (np.asarray(b) >= _bits_of(a, b))
    return xp.where(outside, 0, xp.left_shift(a, xp.where(outside, 0, b))).astype((a if hasattr(a, "dtype") else b).dtype)[()]


def _right(xp, a, b):
    most = _bits_of(a, b) - 1
    within = xp.where((np.asarray(b) < 0) | (np.asarray(b) > most), most, b)
    return xp.right_shift(a, within.astype((a if hasattr(a, "dtype") else b).dtype))


_FORWARDS = {
    "gcd": lambda xp, a, b: xp.gcd(a, b), "lcm": lambda xp, a, b: xp.lcm(a, b), "bitwise_left_shift": _left,
    "bitwise_right_shift": _right,
}  # fmt: skip
_REFS = {
    "gcd": "numpy.gcd", "lcm": "numpy.lcm", "bitwise_left_shift": "numpy.left_shift", "bitwise_right_shift": "numpy.right_shift",
}  # fmt: skip
gcd = _checked(_whole("gcd"), "gcd", True, True)
lcm = _checked(_whole("lcm"), "lcm", True, True)
bitwise_left_shift = _whole("bitwise_left_shift")
bitwise_right_shift = _whole("bitwise_right_shift")
publish(bitwise_left_shift, ("bitwise_left_shift",), True, True)
publish(bitwise_right_shift, ("bitwise_right_shift",), True, True)


def _shift(row, sign):
    """The operators << and >>: a shift of whole numbers, a factor 2ⁿ for floating ones."""

    def shift(self, other):
        kinds = [v._d.dtype.kind for v in (self, other) if isinstance(v, Tensor)]
        if "f" in kinds or isinstance(other, float):
            return self * 2.0 ** (other if sign > 0 else -other)
        return row(self, other)

    def reflected(self, other):
        return row(other, self)

    def in_place(self, other):
        return self.copy_(shift(self, other))

    in_place.__doc__ = f"``{row.__name__}`` in place."
    shift.__doc__ = f"``{row.__name__}``; of floating numbers, times 2 to the power ±other."
    reflected.__doc__ = f"``{row.__name__}`` with the operands swapped."
    return shift, reflected, in_place


for _name, _row, _sign in (("lshift", bitwise_left_shift, 1), ("rshift", bitwise_right_shift, -1)):
    _plain, _back, _into = _shift(_row, _sign)
    publish(_plain, (f"__{_name}__",), True, False, None)
    publish(_back, (f"__r{_name}__",), True, False, None)
    publish(_into, (f"__i{_name}__",), True, False, None)
