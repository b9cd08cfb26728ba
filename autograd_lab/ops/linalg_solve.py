"""Linear equations, inverses and determinants."""

import numpy as np

from ..core.op import op
from ..core.public import METHODS, public
from ..core.tensor import wrap
from . import return_types
from .elementwise import log
from .linalg_checks import (
    LinAlgError,
    adjoint,
    as_column,
    as_matrix,
    complex_matrices,
    dtype_of,
    each,
    failure,
    given,
    given_all,
    need_matrix,
    need_same_dtype,
    need_square,
    offered,
    random_matrices,
    swap,
)  # fmt: skip
from .matmul import matmul
from .reduce import sum_row
from .samples import ErrorSample, Sample
from .shape import cast, reshape
from .triangles import tril_row, triu_row


def _squares(*shapes):
    def samples():
        for shape in shapes or ((3, 3), (2, 3, 3)):
            yield Sample(random_matrices(shape, shift=2.0), note=str(shape))
        yield Sample(complex_matrices((3, 3), 2.0), note="complex")

    return samples


def _or_nan(function, x):
    """``function`` of the matrices one by one, nan where it fails."""

    def one(matrix):
        try:
            return (function(matrix),)
        except np.linalg.LinAlgError:
            return (np.full(matrix.shape, np.nan, matrix.dtype),)

    return each(one, x)[0]


def pivots_of_zero(A):
    """Per matrix, the number of its first pivot that is 0, or 0."""
    from scipy.linalg.lapack import get_lapack_funcs

    if not A.size:
        return np.zeros(A.shape[:-2], np.int32)
    getrf = get_lapack_funcs("getrf", (A,))
    return each(lambda m: (np.int32(getrf(m)[2]),), A)[0].astype(np.int32)


def _inv(xp, x, strict):
    try:
        return xp.linalg.inv(x)
    except np.linalg.LinAlgError:
        if strict:
            text = "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular."
            raise failure("linalg.inv", pivots_of_zero(x), text) from None
        return _or_nan(xp.linalg.inv, x)


def _inv_samples():
    for sample in _squares()():
        yield Sample(*sample.operands, params=(True,), note=sample.note)


inv_row = op(
    "inv", _inv, lambda g, y, x, strict: -matmul(matmul(swap(y), g), swap(y)), saves="y", kind="opaque", symbol="x⁻¹",
    grad_name="LinalgInvEx", samples=_inv_samples, ref=lambda x, strict: np.linalg.inv(x),
    errors=lambda: iter((ErrorSample(np.zeros((2, 2)), params=(True,), error=LinAlgError, match="singular"),)),
    formula={"forward": "x⁻¹", "rules": ["−y⁻ᵀ ḡ y⁻ᵀ with y = x⁻¹ transposed"]},
)  # fmt: skip


def _solve(xp, a, b):
    try:
        return xp.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        text = "The solver failed because the input matrix is singular."
        raise failure("torch.linalg.solve", pivots_of_zero(a), text) from None


def _solve_rule(needs, g, y, a, b):
    right = solve_row(swap(a), g)
    return -matmul(right, swap(y)) if needs[0] else None, right if needs[1] else None


def _solve_samples():
    yield Sample(random_matrices((3, 3), shift=2.0), random_matrices((3, 2), 1))
    yield Sample(random_matrices((2, 3, 3), shift=2.0), random_matrices((3, 2), 1), note="batch")
    yield Sample(random_matrices((3, 3), shift=2.0), random_matrices((2, 3, 1), 1), note="batch right")
    yield Sample(complex_matrices((3, 3), 2.0), complex_matrices((3, 2)), note="complex")


solve_row = op(
    "solve", _solve, joint=_solve_rule, saves="y a", kind="opaque", arity=2, dtypes="match", symbol="a⁻¹b",
    grad_name="LinalgSolveEx", samples=_solve_samples, ref=np.linalg.solve,
    errors=lambda: iter((ErrorSample(np.zeros((2, 2)), np.ones((2, 1)), error=LinAlgError, match="singular"),)),
    formula={"forward": "x with a x = b", "rules": ["−(a⁻ᵀ ḡ) xᵀ", "a⁻ᵀ ḡ"]},
)  # fmt: skip


def _solve_triangular(xp, a, b, upper, unit):
    from scipy.linalg.blas import get_blas_funcs

    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    if not b.size or not a.size or 0 in batch:
        return xp.zeros(batch + b.shape[-2:], b.dtype)
    trsm = get_blas_funcs("trsm", (a,))
    return each(lambda m, v: (trsm(1, m, v, lower=not upper, diag=unit),), a, b)[0]


def _triangular_rule(needs, g, y, a, b, upper, unit):
    right = solve_triangular_row(swap(a), g, not upper, unit)
    left = None
    if needs[0]:
        full = -matmul(right, swap(y))
        left = triu_row(full, int(unit)) if upper else tril_row(full, -int(unit))
    return left, right if needs[1] else None


def _triangular_reference(a, b, upper, unit):
    a = np.triu(a) if upper else np.tril(a)
    if unit:
        a = a - a * np.eye(a.shape[-1]) + np.eye(a.shape[-1])
    return np.linalg.solve(a, b)


def _triangular_samples():
    for upper, unit in ((True, False), (False, True)):
        yield Sample(random_matrices((3, 3), shift=2.0), random_matrices((2, 3, 2), 1), params=(upper, unit))
    yield Sample(complex_matrices((3, 3), 2.0), complex_matrices((3, 2)), params=(False, False), note="complex")


solve_triangular_row = op(
    "solve_triangular", _solve_triangular, joint=_triangular_rule, saves="y a", kind="opaque", arity=2, dtypes="match",
    symbol="a⁻¹b", grad_name="LinalgSolveTriangular", samples=_triangular_samples, ref=_triangular_reference,
    formula={"forward": "x with a x = b, a triangular", "rules": ["the triangle of −(a⁻ᵀ ḡ) xᵀ", "a⁻ᵀ ḡ"]},
)  # fmt: skip

# ----- determinants -----


def _cofactor(xp, x):
    """From singular values, so that it is exact for singular matrices too."""
    u, s, vh = xp.linalg.svd(x)
    n = s.shape[-1]
    before, after = xp.ones_like(s), xp.ones_like(s)
    for i in range(1, n):
        before[..., i] = before[..., i - 1] * s[..., i - 1]
        after[..., n - 1 - i] = after[..., n - i] * s[..., n - i]
    phase = xp.linalg.det(u) * xp.linalg.det(vh)
    return (phase[..., None, None] * u.conj()) @ ((before * after)[..., None] * vh.conj())


def _cofactor_rule(g, y, x):
    inner = as_matrix(sum_row(g * y, (g.ndim - 2, g.ndim - 1), False))
    return (inner * y - matmul(matmul(y, swap(g)), y)) / as_matrix(det_row(x))


def _cofactor_reference(x):
    return np.linalg.det(x)[..., None, None] * np.swapaxes(np.linalg.inv(x), -1, -2)


cofactor_row = op(
    "cofactor", _cofactor, _cofactor_rule, saves="y x", kind="opaque", grad_name="LinalgCofactor", symbol="cof", samples=_squares(),
    ref=_cofactor_reference, formula={"forward": "det(x) x⁻ᵀ", "rules": ["(⟨ḡ, y⟩ y − y ḡᵀ y) / det x"]},
)  # fmt: skip
det_row = op(
    "det", lambda xp, x: xp.linalg.det(x), lambda g, y, x: as_matrix(g) * cofactor_row(x), saves="x", kind="opaque",
    grad_name="LinalgDet", samples=_squares((3, 3), (2, 2, 2)), ref=np.linalg.det,
    formula={"forward": "det x", "rules": ["ḡ det(x) x⁻ᵀ"]},
)  # fmt: skip


def _slogdet_rule(needs, g, y, x):
    gsign, glog = g
    inverse = adjoint(inv_row(x, False))
    if dtype_of(x).kind != "c":
        return (as_matrix(glog) * inverse,)
    turn = gsign * y[0].conj()
    turned = cast(glog, dtype_of(x)) + cast(turn.imag, dtype_of(x)) * 1j
    return (as_matrix(turned) * inverse,)


slogdet_row = op(
    "slogdet", lambda xp, x: tuple(xp.linalg.slogdet(x)), joint=_slogdet_rule, saves="y x", kind="opaque", arity=1, outputs=2,
    grad_name="LinalgSlogdet", holomorphic=False, samples=_squares(), ref=lambda x: tuple(np.linalg.slogdet(x)),
    formula={"forward": "sign and ln |det x|", "rules": ["ḡ x⁻ᴴ"]},
)  # fmt: skip

# ----- public -----


@offered("inv", torch=("inverse",), method=True)
def inv(A, *, out=None):
    """The inverse of square matrices. Raises: RuntimeError unless square, LinAlgError for a singular one."""
    need_square(A, "linalg.inv")
    return given(inv_row(A, True), out)


def _checked(infos, name):
    if np.any(infos):
        raise LinAlgError(f"{name}: The diagonal element {int(np.max(infos))} is zero, the matrix is singular")
    return wrap(np.asarray(infos))


@offered("inv_ex")
def inv_ex(A, *, check_errors=False, out=None):
    """(inverse, info): nothing is raised for a singular matrix; its info names the pivot that is 0."""
    need_square(A, "linalg.inv_ex")
    infos = pivots_of_zero(A._array())
    info = _checked(infos, "linalg.inv_ex") if check_errors else wrap(infos)
    return given_all(return_types.linalg_inv_ex, (inv_row(A, False), info), out)


def _equation(A, B, left, name):
    """A and B (a matrix) of A X = B; whether B was a vector."""
    need_square(A, name)
    need_same_dtype(A, B, name)
    vector = B._d.ndim == 1 or (A._d.ndim - 1 == B._d.ndim and B._d.shape == A._d.shape[:-1])
    if vector and not left:
        raise RuntimeError(f"{name}: Vector broadcasting of the left hand side is not supported for left=False")
    if vector:
        B = as_column(B)
    elif B._d.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    _need_fit(A, B, left, name)
    return A, B, vector


def _need_fit(A, B, left, name):
    if B._d.shape[-2 if left else -1] != A._d.shape[-1]:
        a, b = ("x".join(map(str, t._d.shape[-2:])) for t in (A, B))
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {equation} ({a} and {b})")
    try:
        np.broadcast_shapes(A._d.shape[:-2], B._d.shape[:-2])
    except ValueError:
        raise RuntimeError(
            f"{name}: The batch dimensions of A and B cannot be broadcast: {list(A._d.shape)} and {list(B._d.shape)}"
        ) from None


@offered("solve")
def solve(A, B, *, left=True, out=None):
    """X with A X = B (``left=False``: X A = B); B is a matrix or a vector, batches broadcast.

    Raises: RuntimeError for shapes that do not fit, LinAlgError for a singular A.
    """
    A, B, vector = _equation(A, B, left, "linalg.solve")
    X = solve_row(A, B) if left else swap(solve_row(swap(A), swap(B)))
    return given(reshape(X, X._d.shape[:-1]) if vector else X, out)


@offered("solve_ex")
def solve_ex(A, B, *, left=True, check_errors=False, out=None):
    """(result, info): for a singular A the result is nan and info names the pivot that is 0."""
    A, B, vector = _equation(A, B, left, "linalg.solve_ex")
    infos = pivots_of_zero(A._array())
    info = _checked(infos, "linalg.solve_ex") if check_errors else wrap(infos)
    if np.any(infos):
        X = matmul(inv_row(A, False), B) if left else matmul(B, inv_row(A, False))
    else:
        X = solve_row(A, B) if left else swap(solve_row(swap(A), swap(B)))
    return given_all(return_types.linalg_solve_ex, (reshape(X, X._d.shape[:-1]) if vector else X, info), out)


@offered("solve_triangular")
def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    """X with A X = B (``left=False``: X A = B) where only a triangle of A is read; ``unitriangular``: its diagonal counts as 1."""
    need_square(A, "linalg.solve_triangular")
    need_matrix(B, "linalg.solve_triangular", 2, "B")
    need_same_dtype(A, B, "linalg.solve_triangular")
    _need_fit(A, B, left, "linalg.solve_triangular")
    if left:
        return given(solve_triangular_row(A, B, bool(upper), bool(unitriangular)), out)
    return given(swap(solve_triangular_row(swap(A), swap(B), not upper, bool(unitriangular))), out)


@offered("det", torch=("det",), method=True)
def det(A, *, out=None):
    """The determinant of square matrices; its derivative is the matrix of cofactors, for singular ones too."""
    need_square(A, "linalg.det")
    return given(det_row(A), out)


@offered("slogdet")
def slogdet(A, *, out=None):
    """(sign, logabsdet): the determinant as sign · exp(logabsdet), without overflow."""
    need_square(A, "linalg.slogdet")
    return given_all(return_types.linalg_slogdet, slogdet_row(A), out)


def _slogdet(input, *, out=None):
    """(sign, logabsdet): the determinant as sign · exp(logabsdet), without overflow."""
    need_square(input, "slogdet")
    return given_all(return_types.slogdet, slogdet_row(input), out)


public("slogdet", method=False)(_slogdet)
METHODS["slogdet"] = _slogdet


@public("logdet")
def logdet(input):
    """ln det; nan for a negative determinant, −inf for a singular matrix."""
    need_square(input, "logdet")
    sign, size = slogdet_row(input)
    return size + log(sign)
