"""Loss rows: mean squared error, cross-entropy and negative log-likelihood, binary cross-entropy, Huber's losses.

``reduction`` is one of "none", "mean", "sum". Class targets and class weights are operands without derivative.
"""

import math

import numpy as np

from ..core.op import op
from ..core.tensor import Tensor, wrap
from .compare import where
from .elementwise import clamp_max, clamp_min, exp, log, log1p, sgn, sigmoid
from .reduce import sum_row
from .samples import ErrorSample, Sample, spread, transposed
from .shape import reshape


def _pairs(low=-2.0, high=2.0, low2=None, high2=None, params=(), reductions=True):
    def samples():
        a = spread((3, 4), low, high)
        b = spread((3, 4), low if low2 is None else low2, high if high2 is None else high2, 1)
        for reduction in ("mean", "sum", "none") if reductions else (None,):
            yield Sample(a, b, params=params + ((reduction,) if reductions else ()), note=str(reduction))

    return samples


def _total(xp, losses, reduction):
    if reduction == "none":
        return losses
    total = xp.add.reduce(losses, axis=None)
    return total if reduction == "sum" else total / (losses.size or float("nan"))


def _mse(xp, a, b, reduction):
    d = xp.subtract(a, b)
    return _total(xp, xp.multiply(d, d), reduction)


def _mse_rule(g, y, a, b, reduction):
    shape = a.shape if a.shape == b.shape else np.broadcast_shapes(a.shape, b.shape)
    scale = 2.0 / (math.prod(shape) or 1) if reduction == "mean" else 2.0
    return (g * scale) * (a - b)


mse = op(
    "mse_loss", _mse, _mse_rule, lambda g, y, a, b, reduction: -_mse_rule(g, y, a, b, reduction),
    saves="a b", kind="reduction", dtypes="match", grad_name="MseLoss", symbol="mse", samples=_pairs(),
    ref=lambda a, b, r: _total(np, (a - b) ** 2, r),
    formula={"forward": "Σ (a − b)² / n", "rules": ["ḡ · 2(a − b) / n", "−ḡ · 2(a − b) / n"]},
)  # fmt: skip


def _smooth_l1(xp, a, b, beta):
    d = xp.subtract(a, b)
    size = xp.abs(d)
    return xp.where(size < beta, 0.5 * d * d / beta, size - 0.5 * beta) if beta else size


def _smooth_l1_rule(g, y, a, b, beta):
    d = a - b
    return g * clamp_max(clamp_min(d / beta, -1.0), 1.0) if beta else g * sgn(d)


smooth_l1 = op(
    "smooth_l1_loss", _smooth_l1, _smooth_l1_rule, lambda g, y, a, b, beta: -_smooth_l1_rule(g, y, a, b, beta),
    saves="a b", dtypes="match", grad_name="SmoothL1Loss", samples=_pairs(params=(1.0,), reductions=False), public=False,
    ref=lambda a, b, t: np.where(abs(a - b) < t, 0.5 * (a - b) ** 2 / t, abs(a - b) - 0.5 * t),
    formula={"forward": "d²/2β where |d| < β, else |d| − β/2, d = a − b", "rules": ["ḡ · d/β limited to ±1",
                                                                                    "−ḡ · d/β limited to ±1"]},
)  # fmt: skip


def _huber(xp, a, b, delta):
    d = xp.subtract(a, b)
    size = xp.abs(d)
    return xp.where(size <= delta, 0.5 * d * d, delta * (size - 0.5 * delta))


def _huber_rule(g, y, a, b, delta):
    return g * clamp_max(clamp_min(a - b, -delta), delta)


huber = op(
    "huber_loss", _huber, _huber_rule, lambda g, y, a, b, delta: -_huber_rule(g, y, a, b, delta),
    saves="a b", dtypes="match", grad_name="HuberLoss", samples=_pairs(params=(1.0,), reductions=False), public=False,
    ref=lambda a, b, t: np.where(abs(a - b) <= t, 0.5 * (a - b) ** 2, t * (abs(a - b) - 0.5 * t)),
    formula={"forward": "d²/2 where |d| ≤ δ, else δ(|d| − δ/2), d = a − b", "rules": ["ḡ · d limited to ±δ",
                                                                                      "−ḡ · d limited to ±δ"]},
)  # fmt: skip

# ----- binary cross-entropy -----


def _bce(xp, p, target):
    return (target - 1) * xp.maximum(xp.log1p(-p), -100) - target * xp.maximum(xp.log(p), -100)


bce = op(
    "binary_cross_entropy", _bce, lambda g, y, p, target: g * (p - target) / clamp_min((1 - p) * p, 1e-12),
    lambda g, y, p, target: g * (clamp_min(log1p(-p), -100.0) - clamp_min(log(p), -100.0)),
    saves=("p target", "p"), dtypes="match", grad_name="BinaryCrossEntropy", public=False,
    samples=_pairs(0.1, 0.9, 0.1, 0.9, reductions=False), ref=lambda p, t: -(t * np.log(p) + (1 - t) * np.log(1 - p)),
    formula={"forward": "−t ln p − (1 − t) ln(1 − p)", "rules": ["ḡ · (p − t) / p(1 − p)", "ḡ · (ln(1 − p) − ln p)"]},
)  # fmt: skip


def _bce_logits(xp, x, target):
    return (1 - target) * x + (xp.log1p(xp.exp(-xp.abs(x))) - xp.minimum(x, 0))


bce_logits = op(
    "binary_cross_entropy_with_logits", _bce_logits, lambda g, y, x, target: g * (sigmoid(x) - target),
    lambda g, y, x, target: -g * x, saves=("x target", "x"), dtypes="match", grad_name="BinaryCrossEntropyWithLogits", public=False,
    samples=_pairs(-2.0, 2.0, 0.1, 0.9, reductions=False), ref=lambda x, t: np.logaddexp(0, x) - t * x,
    formula={"forward": "ln(1 + eˣ) − t · x", "rules": ["ḡ · (σ(x) − t)", "−ḡ · x"]},
)  # fmt: skip


def _kl(xp, x, target):
    return target * (xp.log(xp.where(target == 0, 1, target)) - x)


kl = op(
    "kl_div", _kl, lambda g, y, x, target: -g * target,
    lambda g, y, x, target: where(target == 0, -g * x, g * (log(where(target == 0, 1.0, target)) + 1 - x)),
    saves=("target", "x target"), dtypes="match", grad_name="KlDiv", public=False,
    samples=_pairs(-2.0, -0.1, 0.1, 0.9, reductions=False), ref=lambda x, t: t * (np.log(t) - x),
    formula={"forward": "t · (ln t − x)", "rules": ["−ḡ · t", "ḡ · (ln t + 1 − x)"]},
)  # fmt: skip

# ----- classes -----

_INT64 = np.dtype(np.int64)
FEW_CLASSES = 64
"""Up to here matrices are worked on with decisions side by side: NumPy reduces short rows slowly."""


def _rows(x):
    """(N, C, …) or (C,) as a matrix with one row per decision."""
    if x.ndim == 2:
        return x
    if x.ndim == 1:
        return x.reshape(1, -1)
    return np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])


def _unrows(rows, shape):
    """The inverse of ``_rows``."""
    if len(shape) <= 2:
        return rows.reshape(shape)
    return np.ascontiguousarray(np.moveaxis(rows.reshape(shape[0], *shape[2:], shape[1]), -1, 1))


def _picks(target, classes, ignore):
    """Flat class numbers, and which decisions count (None: all). Raises: IndexError for a class that does not exist."""
    t = target.reshape(-1)
    if t.dtype is not _INT64:
        t = t.astype(np.int64)
    if not t.size or np.maximum.reduce(t.view(np.uint64)) < classes and not 0 <= ignore < classes:
        return t, None
    valid = t != ignore
    t = np.where(valid, t, 0)
    if t.min() < 0 or t.max() >= classes:
        bad = int(t[(t < 0) | (t >= classes)][0])
        raise IndexError(f"Target {bad} is out of bounds: there are {classes} classes, numbered 0 to {classes - 1}")
    return t, None if valid.all() else valid


def _shifted(rows, t):
    """Logits less their largest: (the axis of the classes, a matrix of its own, the places of the targets in it)."""
    n, classes = rows.shape
    if classes > FEW_CLASSES:
        return 1, rows - np.maximum.reduce(rows, axis=1, keepdims=True), t + np.arange(0, n * classes, classes)
    columns = rows.T.copy()
    columns -= np.maximum.reduce(columns, axis=0)
    return 0, columns, t * n + np.arange(n)


def _weights(t, valid, weight, dtype):
    """The weight of each decision, or None where all count 1."""
    if weight is not None:
        w = weight[t]
        return w if valid is None else np.where(valid, w, w.dtype.type(0))
    return None if valid is None else valid.astype(dtype)


def _reduced(losses, w, reduction, shape):
    if reduction == "none":
        return losses.reshape(shape)
    total = np.add.reduce(losses)
    if reduction == "sum":
        return total
    return total / (losses.dtype.type(len(losses) or np.nan) if w is None else np.add.reduce(w))


def _cross_entropy(xp, x, target, weight, ignore, reduction, smoothing):
    rows = _rows(x)
    t, valid = _picks(target, rows.shape[1], ignore)
    w = _weights(t, valid, weight, x.dtype)
    axis, shifted, at = _shifted(rows, t)
    ends = np.log(np.add.reduce(np.exp(shifted), axis=axis))
    losses = ends - shifted.reshape(-1).take(at)
    if w is not None:
        losses = np.where(w == 0, losses.dtype.type(0), losses * w) if valid is not None else losses * w
    if smoothing:
        if weight is None:
            spread_ = rows.shape[1] * ends - np.add.reduce(shifted, axis=axis)
        else:
            spread_ = np.add.reduce(weight) * ends - np.matmul(weight, shifted if axis == 0 else shifted.T)
        if valid is not None:
            spread_ = np.where(valid, spread_, spread_.dtype.type(0))
        losses = (1 - smoothing) * losses + (smoothing / rows.shape[1]) * spread_
    return _reduced(losses, w, reduction, target.shape)


def _scale(t, w, reduction):
    """What each decision's slope is multiplied with besides the incoming cotangent: a number or one number per decision."""
    if reduction != "mean":
        return 1.0
    return 1.0 / (len(t) or 1) if w is None else 1 / np.add.reduce(w)


def _cross_entropy_slope(xp, g, x, target, weight, ignore, reduction, smoothing):
    """ḡ · (softmax(x) − target): the gradient of the cross-entropy as one row."""
    rows = _rows(x)
    n, classes = rows.shape
    t, valid = _picks(target, classes, ignore)
    w = _weights(t, valid, weight, x.dtype)
    axis, p, at = _shifted(rows, t)
    np.exp(p, out=p)
    p /= np.add.reduce(p, axis=axis, keepdims=True)
    if not smoothing:
        flat = p.reshape(-1)
        flat[at] = flat.take(at) - 1
    if axis == 0:
        p = p.T.copy()
    factor = g.reshape(-1, 1) if reduction == "none" and getattr(g, "ndim", 0) else g * _scale(t, w, reduction)
    if smoothing:
        p = _smooth_slope(p, t, w, valid, weight, smoothing)
    elif w is not None:
        p *= w[:, None]
    p *= factor
    if valid is not None:
        p[~valid] = 0  # also where every decision is ignored and the mean's factor is infinite
    return _unrows(p, x.shape)


def _smooth_slope(p, t, w, valid, weight, smoothing):
    n, classes = p.shape
    sharp = np.full(n, 1 - smoothing, p.dtype) if w is None else (1 - smoothing) * w
    share = np.full(classes, smoothing / classes, p.dtype) if weight is None else (smoothing / classes) * weight
    p = p * (sharp + np.add.reduce(share))[:, None]
    p[np.arange(n), t] -= sharp
    p -= share
    return p if valid is None else p * valid[:, None]


def _plain(value):
    return value._d if isinstance(value, Tensor) else value


def _like(array, g):
    return wrap(array) if isinstance(g, Tensor) else array


def _softmax_weight(target, weight, ignore, reduction, smoothing, x, g):
    """What softmax(x) is multiplied with in the slope (without ḡ), with the class dimension kept as 1."""
    target, weight = _plain(target), _plain(weight)
    dtype = _plain(x).dtype
    t, valid = _picks(target, x.shape[min(1, x.ndim - 1)], ignore)
    w = _weights(t, valid, weight, dtype)
    out = np.ones(len(t), dtype) if w is None else w.astype(dtype)
    if smoothing:
        share = smoothing if weight is None else (smoothing / len(weight)) * np.add.reduce(weight)
        out = (1 - smoothing) * out + (share if valid is None else share * valid.astype(dtype))
    out = (out * _scale(t, w, reduction)).astype(dtype)
    return _like(out.reshape(kept_classes(x.shape)), g)


def kept_classes(shape):
    """The shape with the class dimension reduced to 1."""
    return (1,) if len(shape) == 1 else (shape[0], 1, *shape[2:])


def _slope_of_g(c, y, g, x, target, weight, *params):
    """The slope row is linear in ḡ: its rule is the slope for ḡ = 1 against the cotangent."""
    product = c * cross_entropy_slope(1.0, x, target, weight, *params)
    if params[1] != "none":
        return sum_row(product, None, False)
    return reshape(sum_row(product, (min(1, x.ndim - 1),), False), g.shape)


def _slope_of_x(c, y, g, x, target, weight, ignore, reduction, smoothing):
    """Through the softmax: p · (c − Σ c p), times ḡ and the weight of each decision."""
    dim = min(1, x.ndim - 1)
    shifted = exp(x - _like(np.maximum.reduce(_plain(x), axis=dim, keepdims=True), x))
    p = shifted / sum_row(shifted, (dim,), True)
    k = _softmax_weight(target, weight, ignore, reduction, smoothing, x, c)
    k = k * (reshape(g, kept_classes(x.shape)) if reduction == "none" and getattr(g, "ndim", 0) else g)
    return k * (p * (c - sum_row(c * p, (dim,), True)))


def _class_samples(with_smoothing=True):
    x, t, w = spread((4, 3)), np.array([0, 2, 1, 2]), spread((3,), 0.5, 1.5, 1)
    more = lambda *p, smooth=0.0: (*p, smooth) if with_smoothing else p  # noqa: E731
    yield Sample(x, t, None, params=more(-100, "mean"), wrt=(0,))
    yield Sample(x, t, w, params=more(2, "mean"), wrt=(0,), note="weight and ignore")
    yield Sample(x, t, w, params=more(-100, "none"), wrt=(0,), note="none")
    yield Sample(spread((2, 3, 2)), np.array([[0, 2], [1, 1]]), None, params=more(1, "sum"), wrt=(0,), note="sum, images")
    yield Sample(x[0], np.array(2), None, params=more(-100, "mean"), wrt=(0,), note="one decision")
    if with_smoothing:
        yield Sample(x, t, w, params=more(2, "mean", smooth=0.2), wrt=(0,), note="smoothed")
        yield Sample(x, t, None, params=more(-100, "none", smooth=0.2), wrt=(0,), note="smoothed none")


def _class_errors():
    yield ErrorSample(np.ones((2, 3)), np.array([0, 3]), None, params=(-100, "mean", 0.0), error=IndexError, match="out of bounds")


def _cross_entropy_ref(x, t, w, ignore, reduction, smoothing):
    rows, flat = _rows(x), t.reshape(-1)
    logp = rows - np.log(np.exp(rows).sum(1, keepdims=True))
    w = np.ones(rows.shape[1]) if w is None else w
    counted = flat != ignore
    safe = np.where(counted, flat, 0)
    sharp = -logp[np.arange(len(safe)), safe] * w[safe]
    losses = counted * ((1 - smoothing) * sharp - smoothing / rows.shape[1] * (logp * w).sum(1))
    if reduction == "none":
        return losses.reshape(t.shape)
    return losses.sum() / ((w[safe] * counted).sum() if reduction == "mean" else 1)


cross_entropy = op(
    "cross_entropy", _cross_entropy,
    lambda g, y, x, target, weight, *params: cross_entropy_slope(g, x, target, weight, *params), None, None,
    saves="x target weight", kind="reduction", dtypes="free", grad_name="NllLoss", samples=_class_samples, errors=_class_errors,
    ref=_cross_entropy_ref, formula={"forward": "−ln softmax(x)[target]", "rules": ["ḡ · (softmax(x) − onehot(target)) / n",
                                                                                    "", ""]},
)  # fmt: skip


def _slope_samples():
    for s in _class_samples():
        x, t, w = s.operands
        g = spread(t.shape, 0.5, 1.5, 3) if s.params[1] == "none" else np.array(0.7)
        yield Sample(g, x, t, w, params=s.params, wrt=(0, 1), note=s.note)


def _slope_ref(g, x, *rest):
    """The derivative of the cross-entropy's reference by complex steps."""
    out = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        z = x.astype(complex)
        z[at] += 1e-20j
        out[at] = np.sum(_cross_entropy_ref(z, *rest).imag / 1e-20 * g)
    return out


cross_entropy_slope = op(
    "cross_entropy_slope", _cross_entropy_slope, _slope_of_g, _slope_of_x, None, None,
    saves=("g.shape x target weight", "g x target weight", "", ""), kind="reduction", dtypes="free", grad_name="NllLossBackward",
    samples=_slope_samples, ref=_slope_ref,
    formula={"forward": "ḡ · (softmax(x) − onehot(target)) / n", "rules": ["Σ c · slope", "p · (c − Σ c p), p = softmax(x)",
                                                                           "", ""]},
)  # fmt: skip


def _nll(xp, x, target, weight, ignore, reduction):
    rows = _rows(x)
    t, valid = _picks(target, rows.shape[1], ignore)
    w = _weights(t, valid, weight, x.dtype)
    losses = -rows[np.arange(len(t)), t]
    if w is not None:
        losses = np.where(w == 0, losses.dtype.type(0), losses * w)
    return _reduced(losses, w, reduction, target.shape)


def _nll_spread(xp, g, target, weight, shape, ignore, reduction):
    classes = shape[min(1, len(shape) - 1)]
    t, valid = _picks(target, classes, ignore)
    w = _weights(t, valid, weight, g.dtype)
    out = np.zeros((len(t), classes), g.dtype)
    factor = g.reshape(-1) if reduction == "none" else g * _scale(t, w, reduction)
    out[np.arange(len(t)), t] = -factor if w is None else -(factor * w)
    return _unrows(out, shape)


def _nll_ref(x, t, w, ignore, reduction):
    return _nll(np, x, t, w, ignore, reduction)


nll = op(
    "nll_loss", _nll, lambda g, y, x, target, weight, *params: nll_spread(g, target, weight, x.shape, *params), None, None,
    saves="x.shape target weight", kind="reduction", dtypes="free", grad_name="NllLoss", samples=lambda: _class_samples(False),
    ref=_nll_ref,
    formula={"forward": "−x[target]", "rules": ["−ḡ at the target, else 0", "", ""]},
)  # fmt: skip


def _nll_spread_samples():
    yield Sample(np.array(0.7), np.array([0, 2]), None, params=((2, 3), -100, "mean"), wrt=(0,))
    yield Sample(spread((2,)), np.array([0, 2]), spread((3,), 0.5, 1.5, 1), params=((2, 3), 0, "none"), wrt=(0,), note="none")


nll_spread = op(
    "nll_loss_spread", _nll_spread, lambda c, y, g, target, weight, shape, *params: nll(c, target, weight, *params), None, None,
    saves="target weight", kind="structure", dtypes="free", grad_name="NllLossBackward", samples=_nll_spread_samples,
    ref=lambda g, t, w, shape, *how: transposed(lambda x: _nll_ref(x, t, w, *how), shape, g),
    formula={"forward": "−g at the target, else 0", "rules": ["−c[target]", "", ""]},
)  # fmt: skip
