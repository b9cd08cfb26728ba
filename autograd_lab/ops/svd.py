"""The singular value decomposition x = U diag(s) Vᴴ, and singular values alone."""

import numpy as np

from ..core.op import op
from ..core.tensor import Tensor
from .compare import where
from .complex import conj
from .index import slice_view
from .linalg_checks import converged
from .matmul import matmul
from .samples import Sample, spread
from .shape import reshape, transpose_view


def _adjoint(x):
    return conj(transpose_view(x, x.ndim - 2, x.ndim - 1))


def _as_row(s):
    return reshape(s, (*s.shape[:-1], 1, s.shape[-1]))


def _as_column(s):
    return reshape(s, (*s.shape, 1))


def _eye(n, like):
    dtype = like._d.dtype if isinstance(like, Tensor) else like.dtype
    from ..core.tensor import wrap

    eye = np.eye(n, dtype=dtype)
    return wrap(eye) if isinstance(like, Tensor) else eye


def _svd_rule(needs, g, y, x, full):
    """The real case is exact in every gauge; see Townsend, Differentiating the Singular Value Decomposition (2016).

    A complex one is exact for losses that do not depend on the phases of u and v.
    """
    (gu, gs, gvh), (u, s, vh) = g, y
    k = s.shape[-1]
    if full:
        u, gu = (slice_view(a, (Ellipsis, slice(0, k))) for a in (u, gu))
        vh, gvh = (slice_view(a, (Ellipsis, slice(0, k), slice(None))) for a in (vh, gvh))
    uh = _adjoint(u)
    squares = s * s
    gap = _as_row(squares) - _as_column(squares)
    same = gap == 0
    f = where(same, 0.0, 1.0 / where(same, 1.0, gap))
    inverse = where(s == 0, 0.0, 1.0 / where(s == 0, 1.0, s))
    left = matmul(uh, gu)
    right = matmul(vh, _adjoint(gvh))
    middle = (f * (left - _adjoint(left))) * _as_row(s) + _as_column(s) * (f * (right - _adjoint(right)))
    if (u._d if isinstance(u, Tensor) else u).dtype.kind == "c":
        middle = middle + (left - _adjoint(left)) * (_eye(k, s) * _as_row(inverse * 0.5))
    middle = middle + _eye(k, s) * _as_row(gs)
    out = matmul(matmul(u, middle), vh)
    if u.shape[-2] > k:
        out = out + matmul((gu - matmul(u, left)) * _as_row(inverse), vh)
    if vh.shape[-1] > k:
        out = out + matmul(u * _as_row(inverse), gvh - matmul(_adjoint(right), vh))
    return (out,)


def _svd_samples():
    for shape in ((3, 3), (4, 3), (3, 4)):
        yield Sample(spread(shape), params=(False,))
    yield Sample(spread((4, 3)), params=(True,), order=0, note="full")
    yield Sample(spread((3, 2)) + 1j * spread((3, 2), seed=1), params=(False,), order=0, note="complex")


svd_row = op(
    "svd", lambda xp, x, full: tuple(converged(xp.linalg.svd, x, full)), joint=_svd_rule, saves="y", kind="opaque",
    arity=1, outputs=3, grad_name="LinalgSvd", holomorphic=False,
    samples=_svd_samples, ref=lambda x, full: np.linalg.svd(x, full_matrices=full),
    formula={"forward": "U, s, Vᴴ of x", "rules": ["from ḡ of U, s, Vᴴ"]},
)  # fmt: skip


def _values_rule(g, y, x):
    u, _, vh = svd_row(x, False)
    return matmul(u * _as_row(g), vh)


singular_values = op(
    "svdvals", lambda xp, x: converged(xp.linalg.svd, x, False, False), _values_rule, saves="x", kind="opaque",
    grad_name="LinalgSvd", holomorphic=False, samples=lambda: (Sample(spread(s)) for s in ((3, 4), (4, 3), (2, 3, 3))),
    ref=lambda x: np.linalg.svd(x, compute_uv=False), formula={"forward": "singular values of x", "rules": ["U diag(ḡ) Vᴴ"]},
)  # fmt: skip
