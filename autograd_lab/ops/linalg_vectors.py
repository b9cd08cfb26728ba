"""Products and distances of vectors along a dimension: ``vecdot``, ``cross``, ``vander``, ``cdist``; ``linalg.diagonal``."""

import numpy as np

from ..core.public import public
from ..core.tensor import wrap
from .complex import conj_
from .diagonals import diagonal
from .dims import need_tensor, one_dim
from .join import stack_row
from .layout import broadcast_tensors
from .linalg_checks import given, need_same_dtype, offered
from .norms import vector_norm_row
from .reductions import sum_
from .shape import reshape
from .triangles import roll_row


@offered("diagonal")
def linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """A view of a diagonal of the last two dimensions, which becomes the last one."""
    return diagonal(A, offset, dim1, dim2)


@offered("vecdot")
def vecdot(x, y, *, dim=-1, out=None):
    """Σ conj(x) · y along ``dim``."""
    need_tensor(x, "linalg.vecdot", 1, "x")
    need_tensor(y, "linalg.vecdot", 2, "y")
    need_same_dtype(x, y, "linalg.vecdot")
    return given(sum_(conj_(x) * y, dim), out)


@offered("vander")
def vander(x, N=None):
    """The powers x⁰ … xᴺ⁻¹ of vectors as rows of matrices; N is by default the vector's length."""
    need_tensor(x, "linalg.vander", 1, "x")
    x = x if x._d.ndim else reshape(x, (1,))
    count = x._d.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError(f"N must be greater than 1, but got {count}")
    powers = [wrap(np.ones(x._d.shape, np.int64 if x._d.dtype.kind in "biu" else x._d.dtype)), x]
    while len(powers) < count:
        powers.append(powers[-1] * x)
    return stack_row(powers[:count], x._d.ndim)


def _cross(input, other, dim):
    a, b = broadcast_tensors(input, other)
    one, two = (-1,), (-2,)
    dims = (dim,)
    return roll_row(a, one, dims) * roll_row(b, two, dims) - roll_row(a, two, dims) * roll_row(b, one, dims)


def _need_three(input, other, dim, name):
    if input._d.ndim != other._d.ndim:
        raise RuntimeError(f"{name}: inputs must have the same number of dimensions.")
    place = one_dim(dim, input._d.ndim)
    sizes = input._d.shape[place], other._d.shape[place]
    if sizes != (3, 3):
        raise RuntimeError(f"{name}: inputs dimension {dim} must have length 3. Got {sizes[0]} and {sizes[1]}")
    return place


@offered("cross")
def linalg_cross(input, other, *, dim=-1, out=None):
    """The cross product of vectors of three numbers along ``dim``."""
    need_tensor(input, "linalg.cross")
    need_tensor(other, "linalg.cross", 2, "other")
    return given(_cross(input, other, _need_three(input, other, dim, "linalg.cross")), out)


@public("cross")
def cross(input, other, dim=None, *, out=None):
    """The cross product along ``dim``, by default the first dimension of size 3."""
    need_tensor(input, "cross")
    need_tensor(other, "cross", 2, "other")
    if dim is None:
        dim = next((i for i, s in enumerate(input._d.shape) if s == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return given(_cross(input, other, _need_three(input, other, dim, "linalg.cross")), out)


@public("cdist", method=False)
def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The p-norm of the difference of every row of ``x1`` and every row of ``x2``."""
    for place, x in enumerate((x1, x2), 1):
        need_tensor(x, "cdist", place, f"x{place}")
        if x._d.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, X{place} got: {x._d.ndim}D")
        if x._d.dtype.kind != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, X{place} got: {x.dtype.name}")
    if x1._d.shape[-1] != x2._d.shape[-1]:
        raise RuntimeError(f"X1 and X2 must have the same number of columns. X1: {x1._d.shape[-1]} X2: {x2._d.shape[-1]}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if compute_mode not in (
        None, 0, 1, 2, "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"
    ):  # fmt: skip
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    a, b = x1._d.shape, x2._d.shape
    difference = reshape(x1, (*a[:-1], 1, a[-1])) - reshape(x2, (*b[:-2], 1, *b[-2:]))
    order = int(p) if float(p).is_integer() else p
    return vector_norm_row(difference, order, (difference._d.ndim - 1,), False)
