"""Type promotion by category, as PyTorch does it.

bool < integer < float < complex. Tensors with dimensions decide; a 0-d tensor counts only when its category
is higher, and a Python number only when its category is higher still.
"""

import functools

from . import dtype as dt

_INTS = {"uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4}


@functools.cache
def promote_types(a, b):
    """The smallest dtype that both dtypes fit in: ``promote_types(int8, uint8)`` is int16."""
    if a is b:
        return a
    if a.category != b.category:
        low, high = sorted((a, b), key=lambda d: d.category)
        if high.is_complex and low.is_floating_point:
            return dt.complex128 if dt.float64 is low else high
        return high
    names = {a.name, b.name}
    if a.is_complex:
        return dt.complex128
    if a.is_floating_point:
        if names == {"float16", "bfloat16"}:
            return dt.float32
        return max((a, b), key=lambda d: d.itemsize)
    if not names <= set(_INTS):
        raise RuntimeError(f"Promotion for {a!r} and {b!r} is not defined: cast one of them with .to(dtype)")
    if "uint8" in names:
        other = (names - {"uint8"}).pop()
        return dt.int16 if other == "int8" else (a if a.name == other else b)
    return max((a, b), key=lambda d: _INTS[d.name])


def _combine(higher, lower):
    """Join the results of two priority classes; ``higher`` wins unless ``lower`` has a higher category."""
    if higher is None or lower is None:
        return higher or lower
    if lower.category <= higher.category:
        return higher
    if higher.is_floating_point:
        return higher.to_complex
    return promote_types(higher, lower)


def result_of(dimensioned, zero_dim, numbers):
    """The common dtype of three lists of dtypes, in falling priority (any may be empty)."""
    out = None
    for group in (numbers, zero_dim, dimensioned):
        joined = functools.reduce(promote_types, group) if group else None
        out = _combine(joined, out)
    return out


def can_cast(from_, to):
    """Whether PyTorch lets a result of dtype ``from_`` be written into a tensor of dtype ``to``."""
    if from_.is_complex and not to.is_complex:
        return False
    if from_.is_floating_point and to.category < dt.CATEGORY_FLOAT:
        return False
    return not (to is dt.bool_ and from_ is not dt.bool_)
