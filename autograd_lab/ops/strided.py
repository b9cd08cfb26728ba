"""Any strides over a tensor's memory: ``as_strided``."""

import numpy as np

from ..core.op import op
from ..core.public import METHODS, public
from .dims import need_tensor
from .layout import _reshaping_in_place
from .samples import Sample, spread


def _strided(xp, x, size, stride, offset, own_stride):
    item, view = x.itemsize, np.lib.stride_tricks.as_strided
    if offset > 0:
        x = view(x, (offset + 1,), (item,))[offset:]
    elif offset < 0:
        x = view(x, (1 - offset,), (-item,))[-offset:]
    return view(x, size, tuple(s * item for s in stride))


def _positions(size, stride, offset):
    """Where in memory, counted in elements, each element lies."""
    out = np.array(offset)
    for n, s in zip(size, stride, strict=True):
        out = out[..., None] + np.arange(n) * s
    return out


def _moved(xp, g, size, stride, offset, to_size, to_stride, to_offset):
    read, write = _positions(to_size, to_stride, to_offset), _positions(size, stride, offset)
    if not read.size or not write.size:
        return xp.zeros(to_size, g.dtype)
    low = min(read.min(), write.min())
    memory = xp.zeros(max(read.max(), write.max()) - low + 1, g.dtype)
    xp.add.at(memory, write - low, g)
    return memory[read - low]


move_strided = op(
    "move_strided", _moved, lambda g, y, x, size, stride, offset, *to: move_strided(g, *to, size, stride, offset),
    kind="structure", grad_name="AsStrided", ref=lambda *args: _moved(np, *args),
    samples=lambda: iter((Sample(spread((2, 2)), params=((2, 2), (1, 1), 1, (3, 4), (4, 1), 0)),)),
    formula={"forward": "x added up in memory, read with other strides", "rules": ["the way back"]},
)  # fmt: skip
strided_view = op(
    "as_strided", _strided, lambda g, y, x, size, stride, offset, own: move_strided(g, size, stride, offset, x.shape, own, 0),
    saves="x.shape", kind="view", ref=lambda x, *p: _strided(np, x, *p).copy(),
    samples=lambda: iter((
        Sample(spread((3, 4)), params=((2, 2), (1, 2), 1, (4, 1))), Sample(spread((16,)), params=((2, 2, 2), (1, 1, 1), 0, (1,))),
    )),
    formula={"forward": "x's memory with other strides", "rules": ["ḡ added up at its places in memory"]},
)  # fmt: skip


def _window(input, size, stride, storage_offset):
    need_tensor(input, "as_strided")
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise RuntimeError(f"mismatch in length of strides and shape: {list(stride)} and {list(size)}")
    if min(size, default=0) < 0 or min(stride, default=0) < 0:
        raise RuntimeError(f"as_strided: sizes and strides must not be negative, got {list(size)} and {list(stride)}")
    start = input.storage_offset()
    offset = start if storage_offset is None else storage_offset
    held = input._owner().nbytes // input._d.itemsize
    last = offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if 0 not in size and (offset < 0 or last >= held):
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset} are out of bounds for storage of "
            f"{held} elements"
        )
    return size, stride, offset - start, tuple(input.stride())


@public("as_strided")
def as_strided(input, size, stride, storage_offset=None):
    """A view of the memory under ``input`` with the given sizes, strides and start, counted in elements.

    Raises: RuntimeError where it would reach beyond the memory.
    """
    return strided_view(input, *_window(input, size, stride, storage_offset))


_reshaping_in_place(as_strided, "as_strided_")
_place_in_memory = METHODS["as_strided_"]


@public("as_strided_", namespace=None)
def as_strided_(self, size, stride, storage_offset=None):
    """``as_strided`` that changes this tensor's own shape."""
    return _place_in_memory(self, size, stride, storage_offset)
