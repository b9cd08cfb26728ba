"""Writing a result into memory that is there already: ``out=``, and the errors of memory that cannot be written."""

import numpy as np

from ..backend.promotion import can_cast
from ..errors import shape_text
from .modes import modes
from .storage import storage_of
from .tensor import Tensor


def not_writable(name, target, values):
    """The RuntimeError for memory that cannot be written, or values that do not fit it."""
    if not target.flags.writeable:
        return RuntimeError(
            f"{name}: unsupported operation: more than one element of the written-to tensor refers to a single memory location "
            "(an expanded tensor), or its NumPy array is read-only. Please clone() the tensor before performing the operation."
        )
    return RuntimeError(
        f"{name}: shape mismatch: value of shape {shape_text(np.shape(values))} cannot be broadcast to shape "
        f"{shape_text(target.shape)}"
    )


def _check_apart(out, inputs, exact):
    """Raise PyTorch's RuntimeError where ``out`` lies in an input's memory; with ``exact`` it may be that input itself."""
    there = out._d
    for tensor in inputs:
        here = tensor._d if isinstance(tensor, Tensor) else None
        if type(there) is not np.ndarray or type(here) is not np.ndarray or not (there.flags.forc and here.flags.forc):
            continue
        if exact and here.ctypes.data == there.ctypes.data and here.strides == there.strides and here.shape == there.shape:
            continue
        if np.may_share_memory(there, here):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
                "location. Please clone() the tensor before performing the operation."
            )


def write_out(out, result, inputs=(), exact=False):
    """Write a result into ``out=``, as PyTorch does: same memory, resized if its shape differs.

    ``inputs`` are the tensors whose memory ``out`` must not lie in; with ``exact`` it may be one of them as a whole.
    Raises: RuntimeError if it does, or if the result's dtype cannot be cast to ``out``'s.
    """
    _check_apart(out, inputs, exact)
    if not can_cast(result.dtype, out.dtype):
        raise RuntimeError(
            f"result type {result.dtype.name} can't be cast to the desired output type {out.dtype.name} of out="
        )
    if modes.now.grad and (result._node is not None or out._node is not None):
        raise RuntimeError(
            "functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad."
        )
    if not out._array().flags.writeable:
        raise not_writable("out=", out._d, result._d)
    if out._d.shape != result._d.shape:
        out._d = np.empty(result._d.shape, out._d.dtype)
    np.copyto(out._array(), result._d, casting="unsafe")
    storage_of(out).bump("out=", None)
    return out
