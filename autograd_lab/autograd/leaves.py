"""Writing ``.grad``: who owns the buffer, when it is added to in place."""

import numpy as np

from ..core.tensor import Tensor, wrap

_new = object.__new__


def write_grad(leaf, g, fresh, create_graph):
    """Add ``g`` to ``leaf.grad``, which is dense and writable: ``g`` itself if nobody else holds it, else a copy."""
    before = leaf._grad
    if before is None and type(g) is np.ndarray:
        leaf._grad = grad = _new(Tensor)
        grad._d = g if fresh else g.copy()
        grad._st = grad._node = None
    elif isinstance(g, Tensor):
        if before is None:
            leaf._grad = g if create_graph else wrap(g._array().copy())
        elif create_graph:
            leaf._grad = before + g
        else:
            _add_in_place(before, g._d)
    elif before is None:
        leaf._grad = wrap(g)
    else:
        _add_in_place(before, g)
    if leaf._hooks is not None:
        for hook in tuple(leaf._hooks.post.values()):
            hook(leaf)


def _add_in_place(grad, g):
    if grad._node is not None:
        raise RuntimeError(
            ".grad was made by a backward with create_graph=True and is on the tape; it cannot be added to in place. "
            "Set it to None (zero_grad) before the next backward"
        )
    d = grad._d
    if type(d) is np.ndarray:
        np.add(d, g, out=d)
        if grad._st is not None:
            grad._st.bump("accumulate", None)
    else:
        grad._d = d + g
