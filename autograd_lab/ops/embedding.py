"""Rows of a table by number (embedding), and padding with a constant."""

import numpy as np

from ..core.op import op
from .index import slice_view
from .samples import ErrorSample, Sample, spread, transposed


def _embedding(xp, weight, index, padding):
    flat = index.reshape(-1)
    if flat.dtype != np.int64:
        flat = flat.astype(np.int64)
    if flat.size and flat.view(np.uint64).max() >= weight.shape[0]:
        bad = int(flat[(flat < 0) | (flat >= weight.shape[0])][0])
        raise IndexError(f"index out of range in self: {bad}, but the table has rows 0 to {weight.shape[0] - 1}")
    return xp.take(weight, index, axis=0)


def _spread_rows(xp, g, index, rows, padding):
    """Add each row of ``g`` to the row of a zero table that its number names."""
    width = g.shape[index.ndim :]
    flat, g = index.reshape(-1), g.reshape(-1, *width)
    if padding is not None:
        kept = flat != padding
        flat, g = flat[kept], g[kept]
    out = xp.zeros((rows, *width), g.dtype)
    if not flat.size:
        return out
    order = flat.argsort(kind="stable")
    ordered = flat[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    out[ordered[starts]] = xp.add.reduceat(g[order], starts, axis=0)
    return out


def _samples(order=2):
    """``order`` counts where there is a padding row: ``embedding`` gives it no gradient on purpose."""
    for padding, checked in ((None, 2), (1, order)):
        index = np.array([[0, 1, 1], [4, 2, 0]])
        yield Sample(spread((5, 3)), index, params=(padding,), wrt=(0,), order=checked, note=f"padding {padding}")


def _masked_reference(w, i, p):
    return w[i] if p is None else np.where((i == p)[..., None], 0, w[i])


def _errors():
    yield ErrorSample(np.ones((2, 3)), np.array([2]), params=(None,), error=IndexError, match="out of range")


embedding = op(
    "embedding", _embedding, lambda g, y, weight, index, padding: embedding_spread(g, index, weight.shape[0], padding), None,
    saves="weight.shape index", kind="structure", dtypes="free", samples=lambda: _samples(0), errors=_errors, ref=lambda w, i,
    p: w[i],
    formula={"forward": "W[i]", "rules": ["ḡ added to row i", ""]},
)  # fmt: skip


def _masked_embedding(xp, weight, index, padding):
    out = xp.take(weight, index, axis=0)
    if padding is not None:
        out[index == padding] = 0
    return out


embedding_masked = op(
    "embedding_masked", _masked_embedding, lambda g, y, weight, index, padding: embedding_spread(g, index, weight.shape[0],
                                                                                                 padding), None,
    saves="weight.shape index", kind="structure", dtypes="free", grad_name="Embedding", samples=_samples,
    ref=_masked_reference,
    formula={"forward": "W[i], 0 for the padding row", "rules": ["ḡ added to row i", ""]},
)  # fmt: skip
embedding_spread = op(
    "embedding_spread", _spread_rows, lambda c, y, g, index, rows, padding: embedding_masked(c, index, padding), None,
    saves="index", kind="structure", dtypes="free", grad_name="EmbeddingDenseBackward",
    ref=lambda g, i, rows, p: transposed(lambda w: _masked_reference(w, i, p), (rows, *g.shape[i.ndim :]), g),
    samples=lambda: (Sample(spread((2, 3, 2)), np.array([[0, 1, 1], [4, 2, 0]]), params=(5, p), wrt=(0,)) for p in (None, 1)),
    formula={"forward": "g added to row i of a zero table", "rules": ["c[i]", ""]},
)  # fmt: skip


def _pad(xp, x, borders, value):
    shape = tuple(s + a + b for s, (a, b) in zip(x.shape, borders, strict=True))
    out = xp.empty(shape, x.dtype)
    out[...] = value
    out[_inside(x.shape, borders)] = x
    return out


def _inside(shape, borders):
    return tuple(slice(a, a + s) for s, (a, _) in zip(shape, borders, strict=True))


pad_row = op(
    "constant_pad_nd", _pad, lambda g, y, x, borders, value: slice_view(g, _inside(x.shape, borders)), saves="x.shape",
    kind="structure",
    grad_name="ConstantPadNd", symbol="pad", ref=lambda x, b, v: np.pad(x, b, constant_values=v),
    samples=lambda: iter((Sample(spread((2, 3)), params=(((0, 1), (2, 0)), 1.5)),)),
    formula={"forward": "x with a border of value", "rules": ["ḡ inside the border"]},
)  # fmt: skip
