"""Factors as LAPACK packs them: LU with pivots, LDL, Householder reflectors; and equations solved with them."""

import numpy as np

from ..core.op import op
from ..core.public import public
from ..core.tensor import Tensor, wrap
from . import return_types
from .compare import where
from .complex import conj_
from .dims import need_tensor
from .index import slice_view
from .linalg_checks import (
    LinAlgError,
    adjoint,
    as_matrix,
    dtype_of,
    each,
    given,
    given_all,
    like,
    need_matrix,
    need_square,
    offered,
    random_matrices,
    swap,
)
from .linalg_decompose import lu_cotangent
from .linalg_solve import solve_triangular_row
from .matmul import matmul
from .reductions import mean
from .samples import Sample
from .shape import clone
from .svd import svd_row
from .triangles import tril_row, triu_row


def _lapack(name, x):
    from scipy.linalg.lapack import get_lapack_funcs

    return get_lapack_funcs(name, (x,))


# ----- LU -----


def _lu_factor(xp, x):
    k = min(x.shape[-2:])
    if not x.size:
        return x.copy(), xp.zeros((*x.shape[:-2], k), np.int32), xp.zeros(x.shape[:-2], np.int32)
    getrf = _lapack("getrf", x)

    def one(matrix):
        lu, pivots, info = getrf(matrix)
        return lu, (pivots + 1).astype(np.int32), np.int32(info)

    return each(one, x)


def _permutation(pivots, rows, dtype):
    """The matrices P with P L U = A that LAPACK's row swaps stand for."""
    batch = pivots.shape[:-1]
    out = np.zeros((*batch, rows, rows), dtype)
    for place in np.ndindex(*batch):
        order = np.arange(rows)
        for i, pivot in enumerate(pivots[place] - 1):
            order[[i, pivot]] = order[[pivot, i]]
        out[(*place, order, np.arange(rows))] = 1
    return out


def _raw(x):
    return x._array() if isinstance(x, Tensor) else x


def _parts(packed, pivots):
    """P, L, U on arrays and Tensors alike."""
    m, n = packed.shape[-2:]
    k, dtype = min(m, n), dtype_of(packed)
    lower = tril_row(slice_view(packed, (Ellipsis, slice(0, k))), -1) + like(np.eye(m, k, dtype=dtype), packed)
    upper = triu_row(slice_view(packed, (Ellipsis, slice(0, k), slice(None))), 0)
    return like(_permutation(_raw(pivots), m, dtype), packed), lower, upper


def _lu_factor_rule(needs, g, y, x):
    packed, pivots = y[0], y[1]
    k = min(packed.shape[-2:])
    gl = tril_row(slice_view(g[0], (Ellipsis, slice(0, k))), -1)
    gu = triu_row(slice_view(g[0], (Ellipsis, slice(0, k), slice(None))), 0)
    return (lu_cotangent(gl, gu, *_parts(packed, pivots)),)


lu_factor_row = op(
    "lu_factor", _lu_factor, joint=_lu_factor_rule, saves="y", kind="opaque", arity=1, outputs=3, nondiff=(1, 2),
    grad_name="LinalgLuFactorEx", holomorphic=False, ref=lambda x: _lu_factor(np, x),
    samples=lambda: (Sample(random_matrices(s), note=str(s)) for s in ((3, 3), (4, 3), (3, 4), (2, 3, 3))),
    formula={"forward": "L − 1 + U with P L U = x", "rules": ["as for lu"]},
)  # fmt: skip


def _need_pivot(pivot, name):
    if not pivot:
        raise RuntimeError(f"{name}: LU without pivoting is not implemented on the CPU")


@offered("lu_factor")
def lu_factor(A, *, pivot=True, out=None):
    """(LU, pivots): both factors in one matrix, and the row swaps, counted from 1. Raises: LinAlgError for a singular matrix."""
    need_matrix(A, "linalg.lu_factor")
    _need_pivot(pivot, "linalg.lu_factor")
    packed, pivots, info = lu_factor_row(A)
    if np.any(info._d):
        raise LinAlgError(
            f"torch.linalg.lu_factor: U[{int(np.max(info._d))}, …] is zero and using it on lu_solve would divide by zero"
        )
    return given_all(return_types.linalg_lu_factor, (packed, pivots), out)


@offered("lu_factor_ex")
def lu_factor_ex(A, *, pivot=True, check_errors=False, out=None):
    """(LU, pivots, info) without an error for a singular matrix: info is then the place of a pivot that is 0."""
    need_matrix(A, "linalg.lu_factor_ex")
    _need_pivot(pivot, "linalg.lu_factor_ex")
    found = lu_factor_row(A)
    if check_errors and np.any(found[2]._d):
        raise LinAlgError(f"torch.linalg.lu_factor_ex: the diagonal element {int(np.max(found[2]._d))} is zero")
    return given_all(return_types.linalg_lu_factor_ex, found, out)


@public("lu")
def lu(input, pivot=True, get_infos=False, out=None):
    """(LU, pivots) or, with ``get_infos``, (LU, pivots, infos)."""
    need_matrix(input, "lu")
    _need_pivot(pivot, "lu")
    found = lu_factor_row(input)
    return given_all(return_types.linalg_lu_factor_ex if get_infos else tuple, found if get_infos else found[:2], out)


def _need_pivots(pivots, name):
    need_tensor(pivots, name, 2, "pivots")
    if pivots._d.dtype != np.int32:
        raise RuntimeError(f"{name}: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype, got {pivots.dtype.name}")


@public("lu_unpack", method=False)
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    """(P, L, U) from what ``lu_factor`` gives; parts that are not asked for are empty."""
    need_matrix(LU_data, "lu_unpack", argument="LU_data")
    _need_pivots(LU_pivots, "torch.lu_unpack")
    p, lower, upper = _parts(LU_data, LU_pivots)
    empty = wrap(np.zeros(0, LU_data._d.dtype))
    return given_all(
        return_types.lu_unpack, (p if unpack_pivots else empty, *((lower, upper) if unpack_data else (empty, empty))), out
    )


@offered("lu_solve")
def lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None):
    """X with A X = B from the LU factors of A; ``left=False``: X A = B; ``adjoint``: with Aᴴ for A."""
    need_square(LU, "linalg.lu_solve", "LU")
    _need_pivots(pivots, "linalg.lu_solve")
    need_matrix(B, "linalg.lu_solve", 3, "B")
    if left:
        return given(_lu_solve(LU, pivots, B, adjoint), out)
    return given(_lu_solve_right(LU, pivots, B, adjoint), out)


def _lu_solve(LU, pivots, B, flipped):
    p, lower, upper = _parts(LU, pivots)
    if flipped:
        inner = solve_triangular_row(adjoint(upper), B, False, False)
        return matmul(p, solve_triangular_row(adjoint(lower), inner, True, True))
    return solve_triangular_row(upper, solve_triangular_row(lower, matmul(swap(p), B), False, True), True, False)


def _lu_solve_right(LU, pivots, B, flipped):
    return adjoint(_lu_solve(LU, pivots, adjoint(B), not flipped))


@public("lu_solve")
def old_lu_solve(b, LU_data, LU_pivots, *, out=None):
    """X with A X = b from the LU factors of A."""
    return lu_solve(LU_data, LU_pivots, b, out=out)


@public("triangular_solve")
def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    """(solution, a copy of A) of A X = b, A triangular; ``transpose``: of Aᵀ X = b."""
    need_square(A, "triangular_solve")
    need_matrix(b, "triangular_solve", argument="b")
    matrix, upper = (swap(A), not upper) if transpose else (A, bool(upper))
    return given_all(return_types.triangular_solve, (solve_triangular_row(matrix, b, upper, bool(unitriangular)), clone(A)), out)


# ----- Householder reflectors -----


@public("geqrf")
def geqrf(input, *, out=None):
    """(a, tau): R in the upper triangle of a, the reflectors of Q below it and in tau. Without derivative."""
    need_matrix(input, "geqrf")
    x = input._array()
    if not x.size:
        found = x.copy(), np.zeros((*x.shape[:-2], min(x.shape[-2:])), x.dtype)
    else:
        routine = _lapack("geqrf", x)
        found = each(lambda m: routine(m)[:2], x)
    return given_all(return_types.geqrf, map(wrap, found), out)


def _reflected(vectors, tau, target, places):
    """H₁ … H_k applied to ``target`` in the order of ``places``, H = 1 − τ v vᴴ."""
    for i in places:
        v = slice_view(vectors, (Ellipsis, slice(i, i + 1)))
        target = target - matmul(v * as_matrix(slice_view(tau, (Ellipsis, i))), matmul(adjoint(v), target))
    return target


def _reflectors(A):
    m, n = A._d.shape[-2:]
    return tril_row(A, -1) + wrap(np.eye(m, n, dtype=A._d.dtype))


@offered("householder_product", torch=("orgqr",), method=True)
def householder_product(A, tau, *, out=None):
    """The first columns of H₁ H₂ … H_k, the Q that ``geqrf`` packs."""
    need_matrix(A, "linalg.householder_product")
    m, n = A._d.shape[-2:]
    if m < n:
        raise RuntimeError("torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if tau._d.ndim != A._d.ndim - 1 or tau._d.shape[-1] > n:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1], got "
            f"{list(A._d.shape)} and {list(tau._d.shape)}"
        )
    start = where(wrap(np.zeros(A._d.shape, bool)), A, wrap(np.eye(m, n, dtype=A._d.dtype)))
    return given(_reflected(_reflectors(A), tau, start, reversed(range(tau._d.shape[-1]))), out)


@public("ormqr")
def ormqr(input, tau, other, left=True, transpose=False, *, out=None):
    """Q · other (``left=False``: other · Q, ``transpose``: with Qᴴ) for the Q that ``geqrf`` packs."""
    need_matrix(input, "ormqr", argument="input")
    need_matrix(other, "ormqr", 3, "other")
    if input._d.shape[-2] != other._d.shape[-2 if left else -1] or tau._d.ndim != input._d.ndim - 1:
        raise RuntimeError(
            f"torch.ormqr: shapes do not fit: input {list(input._d.shape)}, tau {list(tau._d.shape)}, other {list(other._d.shape)}"
        )
    places = range(tau._d.shape[-1])
    flipped = bool(transpose) == bool(left)
    target = other if left else adjoint(other)
    value = _reflected(_reflectors(input), conj_(tau) if flipped else tau, target, places if flipped else reversed(places))
    return given(value if left else adjoint(value), out)


# ----- LDL -----


def _ldl(A, hermitian, name):
    need_square(A, name)
    x = A._array()
    if not x.size:
        return x.copy(), np.zeros(x.shape[:-1], np.int32), np.zeros(x.shape[:-2], np.int32)
    routine = _lapack("hetrf" if hermitian and x.dtype.kind == "c" else "sytrf", x)

    def one(matrix):
        packed, pivots, info = routine(matrix, lower=1)
        return np.tril(packed), pivots.astype(np.int32), np.int32(info)

    return each(one, x)


@offered("ldl_factor")
def ldl_factor(A, *, hermitian=False, out=None):
    """(LD, pivots) of symmetric (or Hermitian) matrices, packed as LAPACK does. Without derivative."""
    packed, pivots, _ = _ldl(A, hermitian, "linalg.ldl_factor")
    return given_all(return_types.linalg_ldl_factor, (wrap(packed), wrap(pivots)), out)


@offered("ldl_factor_ex")
def ldl_factor_ex(A, *, hermitian=False, check_errors=False, out=None):
    """(LD, pivots, info): info is the place of a pivot that is 0, or 0."""
    found = _ldl(A, hermitian, "linalg.ldl_factor_ex")
    if check_errors and np.any(found[2]):
        raise LinAlgError("torch.linalg.ldl_factor_ex: the factorization has a zero on its diagonal")
    return given_all(return_types.linalg_ldl_factor_ex, map(wrap, found), out)


@offered("ldl_solve")
def ldl_solve(LD, pivots, B, *, hermitian=False, out=None):
    """X with A X = B from the LDL factors of A. Without derivative."""
    need_square(LD, "linalg.ldl_solve", "LD")
    need_matrix(B, "linalg.ldl_solve", 3, "B")
    packed, b = LD._array(), B._array()
    batch = np.broadcast_shapes(packed.shape[:-2], b.shape[:-2])
    if not packed.size or not b.size or 0 in batch:
        return given(wrap(np.zeros(batch + b.shape[-2:], b.dtype)), out)
    routine = _lapack("hetrs" if hermitian and packed.dtype.kind == "c" else "sytrs", packed)
    columns = np.asarray(pivots._array())[..., None]
    return given(wrap(each(lambda m, p, v: (routine(m, p[:, 0], v, lower=1)[0],), packed, columns, b)[0]), out)


# ----- of low rank -----


def _lowrank(A, q, M):
    A = A if M is None else A - M
    rank = min(A._d.shape[-2:])
    if not 0 <= q <= rank:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={rank}")
    u, s, vh = svd_row(A, False)
    return (
        slice_view(u, (Ellipsis, slice(0, q))),
        slice_view(s, (Ellipsis, slice(0, q))),
        slice_view(adjoint(vh), (Ellipsis, slice(0, q))),
    )


@public("svd_lowrank", method=False)
def svd_lowrank(A, q=6, niter=2, M=None):
    """(U, S, V): the ``q`` largest singular values of A (less M). Exact here, where PyTorch draws random projections."""
    need_matrix(A, "svd_lowrank")
    return _lowrank(A, min(q, *A._d.shape[-2:]) if q == 6 else q, M)


@public("pca_lowrank", method=False)
def pca_lowrank(A, q=None, center=True, niter=2):
    """(U, S, V): the ``q`` principal components of A, its columns' means taken off first. Exact here."""
    need_matrix(A, "pca_lowrank")
    q = min(6, *A._d.shape[-2:]) if q is None else q
    return _lowrank(A, q, mean(A, -2, True) if center else None)
