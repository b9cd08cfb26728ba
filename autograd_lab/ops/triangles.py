"""Rows for triangles, diagonals, and elements in another order."""

import numpy as np

from ..core.op import op
from .samples import Sample, spread


def _masked_triangle(name, function):
    def forward(xp, x, diagonal):
        return getattr(xp, function)(x, diagonal)

    def rule(g, y, x, diagonal):
        return TRIANGLES[name](g, diagonal)

    return op(
        name, forward, rule, kind="structure", ref=lambda x, k: getattr(np, function)(x, k),
        samples=lambda: (Sample(spread((2, 4, 3)), params=(k,)) for k in (0, 1, -1)),
        formula={"forward": f"{name} x", "rules": [f"{name} ḡ"]},
    )  # fmt: skip


TRIANGLES = {}
tril_row = TRIANGLES["tril"] = _masked_triangle("tril", "tril")
triu_row = TRIANGLES["triu"] = _masked_triangle("triu", "triu")


def _diagonal(xp, x, offset, dim1, dim2):
    out = x.diagonal(offset, dim1, dim2)
    if not out.flags.writeable and x.flags.writeable:
        out.flags.writeable = True
    return out


diagonal_view = op(
    "diagonal", _diagonal, lambda g, y, x, offset, dim1, dim2: embed_diagonal(g, x.shape, offset, dim1, dim2),
    saves="x.shape", kind="view", ref=lambda x, o, a, b: x.diagonal(o, a, b),
    samples=lambda: (Sample(spread((3, 4, 2)), params=p) for p in ((0, 0, 1), (1, 0, 1), (-1, 2, 1))),
    formula={"forward": "diagonal of x", "rules": ["ḡ on the diagonal, else 0"]},
)  # fmt: skip


def _embed_diagonal(xp, g, shape, offset, dim1, dim2):
    out = xp.zeros(shape, g.dtype)
    _diagonal(xp, out, offset, dim1, dim2)[...] = g
    return out


embed_diagonal = op(
    "embed_diagonal", _embed_diagonal, lambda g, y, x, shape, offset, dim1, dim2: diagonal_view(g, offset, dim1, dim2),
    kind="structure", grad_name="DiagonalBackward", ref=lambda x, s, o, a, b: _embed_diagonal(np, x, s, o, a, b),
    samples=lambda: iter((Sample(spread((3,)), params=((3, 4), 0, 0, 1)),)),
    formula={"forward": "x on the diagonal, else 0", "rules": ["diagonal of ḡ"]},
)  # fmt: skip


def _diag_matrix(xp, x, offset):
    n = x.shape[-1] + abs(offset)
    return _embed_diagonal(xp, x, (*x.shape[:-1], n, n), offset, x.ndim - 1, x.ndim)


diag_matrix_row = op(
    "diag_embed", _diag_matrix, lambda g, y, x, offset: diagonal_view(g, offset, g.ndim - 2, g.ndim - 1),
    kind="structure", ref=lambda x, o: _diag_matrix(np, x, o),
    samples=lambda: (Sample(spread((2, 3)), params=(k,)) for k in (0, 1, -2)),
    formula={"forward": "x on the diagonals of matrices", "rules": ["diagonals of ḡ"]},
)  # fmt: skip
flip_row = op(
    "flip", lambda xp, x, dims: xp.flip(x, dims).copy() if dims else x.copy(), lambda g, y, x, dims: flip_row(g, dims),
    kind="structure", ref=lambda x, d: np.flip(x, d), samples=lambda: (Sample(spread((3, 4)), params=(d,)) for d in ((0,), (0, 1))),
    formula={"forward": "x reversed", "rules": ["ḡ reversed"]},
)  # fmt: skip
roll_row = op(
    "roll", lambda xp, x, shifts, dims: xp.roll(x, shifts, dims),
    lambda g, y, x, shifts, dims: roll_row(g, tuple(-s for s in shifts), dims),
    kind="structure", ref=lambda x, s, d: np.roll(x, s, d),
    samples=lambda: (Sample(spread((3, 4)), params=p) for p in (((1,), (0,)), ((-2, 1), (1, 0)))),
    formula={"forward": "x rolled", "rules": ["ḡ rolled back"]},
)  # fmt: skip
