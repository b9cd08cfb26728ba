"""Decompositions: Cholesky, QR, LU, eigenvalues, singular values."""

import numpy as np

from ..core.op import op
from ..core.public import public
from ..core.tensor import wrap
from . import return_types
from .compare import where
from .complex import conj
from .index import slice_view
from .join import cat_row
from .linalg_checks import (
    LinAlgError,
    adjoint,
    as_column,
    as_row,
    complex_matrices,
    converged,
    dtype_of,
    each,
    failure,
    given,
    given_all,
    like,
    need_matrix,
    need_square,
    offered,
    random_matrices,
)
from .linalg_solve import _or_nan, solve_row, solve_triangular_row
from .matmul import matmul
from .samples import ErrorSample, Sample
from .shape import cast
from .svd import singular_values, svd_row
from .triangles import tril_row, triu_row


def _positive(a):
    return a @ np.swapaxes(a.conj(), -1, -2) + np.eye(a.shape[-1])


def _times_inverse(b, triangle, upper):
    """b · triangle⁻ᴴ for a triangular matrix, by substitution."""
    return adjoint(solve_triangular_row(triangle, adjoint(b), upper, False))


def _diagonal(values, n, x):
    return like(np.eye(n, dtype=dtype_of(x)), x) * as_row(values)


# ----- Cholesky -----


def _cholesky(xp, x, upper, strict):
    x = _flipped(x) if upper else x
    try:
        factor = xp.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        if strict:
            text = (
                "The factorization could not be completed because the input is not positive-definite (the leading minor of "
                "order {} is not positive-definite)."
            )
            raise failure("linalg.cholesky", _minors(x), text) from None
        factor = _or_nan(xp.linalg.cholesky, x)
    return _flipped(factor) if upper else factor


def _flipped(x):
    return x.swapaxes(-1, -2).conj()


def _cholesky_rule(g, y, x, upper, strict):
    """As PyTorch, which does not make the result Hermitian where the diagonal of ḡ is not real."""
    g, y = (adjoint(g), adjoint(y)) if upper else (g, y)
    phi = tril_row(matmul(adjoint(y), g), 0)
    phi = phi + adjoint(tril_row(phi, -1))
    return _times_inverse(solve_triangular_row(adjoint(y), phi, True, False), adjoint(y), True) * 0.5


def _cholesky_samples():
    for values, note in (
        (random_matrices((3, 3)), ""),
        (random_matrices((2, 3, 3)), "batch"),
        (complex_matrices((3, 3)), "complex"),
    ):
        yield Sample(_positive(values), params=(False, True), order=0, note=note)
        yield Sample(_positive(values), params=(True, True), order=0, note=f"{note} upper")


def _cholesky_reference(x, upper, strict):
    factor = np.linalg.cholesky(x)
    return _flipped(factor) if upper else factor


cholesky_row = op(
    "cholesky", _cholesky, _cholesky_rule, saves="y", kind="opaque", grad_name="LinalgCholeskyEx", holomorphic=False,
    samples=_cholesky_samples, ref=_cholesky_reference,
    errors=lambda: iter((ErrorSample(-np.eye(2), params=(False, True), error=LinAlgError, match="positive-definite"),)),
    formula={"forward": "L with L Lᴴ = x", "rules": ["½ L⁻ᴴ (Φ + Φᴴ) L⁻¹, Φ the triangle of Lᴴ ḡ with half its diagonal"]},
)  # fmt: skip

# ----- QR -----


def _qr(xp, x, mode):
    if mode == "r":
        return xp.zeros((0,), x.dtype), xp.linalg.qr(x, mode="r")
    return tuple(xp.linalg.qr(x, mode=mode))


def _qr_tall(gq, gr, q, r):
    """Walter and Lehmann (2018), for at least as many rows as columns."""
    x = triu_row(matmul(gr, adjoint(r)) - matmul(adjoint(q), gq), 0)
    n = r.shape[-1]
    halves = np.ones((n, n), dtype_of(r)) - 0.5 * np.eye(n, dtype=dtype_of(r))
    return _times_inverse(gq + matmul(q, (x + adjoint(x)) * like(halves, r)), r, True)


def _qr_rule(needs, g, y, x, mode):
    (gq, gr), (q, r) = g, y
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced')"
        )
    rows, columns = q.shape[-2], r.shape[-1]
    if mode == "complete" and rows > columns:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols")
    if rows >= columns:
        return (_qr_tall(gq, gr, q, r),)
    left, right = (Ellipsis, slice(0, rows)), (Ellipsis, slice(rows, columns))
    rest = slice_view(gr, right)
    gq = gq + matmul(matmul(q, slice_view(r, right)), adjoint(rest))
    return (cat_row([_qr_tall(gq, slice_view(gr, left), q, slice_view(r, left)), matmul(q, rest)], gr.ndim - 1),)


def _qr_samples():
    for shape in ((3, 3), (4, 3), (3, 4), (2, 3, 2)):
        yield Sample(random_matrices(shape, shift=1.0), params=("reduced",), note=str(shape))
    yield Sample(complex_matrices((3, 2), 1.0), params=("reduced",), order=0, note="complex")


qr_row = op(
    "qr", _qr, joint=_qr_rule, saves="y", kind="opaque", arity=1, outputs=2, grad_name="LinalgQr", holomorphic=False,
    samples=_qr_samples, ref=lambda x, mode: tuple(np.linalg.qr(x, mode)),
    formula={"forward": "Q R = x, Q orthogonal, R upper triangular", "rules": ["(ḡQ + Q sym(triu(ḡR Rᴴ − Qᴴ ḡQ))) R⁻ᴴ"]},
)  # fmt: skip

# ----- LU -----


def _lu(xp, x):
    from scipy.linalg import lu as factors

    if not x.size:
        m, n = x.shape[-2:]
        k, eye = min(m, n), xp.zeros((*x.shape[:-2], m, m), x.dtype)
        eye[...] = xp.eye(m)
        return eye, eye[..., :k].copy(), xp.zeros((*x.shape[:-2], k, n), x.dtype)
    return tuple(xp.ascontiguousarray(part.astype(x.dtype, copy=False)) for part in factors(x))


def _lu_square(gl, gu, lower, upper):
    inner = tril_row(matmul(adjoint(lower), gl), -1) + triu_row(matmul(gu, adjoint(upper)), 0)
    inner = _times_inverse(inner, upper, True)
    return solve_triangular_row(adjoint(lower), inner, True, True)


def lu_cotangent(gl, gu, p, lower, upper):
    """The cotangent of a matrix from those of its factors; what is not square is done by parts."""
    m, k, n = lower.shape[-2], lower.shape[-1], upper.shape[-1]
    if m == n:
        return matmul(p, _lu_square(gl, gu, lower, upper))
    if m < n:
        left, right = (Ellipsis, slice(0, k)), (Ellipsis, slice(k, n))
        rest = solve_triangular_row(adjoint(lower), slice_view(gu, right), True, True)
        gl = gl - matmul(rest, adjoint(slice_view(upper, right)))
        first = _lu_square(gl, slice_view(gu, left), lower, slice_view(upper, left))
        return matmul(p, cat_row([first, rest], gu.ndim - 1))
    top, bottom = (Ellipsis, slice(0, k), slice(None)), (Ellipsis, slice(k, m), slice(None))
    rest = _times_inverse(slice_view(gl, bottom), upper, True)
    gu = gu - matmul(adjoint(slice_view(lower, bottom)), rest)
    first = _lu_square(slice_view(gl, top), gu, slice_view(lower, top), upper)
    return matmul(p, cat_row([first, rest], gl.ndim - 2))


def _lu_rule(needs, g, y, x):
    return (lu_cotangent(g[1], g[2], *y),)


def _lu_reference(x):
    import scipy.linalg

    return scipy.linalg.lu(x)


lu_row = op(
    "lu", _lu, joint=_lu_rule, saves="y", kind="opaque", arity=1, outputs=3, nondiff=(0,), grad_name="LinalgLu", holomorphic=False,
    samples=lambda: (Sample(random_matrices(s), note=str(s)) for s in ((3, 3), (4, 3), (3, 4), (2, 3, 3))), ref=_lu_reference,
    formula={"forward": "P L U = x", "rules": ["P L⁻ᴴ (tril(Lᴴ ḡL) + triu(ḡU Uᴴ)) U⁻ᴴ"]},
)  # fmt: skip

# ----- eigenvalues -----


def _gaps(values):
    """1 / (λⱼ − λᵢ), 0 on the diagonal and between equal ones."""
    gap = as_row(values) - as_column(values)
    same = gap == 0
    return where(same, 0.0, 1.0 / where(same, 1.0, gap))


def _eigh_rule(needs, g, y, x, lower):
    (gw, gv), (w, v) = g, y
    turned = matmul(adjoint(v), gv)
    inner = _gaps(w) * ((turned - adjoint(turned)) * 0.5) + _diagonal(gw, w.shape[-1], w)
    return (matmul(matmul(v, inner), adjoint(v)),)


def _eigh(xp, x, lower):
    return tuple(converged(xp.linalg.eigh, x, "L" if lower else "U", name="linalg.eigh"))


def _eigvalsh(xp, x, lower):
    return converged(xp.linalg.eigvalsh, x, "L" if lower else "U", name="linalg.eigh")


def _symmetric_samples():
    for values, note in (
        (random_matrices((3, 3)), ""),
        (random_matrices((2, 3, 3)), "batch"),
        (complex_matrices((3, 3)), "complex"),
    ):
        yield Sample(_positive(values), params=(True,), order=0, note=note)


eigh_row = op(
    "eigh", _eigh, joint=_eigh_rule, saves="y", kind="opaque", arity=1, outputs=2, grad_name="LinalgEigh", holomorphic=False,
    samples=_symmetric_samples, ref=lambda x, lower: tuple(np.linalg.eigh(x)),
    formula={"forward": "V diag(w) Vᴴ = x", "rules": ["V (Vᴴ ḡV / (wⱼ − wᵢ) + diag ḡw) Vᴴ"]},
)  # fmt: skip


def _eigvalsh_rule(g, y, x, lower):
    _, v = eigh_row(x, lower)
    return matmul(v * as_row(g), adjoint(v))


eigvalsh_row = op(
    "eigvalsh", _eigvalsh, _eigvalsh_rule, saves="x", kind="opaque", grad_name="LinalgEigh", holomorphic=False,
    samples=_symmetric_samples, ref=lambda x, lower: np.linalg.eigvalsh(x),
    formula={"forward": "eigenvalues of x = xᴴ", "rules": ["V diag(ḡ) Vᴴ"]},
)  # fmt: skip


def _complex_of(dtype):
    return np.complex128 if dtype in (np.float64, np.complex128) else np.complex64


def _eig(xp, x):
    return tuple(part.astype(_complex_of(x.dtype)) for part in converged(xp.linalg.eig, x, name="linalg.eig"))


def _as_input(value, x):
    """The real part where the matrix is real."""
    return cast(value, x.dtype if not hasattr(x.dtype, "numpy") else x.dtype.numpy)


def _eig_rule(needs, g, y, x):
    (gw, gv), (w, v) = g, y
    vh = adjoint(v)
    inner = matmul(vh, gv)
    eye = like(np.eye(w.shape[-1], dtype=dtype_of(w)), w)
    along = matmul(matmul(vh, v), _real_part(inner * eye))
    inner = conj(_gaps(w)) * (inner - along) + eye * as_row(gw)
    return (_as_input(solve_row(vh, matmul(inner, vh)), x),)


def _real_part(x):
    """The real parts as complex numbers."""
    return (x + conj(x)) * 0.5


eig_row = op(
    "eig", _eig, joint=_eig_rule, saves="y x.shape", kind="opaque", arity=1, outputs=2, grad_name="LinalgEig", holomorphic=False,
    samples=lambda: (Sample(m, order=0) for m in (random_matrices((3, 3)), random_matrices((2, 3, 3)), complex_matrices((3, 3)))),
    ref=lambda x: _eig(np, x), formula={"forward": "V diag(w) V⁻¹ = x", "rules": ["V⁻ᴴ (Vᴴ ḡV / (wⱼ − wᵢ) + diag ḡw) Vᴴ"]},
)  # fmt: skip


def _eigvals_rule(g, y, x):
    _, v = eig_row(x)
    vh = adjoint(v)
    return _as_input(solve_row(vh, as_column(g) * vh), x)


eigvals_row = op(
    "eigvals", lambda xp, x: xp.linalg.eigvals(x).astype(_complex_of(x.dtype)), _eigvals_rule, saves="x", kind="opaque",
    grad_name="LinalgEig", holomorphic=False, ref=lambda x: np.linalg.eigvals(x).astype(complex),
    samples=lambda: (Sample(m, order=1) for m in (random_matrices((3, 3)), random_matrices((2, 3, 3)), complex_matrices((3, 3)))),
    formula={"forward": "eigenvalues of x", "rules": ["V⁻ᴴ diag(ḡ) Vᴴ"]},
)  # fmt: skip

# ----- public -----


def _cholesky_of(input, upper, name, strict=True):
    need_square(input, name)
    return cholesky_row(input, bool(upper), strict)


@offered("cholesky")
def linalg_cholesky(A, *, upper=False, out=None):
    """The lower triangular L with L Lᴴ = A (``upper``: U with Uᴴ U = A).

    Raises: LinAlgError unless positive-definite.
    """
    return given(_cholesky_of(A, upper, "linalg.cholesky"), out)


@public("cholesky")
def cholesky(input, upper=False, *, out=None):
    """The lower triangular L with L Lᴴ = input (``upper``: U with Uᴴ U = input)."""
    return given(_cholesky_of(input, upper, "cholesky"), out)


def _minors(A):
    from scipy.linalg.lapack import get_lapack_funcs

    if not A.size:
        return np.zeros(A.shape[:-2], np.int32)
    potrf = get_lapack_funcs("potrf", (A,))
    return np.asarray(each(lambda m: (np.int32(potrf(m, lower=1)[1]),), A)[0], np.int32)


@offered("cholesky_ex")
def cholesky_ex(A, *, upper=False, check_errors=False, out=None):
    """(L, info): nothing is raised; info is the order of the leading minor that is not positive-definite, or 0."""
    L = _cholesky_of(A, upper, "linalg.cholesky_ex", bool(check_errors))
    a = A._array()
    return given_all(return_types.linalg_cholesky_ex, (L, wrap(_minors(_flipped(a) if upper else a))), out)


@offered("qr")
def linalg_qr(A, mode="reduced", *, out=None):
    """(Q, R) with Q R = A: "reduced", "complete" (Q square), "r" (R alone). Raises: RuntimeError for another mode."""
    need_matrix(A, "linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    return given_all(return_types.linalg_qr, qr_row(A, mode), out)


@public("qr")
def qr(input, some=True, *, out=None):
    """(Q, R) with Q R = input; ``some=False``: Q square."""
    need_matrix(input, "qr")
    return given_all(return_types.qr, qr_row(input, "reduced" if some else "complete"), out)


@offered("lu")
def lu(A, *, pivot=True, out=None):
    """(P, L, U) with P L U = A. Raises: RuntimeError for ``pivot=False``, as PyTorch does on the CPU."""
    need_matrix(A, "linalg.lu")
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return given_all(return_types.linalg_lu, lu_row(A), out)


def _lower(UPLO):
    letter = UPLO.upper() if isinstance(UPLO, str) else UPLO
    if letter not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return letter == "L"


@offered("eigh")
def eigh(A, UPLO="L", *, out=None):
    """(eigenvalues, eigenvectors) of symmetric or Hermitian matrices, ascending; only the triangle ``UPLO`` is read."""
    need_square(A, "linalg.eigh")
    return given_all(return_types.linalg_eigh, eigh_row(A, _lower(UPLO)), out)


@offered("eigvalsh")
def eigvalsh(A, UPLO="L", *, out=None):
    """The eigenvalues of symmetric or Hermitian matrices, ascending."""
    need_square(A, "linalg.eigvalsh")
    return given(eigvalsh_row(A, _lower(UPLO)), out)


def _need_finite(A, name):
    if not np.isfinite(A._array()).all():
        raise RuntimeError(f"{name}: input tensor should not contain infs or NaNs.")


@offered("eig")
def eig(A, *, out=None):
    """(eigenvalues, eigenvectors) of square matrices, complex. Derivatives hold for losses that do not depend on phases."""
    need_square(A, "linalg.eig")
    _need_finite(A, "linalg.eig")
    return given_all(return_types.linalg_eig, eig_row(A), out)


@offered("eigvals")
def eigvals(A, *, out=None):
    """The eigenvalues of square matrices, complex."""
    need_square(A, "linalg.eigvals")
    _need_finite(A, "linalg.eigvals")
    return given(eigvals_row(A), out)


@offered("svd")
def linalg_svd(A, full_matrices=True, *, driver=None, out=None):
    """(U, S, Vh) with U diag(S) Vh = A, singular values descending. ``driver`` is for CUDA only."""
    need_matrix(A, "linalg.svd")
    _no_driver(driver, "linalg.svd")
    return given_all(return_types.linalg_svd, svd_row(A, bool(full_matrices)), out)


def _no_driver(driver, name):
    if driver is not None:
        raise RuntimeError(f"{name}: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")


@offered("svdvals")
def svdvals(A, *, driver=None, out=None):
    """The singular values, descending."""
    need_matrix(A, "linalg.svdvals")
    _no_driver(driver, "linalg.svdvals")
    return given(singular_values(A), out)


@public("svd")
def svd(input, some=True, compute_uv=True, *, out=None):
    """(U, S, V) with U diag(S) Vᴴ = input; ``some=False``: square U and V; ``compute_uv=False``: zeros for U and V."""
    need_matrix(input, "svd")
    if not compute_uv:
        m, n = input._d.shape[-2:]
        empty = [wrap(np.zeros((*input._d.shape[:-2], k, k), input._d.dtype)) for k in (m, n)]
        return given_all(return_types.svd, (empty[0], singular_values(input), empty[1]), out)
    u, s, vh = svd_row(input, not some)
    return given_all(return_types.svd, (u, s, adjoint(vh)), out)
