"""Indexing rows: basic indices make views, advanced ones copies; gather and scatter."""

import functools

import numpy as np

from ..core.op import op
from .samples import Sample, spread

# ----- basic indices: views -----


def _slice(xp, x, index):
    return x[index]


slice_view = op(
    "slice", _slice, lambda g, y, x, index: embed_slice(g, x.shape, index), saves="x.shape", kind="view", symbol="x[…]",
    samples=lambda: (Sample(spread((4, 5)), params=(i,)) for i in ((slice(1, 3),), (2,), (Ellipsis, slice(None, None, 2)))),
    ref=lambda x, i: x[i], formula={"forward": "x[index]", "rules": ["ḡ at the index, else 0"]},
)  # fmt: skip


def _embed_slice(xp, g, shape, index):
    out = xp.zeros(shape, g.dtype)
    out[index] = g
    return out


embed_slice = op(
    "embed_slice", _embed_slice, lambda g, y, x, shape, index: slice_view(g, index), kind="structure", grad_name="SliceBackward",
    samples=lambda: iter((Sample(spread((2, 5)), params=((4, 5), (slice(1, 3),))),)),
    ref=lambda x, s, i: _embed_slice(np, x, s, i), formula={"forward": "x at the index, else 0", "rules": ["ḡ[index]"]},
)  # fmt: skip

# ----- advanced indices: copies -----


def _take(xp, x, index):
    if len(index) == 1 and index[0].dtype.kind != "b":
        return x.take(index[0], axis=0)
    return x[index]


index_row = op(
    "index", _take, lambda g, y, x, index: scatter_index(g, x.shape, index), saves="x.shape", kind="structure", symbol="x[i]",
    samples=lambda: iter((
        Sample(spread((4, 5)), params=((np.array([0, 2, 2]),),)),
        Sample(spread((4, 5)), params=((slice(None), np.array([[0, 1], [4, 4]])),)),
        Sample(spread((4, 5)), params=((np.arange(20).reshape(4, 5) % 3 == 0,),)),
    )),
    ref=lambda x, i: x[i], formula={"forward": "x[index]", "rules": ["ḡ added at the index"]},
)  # fmt: skip


def _scatter_index(xp, g, shape, index):
    out = xp.zeros(shape, g.dtype)
    if all(not hasattr(i, "dtype") or i.dtype == bool for i in index):
        out[index] = g  # a mask names each element at most once
    elif len(index) == 1 and len(shape) >= 2 and index[0].ndim and index[0].size >= 64:
        _add_rows(xp, out, index[0], g)
    else:
        xp.add.at(out, index, g)
    return out


def _add_rows(xp, out, rows, g):
    """``add.at`` for whole rows by sorting: several times faster from some tens of rows on."""
    rows = rows.reshape(-1) % out.shape[0]
    order = rows.argsort(kind="stable")
    ordered = rows[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    flat = g.reshape(rows.size, -1)[order]
    out.reshape(out.shape[0], -1)[ordered[starts]] = xp.add.reduceat(flat, starts, axis=0)


scatter_index = op(
    "scatter_index", _scatter_index, lambda g, y, x, shape, index: index_row(g, index), kind="structure", grad_name="IndexBackward",
    samples=lambda: iter((Sample(spread((3, 5)), params=((4, 5), (np.array([0, 2, 2]),))),)),
    ref=lambda x, s, i: _scatter_index(np, x, s, i), formula={"forward": "x added at the index", "rules": ["ḡ[index]"]},
)  # fmt: skip


def _index_put(xp, x, value, index, accumulate):
    out = x.copy()
    if accumulate:
        xp.add.at(out, index, value)
    else:
        out[index] = value
    return out


def _index_put_base(g, y, x, value, index, accumulate):
    return g if accumulate else index_put_row(g, 0.0, index, False)


index_put_row = op(
    "index_put", _index_put, _index_put_base, lambda g, y, x, value, index, accumulate: index_row(g, index),
    kind="structure", symbol="x[i]=", ref=lambda x, v, i, a: _index_put(np, x, v, i, a),
    samples=lambda: iter((
        Sample(spread((4, 5)), spread((2, 5), seed=1), params=((np.array([0, 2]),), False)),
        Sample(spread((4, 5)), spread((5,), seed=1), params=((np.array([1, 1]),), True)),
    )),
    formula={"forward": "x with value at the index", "rules": ["ḡ with the index 0", "ḡ[index]"]},
)  # fmt: skip

# ----- along a dimension -----


@functools.lru_cache(128)
def _counters(shape):
    """One arange per dimension, shaped so that together they span the grid."""
    n = len(shape)
    return tuple(np.arange(s).reshape((1,) * i + (s,) + (1,) * (n - 1 - i)) for i, s in enumerate(shape))


def _grid(index, dim):
    """Full index tuple that reads ``x[..., index along dim, ...]`` elementwise."""
    counters = _counters(index.shape)
    return (*counters[:dim], index, *counters[dim + 1 :])


def _gather(xp, x, index, dim):
    return x[_grid(index, dim)] if x.ndim else xp.full(index.shape, x, x.dtype)


def _gather_samples():
    yield Sample(spread((3, 4)), np.array([[0, 2, 1, 0], [1, 1, 0, 2]]), params=(0,), wrt=(0,))
    yield Sample(spread((3, 4)), np.array([[0], [3], [3]]), params=(1,), wrt=(0,))


gather_row = op(
    "gather", _gather, lambda g, y, x, index, dim: put_along(g, index, x.shape, dim), None,
    saves="x.shape index", kind="structure", dtypes="free", samples=_gather_samples, ref=lambda x, i, d: _gather(np, x, i, d),
    formula={"forward": "x[index] along a dimension", "rules": ["ḡ added at the index", ""]},
)  # fmt: skip


def _put_along(xp, g, index, shape, dim):
    out = xp.zeros(shape, g.dtype)
    if not out.ndim:
        out[...] = g.sum()
    elif index.shape[dim] == 1:
        out[_grid(index, dim)] = g  # one place per line: nothing to add up
    else:
        xp.add.at(out, _grid(index, dim), g)
    return out


put_along = op(
    "put_along", _put_along, lambda g, y, x, index, shape, dim: gather_row(g, index, dim), None,
    saves="index", kind="structure", dtypes="free", grad_name="Gather",
    samples=lambda: iter((Sample(spread((2, 4)), np.array([[0, 2, 1, 0], [1, 1, 0, 2]]), params=((3, 4), 0), wrt=(0,)),)),
    ref=lambda x, i, s, d: _put_along(np, x, i, s, d), formula={"forward": "x added at the index", "rules": ["ḡ[index]", ""]},
)  # fmt: skip
