"""Work with factors at hand: equations and inverses from a Cholesky factor."""

import numpy as np

from ..core.op import op
from ..core.public import public
from .linalg_checks import (
    adjoint,
    complex_matrices,
    dtype_of,
    given,
    like,
    need_matrix,
    need_square,
    random_matrices,
)
from .linalg_solve import _solve_triangular
from .matmul import matmul
from .samples import Sample
from .shape import expand_copy

# ----- Cholesky factors -----


def _cholesky_solve(xp, b, factor, upper):
    flipped = xp.conj(factor.swapaxes(-1, -2))
    lower, upper = (flipped, factor) if upper else (factor, flipped)
    return _solve_triangular(xp, upper, _solve_triangular(xp, lower, b, False, False), True, False)


def _cholesky_solve_rule(needs, g, y, b, factor, upper):
    """As PyTorch: the derivative by all of the factor, though only its triangle was read."""
    right = cholesky_solve_row(g, factor, upper)
    left = None
    if needs[1]:
        common = -matmul(right, adjoint(y))
        common = common + adjoint(common)
        left = matmul(factor, common) if upper else matmul(common, factor)
    return right if needs[0] else None, left


def _cholesky_solve_samples():
    for upper, shape in ((False, (3, 3)), (True, (2, 3, 3))):
        yield Sample(random_matrices((3, 2), 1), np.tril(random_matrices(shape, shift=2.0)), params=(upper,), order=0)
    yield Sample(complex_matrices((3, 2)), np.tril(complex_matrices((3, 3), 2.0)), params=(False,), order=0, note="complex")


def _cholesky_solve_reference(b, factor, upper):
    lower = np.tril(np.swapaxes(factor, -1, -2).conj() if upper else factor)
    return np.linalg.solve(lower @ np.swapaxes(lower, -1, -2).conj(), b)


cholesky_solve_row = op(
    "cholesky_solve", _cholesky_solve, joint=_cholesky_solve_rule, saves="y factor", kind="opaque", arity=2, dtypes="match",
    holomorphic=False, samples=_cholesky_solve_samples, ref=_cholesky_solve_reference,
    formula={"forward": "x with L Lᴴ x = b", "rules": ["(L Lᴴ)⁻¹ ḡ", "−(ḡb xᴴ + x ḡbᴴ) L"]},
)  # fmt: skip


@public("cholesky_solve")
def cholesky_solve(B, L, upper=False, *, out=None):
    """X with A X = B, where L is the Cholesky factor of A."""
    need_square(L, "cholesky_solve", "L")
    need_matrix(B, "cholesky_solve", argument="B")
    return given(cholesky_solve_row(B, L, bool(upper)), out)


@public("cholesky_inverse")
def cholesky_inverse(L, upper=False, *, out=None):
    """The inverse of the matrix whose Cholesky factor is L."""
    need_square(L, "cholesky_inverse", "L")
    eye = expand_copy(like(np.eye(L._d.shape[-1], dtype=dtype_of(L)), L), L._d.shape)
    return given(cholesky_solve_row(eye, L, bool(upper)), out)
