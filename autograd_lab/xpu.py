"""``torch.xpu``: whether an Intel device is at hand through dpnp. Without one the answers are False and 0."""

from .backend.dpnp import device_count, is_available


def manual_seed(seed):
    """Accepted: tensors are drawn on the CPU, so ``torch.manual_seed`` seeds what a device gets too."""


manual_seed_all = manual_seed

__all__ = ["device_count", "is_available", "manual_seed", "manual_seed_all"]
