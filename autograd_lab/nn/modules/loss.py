"""Losses as modules."""

from .. import functional as F  # noqa: N812 (PyTorch's name)
from ..functions.checks import reduction_name
from ..module import Module
from .shape import PairwiseDistance


class _Loss(Module):
    def __init__(self, size_average=None, reduce=None, reduction="mean"):
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = reduction_name(reduction, size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """The mean of the squared differences: Σ (x − y)² / n.

    Args: reduction: "mean", "sum" or "none" (keep every element).
    Shape: input and target alike (*); a number, or (*) with "none". Warns where their sizes differ.
    """

    def forward(self, input, target):
        """The loss."""
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """The mean of the absolute differences: Σ |x − y| / n. Args and shapes as ``MSELoss``."""

    def forward(self, input, target):
        """The loss."""
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Squared where |x − y| < beta, linear beyond: less moved by outliers than ``MSELoss``.

    Args: reduction: as ``MSELoss``; beta: where the square ends.
    """

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input, target):
        """The loss."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Half the square where |x − y| ≤ delta, delta · (|x − y| − delta/2) beyond.

    Args: reduction: as ``MSELoss``; delta: where the square ends.
    """

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction=reduction)
        if isinstance(delta, bool) or not isinstance(delta, int | float):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        self.delta = delta

    def forward(self, input, target):
        """The loss."""
        return F.huber_loss(input, target, self.reduction, self.delta)


class CrossEntropyLoss(_WeightedLoss):
    """−ln softmax(x)[class], averaged: the usual loss of classifiers, straight from logits.

    Args:
        weight: one factor per class
        ignore_index: this target counts nothing
        reduction: "mean", "sum" or "none"
        label_smoothing: share of the target spread over all classes

    Shape: logits (N, C, …) or (C,); class numbers (N, …) of int64, or probabilities of the logits' shape.

    Example::

        loss = nn.CrossEntropyLoss()(net(x), y)
        loss.backward()
    """

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input, target):
        """The loss."""
        return F.cross_entropy(
            input, target, self._buffers["weight"], None, self.ignore_index, None, self.reduction, self.label_smoothing
        )


class NLLLoss(_WeightedLoss):
    """−x[class], averaged, for log-probabilities x (after ``LogSoftmax``). Args and shapes as ``CrossEntropyLoss``."""

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        """The loss."""
        return F.nll_loss(input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """``NLLLoss`` of images under its older name."""


class BCELoss(_WeightedLoss):
    """−t ln p − (1 − t) ln(1 − p) for probabilities p. Args: weight: a factor for each element; reduction: as ``MSELoss``."""

    def forward(self, input, target):
        """The loss."""
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """``BCELoss`` of σ(x), computed without overflow.

    Args: weight: a factor for each element; reduction: as ``MSELoss``; pos_weight: how many times a positive counts.
    """

    def __init__(self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        """The loss."""
        return F.binary_cross_entropy_with_logits(input, target, self.weight, None, None, self.reduction, self.pos_weight)


class KLDivLoss(_Loss):
    """target · (ln target − x) for log-probabilities x: the Kullback–Leibler divergence.

    Args: reduction: as ``MSELoss``, and "batchmean" (the sum divided by the batch size); log_target: targets are logarithms.
    """

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input, target):
        """The loss."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """exp(x) − target · x: the loss for counts with logarithmic rates x (or x − target · ln x with ``log_input=False``)."""

    def __init__(self, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input, target):
        """The loss."""
        return F.poisson_nll_loss(log_input, target, self.log_input, None, self.full, self.eps, None, self.reduction)


class GaussianNLLLoss(_Loss):
    """½ (ln var + (x − target)² / var): the loss for a predicted mean and variance."""

    def __init__(self, *, full=False, eps=1e-06, reduction="mean"):
        super().__init__(None, None, reduction)
        self.full, self.eps = full, eps

    def forward(self, input, target, var):
        """The loss."""
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)


class HingeEmbeddingLoss(_Loss):
    """x where target is 1, max(0, margin − x) where it is −1."""

    def __init__(self, margin=1.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input, target):
        """The loss."""
        return F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 − cos(x₁, x₂) where target is 1, max(0, cos − margin) where it is −1."""

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1, input2, target):
        """The loss."""
        return F.cosine_embedding_loss(input1, input2, target, self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """max(0, −target · (x₁ − x₂) + margin): target 1 wants x₁ larger, −1 x₂."""

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1, input2, target):
        """The loss."""
        return F.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """ln(1 + exp(−target · x)) for targets 1 and −1."""

    def forward(self, input, target):
        """The loss."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """Σ max(0, margin − x[class] + x[i])ᵖ / C over the wrong classes i."""

    def __init__(self, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.ndim != 1:
            raise ValueError("weight must be None or have one dimension")
        self.p, self.margin = p, margin

    def forward(self, input, target):
        """The loss."""
        return F.multi_margin_loss(input, target, self.p, self.margin, self.weight, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """Σ max(0, 1 − (x[j] − x[i])) / C over right classes j (listed up to the first −1) and wrong ones i."""

    def forward(self, input, target):
        """The loss."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of binary cross-entropy with logits."""

    def forward(self, input, target):
        """The loss."""
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """max(0, d(anchor, positive) − d(anchor, negative) + margin) with the p-norm distance.

    Args: margin, p, eps: numbers; swap: use the smaller of the negative's two distances; reduction: as ``MSELoss``.
    """

    def __init__(self, margin=1.0, p=2.0, eps=1e-06, swap=False, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor, positive, negative):
        """The loss."""
        return F.triplet_margin_loss(anchor, positive, negative, self.margin, self.p, self.eps, self.swap, reduction=self.reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """``TripletMarginLoss`` with a distance of one's own."""

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__(None, None, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead")
        self.distance_function = distance_function or PairwiseDistance()
        self.margin, self.swap = margin, swap

    def forward(self, anchor, positive, negative):
        """The loss."""
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip
