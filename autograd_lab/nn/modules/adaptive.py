"""``AdaptiveLogSoftmaxWithLoss``."""

from collections import namedtuple

import numpy as np

from ...core.tensor import wrap
from ...errors import shape_text
from ...ops.index import gather_row, index_row, scatter_index
from ...ops.join import cat_row
from ...ops.shape import reshape
from .. import functional as F  # noqa: N812 (PyTorch's name)
from ..module import Module
from .container import ModuleList, Sequential
from .linear import Linear

_Output = namedtuple("_Output", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """A softmax over very many classes that spends little on rare ones: these stand in clusters, projected to fewer features.

    Args:
        in_features: size of each input
        n_classes: number of classes, the most frequent first
        cutoffs: rising class numbers at which a new cluster begins
        div_value: each cluster has so many times fewer features than the one before
        head_bias: learn a bias of the head

    Shape: input (N, in_features) or (in_features), target (N) or (). Gives (output, loss): the log-probability of each
    target, and the mean of their negatives.
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1
                or any(int(c) != c for c in cutoffs)):  # fmt: skip
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                             "value is between 1 and n_classes-1")  # fmt: skip
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            inner, outer = int(in_features // div_value ** (i + 1)), self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(
                Linear(in_features, inner, bias=False, device=device, dtype=dtype),
                Linear(inner, outer, bias=False, device=device, dtype=dtype),
            ))  # fmt: skip

    def reset_parameters(self):
        """Draw first values anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input, target):
        """(output, loss): the log-probability of each target, and the mean of their negatives."""
        shape, labels = input._d.shape, target._array()
        if labels.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if len(shape) != labels.ndim + 1:
            raise RuntimeError(f"{labels.ndim}D target tensor expects {labels.ndim + 1}D input tensors, but found inputs with size "
                               f"{shape_text(shape)}")  # fmt: skip
        if labels.ndim and shape[0] != labels.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        alone, labels = labels.ndim == 0, np.atleast_1d(labels)
        x = reshape(input, (1, -1)) if alone else input
        if labels.size and (labels.min() < 0 or labels.max() >= self.n_classes):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range [{labels.min()}, "
                               f"{labels.max()}] were found. ")  # fmt: skip
        in_head, parts = labels.copy(), []
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:], strict=False)):
            rows = np.flatnonzero((labels >= low) & (labels < high))
            if not rows.size:
                continue
            in_head[rows] = self.shortlist_size + i
            inside = F.log_softmax(self.tail[i](index_row(x, (rows,))), dim=1)
            chosen = reshape(gather_row(inside, wrap((labels[rows] - low)[:, None]), 1), (-1,))
            parts.append(scatter_index(chosen, labels.shape, (rows,)))
        output = reshape(gather_row(F.log_softmax(self.head(x), dim=1), wrap(in_head[:, None]), 1), (-1,))
        for part in parts:
            output = output + part
        loss = (-output).mean()
        return _Output(reshape(output, ()) if alone else output, loss)

    def log_prob(self, input):
        """The log-probabilities of all classes: (N, n_classes)."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            at = self.shortlist_size + i
            parts.append(F.log_softmax(cluster(input), dim=1) + head[:, at : at + 1])
        return cat_row(parts, 1)

    def predict(self, input):
        """The class with the largest probability: of the head's choice where that is a class, else of all."""
        chosen = self.head(input)._array().argmax(1)
        rare = chosen >= self.shortlist_size
        if rare.any():
            chosen[rare] = self.log_prob(index_row(input, (np.flatnonzero(rare),)))._array().argmax(1)
        return wrap(chosen)
