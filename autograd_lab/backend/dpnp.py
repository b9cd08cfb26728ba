"""The xpu back end: dpnp. Importing this module does not import dpnp; ``require`` does, or says what is missing."""

import importlib
import importlib.util

from . import device as dev

MODULE = "dpnp"


def _module():
    return importlib.import_module(MODULE)


def is_available():
    """Whether dpnp is installed and finds at least one device."""
    return device_count() > 0


def device_count():
    """How many Intel devices dpnp finds; 0 when it is not installed."""
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
            "device 'xpu' needs dpnp, which is not installed: pip install 'autograd_lab[EXTRA]' with EXTRA one of "
            "xpu, and an Intel GPU or the CPU OpenCL runtime. The same program runs on device='cpu'."
        )
    if device_count() == 0:
        raise RuntimeError("dpnp is installed but finds no device: it needs an Intel GPU or the CPU OpenCL runtime. The same program runs on device='cpu'.")


def to_device(array, device):
    """Copy an array to this device."""
    return _module().asarray(array)


def to_host(array):
    """Copy an array of this device to a NumPy array."""
    return _module().asnumpy(array)


def device_of(array):
    """The device that holds this array."""
    return dev.device("xpu", _index(array))


def _count():
    return len(importlib.import_module("dpctl").get_devices())


def _index(array):
    return 0
