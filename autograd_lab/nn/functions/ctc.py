"""Connectionist temporal classification: the loss of a sequence of labels that is not aligned with its input."""

import numpy as np

from ...core.tensor import Tensor, wrap
from ...errors import shape_text
from ...ops.compare import where
from ...ops.elementwise import clamp_min, exp
from ...ops.index import gather_row
from ...ops.join import cat_row, stack_row
from ...ops.reduce import logsumexp_row
from ...ops.shape import reshape
from .checks import constant, need_tensor, reduction_name

NEVER = -1e30
"""The logarithm of a probability of 0; finite, so that differences of such logarithms are no NaN."""


def _lengths(name, value, batch, most):
    values = np.atleast_1d(np.asarray(value._array() if isinstance(value, Tensor) else value))
    if values.dtype.kind not in "iu":
        raise RuntimeError(f"{name} must be integral")
    if values.shape != (batch,):
        raise RuntimeError(f"{name} must be of size batch_size: expected {batch}, got {shape_text(values.shape)}")
    if values.min(initial=0) < 0 or (most is not None and values.max(initial=0) > most):
        raise RuntimeError(f"Expected {name} to have value at least 0 and at most {most}, but got {values.tolist()}")
    return values.astype(np.int64)


def _labels(targets, lengths):
    """The labels of each sequence as a padded (N, longest) array."""
    d = targets._array()
    if d.dtype.kind not in "iu":
        raise RuntimeError("targets must be integral")
    longest = int(lengths.max(initial=0))
    out = np.zeros((len(lengths), longest), np.int64)
    if d.ndim == 1:
        if d.size != lengths.sum():
            raise RuntimeError(f"Expected as many 1-D targets as the sum of target_lengths, {lengths.sum()}, but got {d.size}")
        at = 0
        for row, n in zip(out, lengths, strict=True):
            row[:n], at = d[at : at + n], at + n
    else:
        if d.ndim != 2 or d.shape[0] != len(lengths) or d.shape[1] < longest:
            raise RuntimeError(f"Expected targets of at least shape ({len(lengths)}, {longest}), but got {shape_text(d.shape)}")
        for row, n, given in zip(out, lengths, d, strict=True):
            row[:n] = given[:n]
    return out


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """−ln of the probability of all alignments of ``targets`` with the input.

    Args:
        log_probs: (T, N, C) or (T, C), what ``log_softmax`` gives
        targets: (N, S), or one after another in one vector
        input_lengths, target_lengths: of each sequence
        blank: the class that stands for no label
        reduction: none, sum, or mean (each loss divided by its target's length first)
        zero_infinity: losses of targets that do not fit their input are 0, with gradient 0, instead of infinite

    The gradient is, as in PyTorch, that of log-probabilities which stay normalised.
    """
    need_tensor("ctc_loss", "log_probs", log_probs)
    reduction = reduction_name(reduction)
    alone = log_probs._d.ndim == 2
    lp = reshape(log_probs, (log_probs._d.shape[0], 1, -1)) if alone else log_probs
    if lp._d.ndim != 3:
        raise RuntimeError(f"ctc_loss: expected log_probs of shape (T, N, C) or (T, C), got {shape_text(lp._d.shape)}")
    steps, batch, classes = lp._d.shape
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range: 0 to {classes - 1}, but got {blank}")
    ends = _lengths("input_lengths", input_lengths, batch, steps)
    lengths = _lengths("target_lengths", target_lengths, batch, None)
    if alone and targets._d.ndim == 1:
        targets = reshape(targets, (1, -1))
    labels = _labels(targets, lengths)
    if labels.size and (labels.min() < 0 or labels.max() >= classes):
        raise RuntimeError(f"ctc_loss: labels must be in 0 to {classes - 1}, but got {labels.min()} to {labels.max()}")
    nll = -_log_likelihood(lp, labels, ends, lengths, blank)
    there = wrap((np.arange(steps)[:, None] < ends)[..., None])
    mass = where(there, exp(lp), 0.0).sum((0, 2))
    nll = nll + (mass - mass.detach())  # ∂/∂lp of the sum that stays 1: adds the probabilities to the gradient
    bad = wrap(nll._d > -NEVER / 10)
    nll = where(bad, 0.0, nll) if zero_infinity else nll * wrap(np.where(bad._d, np.inf, 1).astype(nll._d.dtype))
    if reduction == "mean":
        return (nll / constant(np.maximum(lengths, 1).astype(nll._d.dtype))).mean()
    if reduction == "sum":
        return nll.sum()
    return nll[0] if alone else nll


def _log_likelihood(lp, labels, ends, lengths, blank):
    """The forward algorithm over labels with a blank before, between and behind them; (N,)."""
    steps, batch, _ = lp._d.shape
    dtype = lp._d.dtype
    spread = np.full((batch, 2 * labels.shape[1] + 1), blank, np.int64)
    spread[:, 1::2] = labels
    width = spread.shape[1]
    lp = clamp_min(gather_row(lp, wrap(np.ascontiguousarray(np.broadcast_to(spread, (steps, batch, width)))), 2), NEVER)
    skip = np.zeros((batch, width), bool)  # a blank between two different labels may be left out
    skip[:, 3::2] = labels[:, 1:] != labels[:, :-1]
    skip = wrap(skip)
    never = wrap(np.full((batch, 2), NEVER, dtype))
    first = wrap(np.broadcast_to(np.arange(width) < 2, (batch, width)).copy())
    alpha = where(first, lp[0], NEVER)
    for t in range(1, steps):
        by_one = cat_row([never[:, :1], alpha[:, : width - 1]], 1)
        ways = [alpha, by_one]
        if width > 2:
            ways.append(where(skip, cat_row([never, alpha[:, : width - 2]], 1), NEVER))
        new = logsumexp_row(stack_row(ways, 0), (0,), False) + lp[t]
        over = t >= ends
        alpha = where(wrap(over[:, None]), alpha, new) if over.any() else new
    last = np.stack([2 * lengths, np.maximum(2 * lengths - 1, 0)], 1)
    final = gather_row(alpha, wrap(last), 1)
    final = where(wrap(np.stack([lengths < 0, lengths == 0], 1)), NEVER, final)
    likelihood = logsumexp_row(final, (1,), False)
    nothing = ends == 0
    if nothing.any():
        likelihood = where(wrap(nothing), wrap(np.where(lengths == 0, 0, NEVER).astype(dtype)), likelihood)
    return likelihood
