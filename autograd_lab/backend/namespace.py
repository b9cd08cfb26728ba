"""Which array library an array belongs to, found without importing any but NumPy.

CuPy and dpnp are looked up in ``sys.modules``: an array of theirs can only exist if they were imported.
"""

import sys

import numpy as np

from . import device as dev

_GPU = {"cupy": "cuda", "dpnp": "xpu"}


def array_namespace(array):
    """The module with the functions for this array: numpy, cupy or dpnp."""
    if isinstance(array, np.ndarray | np.generic):
        return np
    root = type(array).__module__.partition(".")[0]
    if root in _GPU:
        return sys.modules[root]
    raise TypeError(f"not an array of NumPy, CuPy or dpnp: {type(array).__name__}")


def device_of(array):
    """The device that holds this array."""
    if isinstance(array, np.ndarray | np.generic):
        return dev.CPU
    from . import cupy, dpnp

    return (cupy if type(array).__module__.startswith("cupy") else dpnp).device_of(array)


def backend_for(device):
    """The back-end module (numpy.py, cupy.py or dpnp.py of this folder) that serves a device.

    Raises: RuntimeError saying what is missing and how to install it.
    """
    if device.type == "cpu":
        from . import numpy as backend
    elif device.type == "cuda":
        from . import cupy as backend
    else:
        from . import dpnp as backend
    backend.require()
    return backend
