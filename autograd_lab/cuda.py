"""``torch.cuda``: whether an NVIDIA or AMD GPU is at hand through CuPy, and what is asked of it.

Without one, questions have answers (``is_available()`` is False, ``device_count()`` and ``memory_allocated()`` are 0), seeding
does nothing, and what needs a device raises a RuntimeError that says what is missing.
"""

from .backend import cupy as _cupy
from .backend.clock import clock_for as _clock_for
from .backend.cupy import device_count, is_available


def _index(device):
    if device is None:
        return 0
    return device if isinstance(device, int) else getattr(device, "index", None) or 0


def current_device():
    """The index of the device in use. Raises: RuntimeError without one."""
    _cupy.require()
    return _cupy.module().cuda.Device().id


def get_device_name(device=None):
    """The card's name. Raises: RuntimeError without one."""
    _cupy.require()
    return _clock_for(f"cuda:{_index(device)}").hardware


def synchronize(device=None):
    """Wait until the device has done all it was given. Raises: RuntimeError without one."""
    _cupy.require()
    _clock_for(f"cuda:{_index(device)}").synchronize()


def empty_cache():
    """Give the free blocks of the device's memory pool back; nothing to do without a device."""
    if is_available():
        _cupy.module().get_default_memory_pool().free_all_blocks()


def memory_allocated(device=None):
    """Bytes of the arrays on the device; 0 without one."""
    return _cupy.module().get_default_memory_pool().used_bytes() if is_available() else 0


def memory_reserved(device=None):
    """Bytes that the device's memory pool holds; 0 without one."""
    return _cupy.module().get_default_memory_pool().total_bytes() if is_available() else 0


def manual_seed(seed):
    """Accepted: tensors are drawn on the CPU, so ``torch.manual_seed`` seeds what a device gets too."""


manual_seed_all = manual_seed

__all__ = [
    "current_device", "device_count", "empty_cache", "get_device_name", "is_available", "manual_seed", "manual_seed_all",
    "memory_allocated", "memory_reserved", "synchronize",
]  # fmt: skip
