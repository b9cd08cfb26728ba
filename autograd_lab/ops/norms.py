"""Norms: of vectors (any order, over any dimensions) and of matrices (Frobenius, nuclear, spectral, row and column sums)."""

import math

import numpy as np

from ..backend import dtype as dt
from ..core.bind import write_out
from ..core.op import op
from ..core.public import METHODS, public, publish
from .compare import where
from .dims import is_floating, one_dim, scalar_name, some_dims
from .elementwise import abs as abs_row
from .elementwise import sgn
from .layout import movedim
from .matmul import matmul
from .reduce import amax_row, amin_row, kept, numpy_dtype, restored, sum_row
from .samples import Sample, spread
from .shape import cast, cast_to, reshape
from .svd import singular_values

_INF = math.inf


def _vector_norm(xp, x, order, dims, keepdim):
    if order == 2 and x.dtype.kind != "c":
        return xp.sqrt(xp.add.reduce(xp.multiply(x, x), axis=dims, keepdims=keepdim))
    size = xp.absolute(x)
    if order in (_INF, -_INF):
        return (xp.maximum if order > 0 else xp.minimum).reduce(size, axis=dims, keepdims=keepdim)
    if order == 0:
        return xp.add.reduce(size != 0, axis=dims, keepdims=keepdim, dtype=size.dtype)
    if order == 1:
        return xp.add.reduce(size, axis=dims, keepdims=keepdim)
    if order == 2:
        return xp.sqrt(xp.add.reduce(xp.multiply(size, size), axis=dims, keepdims=keepdim))
    return xp.power(xp.add.reduce(xp.power(size, order), axis=dims, keepdims=keepdim), 1 / order)


def _vector_rule(g, y, x, order, dims, keepdim):
    g, y = restored(g, x.shape, dims, keepdim), restored(y, x.shape, dims, keepdim)
    if order == 0:
        return x * 0.0
    if order == 1:
        return g * sgn(x)
    if order == 2:
        return g * where(y == 0, 0.0, x / y)  # as PyTorch: 0 at 0, and the second derivative there is NaN
    size = abs_row(x)
    if order in (_INF, -_INF):
        chosen = size == y
        hits = reshape(sum_row(cast(chosen, numpy_dtype(g)), dims, True), kept(x.shape, dims))
        return where(chosen, g / hits, 0.0) * sgn(x)
    if order < 1:
        return where(size == 0, 0.0, size ** (order - 1)) * sgn(x) * (g * y ** (1 - order))
    scale = where(y == 0, 0.0, g / y ** (order - 1))
    return (sgn(x) * size ** (order - 1) if order < 2 else x * size ** (order - 2)) * scale


def _vector_samples():
    for order in (2, 1, 3, 0.5, _INF, -_INF, 0):
        for dims, keep in ((None, False), ((1,), True)):
            yield Sample(spread((2, 3), 0.3, 2.0), params=(order, dims, keep), order=2 if order else 1, note=f"{order} {dims}")


vector_norm_row = op(
    "vector_norm", _vector_norm, _vector_rule, saves="y x", kind="reduction", symbol="‖x‖", grad_name="LinalgVectorNorm",
    holomorphic=False, samples=_vector_samples, ref=lambda x, o, d, k: _vector_norm(np, x, o, d, k),
    formula={"forward": "(Σ |xᵢ|ᵖ)^(1/p)", "rules": ["ḡ · sign(x) · (|x| / y)^(p−1)"]},
)  # fmt: skip

# ----- public -----


def _floating(input, name, dtype):
    if dtype is not None:
        if dtype.category < dt.CATEGORY_FLOAT or (input._d.dtype.kind == "c" and not dtype.is_complex):
            raise RuntimeError(f"{name}: dtype should be floating point or complex and fit the input, but got {dtype!r}")
        if input._d.dtype.kind == "f" and dtype.is_complex:
            raise RuntimeError(f"{name}: dtype should be real for real inputs, but got {dtype!r}")
        return cast_to(input, dtype)
    if not is_floating(input):
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {scalar_name(input.dtype)}; "
            "convert with .float() first"
        )
    return input


def _dims(input, dim):
    return None if dim is None or dim == () or dim == [] else some_dims(dim, input._d.ndim)


@public("vector_norm", method=False, namespace="linalg")
def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None, out=None):
    """(Σ |x|ᵖ)^(1/p) over all elements or over ``dim``; p may be any number, inf (largest), −inf (smallest), 0 (count).

    Raises: RuntimeError for whole numbers, or for a norm without value of nothing.
    """
    x = _floating(x, "linalg.vector_norm", dtype)
    dims = _dims(x, dim)
    shape = x._d.shape
    empty = not x._d.size and (dims is None or not all(shape[i] for i in dims))
    if empty and (ord < 0 or ord == _INF):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation does not have an identity"
        )
    value = vector_norm_row(x, _plain(ord), dims, keepdim)
    return value if out is None else write_out(out, value)


def _plain(order):
    return int(order) if isinstance(order, float) and order.is_integer() else order


@public("matrix_norm", method=False, namespace="linalg")
def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """Norm of matrices: "fro", "nuc" (sum of singular values), 2 and −2 (largest, smallest), 1, −1 (columns), inf, −inf (rows).

    Raises: RuntimeError for another order or wrong dimensions.
    """
    A = _floating(A, "linalg.matrix_norm", dtype)
    ndim = A._d.ndim
    if ndim < 2:
        raise RuntimeError(f"linalg.matrix_norm: The input tensor A must have at least 2 dimensions, got shape {list(A._d.shape)}")
    if not isinstance(dim, tuple | list) or len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
    row, column = one_dim(dim[0], ndim), one_dim(dim[1], ndim)
    if row == column:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    value = _matrix(A, ord, row, column, keepdim)
    return value if out is None else write_out(out, value)


def _matrix(A, order, row, column, keepdim):
    if order == "fro":
        return vector_norm_row(A, 2, (row, column), keepdim)
    if order in (1, -1, _INF, -_INF):
        inner, outer = (row, column) if abs(order) == 1 else (column, row)
        sums = vector_norm_row(A, 1, (inner,), True)
        value = (amax_row if order > 0 else amin_row)(sums, (outer,), True)
    elif order in ("nuc", 2, -2):
        values = singular_values(movedim(A, (row, column), (-2, -1)))
        last = (values._d.ndim - 1,)
        value = sum_row(values, last, False) if order == "nuc" else (amax_row if order > 0 else amin_row)(values, last, False)
        return _with_dims(value, A._d.shape, row, column) if keepdim else value
    else:
        raise RuntimeError(f"linalg.matrix_norm: Order {order} not supported.")
    if keepdim:
        return value
    return reshape(value, tuple(s for i, s in enumerate(A._d.shape) if i not in (row, column)))


def _with_dims(value, shape, row, column):
    return reshape(value, tuple(1 if i in (row, column) else s for i, s in enumerate(shape)))


@public("norm", method=False, namespace="linalg")
def linalg_norm(A, ord=None, dim=None, keepdim=False, *, dtype=None, out=None):
    """A vector norm, or a matrix norm where ``ord`` or two dimensions ask for one. Without both: the 2-norm of all elements."""
    ndim = A._d.ndim
    if dim is None and ord is not None and ndim not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {ndim}D.")
    count = 1 if isinstance(dim, int) else (len(dim) if dim is not None else (ndim if ord is not None else 1))
    if isinstance(ord, str) and count != 2:
        raise RuntimeError(f"linalg.norm: order {ord!r} needs two dimensions, got dim={dim}")
    if ord is not None and count == 2:
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype, out=out)


@public("norm")
def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm of all elements or over ``dim``: "fro" and None are the 2-norm, "nuc" the nuclear norm of matrices."""
    if p == "nuc":
        return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype, out=out)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"only valid string values are 'fro' and 'nuc', found {p}")
    order = 2 if p in ("fro", None) else p
    return vector_norm(input, order, dim, keepdim, dtype=dtype, out=out)


def _norm_method(self, p="fro", dim=None, keepdim=False, dtype=None):
    """``torch.norm`` of this tensor."""
    return norm(self, p, dim, keepdim, dtype=dtype)


publish(matmul, ("matmul",), False, False, "linalg")
METHODS["norm"] = _norm_method


@public("dist")
def dist(input, other, p=2):
    """The p-norm of ``input − other``."""
    return vector_norm(input - other, p)
