"""``LinearCrossEntropyLoss``."""

from dataclasses import dataclass
from math import prod

from ...backend.dtype import dtype
from ...ops.shape import reshape
from .. import functional as F  # noqa: N812 (PyTorch's name)
from ..module import Module
from .linear import Linear


@dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How PyTorch cuts the batch in pieces to save memory. Accepted and shown; the loss is the same with any."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtype | None = None

    def __post_init__(self):
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method is not None and self.chunking_method != "auto":
            name, _, factor = self.chunking_method.partition(":")
            if name != "aspect_ratio" or not (factor or "1").isdigit() or int(factor or "1") < 1:
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if size is not None and (not isinstance(size, int) or size < 1):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")


class LinearCrossEntropyLoss(Module):
    """A linear map to logits and their cross entropy with the target.

    Args:
        in_features: size of each input
        num_classes: number of classes C
        out_features: (d₁, …), for a loss at several places
        bias: learn a bias of the logits
        reduction, weight, ignore_index, label_smoothing: as in ``CrossEntropyLoss``
        options: a ``LinearCrossEntropyOptions``; changes nothing here

    Shape: input (in_features) or (N, in_features), target as ``CrossEntropyLoss`` takes it for logits (N, C, d₁, …).
    """

    def __init__(self, in_features, num_classes, *, out_features=(), bias=False, device=None, dtype=None, reduction="mean",
                 weight=None, ignore_index=None, label_smoothing=0.0, options=None):  # fmt: skip
        if weight is not None and weight._d.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {weight._d.shape}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__()
        self.reduction = reduction
        self.register_buffer("weight", weight)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing, self.options = ignore_index, label_smoothing, options
        self.linear = Linear(in_features, num_classes * prod(out_features), bias=bias, device=device, dtype=dtype)

    def forward(self, input, target):
        """The loss."""
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input, reshape(self.linear.weight, (*shape, self.linear.in_features)), target,
            linear_bias=None if bias is None else reshape(bias, shape), weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self):
        """The settings."""
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
