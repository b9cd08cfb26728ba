"""Modules that learn their input's number of features from the first input, and then become the ordinary ones."""

from ...errors import shape_text
from ...ops.create import tensor
from ..module import Module
from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from . import conv, linear, normalization


class LazyModuleMixin:
    """Makes a Module lazy: on the first call ``initialize_parameters`` sees the input, then the class changes.

    A subclass sets ``cls_to_become``, makes ``UninitializedParameter`` and ``UninitializedBuffer`` in ``__init__``, and
    defines ``initialize_parameters(*args, **kwargs)``, which calls their ``materialize(shape)``.
    """

    cls_to_become = None

    def __call__(self, *args, **kwargs):
        if not self.__dict__.get("_initialized", False):
            self.initialize_parameters(*args, **kwargs)
            if self.has_uninitialized_params():
                raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
            if self.cls_to_become is not None:
                self.__class__ = self.cls_to_become
            else:
                self._initialized = True
        return Module.__call__(self, *args, **kwargs)

    def initialize_parameters(self, *args, **kwargs):
        """Give the parameters their shapes and first values, from the first call's arguments."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Whether some parameter or buffer has no shape yet."""
        return any(is_lazy(t) for t in (*self._parameters.values(), *self._buffers.values()))

    def _apply(self, fn, recurse=True):
        waiting = {name: b for name, b in self._buffers.items() if is_lazy(b)}
        super()._apply(fn, recurse)
        for name in waiting:
            moved = self._buffers[name]
            self._buffers[name] = UninitializedBuffer(device=moved.device, dtype=moved.dtype)
        return self

    def _later(self, device, dtype, **wanted):
        """Make each parameter of which True is said one that waits for its shape."""
        for name, made in wanted.items():
            self.register_parameter(name, UninitializedParameter(device=device, dtype=dtype) if made else None)


class LazyLinear(LazyModuleMixin, linear.Linear):
    """A ``Linear`` whose ``in_features`` is the last size of the first input.

    Args: out_features: size of each output; bias: learn an additive bias.
    """

    cls_to_become = linear.Linear

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False)
        self._later(device, dtype, weight=True, bias=bias)
        self.out_features = out_features

    def reset_parameters(self):
        """Draw first values anew, once the sizes are known."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Take ``in_features`` from the input."""
        if self.has_uninitialized_params():
            self.in_features = input._d.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        self.in_features = self.weight._d.shape[-1]


class _LazyConv(LazyModuleMixin):
    """What lazy convolutions share."""

    def reset_parameters(self):
        """Draw first values anew, once the sizes are known."""
        if not self.has_uninitialized_params() and self.in_channels:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        """Take ``in_channels`` from the input."""
        first, groups = (0 if self.transposed else 1), self.groups
        if not self.has_uninitialized_params():
            if not self.in_channels:
                self.in_channels = self.weight._d.shape[first] * (1 if self.transposed else groups)
            return
        shape, n = input._d.shape, self._n
        if len(shape) not in (n + 1, n + 2):
            raise RuntimeError(f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {self._get_name()}, but got input of "
                               f"size: {shape_text(shape)}")  # fmt: skip
        channels = shape[-n - 1]
        if channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        self.in_channels = channels
        lead = (channels, self.out_channels // groups) if self.transposed else (self.out_channels, channels // groups)
        self.weight.materialize((*lead, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyForward(_LazyConv):
    def __init__(self, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros",
                 device=None, dtype=None):  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._later(device, dtype, weight=True, bias=bias)
        self.out_channels = out_channels


class _LazyTransposed(_LazyConv):
    def __init__(self, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1,
                 padding_mode="zeros", device=None, dtype=None):  # fmt: skip
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._later(device, dtype, weight=True, bias=bias)
        self.out_channels = out_channels


class LazyConv1d(_LazyForward, conv.Conv1d):
    """A ``Conv1d`` whose ``in_channels`` comes from the first input."""

    cls_to_become = conv.Conv1d


class LazyConv2d(_LazyForward, conv.Conv2d):
    """A ``Conv2d`` whose ``in_channels`` comes from the first input."""

    cls_to_become = conv.Conv2d


class LazyConv3d(_LazyForward, conv.Conv3d):
    """A ``Conv3d`` whose ``in_channels`` comes from the first input."""

    cls_to_become = conv.Conv3d


class LazyConvTranspose1d(_LazyTransposed, conv.ConvTranspose1d):
    """A ``ConvTranspose1d`` whose ``in_channels`` comes from the first input."""

    cls_to_become = conv.ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, conv.ConvTranspose2d):
    """A ``ConvTranspose2d`` whose ``in_channels`` comes from the first input."""

    cls_to_become = conv.ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, conv.ConvTranspose3d):
    """A ``ConvTranspose3d`` whose ``in_channels`` comes from the first input."""

    cls_to_become = conv.ConvTranspose3d


class _LazyNorm(LazyModuleMixin):
    """What lazy batch and instance normalisation share."""

    def __init__(self, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True):
        super().__init__(0, eps, momentum, False, False, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        self._later(device, dtype, weight=affine, bias=affine and bias)
        if track_running_stats:
            self.register_buffer("running_mean", UninitializedBuffer(device=device, dtype=dtype))
            self.register_buffer("running_var", UninitializedBuffer(device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", tensor(0))

    def reset_parameters(self):
        """Weight 1, bias 0, running statistics forgotten, once the size is known."""
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Take ``num_features`` from the input."""
        waiting = [t for t in (*self._parameters.values(), *self._buffers.values()) if is_lazy(t)]
        if waiting:
            self.num_features = input._d.shape[1]
            for t in waiting:
                t.materialize((self.num_features,))
            self.reset_parameters()
        elif not self.num_features:
            self.num_features = input._d.shape[1]


class LazyBatchNorm1d(_LazyNorm, normalization.BatchNorm1d):
    """A ``BatchNorm1d`` whose ``num_features`` comes from the first input."""

    cls_to_become = normalization.BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, normalization.BatchNorm2d):
    """A ``BatchNorm2d`` whose ``num_features`` comes from the first input."""

    cls_to_become = normalization.BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, normalization.BatchNorm3d):
    """A ``BatchNorm3d`` whose ``num_features`` comes from the first input."""

    cls_to_become = normalization.BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, normalization.InstanceNorm1d):
    """An ``InstanceNorm1d`` whose ``num_features`` comes from the first input."""

    cls_to_become = normalization.InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, normalization.InstanceNorm2d):
    """An ``InstanceNorm2d`` whose ``num_features`` comes from the first input."""

    cls_to_become = normalization.InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, normalization.InstanceNorm3d):
    """An ``InstanceNorm3d`` whose ``num_features`` comes from the first input."""

    cls_to_become = normalization.InstanceNorm3d
