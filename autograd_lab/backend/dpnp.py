"""The xpu back end: dpnp, for Intel. Importing this module does not import dpnp."""

import importlib

from .accelerator import Accelerator

_backend = Accelerator(
    "dpnp", "xpu", "dpnp", ("xpu",), "an Intel GPU or Intel's OpenCL runtime for CPUs",
    count=lambda dpnp: len(importlib.import_module("dpctl").get_devices()), index=lambda array: 0,
)  # fmt: skip
is_available, device_count, require = _backend.is_available, _backend.device_count, _backend.require
to_device, to_host, device_of = _backend.to_device, _backend.to_host, _backend.device_of
module = _backend.module
