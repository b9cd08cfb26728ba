"""Modules that change shapes or compare vectors: flatten, unflatten, fold, unfold, distances."""

from ...errors import shape_text
from ...ops.shape import reshape
from .. import functional as F  # noqa: N812 (PyTorch's name)
from ..functions.checks import positive_dim
from ..module import Module


class Flatten(Module):
    """Join a range of dimensions into one; by default all but the batch.

    Args: start_dim, end_dim: the first and last dimension of the range.
    Example: ``nn.Flatten()(torch.randn(32, 1, 5, 5)).shape    # torch.Size([32, 25])``
    """

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        """The input with the range joined."""
        shape = input._d.shape
        if len(shape) == 0:
            return reshape(input, (1,))
        start, end = positive_dim(self.start_dim, len(shape)), positive_dim(self.end_dim, len(shape))
        if start > end:
            raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
        if start == end:
            return input
        n = 1
        for s in shape[start : end + 1]:
            n *= s
        return reshape(input, (*shape[:start], n, *shape[end + 1 :]))

    def extra_repr(self):
        """The settings."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split one dimension into several: the inverse of ``Flatten``.

    Args: dim: the dimension; unflattened_size: its new sizes, one of them may be −1.
    """

    def __init__(self, dim, unflattened_size):
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(f"unflattened_size must be a tuple of tuples, or dim an int; found dim of type {type(dim).__name__}")
        if not isinstance(unflattened_size, tuple | list) or not all(isinstance(s, int) for s in unflattened_size):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found {unflattened_size!r}")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input):
        """The input with the dimension split."""
        shape = input._d.shape
        dim = positive_dim(self.dim, len(shape))
        sizes, known = list(self.unflattened_size), 1
        for s in sizes:
            known *= s if s != -1 else 1
        if -1 in sizes and known:
            sizes[sizes.index(-1)] = shape[dim] // known
        total = 1
        for s in sizes:
            total *= s
        if total != shape[dim]:
            raise RuntimeError(
                f"unflatten: Provided sizes {list(self.unflattened_size)} don't multiply up to the size of dim "
                f"{dim} ({shape[dim]}) in the "
                f"input tensor of shape {shape_text(shape)}"
            )
        return reshape(input, (*shape[:dim], *sizes, *shape[dim + 1 :]))

    def extra_repr(self):
        """The settings."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"


class Unfold(Module):
    """The windows of images (N, C, H, W) as columns (N, C·kH·kW, number of windows)."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input):
        """The windows as columns."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        """The settings."""
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Module):
    """Columns (N, C·kH·kW, L) added back to images of ``output_size``: the adjoint of ``Unfold``."""

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size, self.kernel_size, self.dilation, self.padding, self.stride = (
            output_size,
            kernel_size,
            dilation,
            padding,
            stride,
        )

    def forward(self, input):
        """The images."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        """The settings."""
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class CosineSimilarity(Module):
    """x₁ · x₂ / (max(‖x₁‖, eps) · max(‖x₂‖, eps)) along ``dim``."""

    def __init__(self, dim=1, eps=1e-08):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1, x2):
        """The similarity."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of x₁ − x₂ + eps along the last dimension."""

    def __init__(self, p=2.0, eps=1e-06, keepdim=False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1, x2):
        """The distance."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
