"""Tensors as text, character for character as PyTorch prints them.

The numbers of one tensor share a format. A floating tensor is printed with ``precision`` decimals; with a bare point
("2.") if all its numbers are whole; in scientific notation if they span more than three decades, or some is above 1e8
or, unless all are whole, below 1e-4. Zeros and non-finite numbers take no part in the choice. A complex tensor chooses
for its real and its imaginary parts apart. More than ``threshold`` numbers are summarised: ``edgeitems`` from both ends
of every dimension, and only those are looked at.
"""

import math
from typing import Any

import numpy as np

_PROFILES: dict[str | None, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
_options: dict[str, Any] = {**_PROFILES["default"], "sci_mode": None}


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Change how tensors print, process-wide.

    Args:
        precision: decimals of floating numbers. threshold: the most elements printed in full.
        edgeitems: numbers shown at each end of a summarised dimension. linewidth: characters in a line.
        profile: "default", "short" or "full", applied before the other arguments.
        sci_mode: True or False to demand or forbid scientific notation; every call without it goes back to choosing.
    """
    chosen = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    _options.update(_PROFILES.get(profile, {}))
    _options.update({name: value for name, value in chosen.items() if value is not None})
    _options["sci_mode"] = sci_mode


def get_printoptions():
    """The present options, as a dictionary that ``set_printoptions`` takes."""
    return dict(_options)


def tensor_text(
    array,
    *,
    dtype_name,
    default_dtype_name,
    requires_grad=False,
    grad_fn_name=None,
    device="cpu",
    prefix="tensor(",
    is_parameter=False,
):
    """The ``repr`` of a tensor: ``tensor([1., 2.], requires_grad=True)``.

    Args:
        array: the values, a NumPy array.
        dtype_name, default_dtype_name: names such as "float32"; a dtype that a literal would have is not printed.
        requires_grad: whether a leaf requires grad. grad_fn_name: the node's name, which goes before ``requires_grad``.
        device: printed unless it is "cpu". prefix: what stands before the numbers.
        is_parameter: whether to print "Parameter containing:" above.
    """
    array = np.asarray(array)
    indent = len(prefix)
    text = prefix + ("[]" if array.size == 0 else _numbers(array, indent))
    length = len(text) - (text.rfind("\n") + 1) + 2  # PyTorch breaks two characters early after the numbers
    for suffix in _suffixes(array, dtype_name, default_dtype_name, requires_grad, grad_fn_name, device):
        if length + len(suffix) + 2 > _options["linewidth"]:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += 2 + len(suffix)
    return ("Parameter containing:\n" if is_parameter else "") + text + ")"


def _suffixes(array, dtype_name, default_dtype_name, requires_grad, grad_fn_name, device):
    """What follows the numbers, in PyTorch's order."""
    found = []
    if device != "cpu":
        found.append(f"device='{device}'")
    if array.ndim != 1 if array.size == 0 else _options["edgeitems"] == 0:
        found.append(f"size={tuple(array.shape)}")
    usual = {default_dtype_name}
    if array.size:
        usual |= {"int64", "bool", "complex128" if default_dtype_name == "float64" else "complex64"}
    if dtype_name not in usual:
        found.append(f"dtype=torch.{dtype_name}")
    if grad_fn_name is not None:
        found.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        found.append("requires_grad=True")
    return found


def _numbers(array, indent):
    """The brackets and numbers of an array that is not empty."""
    edge = _options["edgeitems"]
    cut = [False] * array.ndim
    if array.ndim and array.size > _options["threshold"]:
        if edge == 0:
            return "[...]"
        for axis, size in enumerate(array.shape):
            if size > 2 * edge:
                cut[axis] = True
                array = array.take([*range(edge), *range(size - edge, size)], axis)
    style = _style(array)
    return _nested(array if array.dtype.kind == "c" else _plain(array), cut, indent, style)


def _plain(array):
    """The array in a dtype whose elements are Python numbers of the same value."""
    return array if array.dtype.kind in "biu" else array.astype(np.float64)


def _style(array):
    if array.dtype.kind == "c":
        return _Complex(array)
    return _Real(array) if array.dtype.kind not in "biu" else _Whole(array)


class _Whole:
    """The format of booleans and integers: as wide as the widest."""

    def __init__(self, array):
        self.width = max(map(len, map(str, array.ravel().tolist())))

    def text(self, value):
        return str(value).rjust(self.width)


class _Real:
    """The format of floating numbers: decimals, a bare point, or scientific notation."""

    def __init__(self, array):
        values = array.ravel().astype(np.float64)
        values = values[np.isfinite(values) & (values != 0)]
        self.whole = bool((values == np.ceil(values)).all())
        scientific = False
        if values.size:
            size = np.abs(values)
            low, high = float(size.min()), float(size.max())
            # A quotient, as PyTorch has it: high > 1000 * low would differ in the last place.
            scientific = high / low > 1000.0 or high > 1.0e8 or (not self.whole and low < 1.0e-4)
            if _options["sci_mode"] is not None:
                scientific = _options["sci_mode"]
        self.scientific = bool(scientific)
        self.precision = _options["precision"]
        self.width = 0
        self.width = max(map(len, map(self.text, values.tolist())), default=1)

    def text(self, value):
        """One number, padded on the left to the width of the widest."""
        if self.scientific:
            text = f"{value:.{self.precision}e}"
        elif self.whole:
            text = f"{value:.0f}" + ("." if math.isfinite(value) else "")
        else:
            text = f"{value:.{self.precision}f}"
        return text.rjust(self.width)


class _Complex:
    """The format of complex numbers: real part padded, imaginary part with its sign and unpadded."""

    def __init__(self, array):
        self.real, self.imaginary = _Real(array.real), _Real(array.imag)
        self.width = self.real.width + self.imaginary.width + 1

    def text(self, value):
        imaginary = self.imaginary.text(value.imag).lstrip()
        sign = "" if imaginary.startswith("-") else "+"
        return f"{self.real.text(value.real)}{sign}{imaginary}j"


def _nested(array, cut, indent, style):
    """Brackets around the numbers of one level, broken into lines."""
    if array.ndim == 0:
        return style.text(array.item())
    edge, pad = _options["edgeitems"], " " * (indent + 1)
    if array.ndim > 1:
        parts = [_nested(part, cut[1:], indent + 1, style) for part in array]
        if cut[0]:
            parts.insert(edge, "...")
        return "[" + ("," + "\n" * (array.ndim - 1) + pad).join(parts) + "]"
    parts = [style.text(value) for value in array.tolist()]
    if cut[0]:
        parts.insert(edge, " ...")
    per_line = max(1, math.floor((_options["linewidth"] - indent) / (style.width + 2)))
    lines = [", ".join(parts[start : start + per_line]) for start in range(0, len(parts), per_line)]
    return "[" + (",\n" + pad).join(lines) + "]"
