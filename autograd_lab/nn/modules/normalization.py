"""Normalisation as modules: batch, layer, group, instance, RMS, local response."""

from ...core.storage import storage_of
from ...core.tensor import Parameter
from ...ops.create import empty, ones, tensor, zeros
from .. import functional as F  # noqa: N812 (PyTorch's name)
from .. import init
from ..module import Module


class _Norm(Module):
    """What batch and instance normalisation share: parameters, running statistics, printing."""

    _version = 2
    _ndims = ()

    def __init__(self, num_features, eps, momentum, affine, track_running_stats, device, dtype, bias):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        for name, made in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(empty(num_features, device=device, dtype=dtype)) if made else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", ones(num_features, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self):
        """Forget the running statistics."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self):
        """Weight 1, bias 0, running statistics forgotten."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check(self, input):
        if self._ndims and input.ndim not in self._ndims:
            wanted = " or ".join(f"{n}D" for n in self._ndims)
            raise ValueError(f"expected {wanted} input (got {input.ndim}D input)")

    def _counted(self):
        """Count one more batch; returns the share of the new statistics in the running ones."""
        if not (self.training and self.track_running_stats) or self.num_batches_tracked is None:
            return 0.0 if self.momentum is None else self.momentum
        count = self.num_batches_tracked
        count._array()[...] += 1
        storage_of(count).bump("add_", None)
        return 1.0 / float(count._d) if self.momentum is None else self.momentum

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        if local_metadata.get("version", 1) < 2 and self.track_running_stats:  # a plain dict tells no version
            state_dict.setdefault(prefix + "num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self):
        """The settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Norm):
    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *,
                 bias=True):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input):
        """The normalised input."""
        self._check(input)
        share = self._counted()
        mean, var = self.running_mean, self.running_var
        from_batch = self.training or (mean is None and var is None)
        kept = not self.training or self.track_running_stats
        return F.batch_norm(
            input, mean if kept else None, var if kept else None, self.weight, self.bias, from_batch, share, self.eps
        )


class BatchNorm1d(_BatchNorm):
    """Normalise each channel of (N, C) or (N, C, L) over the batch; see ``BatchNorm2d``."""

    _ndims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalise each channel of images over the batch: y = (x − mean) / √(var + eps) · weight + bias.

    Args:
        num_features: number of channels C
        eps: keeps the root away from 0
        momentum: share of a new batch in the running statistics; None: their plain average
        affine: learn weight and bias
        track_running_stats: keep running mean and variance for evaluation

    Shape: (N, C, H, W), output the same.
    """

    _ndims = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalise each channel of volumes (N, C, D, H, W) over the batch; see ``BatchNorm2d``."""

    _ndims = (5,)


class SyncBatchNorm(_BatchNorm):
    """``BatchNorm`` over all processes; with one process it is the same as batch normalisation."""

    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
                 device=None,
                 dtype=None, *, bias=True):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group


class _InstanceNorm(_Norm):
    def __init__(self, num_features, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None, *,
                 bias=True):  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias)

    def forward(self, input):
        """The normalised input."""
        self._check(input)
        alone = input.ndim == self._ndims[0]
        x = input.unsqueeze(0) if alone else input
        if x._d.shape[1] != self.num_features and self.affine:
            raise ValueError(
                f"expected input's size at dim=1 to match num_features ({self.num_features}), but got: {x._d.shape[1]}."
            )
        y = F.instance_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return y.squeeze(0) if alone else y


class InstanceNorm1d(_InstanceNorm):
    """Normalise each channel of each sequence over its positions; arguments as ``BatchNorm2d``."""

    _ndims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalise each channel of each image over its positions; arguments as ``BatchNorm2d``."""

    _ndims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalise each channel of each volume over its positions; arguments as ``BatchNorm2d``."""

    _ndims = (4, 5)


class LayerNorm(Module):
    """Normalise over the last dimensions: y = (x − mean) / √(var + eps) · weight + bias.

    Args:
        normalized_shape: the sizes of those dimensions, a number or a list
        eps: keeps the root away from 0
        elementwise_affine: learn weight and bias (of ``normalized_shape``)
        bias: learn the bias

    Shape: (N, *), output the same.
    """

    def __init__(self, normalized_shape, eps=1e-05, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        for name, made in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            self.register_parameter(name, Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if made else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input):
        """The normalised input."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        """The settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divide by the root of the mean square over the last dimensions: y = x / √(mean(x²) + eps) · weight.

    Args: normalized_shape: the sizes of those dimensions; eps: default the dtype's precision; elementwise_affine: learn weight.
    """

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        made = elementwise_affine
        self.register_parameter("weight", Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if made else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Weight 1."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, input):
        """The normalised input."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        """The settings."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Normalise groups of channels of each sample, then scale and shift each channel.

    Args: num_groups, num_channels: numbers, the second divisible by the first; eps: keeps the root away from 0;
    affine: learn weight and bias. Shape: (N, C, *), output the same.
    """

    def __init__(self, num_groups, num_channels, eps=1e-05, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_channels % num_groups:
            raise ValueError("num_channels must be divisible by num_groups")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        for name, made in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(empty(num_channels, device=device, dtype=dtype)) if made else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input):
        """The normalised input."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        """The settings."""
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


class LocalResponseNorm(Module):
    """Divide by (k + alpha · mean square of ``size`` neighbouring channels) to the power beta."""

    def __init__(self, size, alpha=0.0001, beta=0.75, k=1.0):
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input):
        """The normalised input."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self):
        """The settings."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
