"""Timing that waits for the device, and what machine it was done on."""

from .bench import Timing, time_callable
from .devices import compare_devices, what_a_gpu_needs
from .results import DeviceComparison, Row

__all__ = ["DeviceComparison", "Row", "Timing", "compare_devices", "time_callable", "what_a_gpu_needs"]
