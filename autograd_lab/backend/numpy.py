"""The CPU back end: NumPy. The other back ends offer the same functions."""

import numpy as xp

from . import device as dev

__all__ = ["device_count", "device_of", "is_available", "require", "to_device", "to_host", "xp"]


def is_available():
    """NumPy is always there."""
    return True


def device_count():
    """One: the host."""
    return 1


def require():
    """Nothing to check."""


def device_of(array):
    """Every NumPy array lives on the CPU."""
    return dev.CPU


def to_device(array, device):
    """A NumPy array as it is."""
    return array


def to_host(array):
    """A NumPy array as it is."""
    return array
