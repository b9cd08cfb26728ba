"""The cuda back end: CuPy. Importing this module does not import CuPy; ``require`` does, or says what is missing."""

import importlib
import importlib.util

from . import device as dev

MODULE = "cupy"


def _module():
    return importlib.import_module(MODULE)


def is_available():
    """Whether CuPy is installed and finds at least one device."""
    return device_count() > 0


def device_count():
    """How many NVIDIA CUDA (or AMD ROCm) devices CuPy finds; 0 when it is not installed."""
    if importlib.util.find_spec(MODULE) is None:
        return 0
    try:
        return _count()
    except Exception:
        return 0


def require():
    """Raise the RuntimeError that says what is missing, or return when the back end works."""
    if importlib.util.find_spec(MODULE) is None:
        raise RuntimeError(
            "device 'cuda' needs CuPy, which is not installed: pip install 'autograd_lab[EXTRA]' with EXTRA one of "
            "cuda12, cuda13 or rocm, and a CUDA or ROCm driver and a GPU. The same program runs on device='cpu'."
        )
    if device_count() == 0:
        raise RuntimeError("CuPy is installed but finds no device: it needs a CUDA or ROCm driver and a GPU. The same program runs on device='cpu'.")


def to_device(array, device):
    """Copy an array to this device."""
    return _module().asarray(array)


def to_host(array):
    """Copy an array of this device to a NumPy array."""
    return _module().asnumpy(array)


def device_of(array):
    """The device that holds this array."""
    return dev.device("cuda", _index(array))


def _count():
    return _module().cuda.runtime.getDeviceCount()


def _index(array):
    return array.device.id
