"""Comparing what this library holds with what torch holds: types, values to the bit, strides, flags and sharing."""

from collections import Counter, OrderedDict

import numpy as np
import torch

from autograd_lab.backend.device import device
from autograd_lab.backend.dtype import dtype
from autograd_lab.core.size import Size
from autograd_lab.core.tensor import Parameter, Tensor

DTYPES = [
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
]
PLAIN = (bool, int, float, complex, str, bytes, bytearray, type(None))


def torch_bytes(tensor):
    """The elements of a torch tensor in row-major order, as bytes."""
    whole = tensor.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return bytes(whole.untyped_storage().tolist())[: whole.numel() * whole.element_size()]


def strides_that_matter(shape, strides):
    """Strides of a tensor without those that never move: of sizes 0 and 1, and all of an empty tensor."""
    return None if 0 in shape else [s for n, s in zip(shape, strides, strict=True) if n > 1]


def assert_same_tensor(ours, theirs, strides=True):
    """Type, dtype, shape, bits, strides and requires_grad."""
    assert isinstance(ours, Parameter) == isinstance(theirs, torch.nn.Parameter)
    assert f"torch.{ours.dtype.name}" == str(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert np.ascontiguousarray(ours._array()).tobytes() == torch_bytes(theirs)
    assert ours.requires_grad == theirs.requires_grad
    if strides:
        shape = tuple(theirs.shape)
        assert strides_that_matter(shape, ours.stride()) == strides_that_matter(shape, theirs.stride())


def assert_same(ours, theirs, strides=True):
    """Nested containers of the same types with the same contents in the same order."""
    if isinstance(theirs, torch.Tensor):
        assert isinstance(ours, Tensor)
        assert_same_tensor(ours, theirs, strides)
    elif isinstance(theirs, torch.Size):
        assert type(ours) is Size and tuple(ours) == tuple(theirs)
    elif isinstance(theirs, torch.dtype):
        assert type(ours) is dtype and repr(ours) == str(theirs)
    elif isinstance(theirs, torch.device):
        assert type(ours) is device and str(ours) == str(theirs)
    elif type(theirs) in (dict, OrderedDict, Counter):
        assert type(ours) is type(theirs) and list(ours) == list(theirs)
        for key in theirs:
            assert_same(ours[key], theirs[key], strides)
        assert getattr(ours, "_metadata", None) == getattr(theirs, "_metadata", None)
    elif type(theirs) in (list, tuple):
        assert type(ours) is type(theirs) and len(ours) == len(theirs)
        for mine, other in zip(ours, theirs, strict=True):
            assert_same(mine, other, strides)
    else:
        assert type(theirs) in (*PLAIN, set, frozenset)
        assert type(ours) is type(theirs) and repr(ours) == repr(theirs)


def torch_tensor(name, seed, shape=(4, 5)):
    """A torch tensor of any dtype with arbitrary bits (but true booleans)."""
    kind = getattr(torch, name)
    size = torch.empty((), dtype=kind).element_size()
    bits = torch.randint(0, 256, (*shape[:-1], shape[-1] * size), dtype=torch.uint8, generator=torch.manual_seed(seed))
    return bits > 127 if name == "bool" else bits.view(kind)


FORMS = {
    "whole": lambda t: t,
    "view": lambda t: t.t()[1:, ::2],
    "one value": lambda t: t[1, 2],
    "empty": lambda t: t[:, :0],
    "expanded": lambda t: t[1:2].expand(3, 5),
}
