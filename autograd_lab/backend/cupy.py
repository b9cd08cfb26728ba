"""The cuda back end: CuPy, for NVIDIA CUDA or AMD ROCm. Importing this module does not import CuPy."""

from .accelerator import Accelerator

_backend = Accelerator(
    "cupy", "cuda", "CuPy", ("cuda12", "cuda13", "rocm"), "a CUDA or ROCm driver and a GPU",
    count=lambda cupy: cupy.cuda.runtime.getDeviceCount(), index=lambda array: array.device.id,
)  # fmt: skip
is_available, device_count, require = _backend.is_available, _backend.device_count, _backend.require
to_device, to_host, device_of = _backend.to_device, _backend.to_host, _backend.device_of
module = _backend.module
