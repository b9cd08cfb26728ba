"""Reductions: sums, means, extrema, variances, norms. Rows take a tuple of dimensions (None: all) and ``keepdim``."""

import math

import numpy as np

from ..core.op import op
from ..core.tensor import Tensor
from .compare import where
from .elementwise import exp
from .index import put_along
from .join import join_last, narrow_last
from .samples import Sample, spread
from .shape import cast, expand_copy, inverse, permute_view, reshape


def _reduction_samples(order=2, low=-2.0, high=2.0):
    def samples():
        for dims, keep in ((None, False), ((0,), False), ((1,), True), ((0, 2), False)):
            yield Sample(spread((2, 3, 4), low, high), params=(dims, keep), order=order, note=f"{dims}")
        yield Sample(spread((), low, high), params=(None, False), order=order, note="0-d")

    return samples


def kept(shape, dims):
    """The shape that ``keepdim=True`` would have given."""
    if dims is None:
        return (1,) * len(shape)
    return tuple(1 if i in dims else s for i, s in enumerate(shape))


def count(shape, dims):
    """How many elements each result was made of."""
    if dims is None:
        return math.prod(shape)
    n = 1
    for i in dims:
        n *= shape[i]
    return n


def restored(g, shape, dims, keepdim):
    """A cotangent of the result, with the reduced dimensions put back as 1."""
    if keepdim or dims is None or not shape:
        return g
    return reshape(g, kept(shape, dims))


sum_row = op(
    "sum", lambda xp, x, dims, keepdim: xp.add.reduce(x, axis=dims, keepdims=keepdim),
    lambda g, y, x, dims, keepdim: expand_copy(restored(g, x.shape, dims, keepdim), x.shape),
    saves="x.shape", kind="reduction", symbol="Σ", samples=_reduction_samples(),
    ref=lambda x, d, k: np.sum(x, axis=d, keepdims=k), formula={"forward": "Σ xᵢ", "rules": ["ḡ for every element"]},
)  # fmt: skip


def _mean(xp, x, dims, keepdim):
    return xp.divide(xp.add.reduce(x, axis=dims, keepdims=keepdim), count(x.shape, dims) or float("nan"))


mean_row = op(
    "mean", _mean,
    lambda g, y, x, dims, keepdim: expand_copy(
        restored(g, x.shape, dims, keepdim) / (count(x.shape, dims) or 1), x.shape
    ),
    saves="x.shape", kind="reduction", samples=_reduction_samples(), ref=lambda x, d, k: np.mean(x, axis=d, keepdims=k),
    formula={"forward": "Σ xᵢ / n", "rules": ["ḡ / n for every element"]},
)  # fmt: skip


def numpy_dtype(value):
    """The NumPy dtype of an array or Tensor."""
    return value._d.dtype if isinstance(value, Tensor) else value.dtype


def _extremum_rule(g, y, x, dims, keepdim):
    """Ties share the gradient equally; where the result is NaN the NaNs share it."""
    y = restored(y, x.shape, dims, keepdim)
    chosen = (x == y) | ((x != x) & (y != y))
    hits = sum_row(cast(chosen, numpy_dtype(g)), dims, True)
    return where(chosen, restored(g, x.shape, dims, keepdim) / reshape(hits, kept(x.shape, dims)), 0.0)


def _extremum(name, function):
    word = name[1:]
    return op(
        name, lambda xp, x, dims, keepdim: getattr(xp, function).reduce(x, axis=dims, keepdims=keepdim), _extremum_rule,
        saves="y x", kind="reduction", symbol=word, samples=_reduction_samples(),
        ref=lambda x, d, k: getattr(np, name)(x, axis=d, keepdims=k),
        formula={"forward": f"{word} xᵢ", "rules": [f"ḡ where x is the {word}, shared at ties"]},
    )  # fmt: skip


amax_row = _extremum("amax", "maximum")
amin_row = _extremum("amin", "minimum")


def _pick_rule(needs, g, y, x, dim, keepdim):
    g, indices = g[0], y[1]
    if not keepdim and x.ndim:
        g, indices = unsqueezed(g, dim), unsqueezed(indices, dim)
    return (put_along(g, indices, x.shape, dim),)


def unsqueezed(x, dim):
    """An array or Tensor with a dimension of size 1 put in at ``dim``."""
    return reshape(x, (*x.shape[:dim], 1, *x.shape[dim:]))


def _picker(name, method):
    def forward(xp, x, dim, keepdim):
        if x.ndim == 0:
            return x.copy(), xp.zeros((), np.int64)
        indices = getattr(x, "arg" + method)(axis=dim, keepdims=keepdim)
        values = getattr(xp, method + "imum").reduce(x, axis=dim, keepdims=keepdim)
        return values, indices if hasattr(indices, "dtype") else np.int64(indices)

    def samples():
        for dim, keep in ((0, False), (1, True), (2, False)):
            yield Sample(spread((2, 3, 4)), params=(dim, keep))

    return op(
        name, forward, joint=_pick_rule, saves="y x.shape", kind="reduction", symbol=method, arity=1, outputs=2, nondiff=(1,),
        grad_name=method.capitalize(), samples=samples, ref=lambda x, d, k: (getattr(np, method)(x, axis=d, keepdims=k),
                                                      getattr(np, "arg" + method)(x, axis=d, keepdims=k)),
        formula={"forward": f"{method} and its index along a dimension", "rules": ["ḡ at the chosen index, else 0"]},
    )  # fmt: skip


max_dim_row = _picker("max_dim", "max")
min_dim_row = _picker("min_dim", "min")


def _var(xp, x, dims, correction, keepdim):
    n = count(x.shape, dims)
    centred = x - _mean(xp, x, dims, True)
    squares = xp.multiply(centred, centred) if x.dtype.kind != "c" else (centred * centred.conj()).real
    total = xp.add.reduce(squares, axis=dims, keepdims=keepdim)
    rest = n - correction
    return xp.divide(total, rest if rest > 0 else (0.0 if n else float("nan")))


def _var_rule(g, y, x, dims, correction, keepdim):
    n = count(x.shape, dims)
    scale = 2.0 / (n - correction) if n > correction else float("nan")
    return (scale * restored(g, x.shape, dims, keepdim)) * (x - mean_row(x, dims, True))


var_row = op(
    "var", _var, _var_rule, saves="x", kind="reduction", holomorphic=False,
    samples=lambda: (Sample(spread((2, 3, 4)), params=p) for p in ((None, 1, False), ((1,), 0, True), ((0, 2), 1, False))),
    ref=lambda x, d, c, k: np.var(x, axis=d, ddof=c, keepdims=k),
    formula={"forward": "Σ (xᵢ − mean)² / (n − c)", "rules": ["ḡ · 2 (x − mean) / (n − c)"]},
)  # fmt: skip
std_row = op(
    "std", lambda xp, x, d, c, k: xp.sqrt(_var(xp, x, d, c, k)),
    lambda g, y, x, d, c, k: _var_rule(where(y == 0, 0.0, g / (2 * y)), y, x, d, c, k),
    saves="x y", kind="reduction", holomorphic=False,
    samples=lambda: (Sample(spread((2, 3, 4)), params=p) for p in ((None, 1, False), ((1,), 0, True), ((0, 2), 1, False))),
    ref=lambda x, d, c, k: np.std(x, axis=d, ddof=c, keepdims=k),
    formula={"forward": "√ var(x)", "rules": ["ḡ · (x − mean) / ((n − c) · y)"]},
)  # fmt: skip


def _logsumexp(xp, x, dims, keepdim):
    top = xp.maximum.reduce(x.real if x.dtype.kind == "c" else x, axis=dims, keepdims=True) if x.size else xp.zeros((1,), x.dtype)
    top = xp.where(xp.isfinite(top), top, 0)
    total = xp.log(xp.add.reduce(xp.exp(x - top), axis=dims, keepdims=True)) + top
    return total if keepdim else total.reshape(tuple(s for i, s in enumerate(x.shape) if dims is not None and i not in dims))


logsumexp_row = op(
    "logsumexp", _logsumexp,
    lambda g, y, x, dims, keepdim: restored(g, x.shape, dims, keepdim) * exp(x - restored(y, x.shape, dims, keepdim)),
    saves="x y", kind="reduction", samples=_reduction_samples(),
    ref=lambda x, d, k: np.log(np.sum(np.exp(x), axis=d, keepdims=k)),
    formula={"forward": "ln Σ exp xᵢ", "rules": ["ḡ · exp(xᵢ − y)"]},
)  # fmt: skip


def _along(name, function):
    return op(
        name, lambda xp, x, dims, keepdim: getattr(xp, function).reduce(x, axis=dims, keepdims=keepdim, dtype=bool),
        arity=1, kind="reduction",
        samples=_reduction_samples(order=0), ref=lambda x, d, k: getattr(np, name)(x, axis=d, keepdims=k),
    )  # fmt: skip


all_row = _along("all", "logical_and")
any_row = _along("any", "logical_or")


def _position(name):
    def forward(xp, x, dim, keepdim):
        out = getattr(x, name)(axis=dim, keepdims=keepdim)
        return out if hasattr(out, "dtype") else np.int64(out)

    return op(
        name, forward, arity=1, kind="reduction", ref=lambda x, d, k: getattr(np, name)(x, axis=d, keepdims=k),
        samples=lambda: (Sample(spread((2, 3, 4)), params=p, order=0) for p in ((None, False), (1, True), (2, False))),
    )  # fmt: skip


argmax_row = _position("argmax")
argmin_row = _position("argmin")
cumsum_row = op(
    "cumsum", lambda xp, x, dim: xp.cumsum(x, axis=dim) if x.ndim else x.copy(),
    lambda g, y, x, dim: flipped_cumsum(g, dim), kind="structure",
    samples=lambda: (Sample(spread((3, 4)), params=(d,)) for d in (0, 1)), ref=lambda x, d: np.cumsum(x, axis=d),
    formula={"forward": "running sum", "rules": ["running sum of ḡ from the end"]},
)  # fmt: skip
flipped_cumsum = op(
    "flipped_cumsum", lambda xp, x, dim: xp.flip(xp.cumsum(xp.flip(x, dim), axis=dim), dim) if x.ndim else x.copy(),
    lambda g, y, x, dim: cumsum_row(g, dim), kind="structure",
    samples=lambda: (Sample(spread((3, 4)), params=(d,)) for d in (0, 1)),
    ref=lambda x, d: np.flip(np.cumsum(np.flip(x, d), axis=d), d),
    formula={"forward": "running sum from the end", "rules": ["running sum of ḡ"]},
)  # fmt: skip


def _prod_rule(g, y, x, dims, keepdim):
    """Products of all the other factors, without dividing (a factor may be 0)."""
    return restored(g, x.shape, dims, keepdim) * others_product(x, dims)


def others_product(x, dims):
    """For each element, the product of the others along ``dims``: products from the left times products from the right."""
    axes = tuple(range(x.ndim)) if dims is None else dims
    if not axes:
        return x * 0 + 1
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    order = rest + axes
    moved = permute_view(x, order)
    flat = reshape(moved, (*(x.shape[i] for i in rest), count(x.shape, axes)))
    out = _others(flat)
    return permute_view(reshape(out, moved.shape), inverse(order))


def _others(flat):
    n = flat.shape[-1]
    if n <= 1:
        return flat * 0 + 1
    parts = [narrow_last(flat, i, 1) for i in range(n)]
    left, right = [None] * n, [None] * n
    for i in range(1, n):
        left[i] = parts[i - 1] if left[i - 1] is None else left[i - 1] * parts[i - 1]
        j = n - 1 - i
        right[j] = parts[j + 1] if right[j + 1] is None else right[j + 1] * parts[j + 1]
    return join_last([r if el is None else (el if r is None else el * r) for el, r in zip(left, right, strict=True)])


prod_row = op(
    "prod", lambda xp, x, dims, keepdim: xp.multiply.reduce(x, axis=dims, keepdims=keepdim), _prod_rule,
    saves="x", kind="reduction", symbol="Π", samples=_reduction_samples(low=0.5),
    ref=lambda x, d, k: np.prod(x, axis=d, keepdims=k),
    formula={"forward": "Π xᵢ", "rules": ["ḡ · product of the other xⱼ"]},
)  # fmt: skip
