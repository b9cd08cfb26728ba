"""Losses of nn.functional."""

import math
import warnings

import numpy as np

from ...core.tensor import TENSOR_TYPES, Tensor
from ...errors import shape_text
from ...ops import loss as rows
from ...ops.compare import where
from ...ops.dims import scalar_name
from ...ops.elementwise import abs as absolute
from ...ops.elementwise import clamp_min, exp, log, log1p, logsigmoid, maximum
from ...ops.reduce import mean_row, sum_row
from ...ops.shape import reshape
from ...ops.softmax import log_softmax_row
from .checks import constant, need_tensor, reduction_name, same_dtype
from .normalization import pairwise_distance

_INT64 = np.dtype(np.int64)


def reduced(losses, reduction):
    """The mean, the sum, or all of the elementwise losses."""
    if reduction == "mean":
        return mean_row(losses, None, False)
    return sum_row(losses, None, False) if reduction == "sum" else losses


def _pair(name, input, target):
    """Two tensors of one dtype; warns as PyTorch does where their sizes differ."""
    need_tensor(name, "input", input)
    need_tensor(name, "target", target)
    a, b = input._d, target._d
    if a.shape != b.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will likely lead to "
            "incorrect results due to broadcasting: every element of one is compared with every one of the "
            "other. Please ensure they "
            f"have the same size, for example with target.reshape({list(a.shape)}) or input.squeeze().",
            UserWarning, stacklevel=4,
        )  # fmt: skip
    return (input, target) if a.dtype is b.dtype else same_dtype(input, target)


def _weighted(losses, weight, reduction):
    if weight is None:
        return reduced(losses, reduction)
    losses = losses * weight
    if reduction == "mean":
        return sum_row(losses, None, False) / sum_row(weight, None, False)
    return reduced(losses, reduction)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The mean of (input − target)². Warns where sizes differ."""
    reduction = reduction_name(reduction, size_average, reduce)
    a, b = _pair("mse_loss", input, target)
    if weight is not None:
        return _weighted(rows.mse(a, b, "none"), weight, reduction)
    return rows.mse(a, b, reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The mean of |input − target|."""
    a, b = _pair("l1_loss", input, target)
    return _weighted(absolute(a - b), weight, reduction_name(reduction, size_average, reduce))


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Squared where |input − target| < beta, linear beyond."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    a, b = _pair("smooth_l1_loss", input, target)
    return reduced(rows.smooth_l1(a, b, beta), reduction_name(reduction, size_average, reduce))


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Half the square where |input − target| ≤ delta, delta times the distance (less delta/2) beyond."""
    if isinstance(delta, bool) or not isinstance(delta, int | float):
        raise TypeError(f"delta must be a float or int, got: {type(delta)}")
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    a, b = _pair("huber_loss", input, target)
    return _weighted(rows.huber(a, b, delta), weight, reduction_name(reduction))


# ----- classes -----


def _class_target(input, target):
    """Check class numbers against logits (N, C, …). Raises: RuntimeError or ValueError in PyTorch's words."""
    x, t = input._d, target._d
    if t.dtype is _INT64 and len(x.shape) == 2 and t.shape == x.shape[:1]:
        return
    if t.dtype != _INT64 and t.dtype != np.uint8:
        raise RuntimeError(
            f"expected scalar type Long but found {scalar_name(target.dtype)}: class targets are whole numbers of dtype int64 "
            f"(target.long()); probabilities need the shape of the input, {shape_text(x.shape)}"
        )
    if x.ndim == 1:
        if t.ndim != 0 and t.shape != (1,):
            raise ValueError(f"Expected input batch_size (1) to match target batch_size ({t.shape[0]}).")
        return
    if x.ndim == 0:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if t.shape == (x.shape[0], *x.shape[2:]):
        return
    if t.ndim and x.shape[0] != t.shape[0] or not t.ndim:
        raise ValueError(f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({t.shape[0] if t.ndim else 1}).")
    if x.ndim == 2:
        raise RuntimeError(
            "0D or 1D target tensor expected, multi-target not supported: the target has shape "
            f"{shape_text(t.shape)}; class numbers need "
            f"shape [{x.shape[0]}] (target.squeeze() or target.argmax(1))"
        )
    raise RuntimeError(f"size mismatch (got input: {shape_text(x.shape)}, target: {shape_text(t.shape)})")


def _check_class_weight(input, weight):
    if weight is None:
        return
    classes = input._d.shape[min(1, input._d.ndim - 1)]
    if weight._d.shape != (classes,):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: "
            f"{shape_text(weight._d.shape)}"
        )
    if weight._d.dtype != input._d.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(input.dtype)} but found {scalar_name(weight.dtype)} (class weights)")


def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):  # fmt: skip
    """−ln softmax(input)[target], averaged: the usual loss of classifiers, straight from logits (N, C, …).

    Args: target: class numbers (int64) of shape (N, …), or probabilities of the input's shape; weight: one per class;
    ignore_index: this target counts nothing; label_smoothing: share of the target spread over all classes.
    Raises: IndexError for a class that does not exist, RuntimeError or ValueError where shapes or dtypes do not fit.
    """
    if size_average is not None or reduce is not None or reduction not in ("mean", "none", "sum"):
        reduction = reduction_name(reduction, size_average, reduce)
    if type(input) not in TENSOR_TYPES or type(target) not in TENSOR_TYPES:
        need_tensor("cross_entropy_loss", "input", input)
        need_tensor("cross_entropy_loss", "target", target)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if input._d.shape == target._d.shape and input._d.ndim and target._d.dtype.kind in "fV":
        return _soft_cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)
    _class_target(input, target)
    _check_class_weight(input, weight)
    if input._d.dtype.kind not in "fV":
        raise RuntimeError(f"\"log_softmax_lastdim_kernel_impl\" not implemented for '{scalar_name(input.dtype)}'")
    return rows.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def _soft_cross_entropy(input, target, weight, ignore_index, reduction, smoothing):
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    dim = min(1, input._d.ndim - 1)
    classes = input._d.shape[dim]
    _check_class_weight(input, weight)
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    losses = -(log_softmax_row(input, dim) * target)
    if weight is not None:
        losses = losses * reshape(weight, (classes, *(1,) * (input._d.ndim - 1 - dim)))
    losses = sum_row(losses, (dim,), False)
    if reduction == "mean":
        return sum_row(losses, None, False) / (losses._d.size or math.nan)
    return reduced(losses, reduction)


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    """−input[target] for log-probabilities (N, C, …) and class numbers (N, …), averaged."""
    reduction = reduction_name(reduction, size_average, reduce)
    need_tensor("nll_loss", "input", input)
    need_tensor("nll_loss", "target", target)
    _class_target(input, target)
    _check_class_weight(input, weight)
    return rows.nll(input, target, weight, ignore_index, reduction)


# ----- probabilities -----


def _same_size(input, target, name):
    if input._d.shape != target._d.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is "
            f"deprecated ({name}). Please "
            f"ensure they have the same size, for example with target.reshape({list(input._d.shape)})."
        )


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """−t ln p − (1 − t) ln(1 − p) for probabilities p = ``input``; logarithms are limited to −100.

    Raises: ValueError where sizes differ, RuntimeError for values outside [0, 1].
    """
    reduction = reduction_name(reduction, size_average, reduce)
    need_tensor("binary_cross_entropy", "input", input)
    need_tensor("binary_cross_entropy", "target", target)
    _same_size(input, target, "binary_cross_entropy")
    if input._d.dtype != target._d.dtype:
        raise RuntimeError(f"Found dtype {scalar_name(target.dtype)} but expected {scalar_name(input.dtype)}")
    d = input._d
    if d.size and not (d.min() >= 0 and d.max() <= 1):
        raise RuntimeError(
            f"all elements of input should be between 0 and 1, but they run from {float(d.min()):.4g} to {float(d.max()):.4g}; "
            "use binary_cross_entropy_with_logits for raw scores"
        )
    losses = rows.bce(input, target)
    return reduced(losses if weight is None else losses * weight, reduction)


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):  # fmt: skip
    """``binary_cross_entropy`` of σ(input), computed without overflow.

    Args: pos_weight: how many times a positive counts. Raises: ValueError where sizes differ.
    """
    reduction = reduction_name(reduction, size_average, reduce)
    need_tensor("binary_cross_entropy_with_logits", "input", input)
    need_tensor("binary_cross_entropy_with_logits", "target", target)
    if input._d.shape != target._d.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    if pos_weight is None:
        losses = rows.bce_logits(*same_dtype(input, target))
    else:
        losses = (1 - target) * input - ((pos_weight - 1) * target + 1) * logsigmoid(input)
    return reduced(losses if weight is None else losses * weight, reduction)


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """target · (ln target − input) for log-probabilities ``input``; "batchmean" divides the sum by the batch size."""
    need_tensor("kl_div", "input", input)
    if reduction != "batchmean":
        reduction = reduction_name(reduction, size_average, reduce)
        if reduction == "mean":
            warnings.warn("reduction: 'mean' divides the total loss by both the batch size and the support "
                          "size. 'batchmean' divides only by "
                          "the batch size, and aligns with the KL div math definition.", stacklevel=2)  # fmt: skip
    losses = exp(target) * (target - input) if log_target else rows.kl(*same_dtype(input, target))
    if reduction == "batchmean":
        return sum_row(losses, None, False) / (losses._d.shape[0] if losses._d.ndim else 1)
    return reduced(losses, reduction)


def poisson_nll_loss(
    input, target, log_input=True, size_average=None, full=False, eps=1e-8, reduce=None, reduction="mean"
):  # fmt: skip
    """exp(input) − target · input (or input − target · ln input): the loss for counts."""
    reduction = reduction_name(reduction, size_average, reduce)
    losses = exp(input) - target * input if log_input else input - target * log(input + eps)
    if full:
        safe = where(target > 1, target, 1.0)
        stirling = safe * log(safe) - safe + 0.5 * log(2 * math.pi * safe)
        losses = losses + where(target > 1, stirling, 0.0)
    return reduced(losses, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """½ (ln var + (input − target)² / var): the loss for a predicted mean and variance."""
    reduction = reduction_name(reduction)
    if not isinstance(var, Tensor):
        var = constant(np.full(input._d.shape, var, input._d.dtype))
    if var._d.shape != input._d.shape:
        if input._d.shape[:-1] == var._d.shape:
            var = reshape(var, (*var._d.shape, 1))
        elif not (input._d.ndim == var._d.ndim and sum(a != b for a, b in zip(input._d.shape, var._d.shape, strict=True)) == 1
                  and 1 in var._d.shape):  # fmt: skip
            raise ValueError("var is of incorrect size")
    if (var._d < 0).any():
        raise ValueError("var has negative entry/entries")
    safe = where(var < eps, eps, var).detach() + (var - var.detach())
    losses = 0.5 * (log(safe) + (input - target) ** 2 / safe)
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


# ----- margins -----


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """input where target is 1, max(0, margin − input) where it is −1."""
    reduction = reduction_name(reduction, size_average, reduce)
    losses = where(target != 1, clamp_min(margin - input, 0.0), 0.0) + where(target != -1, input, 0.0)
    return reduced(losses, reduction)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """1 − cos where target is 1, max(0, cos − margin) where it is −1."""
    reduction = reduction_name(reduction, size_average, reduce)
    if target._d.ndim not in (0, 1):
        raise RuntimeError(f"0D or 1D target tensor expected, multi-target not supported; got {shape_text(target._d.shape)}")
    if target._d.ndim == 1 and input1._d.ndim != 2 or target._d.ndim == 0 and input1._d.ndim != 1:
        raise RuntimeError(f"{target._d.ndim}D target tensor expects {target._d.ndim + 1}D input tensors, but "
                           "found inputs with sizes "
                           f"{shape_text(input1._d.shape)} and {shape_text(input2._d.shape)}.")  # fmt: skip
    eps = 1e-12
    dim = (input1._d.ndim - 1,)
    dot = sum_row(input1 * input2, dim, False)
    cos = dot / ((sum_row(input1 * input1, dim, False) + eps) * (sum_row(input2 * input2, dim, False) + eps)).sqrt()
    losses = where(target == 1, 1 - cos, 0.0) + where(target == -1, clamp_min(cos - margin, 0.0), 0.0)
    return reduced(losses, reduction)


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, −target · (input1 − input2) + margin): target 1 wants input1 larger, −1 input2."""
    if not input1._d.ndim == input2._d.ndim == target._d.ndim:
        raise RuntimeError(f"margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
                           f"{shape_text(input1._d.shape)}, input2: {shape_text(input2._d.shape)}, target: "
                           f"{shape_text(target._d.shape)} ")  # fmt: skip
    return reduced(clamp_min(-target * (input1 - input2) + margin, 0.0), reduction_name(reduction, size_average, reduce))


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """ln(1 + exp(−target · input)) for targets 1 and −1."""
    return reduced(log1p(exp(-target * input)), reduction_name(reduction, size_average, reduce))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Σ max(0, margin − input[target] + input[i])ᵖ / C over the wrong classes i."""
    reduction = reduction_name(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight._d.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    alone = input._d.ndim < 2
    x = reshape(input, (1, input._d.size)) if alone else input
    t = target._array().reshape(-1)
    n, c = x._d.shape
    if len(t) != n:
        raise RuntimeError(f"inconsistent target size, expected {n} but got {shape_text(target._d.shape)}")
    rows_ = np.arange(n)
    terms = clamp_min(margin - reshape(x[constant(rows_), constant(t)], (n, 1)) + x, 0.0)
    terms = terms * terms if p == 2 else terms
    if weight is not None:
        terms = terms * reshape(weight[constant(t)], (n, 1))
    wrong = np.ones((n, c), x._d.dtype)
    wrong[rows_, t] = 0
    losses = sum_row(terms * constant(wrong), (1,), False) / c
    return reduced(reshape(losses, ()) if alone and reduction == "none" else losses, reduction)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Σ max(0, 1 − (x[j] − x[i])) / C over right classes j (listed in target up to the first −1) and wrong ones i."""
    reduction = reduction_name(reduction, size_average, reduce)
    alone = input._d.ndim < 2
    x = reshape(input, (1, input._d.size)) if alone else input
    t = target._array().reshape(x._d.shape)
    n, c = x._d.shape
    listed = np.cumsum(t < 0, axis=1) == 0
    right = np.zeros((n, c), bool)
    for i in range(n):
        right[i, t[i][listed[i]]] = True
    pick = reshape(x[constant(np.arange(n)[:, None]), constant(np.where(listed, t, 0))], (n, c, 1))
    mask = (listed[:, :, None] & ~right[:, None, :]).astype(x._d.dtype)
    terms = clamp_min(1 - (pick - reshape(x, (n, 1, c))), 0.0) * constant(mask)
    losses = sum_row(terms, (1, 2), False) / c
    return reduced(reshape(losses, ()) if alone and reduction == "none" else losses, reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over classes of binary cross-entropy with logits."""
    reduction = reduction_name(reduction, size_average, reduce)
    losses = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    losses = losses if weight is None else losses * weight
    dim = losses._d.ndim - 1
    return reduced(sum_row(losses, (dim,), False) / losses._d.shape[dim], reduction)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean"
):  # fmt: skip
    """max(0, d(anchor, positive) − d(anchor, negative) + margin) with the p-norm distance."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return triplet_margin_with_distance_loss(
        anchor, positive, negative, distance_function=lambda a, b: pairwise_distance(a, b, p, eps), margin=margin, swap=swap,
        reduction=reduction_name(reduction, size_average, reduce),
    )  # fmt: skip


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):  # fmt: skip
    """``triplet_margin_loss`` with a distance of one's own."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor._d.ndim == positive._d.ndim == negative._d.ndim:
        raise RuntimeError("The anchor, positive, and negative tensors are expected to have the same number of "
                           "dimensions, but got: "
                           f"anchor {anchor._d.ndim}D, positive {positive._d.ndim}D, and negative "
                           f"{negative._d.ndim}D inputs")  # fmt: skip
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = -maximum(-far, -distance(positive, negative))
    return reduced(clamp_min(near - far + margin, 0.0), reduction_name(reduction))


__all__ = [name for name, value in list(globals().items()) if getattr(value, "__module__", "") == __name__ and name[0] != "_"]
