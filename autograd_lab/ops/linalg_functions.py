"""Functions of matrices: pseudo-inverse, least squares, powers, exponential, chains of products, condition, rank."""

import math

import numpy as np

from ..core.op import op
from ..core.public import public
from ..core.tensor import Tensor, wrap
from . import return_types
from .compare import where
from .dims import need_tensor
from .index import slice_view
from .join import cat_row
from .linalg_checks import (
    adjoint,
    as_column,
    as_row,
    complex_matrices,
    converged,
    dtype_of,
    given,
    given_all,
    like,
    need_matrix,
    need_same_dtype,
    need_square,
    offered,
    random_matrices,
    swap,
)
from .linalg_solve import inv, inv_row, solve
from .matmul import matmul
from .norms import matrix_norm
from .reduce import sum_row
from .samples import Sample
from .shape import clone, reshape
from .svd import singular_values


def _eye(n, x):
    return like(np.eye(n, dtype=dtype_of(x)), x)


# ----- exponential -----


def _expm(xp, x):
    from scipy.linalg import expm

    return expm(x).astype(x.dtype, copy=False) if x.size else x.copy()


def _expm_rule(g, y, x):
    """The upper right block of exp [[xᵀ, ḡ], [0, xᵀ]]; see Mathias, A chain rule for matrix functions (1996)."""
    n, ndim, xt = x.shape[-1], x.ndim, swap(x)
    upper = cat_row([xt, g], ndim - 1)
    lower = cat_row([like(np.zeros(x.shape, dtype_of(x)), x), xt], ndim - 1)
    return slice_view(matrix_exp_row(cat_row([upper, lower], ndim - 2)), (Ellipsis, slice(0, n), slice(n, 2 * n)))


matrix_exp_row = op(
    "matrix_exp", _expm, _expm_rule, saves="x", kind="opaque", symbol="eˣ", grad_name="LinalgMatrixExp", ref=lambda x: _expm(np, x),
    samples=lambda: (Sample(m) for m in (random_matrices((3, 3)), random_matrices((2, 2, 2)), complex_matrices((2, 2)))),
    formula={"forward": "Σ xᵏ / k!", "rules": ["the upper right block of exp [[xᵀ, ḡ], [0, xᵀ]]"]},
)  # fmt: skip


@offered("matrix_exp", torch=("matrix_exp",), method=True)
def matrix_exp(A):
    """The exponential of square matrices, Σ Aᵏ / k!."""
    need_square(A, "linalg.matrix_exp")
    return matrix_exp_row(A)


# ----- pseudo-inverse -----


def _cutoff(largest, atol, rtol):
    return np.maximum(atol, rtol * largest)[..., None]


def _largest(values):
    return np.max(np.abs(values), axis=-1, initial=0)


def _reciprocals(values, atol, rtol):
    keep = np.abs(values) > _cutoff(_largest(values), atol, rtol)
    return np.where(keep, 1 / np.where(keep, values, 1), 0).astype(values.dtype)


def _pinv(xp, x, atol, rtol, hermitian):
    if not x.size:
        return xp.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    if hermitian:
        w, v = xp.linalg.eigh(x)
        return xp.matmul(v * _reciprocals(w, atol, rtol)[..., None, :], v.conj().swapaxes(-1, -2))
    u, s, vh = converged(xp.linalg.svd, x, False)
    return xp.matmul(vh.conj().swapaxes(-1, -2) * _reciprocals(s, atol, rtol)[..., None, :], u.conj().swapaxes(-1, -2))


def _pinv_rule(g, y, x, atol, rtol, hermitian):
    """Golub and Pereyra (1973), for matrices of locally constant rank."""
    yh, gh = adjoint(y), adjoint(g)
    if x.shape[-2] <= x.shape[-1]:
        k = matmul(gh, y)
        kyh = matmul(k, yh)
        out = kyh - adjoint(matmul(y, k)) - matmul(matmul(x, y), kyh)
        return out + matmul(matmul(yh, y), gh - matmul(k, x))
    k = matmul(y, gh)
    yhk = matmul(yh, k)
    out = matmul(matmul(gh - matmul(x, k), y), yh) - adjoint(matmul(k, y))
    return out + yhk - matmul(matmul(yhk, y), x)


def _pinv_samples():
    for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
        yield Sample(random_matrices(shape, shift=1.0), params=(0.0, 1e-15, False), note=str(shape))
    a = random_matrices((3, 3))
    yield Sample(a + a.T, params=(0.0, 1e-15, True), order=0, note="hermitian")
    yield Sample(complex_matrices((3, 2), 1.0), params=(0.0, 1e-15, False), note="complex")


pinv_row = op(
    "pinv", _pinv, _pinv_rule, saves="y x", kind="opaque", symbol="x⁺", grad_name="LinalgPinv", holomorphic=False,
    samples=_pinv_samples, ref=lambda x, a, r, h: np.linalg.pinv(x),
    formula={"forward": "x⁺", "rules": ["Golub and Pereyra's formula"]},
)  # fmt: skip


def _number(value):
    return value._array() if isinstance(value, Tensor) else value


def _tolerances(A, atol, rtol):
    """Absolute and relative: by default max(m, n) ε relative, unless an absolute one is given."""
    atol, rtol = _number(atol), _number(rtol)
    if rtol is None:
        rtol = max(A._d.shape[-2:]) * float(np.finfo(A._d.dtype).eps)
        if atol is not None:
            rtol = np.where(np.asarray(atol) > 0, 0.0, rtol)[()]
    return 0.0 if atol is None else atol, rtol


@offered("pinv")
def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The Moore–Penrose pseudo-inverse; singular values up to max(atol, rtol · largest) count as 0."""
    need_matrix(A, "linalg.pinv")
    if hermitian:
        need_square(A, "linalg.pinv")
    atol, rtol = _tolerances(A, atol, rcond if rtol is None else rtol)
    return given(pinv_row(A, atol, rtol, bool(hermitian)), out)


@public("pinverse")
def pinverse(input, rcond=1e-15):
    """The pseudo-inverse; singular values up to rcond · largest count as 0."""
    need_matrix(input, "pinverse")
    return pinv_row(input, 0.0, rcond, False)


def _rank(A, atol, rtol, hermitian):
    values = np.abs(np.linalg.eigvalsh(A)) if hermitian else converged(np.linalg.svd, A, False, False)
    return np.count_nonzero(values > _cutoff(_largest(values), atol, rtol), axis=-1)


@offered("matrix_rank")
def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The number of singular values (``hermitian``: of |eigenvalues|) above max(atol, rtol · largest)."""
    need_matrix(A, "linalg.matrix_rank")
    if hermitian:
        need_square(A, "linalg.matrix_rank")
    atol, rtol = (tol, 0.0) if tol is not None else (atol, rtol)
    atol, rtol = _tolerances(A, atol, rtol)
    return given(wrap(np.asarray(_rank(A._array(), _number(atol), rtol, hermitian), np.int64)), out)


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@offered("lstsq")
def lstsq(input, b, rcond=None, *, driver=None, out=None):
    """(solution, residuals, rank, singular_values) of least squares: X with the least ‖A X − B‖, and the least ‖X‖ of those.

    Residuals, rank and singular values are empty where PyTorch's ``driver`` ("gelsy" by default) does not compute them.
    """
    need_matrix(input, "torch.linalg.lstsq", argument="input")
    need_same_dtype(input, b, "torch.linalg.lstsq")
    driver = driver or "gelsy"
    if driver not in _DRIVERS:
        raise RuntimeError(f"torch.linalg.lstsq: parameter `driver` should be one of {_DRIVERS}, got {driver!r}")
    A, batch = input, input._d.shape[:-2]
    m, n = input._d.shape[-2:]
    vector = b._d.ndim == 1 or (input._d.ndim - 1 == b._d.ndim and b._d.shape == input._d.shape[:-1])
    B = as_column(b) if vector else b
    if B._d.ndim < 2 or B._d.shape[-2] != m:
        raise RuntimeError(
            f"torch.linalg.lstsq: input.size(-2) should match other.size(-2), got {list(A._d.shape)} and {list(b._d.shape)}"
        )
    rcond = max(m, n) * float(np.finfo(A._d.dtype).eps) if rcond is None else rcond
    X = matmul(pinv_row(A, 0.0, rcond, False), B)
    a, empty = A._array(), np.zeros(0, A._d.real.dtype)
    values = converged(np.linalg.svd, a, False, False) if a.size else np.zeros((*batch, 0), empty.dtype)
    rank = np.asarray(np.count_nonzero(values > _cutoff(_largest(values), 0.0, rcond), axis=-1), np.int64)
    residuals = slice_view(reshape(X.abs(), (-1,)), (slice(0, 0),))
    if m > n and driver != "gelsy" and np.all(rank == n):
        residuals = sum_row((matmul(A, X) - B).abs() ** 2, (X._d.ndim - 2,), False)
    return given_all(
        return_types.linalg_lstsq,
        (
            reshape(X, X._d.shape[:-1]) if vector else X,
            residuals,
            wrap(np.zeros(0, np.int64) if driver == "gels" else rank),
            wrap(values if driver in ("gelsd", "gelss") else empty),
        ),
        out,
    )


# ----- products -----


@offered("matrix_power", torch=("matrix_power",), method=True)
def matrix_power(A, n, *, out=None):
    """Aⁿ by repeated squaring; a negative n inverts first. Raises: RuntimeError unless square."""
    need_square(A, "linalg.matrix_power")
    if n == 0:
        return given(where(wrap(np.zeros(A._d.shape, bool)), A, _eye(A._d.shape[-1], A)), out)
    power, n, found = (inv(A), -n, None) if n < 0 else (A, n, None)
    while n:
        if n & 1:
            found = power if found is None else matmul(found, power)
        n >>= 1
        power = matmul(power, power) if n else power
    return given(clone(found) if found is A else found, out)


def _cheapest(sizes, i, j, memo):
    """(cost, place of the last product) for the chain of matrices i…j."""
    if i == j:
        return 0, i
    if (i, j) not in memo:
        memo[i, j] = min(
            (_cheapest(sizes, i, k, memo)[0] + _cheapest(sizes, k + 1, j, memo)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
            for k in range(i, j)
        )
    return memo[i, j]


def _chain(tensors, sizes, i, j, memo):
    if i == j:
        return tensors[i]
    k = _cheapest(sizes, i, j, memo)[1]
    return matmul(_chain(tensors, sizes, i, k, memo), _chain(tensors, sizes, k + 1, j, memo))


@offered("multi_dot")
def multi_dot(tensors, *, out=None):
    """The product of a chain of matrices in the cheapest order; the first and the last may be vectors."""
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    for place, t in enumerate(tensors):
        need_tensor(t, "multi_dot", place + 1, "tensors")
        ends = place in (0, len(tensors) - 1)
        if t._d.ndim != 2 and not (ends and t._d.ndim == 1):
            raise RuntimeError(f"multi_dot(): tensor {place} must be {'1D or ' if ends else ''}2D but got {t._d.ndim}D")
        if t._d.dtype != tensors[0]._d.dtype:
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype but got {t.dtype.name} and {tensors[0].dtype.name}"
            )
    first, last = tensors[0]._d.ndim == 1, tensors[-1]._d.ndim == 1
    tensors[0] = as_row(tensors[0]) if first else tensors[0]
    tensors[-1] = as_column(tensors[-1]) if last else tensors[-1]
    for place, (a, b) in enumerate(zip(tensors, tensors[1:], strict=False)):
        if a._d.shape[-1] != b._d.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {place} and {place + 1} with shapes {list(a._d.shape)} and {list(b._d.shape)} "
                "cannot be multiplied"
            )
    sizes = [tensors[0]._d.shape[0], *(t._d.shape[1] for t in tensors)]
    value = _chain(tensors, sizes, 0, len(tensors) - 1, {})
    shape = ((sizes[0],) if not first else ()) + ((sizes[-1],) if not last else ())
    return given(value if len(shape) == 2 else reshape(value, shape), out)


@public("chain_matmul", method=False)
def chain_matmul(*matrices, out=None):
    """The product of a chain of matrices in the cheapest order."""
    return clone(matrices[0]) if len(matrices) == 1 else multi_dot(matrices, out=out)


# ----- condition -----


@offered("cond")
def cond(A, p=None, *, out=None):
    """The condition number ‖A‖ ‖A⁻¹‖ in a norm; by default the largest over the smallest singular value."""
    need_matrix(A, "linalg.cond")
    if p in (None, 2, -2):
        if not A._d.size:
            return given(wrap(np.zeros(A._d.shape[:-2], A._d.real.dtype)), out)
        s = singular_values(A)
        first, last = slice_view(s, (Ellipsis, 0)), slice_view(s, (Ellipsis, -1))
        return given(last / first if p == -2 else first / last, out)
    if p not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    need_square(A, "linalg.cond")
    if not A._d.size:
        return given(wrap(np.zeros(A._d.shape[:-2], A._d.real.dtype)), out)
    value = matrix_norm(A, p) * matrix_norm(inv_row(A, False), p)
    return given(where(value == value, value, math.inf), out)


# ----- equations of tensors -----


@offered("tensorinv")
def tensorinv(A, ind=2, *, out=None):
    """The inverse of A as a linear map from its last dimensions to its first ``ind``."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    rows, columns = A._d.shape[:ind], A._d.shape[ind:]
    n, m = math.prod(rows), math.prod(columns)
    if n != m:
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {m} != {n}"
        )
    return given(reshape(inv(reshape(A, (n, m))), columns + rows), out)


@offered("tensorsolve")
def tensorsolve(A, B, dims=None, *, out=None):
    """X with tensordot(A, X, X.ndim) = B. ``dims`` of A are moved to its end first."""
    if dims is not None:
        ndim = A._d.ndim
        A = A.movedim(tuple(dims), tuple(range(ndim - len(dims), ndim)))
    columns = A._d.shape[B._d.ndim :]
    n, m = B._d.size, math.prod(columns)
    if n != m:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {m} != {n}"
        )
    return given(reshape(solve(reshape(A, (n, m)), reshape(B, (n,))), columns), out)
