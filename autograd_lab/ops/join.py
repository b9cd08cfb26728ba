"""Joining and splitting: ``cat`` and ``stack`` of many operands, ``split`` and ``unbind`` into many views."""

import numpy as np

from ..core.op import op
from .samples import Sample, spread


def _cat(xp, arrays, dim):
    kept = [a for a in arrays if a.shape != (0,)] or arrays[:1]
    return xp.concatenate(kept, axis=dim)


def _cat_rule(needs, g, y, operands, dim):
    out, start = [], 0
    for need, o in zip(needs, operands, strict=True):
        length = o.shape[dim] if o.shape != (0,) else 0
        index = (slice(None),) * dim + (slice(start, start + length),)
        start += length
        out.append(slice_(g, index) if need and o.shape != (0,) else None)
    return tuple(out)


def slice_(x, index):
    """``x[index]`` for basic indices, on arrays and Tensors alike."""
    from .index import slice_view

    return slice_view(x, index)


cat_row = op(
    "cat", _cat, joint=_cat_rule, kind="structure", arity="many", dtypes="arith", ref=lambda arrays, d: np.concatenate(arrays, d),
    samples=lambda: iter((
        Sample(spread((2, 3)), spread((4, 3), seed=1), params=(0,)), Sample(spread((2, 3)), spread((2, 1), seed=1), params=(1,)),
    )),
    formula={"forward": "operands one after another", "rules": ["each operand's part of ḡ"]},
)  # fmt: skip


def _stack_rule(needs, g, y, operands, dim):
    return tuple(slice_(g, (slice(None),) * dim + (i,)) if need else None for i, need in enumerate(needs))


stack_row = op(
    "stack", lambda xp, arrays, dim: xp.stack(arrays, axis=dim), joint=_stack_rule, kind="structure", arity="many", dtypes="arith",
    ref=lambda arrays, d: np.stack(arrays, d),
    samples=lambda: iter((
        Sample(spread((2, 3)), spread((2, 3), seed=1), params=(0,)), Sample(spread(()), spread((), seed=1), params=(0,)),
    )),
    formula={"forward": "operands along a new dimension", "rules": ["each operand's part of ḡ"]},
)  # fmt: skip


def _parts(sizes, dim):
    start = 0
    for size in sizes:
        yield (slice(None),) * dim + (slice(start, start + size),)
        start += size


split_row = op(
    "split", lambda xp, x, sizes, dim: tuple(x[i] for i in _parts(sizes, dim)),
    joint=lambda needs, g, y, x, sizes, dim: (cat_row(list(g), dim),),
    kind="view", arity=1, outputs="many", ref=lambda x, s, d: tuple(np.split(x, np.cumsum(s)[:-1], d)),
    samples=lambda: iter((Sample(spread((5, 3)), params=((2, 3), 0)),)),
    formula={"forward": "x in parts", "rules": ["the ḡ of the parts, joined"]},
)  # fmt: skip
unbind_row = op(
    "unbind", lambda xp, x, dim: tuple(x[(slice(None),) * dim + (i, ...)] for i in range(x.shape[dim])),
    joint=lambda needs, g, y, x, dim: (stack_row(list(g), dim),),
    kind="view", arity=1, outputs="many", ref=lambda x, d: tuple(np.moveaxis(x, d, 0)),
    samples=lambda: iter((Sample(spread((3, 2)), params=(1,)),)),
    formula={"forward": "x along a dimension", "rules": ["the ḡ of the parts, stacked"]},
)  # fmt: skip


def narrow_last(x, start, length):
    """A slice of the last dimension, on arrays and Tensors alike."""
    return slice_(x, (Ellipsis, slice(start, start + length)))


def join_last(parts):
    """Concatenate along the last dimension, on arrays and Tensors alike."""
    return cat_row(parts, parts[0].ndim - 1)
