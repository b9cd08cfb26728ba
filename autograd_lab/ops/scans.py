"""Along one dimension: running products and extrema, differences, sliding windows."""

import numpy as np

from ..core.bind import write_out
from ..core.op import op
from ..core.public import public
from . import return_types
from .dims import need_tensor, one_dim
from .index import slice_view
from .join import cat_row, stack_row
from .reductions import _integers_as_long
from .samples import Sample, spread
from .sorting import _pick_rule


def _at(x, dim, i):
    return slice_view(x, (slice(None),) * dim + (i, ...))


def _cumprod_rule(g, y, x, dim):
    """Without dividing (a factor may be 0): r_i = g_i + x_{i+1} · r_{i+1}, times the product of what stands before i."""
    if not x.ndim or not x.shape[dim]:
        return g
    n = x.shape[dim]
    parts = [None] * n
    rest = None
    for i in range(n - 1, -1, -1):
        rest = _at(g, dim, i) if rest is None else _at(g, dim, i) + _at(x, dim, i + 1) * rest
        parts[i] = rest if i == 0 else _at(y, dim, i - 1) * rest
    return stack_row(parts, dim)


cumprod_row = op(
    "cumprod", lambda xp, x, dim: xp.cumprod(x, axis=dim) if x.ndim else x.copy(), _cumprod_rule, saves="y x", kind="structure",
    samples=lambda: (Sample(spread((3, 4)), params=(d,)) for d in (0, 1)), ref=lambda x, d: np.cumprod(x, axis=d),
    formula={"forward": "running product", "rules": ["Σ over the products that x is part of"]},
)  # fmt: skip


def _running(name, ufunc):
    def forward(xp, x, dim):
        if not x.ndim:
            return x.copy(), xp.zeros((), np.int64)
        values = getattr(xp, ufunc).accumulate(x, axis=dim)
        places = np.arange(x.shape[dim]).reshape((-1,) + (1,) * (x.ndim - dim - 1))
        hit = (x == values) | ((x != x) & (values != values))
        return values, np.maximum.accumulate(np.where(hit, places, 0), axis=dim)

    row = op(
        name, forward, joint=_pick_rule, saves="y x.shape", kind="structure", arity=1, outputs=2, nondiff=(1,),
        samples=lambda: (Sample(spread((3, 4)), params=(d,)) for d in (0, 1)), ref=lambda x, d: forward(np, x, d),
        formula={"forward": f"running {ufunc} and its index", "rules": ["ḡ added at the index"]},
    )  # fmt: skip

    def running(input, dim, *, out=None):
        need_tensor(input, name)
        pair = getattr(return_types, name)(row(input, one_dim(dim, input._d.ndim)))
        return pair if out is None else type(pair)((write_out(out[0], pair[0]), write_out(out[1], pair[1])))

    running.__name__ = running.__qualname__ = name
    running.__doc__ = f"The {ufunc} of what came so far along ``dim``, and its index (the last at a tie)."
    return public(name)(running)


cummax, cummin = _running("cummax", "maximum"), _running("cummin", "minimum")


@public("cumprod", inplace=True)
def cumprod(input, dim, *, dtype=None, out=None):
    """Running product along ``dim``. Whole numbers are multiplied in int64."""
    need_tensor(input, "cumprod")
    value = cumprod_row(_integers_as_long(input, dtype), one_dim(dim, input._d.ndim))
    return value if out is None else write_out(out, value)


@public("diff")
def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None):
    """Differences of neighbours along ``dim``, ``n`` times; ``prepend`` and ``append`` are joined on first."""
    if not input._d.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = one_dim(dim, input._d.ndim)
    parts = [p for p in (prepend, input, append) if p is not None]
    x = cat_row(parts, dim) if len(parts) > 1 else input
    lead = (slice(None),) * dim
    for _ in range(min(n, x._d.shape[dim])):
        after, before = slice_view(x, (*lead, slice(1, None), ...)), slice_view(x, (*lead, slice(0, -1), ...))
        x = after ^ before if x._d.dtype.kind == "b" else after - before
    return x if out is None else write_out(out, x)


# ----- sliding windows -----


def _windows(xp, x, dim, size, step):
    if not x.ndim:
        return x.reshape(1)[:size]
    seen = xp.lib.stride_tricks.sliding_window_view(x, size, axis=dim, writeable=True)
    return seen[(slice(None),) * dim + (slice(None, None, step),)]


unfold_view = op(
    "unfold", _windows, lambda g, y, x, dim, size, step: fold_back(g, x.shape, dim, size, step), saves="x.shape", kind="view",
    samples=lambda: (Sample(spread((2, 7)), params=p) for p in ((1, 3, 2), (1, 2, 1))),
    ref=lambda x, d, s, t: _windows(np, x, d, s, t),
    formula={"forward": "windows of x", "rules": ["ḡ added up where windows overlap"]},
)  # fmt: skip


def _fold_back(xp, g, shape, dim, size, step):
    out = xp.zeros(shape, g.dtype)
    if not shape:
        return out + g.sum()
    lead, n = (slice(None),) * dim, g.shape[dim]
    for k in range(size):
        out[(*lead, slice(k, k + (n - 1) * step + 1, step))] += g[..., k]
    return out


fold_back = op(
    "fold_back", _fold_back, lambda g, y, x, shape, dim, size, step: unfold_view(g, dim, size, step), kind="structure",
    grad_name="UnfoldBackward", samples=lambda: iter((Sample(spread((2, 3, 3)), params=((2, 7), 1, 3, 2)),)),
    ref=lambda x, s, d, n, t: _fold_back(np, x, s, d, n, t),
    formula={"forward": "x added up where windows overlap", "rules": ["windows of ḡ"]},
)  # fmt: skip


@public("unfold", namespace=None)
def unfold(input, dimension, size, step):
    """A view of all windows of ``size`` along a dimension, ``step`` apart; the window becomes the last dimension."""
    dim = one_dim(dimension, input._d.ndim)
    length = input._d.shape[dim] if input._d.ndim else 1
    if size < 0 or size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {dim} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return unfold_view(input, dim, size, step)
