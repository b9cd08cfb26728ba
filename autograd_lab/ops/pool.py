"""Pooling rows over the last one to three dimensions: the largest of each window, the average of each window.

``max_pool`` gives the values and which kernel position each came from; ``pool_put`` sends values back to those positions
and ``pool_pick`` reads them there: each is the other's rule. ``avg_pool`` and ``avg_spread`` are linear twins likewise.
"""

import itertools
import math

import numpy as np

from ..core.op import op
from .conv import empty, inner, padded, place
from .index import gather_row
from .samples import Sample, spread, transposed


def pool_sizes(sizes, kernel, stride, padding, dilation, ceil_mode):
    """How many windows there are along each dimension; with ``ceil_mode`` the last may hang over the end."""
    out = []
    for s, k, t, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        room = s + 2 * p - d * (k - 1) - 1
        n = (-(-room // t) if ceil_mode else room // t) + 1
        if ceil_mode and (n - 1) * t >= s + p:
            n -= 1
        out.append(n)
    return tuple(out)


def _reach(sizes, kernel, stride, padding, dilation, out):
    """The border below and above each dimension that the windows need."""
    return tuple(
        max(p, (n - 1) * t + d * (k - 1) + 1 - s - p)
        for s, k, t, p, d, n in zip(sizes, kernel, stride, padding, dilation, out, strict=True)
    )


def _bordered(xp, x, kernel, stride, padding, dilation, out, value):
    """``x`` as (N, 1, *sizes) with the border that the windows need; (array, lead) where lead is the border's width below."""
    n = len(kernel)
    sizes = x.shape[x.ndim - n :]
    x = x.reshape(-1, 1, *sizes)
    above = _reach(sizes, kernel, stride, padding, dilation, out)
    if above == padding:
        return padded(xp, x, padding, value)
    full = empty(xp, (x.shape[0], 1, *(s + p + a for s, p, a in zip(sizes, padding, above, strict=True))), x.dtype)
    full[...] = value
    full[inner(2, padding, sizes)] = x
    return full


def _offsets(kernel):
    return itertools.product(*(range(k) for k in kernel))


def _lowest(dtype):
    if dtype.kind == "f":
        return -np.inf
    return np.iinfo(dtype).min if dtype.kind in "iu" else float("-inf")


def _max_pool(xp, x, kernel, stride, padding, dilation, out):
    full = _bordered(xp, x, kernel, stride, padding, dilation, out, _lowest(x.dtype) if any(padding) else 0)
    if full.shape[2:] != x.shape[x.ndim - len(kernel) :] and not any(padding):
        full = _bordered(xp, x, kernel, stride, padding, dilation, out, _lowest(x.dtype))
    kind = np.dtype(np.uint8 if math.prod(kernel) <= 255 else np.int32)
    best = chosen = None
    for k, offset in enumerate(_offsets(kernel)):
        part = full[place(offset, stride, dilation, out)]
        if best is None:
            best = empty(xp, part.shape, x.dtype)
            best[...] = part
            chosen = xp.zeros(part.shape, kind)
            continue
        better = (part > best).view(np.uint8)
        xp.maximum(chosen, better * kind.type(k), out=chosen)  # k grows, so the larger of the two is the newer
        xp.maximum(best, part, out=best)
    shape = (*x.shape[: x.ndim - len(kernel)], *out)
    return best.reshape(shape), chosen.reshape(shape)


def _scatter(xp, g, chosen, sizes, kernel, stride, padding, dilation):
    n = len(kernel)
    out = g.shape[g.ndim - n :]
    lead = g.shape[: g.ndim - n]
    g, chosen = g.reshape(-1, 1, *out), chosen.reshape(-1, 1, *out)
    above = _reach(sizes, kernel, stride, padding, dilation, out)
    full = empty(xp, (g.shape[0], 1, *(s + p + a for s, p, a in zip(sizes, padding, above, strict=True))), g.dtype)
    apart = all(t >= d * (k - 1) + 1 for k, t, d in zip(kernel, stride, dilation, strict=True))
    exact = apart and full.shape[2:] == tuple(k * m for k, m in zip(kernel, out, strict=True)) and stride == kernel
    if not exact:
        full[...] = 0
    for k, offset in enumerate(_offsets(kernel)):
        where = place(offset, stride, dilation, out)
        if apart:
            xp.multiply(g, chosen == k, out=full[where])
        else:
            part = full[where]
            xp.add(part, g * (chosen == k), out=part)
    return full[inner(2, padding, sizes)].reshape(*lead, *sizes)


def _pick(xp, x, chosen, kernel, stride, padding, dilation):
    n = len(kernel)
    out = chosen.shape[chosen.ndim - n :]
    full = _bordered(xp, x, kernel, stride, padding, dilation, out, 0)
    flat = chosen.reshape(-1, 1, *out)
    y = xp.zeros(flat.shape, x.dtype)
    for k, offset in enumerate(_offsets(kernel)):
        y += full[place(offset, stride, dilation, out)] * (flat == k)
    return y.reshape(chosen.shape)


def _max_samples():
    yield Sample(spread((2, 3, 4, 6)), params=((2, 2), (2, 2), (0, 0), (1, 1), (2, 3)), note="2×2")
    yield Sample(spread((2, 5, 5)), params=((3, 3), (2, 1), (1, 1), (1, 1), (3, 5)), note="overlapping")
    yield Sample(spread((2, 7)), params=((3,), (2,), (0,), (1,), (3,)), note="1d")
    yield Sample(spread((2, 6)), params=((2,), (2,), (0,), (2,), (2,)), note="dilated")


def _max_reference(x, kernel, stride, padding, dilation, out):
    n = len(kernel)
    lead = x.shape[: x.ndim - n]
    x = np.pad(x, ((0, 0),) * len(lead) + tuple((p, p + 99) for p in padding), constant_values=-np.inf)
    values, chosen = np.empty((*lead, *out)), np.empty((*lead, *out), int)
    for at in np.ndindex(*out):
        index = tuple(slice(a * t, a * t + d * (k - 1) + 1, d) for a, t, d, k in zip(at, stride, dilation, kernel, strict=True))
        window = x[(..., *index)].reshape(*lead, -1)
        values[(..., *at)], chosen[(..., *at)] = window.max(-1), window.argmax(-1)
    return values, chosen


max_pool = op(
    "max_pool", _max_pool,
    joint=lambda needs, g, y, x, kernel, stride, padding, dilation, out: (
        pool_put(g[0], y[1], x.shape[len(x.shape) - len(kernel) :], kernel, stride, padding, dilation),
    ),
    saves="y x.shape", kind="reduction", arity=1, outputs=2, nondiff=(1,), symbol="max", grad_name="MaxPool", samples=_max_samples,
    ref=_max_reference, formula={"forward": "max of each window", "rules": ["ḡ at the chosen element, else 0"]},
)  # fmt: skip


def _chosen_samples(scatter):
    x = spread((2, 3, 4, 6))
    for kernel, stride, padding, out in (((2, 2), (2, 2), (0, 0), (2, 3)), ((3, 3), (1, 1), (1, 1), (4, 6))):
        chosen = _max_pool(np, x, kernel, stride, padding, (1, 1), out)[1]
        first = spread((2, 3, *out), seed=1) if scatter else spread((2, 3, 4, 6), seed=1)
        yield Sample(first, chosen, params=(((4, 6),) if scatter else ()) + (kernel, stride, padding, (1, 1)), wrt=(0,))


def _pick_reference(x, chosen, kernel, stride, padding, dilation):
    n, out = len(kernel), chosen.shape[chosen.ndim - len(kernel) :]
    x = np.pad(x, ((0, 0),) * (x.ndim - n) + tuple((p, p + 99) for p in padding))
    y = np.empty(chosen.shape)
    for at in np.ndindex(*out):
        index = tuple(slice(a * t, a * t + d * (k - 1) + 1, d) for a, t, d, k in zip(at, stride, dilation, kernel, strict=True))
        window = x[(..., *index)].reshape(*chosen.shape[:-n], -1)
        y[(..., *at)] = np.take_along_axis(window, chosen[(..., *at)][..., None].astype(int), -1)[..., 0]
    return y


pool_put = op(
    "max_pool_put", _scatter,
    lambda c, y, g, chosen, sizes, kernel, stride, padding, dilation: pool_pick(c, chosen, kernel, stride, padding, dilation), None,
    saves="chosen", kind="structure", dtypes="free", grad_name="MaxPoolBackward", samples=lambda: _chosen_samples(True),
    ref=lambda g, chosen, sizes, *geometry: transposed(
        lambda x: _pick_reference(x, chosen, *geometry), (*g.shape[: g.ndim - len(sizes)], *sizes), g
    ),
    formula={"forward": "g at the chosen elements, else 0", "rules": ["c at the chosen elements", ""]},
)  # fmt: skip
pool_pick = op(
    "max_pool_pick", _pick,
    lambda c, y, x, chosen, kernel, stride, padding, dilation: pool_put(
        c, chosen, x.shape[x.ndim - len(kernel) :], kernel, stride, padding, dilation
    ), None,
    saves="x.shape chosen", kind="structure", dtypes="free", grad_name="MaxPoolPick", samples=lambda: _chosen_samples(False),
    ref=_pick_reference,
    formula={"forward": "x at the chosen elements", "rules": ["c at the chosen elements, else 0", ""]},
)  # fmt: skip


def _unpool(xp, x, index, size):
    out = xp.zeros((*x.shape[:-1], size), x.dtype)
    xp.put_along_axis(out, index, x, -1)
    return out


def _unpool_samples():
    yield Sample(spread((2, 3)), np.array([[0, 4, 2], [5, 1, 3]]), params=(6,), wrt=(0,))


unpool = op(
    "max_unpool", _unpool, lambda g, y, x, index, size: gather_row(g, index, len(x.shape) - 1), None, saves="x.shape index",
    kind="structure", dtypes="free", grad_name="MaxUnpool", samples=_unpool_samples, ref=lambda x, i, n: _unpool(np, x, i, n),
    formula={"forward": "x at the indices, else 0", "rules": ["ḡ[index]", ""]},
)  # fmt: skip

# ----- averages -----


def divisors(sizes, kernel, stride, padding, out, include_pad, override, dtype):
    """What each window's sum is divided by: a number where all are equal, else an array of shape ``out``."""
    if override:
        return override
    counts = []
    for s, k, t, p, n in zip(sizes, kernel, stride, padding, out, strict=True):
        start = np.arange(n) * t - p
        end = np.minimum(start + k, s + p)
        if not include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, s)
        counts.append(end - start)
    if all((c == c[0]).all() for c in counts if len(c)):
        return float(math.prod(int(c[0]) for c in counts if len(c)))
    total = counts[0]
    for c in counts[1:]:
        total = total[..., None] * c
    return total.astype(dtype)


def _avg_pool(xp, x, kernel, stride, padding, out, include_pad, override):
    n = len(kernel)
    ones = (1,) * n
    full = _bordered(xp, x, kernel, stride, padding, ones, out, 0)
    total = None
    for offset in _offsets(kernel):
        part = full[place(offset, stride, ones, out)]
        if total is None:
            total = empty(xp, part.shape, x.dtype)
            total[...] = part
        else:
            total += part
    total = total.reshape(*x.shape[: x.ndim - n], *out)
    below = divisors(x.shape[x.ndim - n :], kernel, stride, padding, out, include_pad, override, x.dtype)
    if x.dtype.kind in "iu":
        below = xp.asarray(below).astype(x.dtype)
        return xp.sign(total) * xp.sign(below) * (xp.abs(total) // xp.abs(below))  # towards 0, as C divides
    return xp.divide(total, below, out=total)


def _avg_spread(xp, g, sizes, kernel, stride, padding, include_pad, override):
    n = len(kernel)
    out = g.shape[g.ndim - n :]
    ones = (1,) * n
    g = xp.divide(g, divisors(sizes, kernel, stride, padding, out, include_pad, override, g.dtype))
    flat = g.reshape(-1, 1, *out)
    above = _reach(sizes, kernel, stride, padding, ones, out)
    full = empty(xp, (flat.shape[0], 1, *(s + p + a for s, p, a in zip(sizes, padding, above, strict=True))), g.dtype)
    full[...] = 0
    for offset in _offsets(kernel):
        part = full[place(offset, stride, ones, out)]
        xp.add(part, flat, out=part)
    return full[inner(2, padding, sizes)].reshape(*g.shape[: g.ndim - n], *sizes)


def _avg_samples():
    yield Sample(spread((2, 3, 4, 6)), params=((2, 2), (2, 2), (0, 0), (2, 3), True, None))
    yield Sample(spread((2, 5, 5)), params=((3, 3), (2, 1), (1, 1), (3, 5), False, None), note="without border")
    yield Sample(spread((2, 6)), params=((3,), (2,), (1,), (4,), True, None), note="hanging over")


def _avg_reference(x, kernel, stride, padding, out, include_pad, override):
    n = len(kernel)
    sizes, lead = x.shape[x.ndim - n :], x.shape[: x.ndim - n]
    full = np.pad(x, ((0, 0),) * len(lead) + tuple((p, p + 99) for p in padding))
    y = np.empty((*lead, *out))
    for at in np.ndindex(*out):
        index = tuple(slice(a * t, a * t + k) for a, t, k in zip(at, stride, kernel, strict=True))
        y[(..., *at)] = full[(..., *index)].reshape(*lead, -1).sum(-1)
    return y / divisors(sizes, kernel, stride, padding, out, include_pad, override, np.float64)


avg_pool = op(
    "avg_pool", _avg_pool,
    lambda g, y, x, kernel, stride, padding, out, include_pad, override: avg_spread(
        g, x.shape[x.ndim - len(kernel) :], kernel, stride, padding, include_pad, override
    ),
    saves="x.shape", kind="reduction", grad_name="AvgPool", samples=_avg_samples, ref=_avg_reference,
    formula={"forward": "mean of each window", "rules": ["ḡ / n to every element of the window"]},
)  # fmt: skip
avg_spread = op(
    "avg_pool_spread", _avg_spread,
    lambda c, y, g, sizes, kernel, stride, padding, include_pad, override: avg_pool(
        c, kernel, stride, padding, g.shape[g.ndim - len(kernel) :], include_pad, override
    ),
    saves="g.shape", kind="structure", grad_name="AvgPoolBackward",
    ref=lambda g, sizes, kernel, stride, padding, *how: transposed(
        lambda x: _avg_reference(x, kernel, stride, padding, g.shape[g.ndim - len(sizes) :], *how),
        (*g.shape[: g.ndim - len(sizes)], *sizes), g,
    ),
    samples=lambda: iter((Sample(spread((2, 2, 3)), params=((4, 6), (2, 2), (2, 2), (0, 0), True, None)),)),
    formula={"forward": "g / n to every element of the window", "rules": ["mean of each window of c"]},
)  # fmt: skip
