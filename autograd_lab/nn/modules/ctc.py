"""``CTCLoss``."""

from .. import functional as F  # noqa: N812 (PyTorch's name)
from ..module import Module


class CTCLoss(Module):
    """−ln of the probability of all alignments of a sequence of labels with its input.

    Args:
        blank: the class that stands for no label
        reduction: "mean" (each loss divided by its target's length first), "sum" or "none"
        zero_infinity: losses of targets that do not fit their input are 0 instead of infinite

    Shape: log-probabilities (T, N, C) or (T, C), targets (N, S) or one after another, input and target lengths (N).

    Example::

        log_probs = torch.randn(50, 2, 20).log_softmax(2)
        nn.CTCLoss()(log_probs, torch.randint(1, 20, (2, 30)), (50, 50), (30, 25))
    """

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__()
        self.reduction, self.blank, self.zero_infinity = reduction, blank, zero_infinity

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        """The loss."""
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)
