"""Writing ``.grad``: who owns the buffer, when it is added to in place."""

import numpy as np

from ..core.modes import enable_grad
from ..core.storage import storage_of
from ..core.tensor import Tensor, wrap
from ..ops.elementwise import add
from ..ops.shape import clone

_new = object.__new__


def write_grad(leaf, g, fresh, create_graph):
    """Add ``g`` to ``leaf.grad``, which is dense and writable: ``g`` itself if nobody else holds it, else a copy."""
    before = leaf._grad
    if before is None and type(g) is np.ndarray:
        leaf._grad = grad = _new(Tensor)
        grad._d = g if fresh else g.copy()
        grad._st = grad._node = None
    elif isinstance(g, Tensor):
        if create_graph:
            leaf._grad = total_on_tape(before, g)
        elif before is None:
            leaf._grad = wrap(g._array().copy())
        else:
            _add_in_place(before, g._d)
    elif before is None:
        leaf._grad = wrap(g)
    else:
        _add_in_place(before, g)
    if leaf._hooks is not None:
        for hook in tuple(leaf._hooks.post.values()):
            hook(leaf)


@enable_grad()
def total_on_tape(before, g):
    """A recorded gradient to keep: a tensor of its own, since ``g`` may be another leaf's too."""
    return clone(g) if before is None else add(before, g)


def _add_in_place(grad, g):
    d = grad._d
    if type(d) is np.ndarray:
        np.add(d, g, out=d)
    else:
        grad._d = d + g
    if grad._st is not None or grad._node is not None:  # on the tape: whoever saved it must notice
        storage_of(grad).bump("accumulate", None)
