"""Embedding tables as modules."""

from ...core.tensor import Parameter
from ...ops.create import empty
from .. import functional as F  # noqa: N812 (PyTorch's name)
from .. import init
from ..module import Module


def _row(padding_idx, rows):
    """A padding row counted from the front. Raises: AssertionError outside the table."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % rows


class Embedding(Module):
    """A table of vectors, looked up by number.

    Args:
        num_embeddings: rows of the table
        embedding_dim: length of a vector
        padding_idx: this row is zeros and gets no gradient
        max_norm, norm_type: longer vectors are shortened when looked up
        scale_grad_by_freq: divide gradients by how often a number occurs in the batch

    Shape: whole numbers (*), output (*, embedding_dim). ``weight`` starts from N(0, 1).

    Example: ``nn.Embedding(10, 3)(torch.tensor([[1, 2], [4, 5]])).shape    # torch.Size([2, 2, 3])``
    """

    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                 sparse=False, _weight=None, _freeze=False, device=None, dtype=None):  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx, self.max_norm, self.norm_type = _row(padding_idx, num_embeddings), max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            self.weight = Parameter(empty(num_embeddings, embedding_dim, device=device, dtype=dtype), requires_grad=not _freeze)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self):
        """Draw first values anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight._array()[self.padding_idx] = 0

    def forward(self, input):
        """The rows that the numbers in the input name."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
                        sparse=False):  # fmt: skip
        """A table around given vectors, not trained unless ``freeze=False``."""
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(*embeddings.shape, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)

    def extra_repr(self):
        """Sizes, and settings that are not the default."""
        s = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, usual in (("padding_idx", None), ("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False)):
            if getattr(self, name) != usual:
                s += f", {name}={getattr(self, name)}"
        return s + (", sparse=True" if self.sparse else "")


class EmbeddingBag(Module):
    """Sums, means or maxima of bags of table rows, without keeping the single rows.

    Args: as ``Embedding``; mode: sum, mean or max; include_last_offset: the last offset is the end of the last bag.

    Shape: (bags, length), or a list of numbers with offsets; output (bags, embedding_dim).
    """

    def __init__(self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
                 sparse=False,
                 _weight=None, include_last_offset=False, padding_idx=None, device=None, dtype=None):  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset
        self.padding_idx = _row(padding_idx, num_embeddings)
        if _weight is None:
            self.weight = Parameter(empty(num_embeddings, embedding_dim, device=device, dtype=dtype))
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight)

    def reset_parameters(self):
        """Draw first values anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight._array()[self.padding_idx] = 0

    def forward(self, input, offsets=None, per_sample_weights=None):
        """One vector for each bag."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self):
        """Sizes, and settings that are not the default."""
        s = f"{self.num_embeddings}, {self.embedding_dim}"
        for name, usual in (("max_norm", None), ("norm_type", 2), ("scale_grad_by_freq", False)):
            if getattr(self, name) != usual:
                s += f", {name}={getattr(self, name)!r}"
        s += f", mode={self.mode!r}"
        return s + ("" if self.padding_idx is None else f", padding_idx={self.padding_idx!r}")
