"""A linear map and the cross entropy of its result, in one call."""

from math import prod

from ...ops.shape import reshape
from .checks import need_tensor
from .convolution import linear
from .losses import cross_entropy


def linear_cross_entropy(
    input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None, label_smoothing=0.0,
    options=None,
):  # fmt: skip
    """``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    Args:
        input: (in_features) or (N, in_features)
        linear_weight: (C, in_features), or (C, d₁, …, in_features) for a loss at several places
        target: class numbers (), (N), (N, d₁, …), or probabilities (C), (N, C), (N, C, d₁, …)
        linear_bias: (C) or (C, d₁, …)
        weight, reduction, ignore_index, label_smoothing: as in ``cross_entropy``
        options: how PyTorch cuts the batch in pieces; the loss is the same with any

    Raises: RuntimeError where shapes do not fit.
    """
    shape, table = need_tensor("linear_cross_entropy", "input", input)._d.shape, linear_weight._d.shape
    if len(shape) not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {len(shape)}")
    if len(table) < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {len(table)}")
    if shape[-1] != table[-1]:
        raise RuntimeError(
            f"expected equal input and linear_weight last dimensions (in_features), got {shape[-1]} and {table[-1]}, respectively"
        )
    places = table[1:-1]
    if linear_bias is not None and linear_bias._d.shape != table[:-1]:
        raise RuntimeError(f"expected linear_bias shape {table[:-1]}, got {linear_bias._d.shape}")
    if places and len(shape) == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {table} requires batched input, (N, {shape[-1]}), got "
            f"unbatched input with shape {shape}"
        )
    result = (*shape[:-1], *table[:-1])
    if target._d.shape == result and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    if places:
        linear_weight = reshape(linear_weight, (prod(table[:-1]), table[-1]))
        linear_bias = None if linear_bias is None else reshape(linear_bias, (prod(table[:-1]),))
    logits = reshape(linear(input, linear_weight, linear_bias), result)
    return cross_entropy(
        logits, target, weight, ignore_index=-100 if ignore_index is None else ignore_index, reduction=reduction,
        label_smoothing=label_smoothing,
    )  # fmt: skip
