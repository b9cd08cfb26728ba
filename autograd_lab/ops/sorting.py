"""Order: sort, argsort, topk, kthvalue, median, unique, searchsorted, bincount."""

import numpy as np

from ..core.bind import write_out
from ..core.op import op
from ..core.public import public
from ..core.tensor import Tensor, wrap
from . import return_types
from .dims import need_tensor, one_dim, scalar_name
from .index import _grid, index_row, put_along, slice_view
from .layout import _reshaped
from .reduce import unsqueezed
from .samples import Sample, spread

# ----- rows -----


def _pick_rule(needs, g, y, x, dim, *rest):
    g, indices = g[0], y[1]
    if not x.ndim:
        return (g,)
    if g.ndim < x.ndim:
        g, indices = unsqueezed(g, dim), unsqueezed(indices, dim)
    return (put_along(g, indices, x.shape, dim),)


def order(x, dim, descending):
    """Indices that sort ``x`` along ``dim``, keeping the order of equal elements; NaN counts as the largest."""
    if not descending:
        return x.argsort(axis=dim, kind="stable")
    back = (slice(None),) * dim + (slice(None, None, -1),)
    return (x.shape[dim] - 1 - x[back].argsort(axis=dim, kind="stable"))[back]


def _sort(xp, x, dim, descending):
    if not x.ndim:
        return x.copy(), xp.zeros((), np.int64)
    indices = order(x, dim, descending)
    return x[_grid(indices, dim)], indices


sort_row = op(
    "sort", _sort, joint=_pick_rule, saves="y x.shape", kind="structure", arity=1, outputs=2, nondiff=(1,),
    samples=lambda: (Sample(spread((2, 3, 4)), params=p) for p in ((0, False), (2, True), (1, False))),
    ref=lambda x, d, down: (np.flip(np.sort(x, d), d) if down else np.sort(x, d), order(x, d, down)),
    formula={"forward": "x in order along a dimension", "rules": ["ḡ put back to the old places"]},
)  # fmt: skip


def _topk(xp, x, dim, k, largest, ordered):
    if not x.ndim:
        return x.copy(), xp.zeros((), np.int64)
    n = x.shape[dim]
    if n > 256 and 0 < k < n // 8:
        part = x.argpartition(n - k if largest else k - 1, axis=dim)
        part = part[(slice(None),) * dim + (slice(n - k, None) if largest else slice(0, k),)]
        within = order(x[_grid(part, dim)], dim, largest)
        indices = part[_grid(within, dim)]
    else:
        indices = order(x, dim, largest)[(slice(None),) * dim + (slice(0, k),)]
    return x[_grid(indices, dim)], np.ascontiguousarray(indices)


topk_row = op(
    "topk", _topk, joint=_pick_rule, saves="y x.shape", kind="structure", arity=1, outputs=2, nondiff=(1,),
    samples=lambda: (Sample(spread((2, 3, 4)), params=p) for p in ((0, 1, True, True), (2, 3, False, True))),
    ref=lambda x, d, k, largest, s: _topk(np, x, d, k, largest, s),
    formula={"forward": "the k largest along a dimension", "rules": ["ḡ put back to the old places, else 0"]},
)  # fmt: skip


def _kth(xp, x, dim, k, keepdim):
    if not x.ndim:
        return x.copy(), xp.zeros((), np.int64)
    indices = order(x, dim, False)[(slice(None),) * dim + (slice(k, k + 1),)]
    values = x[_grid(indices, dim)]
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


kth_row = op(
    "kthvalue", _kth, joint=_pick_rule, saves="y x.shape", kind="structure", arity=1, outputs=2, nondiff=(1,),
    samples=lambda: (Sample(spread((2, 3, 4)), params=p) for p in ((0, 1, False), (2, 3, True))),
    ref=lambda x, d, k, keep: _kth(np, x, d, k, keep),
    formula={"forward": "the k-th smallest along a dimension", "rules": ["ḡ at its place, else 0"]},
)  # fmt: skip

# ----- public -----


def _no_complex(input, name):
    if input._d.dtype.kind == "c":
        raise RuntimeError(f"\"{name}\" not implemented for '{scalar_name(input.dtype)}'")


@public("sort")
def sort(input, dim=-1, descending=False, stable=None, *, out=None):
    """Values in order along ``dim`` and the indices they came from, as a result with ``values`` and ``indices``."""
    need_tensor(input, "sort")
    _no_complex(input, "sort")
    pair = return_types.sort(sort_row(input, one_dim(dim, input._d.ndim), bool(descending)))
    return pair if out is None else return_types.sort((write_out(out[0], pair[0]), write_out(out[1], pair[1])))


@public("argsort")
def argsort(input, dim=-1, descending=False, stable=False):
    """The indices that sort ``input`` along ``dim``."""
    need_tensor(input, "argsort")
    _no_complex(input, "argsort")
    d = input._d
    dim = one_dim(dim, d.ndim)
    return wrap(order(d, dim, descending) if d.ndim else np.int64(0))


@public("msort")
def msort(input, *, out=None):
    """Values in order along dimension 0."""
    value = sort(input, 0).values
    return value if out is None else write_out(out, value)


@public("topk")
def topk(input, k, dim=-1, largest=True, sorted=True, *, out=None):
    """The ``k`` largest (or smallest) values along ``dim`` and their indices. Raises: RuntimeError if ``k`` is out of range."""
    need_tensor(input, "topk")
    _no_complex(input, "topk")
    shape = input._d.shape
    dim = one_dim(dim, len(shape))
    k = int(k)
    if not 0 <= k <= (shape[dim] if shape else 1):
        raise RuntimeError(f"selected index k out of range: k={k} for size {shape[dim] if shape else 1} of dimension {dim}")
    pair = return_types.topk(topk_row(input, dim, k, bool(largest), bool(sorted)))
    return pair if out is None else return_types.topk((write_out(out[0], pair[0]), write_out(out[1], pair[1])))


@public("kthvalue")
def kthvalue(input, k, dim=-1, keepdim=False, *, out=None):
    """The ``k``-th smallest value along ``dim`` (counted from 1) and its index."""
    shape = input._d.shape
    dim = one_dim(dim, len(shape))
    size = shape[dim] if shape else 1
    if not 1 <= k <= size:
        raise (IndexError if not size else RuntimeError)(
            f"kthvalue(): selected number k out of range for dimension {dim}: k={k}, size {size}"
        )
    pair = return_types.kthvalue(kth_row(input, dim, k - 1, keepdim))
    if out is None:
        return pair
    return return_types.kthvalue((write_out(out[0], pair[0], (input,)), write_out(out[1], pair[1], (input,))))


@public("median")
def median(input, dim=None, keepdim=False, *, out=None):
    """The middle value, the lower of two: of all elements, or along ``dim`` with its index. NaN wins."""
    _no_complex(input, "median")
    if dim is None:
        if not input._d.size:
            return wrap(np.asarray(np.nan, input._d.dtype))
        flat = _reshaped(input, (input._d.size,))
        d = flat._d
        k = (d.size - 1) // 2 if d.dtype.kind != "f" or not np.isnan(d).any() else d.size - 1
        return kth_row(flat, 0, k, False)[0]
    dim = one_dim(dim, input._d.ndim)
    n = input._d.shape[dim] if input._d.ndim else 1
    if not n:
        raise IndexError(f"median(): Expected reduction dim {dim} to have non-zero size.")
    d = input._d
    if d.dtype.kind == "f" and np.isnan(d).any():
        from .reductions import max_

        middle, top = kth_row(input, dim, (n - 1) // 2, keepdim), max_(input, dim, keepdim)
        gone = np.isnan(top[0]._d)
        values = wrap(gone).where(wrap(gone), top[0]) if gone.all() else top[0].where(wrap(gone), middle[0])
        return return_types.median((values, wrap(np.where(gone, top[1]._d, middle[1]._d))))
    return return_types.median(kth_row(input, dim, (n - 1) // 2, keepdim))


@public("unique")
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements in order (or distinct slices along ``dim``), with their inverse and counts if asked for."""
    need_tensor(input, "unique")
    d = input._array()
    if dim is not None:
        dim = one_dim(dim, d.ndim)
        if d.shape[dim] and 0 in d.shape:
            raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
    found = np.unique(d, return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    values, inverse, counts = found
    inverse = inverse.reshape(d.shape if dim is None else -1)
    out = [wrap(values)]
    if return_inverse:
        out.append(wrap(inverse.astype(np.int64)))
    if return_counts:
        out.append(wrap(counts.astype(np.int64)))
    return out[0] if len(out) == 1 else tuple(out)


@public("unique_consecutive")
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """Without repeats of the element (or slice along ``dim``) just before."""
    d = input._array() if dim is not None else input._array().reshape(-1)
    axis = 0 if dim is None else one_dim(dim, d.ndim)
    moved = np.moveaxis(d, axis, 0).reshape(d.shape[axis], -1)
    new = np.ones(len(moved), bool)
    if len(moved) > 1:
        new[1:] = (moved[1:] != moved[:-1]).any(1)
    starts = np.flatnonzero(new)
    out = [wrap(np.compress(new, d, axis))]
    if return_inverse:
        inverse = np.cumsum(new) - 1
        out.append(wrap(inverse.reshape(input._d.shape) if dim is None else inverse))
    if return_counts:
        out.append(wrap(np.diff(np.append(starts, len(moved)))))
    return out[0] if len(out) == 1 else tuple(out)


@public("searchsorted", method=False)
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, out=None, sorter=None):
    """Where ``input`` would have to be put into the sorted last dimension to keep it in order."""
    side = side or ("right" if right else "left")
    edges = sorted_sequence._array()
    if sorter is not None:
        edges = np.take_along_axis(edges, sorter._array(), -1)
    values = input._array() if isinstance(input, Tensor) else np.asarray(input)
    if edges.ndim == 1:
        places = np.searchsorted(edges, values, side)
    else:
        rows = zip(edges.reshape(-1, edges.shape[-1]), values.reshape(-1, values.shape[-1]), strict=True)
        places = np.stack([np.searchsorted(e, v, side) for e, v in rows]).reshape(values.shape)
    return wrap(np.asarray(places).astype(np.int32 if out_int32 else np.int64))


@public("bucketize", method=False)
def bucketize(input, boundaries, *, out_int32=False, right=False, out=None):
    """The number of the bucket between ``boundaries`` that each element falls into."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@public("bincount")
def bincount(input, weights=None, minlength=0):
    """How often each of 0, 1, 2, … occurs (or the sum of its weights)."""
    d = input._d
    if d.ndim != 1 or d.dtype.kind not in "iub" or (d.size and d.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    counts = np.bincount(d, None if weights is None else weights._d, minlength)
    if weights is not None and weights._d.dtype == np.float32:
        counts = counts.astype(np.float32)
    return wrap(counts)


__all__ = ["argsort", "index_row", "slice_view", "sort", "topk", "unique"]
