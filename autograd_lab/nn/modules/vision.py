"""Resizing of images, and shuffling between channels and positions, as modules."""

from .. import functional as F  # noqa: N812 (PyTorch's name)
from ..module import Module


class Upsample(Module):
    """Resize the positions of (N, C, L), (N, C, H, W) or (N, C, D, H, W).

    Args:
        size: the new sizes, a number or one per dimension
        scale_factor: or what to multiply the old ones by
        mode: nearest, linear, bilinear, bicubic or trilinear
        align_corners: the corner elements of input and output stand at the same place
        recompute_scale_factor: work with the ratio of the rounded sizes

    Example: ``nn.Upsample(scale_factor=2)(torch.randn(1, 3, 8, 8)).shape    # torch.Size([1, 3, 16, 16])``
    """

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None):
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(float(f) for f in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode, self.align_corners, self.recompute_scale_factor = mode, align_corners, recompute_scale_factor

    def forward(self, input):
        """The resized input."""
        return F.interpolate(input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor)

    def extra_repr(self):
        """The settings."""
        what = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{what}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resize images by copying the nearest pixel.

    Args: size: the new height and width; or scale_factor: what to multiply the old ones by.
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resize images bilinearly, with aligned corners.

    Args: size: the new height and width; or scale_factor: what to multiply the old ones by.
    """

    def __init__(self, size=None, scale_factor=None):
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """(*, C·r², H, W) to (*, C, H·r, W·r): channels become positions.

    Args: upscale_factor: r.
    """

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        """The input with channels as positions."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self):
        """The setting."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(*, C, H·r, W·r) to (*, C·r², H, W): the inverse of ``PixelShuffle``.

    Args: downscale_factor: r.
    """

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        """The input with positions as channels."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self):
        """The setting."""
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Deal the channels of (N, C, …) anew: one of each group after another.

    Args: groups: how many groups the channels form.
    """

    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, input):
        """The input with its channels dealt anew."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self):
        """The setting."""
        return f"groups={self.groups}"
