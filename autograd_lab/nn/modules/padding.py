"""Padding as modules."""

from .. import functional as F  # noqa: N812 (PyTorch's name)
from ..functions.checks import sizes
from ..module import Module


class _Pad(Module):
    _n = 0
    _mode = "constant"
    value = None

    def __init__(self, padding):
        super().__init__()
        self.padding = sizes(padding, 2 * self._n, "padding")

    def forward(self, input):
        """The input with a border."""
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self):
        """The settings."""
        return f"{self.padding}"


class _ConstantPad(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def extra_repr(self):
        """The settings."""
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        """The settings."""
        return f"{self.padding}"


_KINDS = {
    "ConstantPad": (_ConstantPad, "constant", "one number"),
    "ZeroPad": (_ZeroPad, "constant", "zeros"),
    "ReflectionPad": (_Pad, "reflect", "the input mirrored at its edge"),
    "ReplicationPad": (_Pad, "replicate", "its edge repeated"),
    "CircularPad": (_Pad, "circular", "its opposite end"),
}


def _made(kind, n):
    base, mode, what = _KINDS[kind]
    order = ", ".join(("left, right", "top, bottom", "front, back")[:n])
    doc = f"""Add a border of {what} to the last {n if n > 1 else ""} dimension{"s" * (n > 1)} of the input.

    Args: padding: one number for every side, or ({order}){"; value: the number" if base is _ConstantPad else ""}.
    """
    return type(kind + f"{n}d", (base,), {"_n": n, "_mode": mode, "__doc__": doc, "__module__": __name__})


ConstantPad1d, ConstantPad2d, ConstantPad3d = (_made("ConstantPad", n) for n in (1, 2, 3))
ZeroPad1d, ZeroPad2d, ZeroPad3d = (_made("ZeroPad", n) for n in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (_made("ReflectionPad", n) for n in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (_made("ReplicationPad", n) for n in (1, 2, 3))
CircularPad1d, CircularPad2d, CircularPad3d = (_made("CircularPad", n) for n in (1, 2, 3))
