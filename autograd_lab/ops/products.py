"""Products of vectors and matrices beyond ``matmul``: kron, inner, the sums ``addmv`` … ``baddbmm``, combinations."""

import itertools

import numpy as np

from ..core.bind import write_out
from ..core.public import public
from ..core.tensor import wrap
from .elementwise import pow
from .index import embed_slice, index_row
from .join import cat_row, stack_row
from .joining import meshgrid
from .layout import _reshaped
from .matmul import bmm, dot, mv, outer
from .reductions import sum_
from .shape import cast_to, clone

# ----- vectors -----


@public("vdot")
def vdot(input, other, *, out=None):
    """Inner product of two vectors, the first one conjugated."""
    if input._d.dtype != other._d.dtype:
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found {input.dtype.name} and {other.dtype.name}")
    if input._d.ndim != 1 or other._d.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input._d.ndim}D and {other._d.ndim}D tensors")
    value = dot(input.conj(), other)
    return value if out is None else write_out(out, value)


@public("inner")
def inner(input, other, *, out=None):
    """Sums of products over the last dimension of both; of scalars, their product. Raises: RuntimeError if it differs."""
    a, b = input._d, other._d
    if a.ndim and b.ndim and a.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(a.shape)} and {list(b.shape)}"
        )
    if not a.ndim or not b.ndim:
        value = input * other
    else:
        rows, columns = _reshaped(input, (-1, a.shape[-1])), _reshaped(other, (-1, b.shape[-1])) if b.size else other
        if a.size and b.size:
            value = _reshaped(rows @ columns.T, (*a.shape[:-1], *b.shape[:-1]))
        else:
            value = wrap(np.zeros((*a.shape[:-1], *b.shape[:-1]), a.dtype))
    return value if out is None else write_out(out, value)


@public("kron")
def kron(input, other, *, out=None):
    """The Kronecker product: every element of ``input`` times the whole of ``other``."""
    n = max(input._d.ndim, other._d.ndim)
    a, b = ((1,) * (n - t._d.ndim) + t._d.shape for t in (input, other))
    left = _reshaped(input, tuple(s for size in a for s in (size, 1)))
    right = _reshaped(other, tuple(s for size in b for s in (1, size)))
    value = _reshaped(left * right, tuple(p * q for p, q in zip(a, b, strict=True)))
    return value if out is None else write_out(out, value)


# ----- sums with a product -----


def _total(name, input, product, beta, alpha, out):
    """``beta · input + alpha · product``; with ``beta`` 0 the input is not read, so its NaN do not spread."""
    kind = product._d.dtype.kind
    if kind in "iub" and (isinstance(alpha, float) or isinstance(beta, float)):
        if name == "addr":
            raise RuntimeError("addr: For integral input tensors, argument beta and alpha must not be a floating point number.")
        alpha, beta = int(alpha), int(beta)
    if input._d.dtype != product._d.dtype and name != "addr":
        raise RuntimeError(f"{name}: self must have the same dtype as the product: {input.dtype.name} and {product.dtype.name}")
    try:
        fits = np.broadcast_shapes(input._d.shape, product._d.shape) == product._d.shape
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"{name}: The expanded size of the tensor must match: input of shape {list(input._d.shape)} does not expand to "
            f"{list(product._d.shape)}"
        )
    if kind == "b":
        scaled = product if alpha else product & False
        value = scaled | input if beta else scaled
    else:
        scaled = product if alpha == 1 else product * alpha
        value = scaled if beta == 0 else scaled + (input if beta == 1 else input * beta)
    return value if out is None else write_out(out, value)


@public("addmv", inplace=True)
def addmv(input, mat, vec, *, beta=1, alpha=1, out=None):
    """``beta · input + alpha · mat @ vec``."""
    return _total("addmv", input, mv(mat, vec), beta, alpha, out)


@public("addr", inplace=True)
def addr(input, vec1, vec2, *, beta=1, alpha=1, out=None):
    """``beta · input + alpha · vec1 ⊗ vec2``."""
    return _total("addr", input, outer(vec1, vec2), beta, alpha, out)


@public("baddbmm", inplace=True)
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1, out_dtype=None, out=None):
    """``beta · input + alpha · batch1 @ batch2``, matrix by matrix."""
    return _total("baddbmm", input, bmm(batch1, batch2), beta, alpha, out)


@public("addbmm", inplace=True)
def addbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None):
    """``beta · input + alpha · Σ batch1 @ batch2`` over the batch."""
    product = sum_(bmm(batch1, batch2), 0)
    return _total("addbmm", input, cast_to(product, batch1.dtype), beta, alpha, out)


# ----- arrangements -----


@public("block_diag", method=False)
def block_diag(*tensors):
    """A matrix with the given matrices (vectors as rows, numbers as 1×1) on its diagonal."""
    blocks = []
    for place, t in enumerate(tensors):
        if t._d.ndim > 2:
            raise RuntimeError(f"block_diag: Input tensors must have 2 or fewer dimensions. Input {place} has {t._d.ndim}")
        blocks.append(t if t._d.ndim == 2 else _reshaped(t, (1, t._d.size)))
    if not blocks:
        return wrap(np.zeros((1, 0), np.float32))
    width, rows, left = sum(t._d.shape[1] for t in blocks), [], 0
    for t in blocks:
        height, columns = t._d.shape
        rows.append(embed_slice(t, (height, width), (slice(None), slice(left, left + columns))))
        left += columns
    return cat_row(rows, 0)


@public("cartesian_prod", method=False)
def cartesian_prod(*tensors):
    """All tuples with one element of each vector, as rows. Raises: RuntimeError unless all are vectors."""
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tensors[0]
    for t in tensors:
        if t._d.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(t._d.shape)}")
    if len(tensors) == 1:
        return clone(tensors[0])
    return _reshaped(stack_row(list(meshgrid(*tensors, indexing="ij")), len(tensors)), (-1, len(tensors)))


@public("combinations")
def combinations(input, r=2, with_replacement=False):
    """All combinations of ``r`` elements of a vector, as rows. Raises: RuntimeError unless a vector, or for negative ``r``."""
    if input._d.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input._d.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.empty(0, input._d.dtype))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input._d.size), r)), np.int64).reshape(-1, r)
    return index_row(input, (places,))


@public("vander", method=False)
def vander(x, N=None, increasing=False):
    """The matrix whose columns are powers of a vector, from the highest down (or from 0 up). Raises: RuntimeError for a matrix."""
    if x._d.ndim != 1:
        raise RuntimeError(f"x must be a one-dimensional tensor, got shape {list(x._d.shape)}")
    n = x._d.size if N is None else N
    if n < 0:
        raise RuntimeError(f"N must be non-negative, got {n}")
    powers = np.arange(n) if increasing else np.arange(n - 1, -1, -1)
    return pow(_reshaped(x, (-1, 1)), wrap(powers.astype(x._d.dtype)))
