"""Words shared by error messages: shapes, dtypes and operands as a learner reads them.

The library raises the built-in types that PyTorch raises; this module only helps to word them. It sits on
the lowest floor and imports nothing of the library.
"""


def shape_text(shape):
    """A shape as PyTorch prints it inside messages: ``[2, 3]``."""
    return "[" + ", ".join(map(str, shape)) + "]"


def operand_text(position, value):
    """One operand in a message: its place, type, shape and dtype as far as it has them."""
    shape = getattr(value, "shape", None)
    if shape is None:
        return f"operand {position}: {type(value).__name__} {value!r}"[:120]
    return f"operand {position}: {type(value).__name__} of shape {shape_text(shape)}, {getattr(value, 'dtype', '?')}"


def operands_text(values):
    """All operands of a call, one a line, for the end of a message."""
    return "\n".join("  " + operand_text(i, v) for i, v in enumerate(values, 1))


def broadcast_error(name, a, b):
    """The RuntimeError for two shapes that do not broadcast, with the axis that is at fault."""
    ndim = max(len(a), len(b))
    left, right = (1,) * (ndim - len(a)) + tuple(a), (1,) * (ndim - len(b)) + tuple(b)
    for axis in reversed(range(ndim)):
        if left[axis] != right[axis] and 1 not in (left[axis], right[axis]):
            return RuntimeError(
                f"{name}: The size of tensor a ({left[axis]}) must match the size of tensor b ({right[axis]}) at "
                f"non-singleton dimension {axis}; shapes {shape_text(a)} and {shape_text(b)}. Sizes are compared from the "
                f"last dimension; they must be equal or 1. reshape, unsqueeze or transpose one operand."
            )
    return RuntimeError(f"{name}: shapes {shape_text(a)} and {shape_text(b)} cannot be broadcast together")
