"""Checks and small helpers shared by the functions of nn.functional."""

import numpy as np

from ...core.bind import common_dtype
from ...core.tensor import Tensor, wrap
from ...errors import shape_text
from ...ops.shape import cast_to


def need_tensor(name, argument, value):
    """Raise TypeError in PyTorch's words unless ``value`` is a Tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name}(): argument '{argument}' must be Tensor, not {type(value).__name__}")
    return value


def sizes(value, n, name="kernel_size"):
    """A number or a sequence as a tuple of ``n`` whole numbers. Raises: RuntimeError for a wrong count."""
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, int | np.integer):
        return (int(value),) * n
    value = tuple(int(v) for v in value)
    if len(value) == 1:
        return value * n
    if len(value) != n:
        raise RuntimeError(f"expected {name} to be a single integer value or a list of {n} values, but got {list(value)}")
    return value


def reduction_name(reduction, size_average=None, reduce=None):
    """One of "none", "mean", "sum". Raises: ValueError for anything else."""
    if size_average is not None or reduce is not None:
        if reduce is False:
            return "none"
        return "sum" if size_average is False else "mean"
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction; use 'none', 'mean' or 'sum'")
    return reduction


def same_dtype(*tensors):
    """Tensors cast to their common dtype, as arithmetic does."""
    first = tensors[0]._d.dtype
    if all(t is None or t._d.dtype == first for t in tensors):
        return tensors
    target = common_dtype(tensors)
    return tuple(None if t is None else cast_to(t, target) for t in tensors)


def constant(array):
    """A tensor off the tape around an array."""
    return wrap(array)


def positive_dim(dim, ndim):
    """A dimension counted from the front. Raises: IndexError if out of range."""
    if not -max(ndim, 1) <= dim < max(ndim, 1):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-max(ndim, 1)}, {max(ndim, 1) - 1}], but got {dim})"
        )
    return dim % max(ndim, 1)


def shapes(*tensors):
    """The shapes of some tensors, for a message."""
    return " and ".join(shape_text(t._d.shape) for t in tensors)
