"""Rows that move or copy elements without computing: views (shared memory) and structure rows (fresh memory).

The rows take normalised parameters; the public functions below them take PyTorch's.
"""


import numpy as np

from ..backend import dtype as dt
from ..core.bind import follow_spec
from ..core.op import op
from ..core.tensor import Tensor
from .samples import Sample, spread

# ----- copies and casts -----


def _cast(xp, x, dtype):
    if x.dtype.kind == "c" and dtype.kind != "c" and dtype.kind != "b":
        x = x.real
    return x.astype(dtype)


cast = op(
    "cast", _cast, lambda g, y, x, dtype: g, kind="structure", grad_name="ToCopy", symbol="to", ref=lambda x, d: x.astype(d),
    samples=lambda: iter((Sample(spread((3, 4)), params=(np.dtype(np.float64),)),)),
    formula={"forward": "x in another dtype", "rules": ["ḡ"]},
)  # fmt: skip
clone = op(
    "clone", lambda xp, x: x.copy() if hasattr(x, "copy") else x, lambda g, y, x: g, kind="structure",
    samples=lambda: iter((Sample(spread((3, 4))), Sample(spread(())))), ref=lambda x: x,
    formula={"forward": "x", "rules": ["ḡ"]},
)  # fmt: skip
contiguous_copy = op(
    "contiguous_copy", lambda xp, x: xp.ascontiguousarray(x), lambda g, y, x: g,
    kind="structure", grad_name="Clone", symbol="clone",
    samples=lambda: iter((Sample(spread((3, 4)).T),)), ref=lambda x: x, formula={"forward": "x", "rules": ["ḡ"]},
)  # fmt: skip


def _expand_copy(xp, x, shape):
    out = xp.empty(shape, x.dtype)
    out[...] = x
    return out


expand_copy = op(
    "expand_copy", _expand_copy, lambda g, y, x, shape: sum_to(g, x.shape), saves="x.shape", kind="structure", symbol="expand",
    grad_name="Expand", samples=lambda: iter((Sample(spread((1, 4)), params=((3, 4),)), Sample(spread(()), params=((2, 3),)))),
    ref=lambda x, s: np.broadcast_to(x, s), formula={"forward": "x repeated to the shape", "rules": ["Σ ḡ over the repeats"]},
)  # fmt: skip


def _sum_to(xp, x, shape):
    extra = x.ndim - len(shape)
    if extra:
        x = xp.add.reduce(x, axis=tuple(range(extra)))
        if not shape:
            return x
    axes = tuple(i for i, (have, want) in enumerate(zip(x.shape, shape, strict=True)) if want == 1 and have != 1)
    return xp.add.reduce(x, axis=axes, keepdims=True) if axes else x


sum_to = op(
    "sum_to", _sum_to, lambda g, y, x, shape: expand_copy(g, x.shape), saves="x.shape", kind="reduction", symbol="Σ",
    samples=lambda: iter((Sample(spread((3, 4)), params=((4,),)), Sample(spread((3, 4)), params=((3, 1),)),
                          Sample(spread((2, 3)), params=((),)))),
    ref=lambda x, s: _sum_to(np, x, s), formula={"forward": "Σ x over broadcast dimensions", "rules": ["ḡ repeated"]},
)  # fmt: skip

# ----- views -----


def _view(xp, x, shape):
    return x.reshape(shape, copy=False)


view = op(
    "view", _view, lambda g, y, x, shape: reshape(g, x.shape), saves="x.shape", kind="view",
    samples=lambda: iter((Sample(spread((3, 4)), params=((2, 6),)), Sample(spread((3, 4)), params=((12,),)))),
    ref=lambda x, s: x.reshape(s), formula={"forward": "x in another shape", "rules": ["ḡ in the shape of x"]},
)  # fmt: skip
unsafe_reshape = op(
    "reshape", lambda xp, x, shape: x.reshape(shape), lambda g, y, x, shape: reshape(g, x.shape), saves="x.shape", kind="structure",
    grad_name="UnsafeView", samples=lambda: iter((Sample(spread((3, 4)).T, params=((2, 6),)),)), ref=lambda x, s: x.reshape(s),
    formula={"forward": "x in another shape", "rules": ["ḡ in the shape of x"]},
)  # fmt: skip


def _repeated(xp, x, shape):
    """A view with strides of 0, and read-only: one element stands for many."""
    if x.shape == shape:
        return x[...]
    if xp is not np or not x.flags.c_contiguous:
        return xp.broadcast_to(x, shape)
    extra = len(shape) - x.ndim
    strides = (0,) * extra + tuple(
        [0 if have == 1 and want != 1 else s for have, want, s in zip(x.shape, shape[extra:], x.strides, strict=True)]
    )
    out = np.ndarray(shape, x.dtype, x, 0, strides)
    out.flags.writeable = False
    return out


expand_view = op(
    "expand", _repeated,
    lambda g, y, x, shape: sum_to(g, x.shape), saves="x.shape", kind="view",
    samples=lambda: iter((Sample(spread((3, 1)), params=((2, 3, 4),)),)), ref=lambda x, s: np.broadcast_to(x, s),
    formula={"forward": "x repeated to the shape", "rules": ["Σ ḡ over the repeats"]},
)  # fmt: skip
permute_view = op(
    "permute", lambda xp, x, dims: x.transpose(dims), lambda g, y, x, dims: permute_view(g, inverse(dims)), kind="view",
    samples=lambda: iter((Sample(spread((2, 3, 4)), params=((2, 0, 1),)),)), ref=lambda x, d: x.transpose(d),
    formula={"forward": "x with dimensions in another order", "rules": ["ḡ with dimensions put back"]},
)  # fmt: skip
transpose_view = op(
    "transpose", lambda xp, x, a, b: x.swapaxes(a, b), lambda g, y, x, a, b: transpose_view(g, a, b), kind="view", symbol="ᵀ",
    samples=lambda: iter((Sample(spread((2, 3, 4)), params=(0, 2)),)), ref=lambda x, a, b: x.swapaxes(a, b),
    formula={"forward": "xᵀ", "rules": ["ḡᵀ"]},
)  # fmt: skip


def inverse(dims):
    """The permutation that undoes ``dims``."""
    out = [0] * len(dims)
    for i, d in enumerate(dims):
        out[d] = i
    return tuple(out)


# ----- in-place changes through a view (see core/bind.py) -----

replace_region = op(
    "replace_region", lambda xp, base, value, spec: _replace(xp, base, value, spec),
    lambda g, y, base, value, spec: clear_region(g, spec), lambda g, y, base, value, spec: view_of(g, spec),
    kind="structure", grad_name="CopySlices", symbol="x[…]=", ref=lambda b, v, s: _replace(np, b, v, s),
    samples=lambda: iter((Sample(spread((3, 4)), spread((3, 4)).T, params=(((transpose_view.op, (0, 1)),),)),)),
    formula={"forward": "base with a region replaced", "rules": ["ḡ with the region 0", "ḡ of the region"]},
)  # fmt: skip


def _replace(xp, base, value, spec):
    out = xp.array(base, order="C")
    follow_spec(xp, out, spec)[...] = value
    return out


view_of = op(
    "view_of", lambda xp, base, spec: follow_spec(xp, xp.asarray(base, order="C"), spec),
    lambda g, y, base, spec: embed_region(g, base.shape, spec),
    saves="base.shape", kind="structure", grad_name="AsStrided", symbol="x[…]", ref=lambda x, s: follow_spec(np, x, s),
    samples=lambda: iter((Sample(spread((3, 4)), params=(((transpose_view.op, (0, 1)),),)),)),
    formula={"forward": "a view of base", "rules": ["ḡ at the view's place, else 0"]},
)  # fmt: skip


_OVERLAPPING = {"expand", "unfold", "as_strided"}
"""Views that may show one element of their base at several places: the gradient adds up."""


def _embed(xp, g, shape, spec):
    out = xp.zeros(shape, g.dtype)
    if any(row.name in _OVERLAPPING for row, _ in spec):
        places = follow_spec(xp, xp.arange(out.size).reshape(shape), spec)
        xp.add.at(out.reshape(-1), places, g)
    else:
        follow_spec(xp, out, spec)[...] = g
    return out


embed_region = op(
    "embed_region", _embed, lambda g, y, x, shape, spec: view_of(g, spec), kind="structure", grad_name="Embed",
    samples=lambda: iter((Sample(spread((4, 3)), params=((3, 4), ((transpose_view.op, (0, 1)),))),)), ref=lambda x, sh, s: x.T,
    formula={"forward": "x at the view's place, else 0", "rules": ["ḡ of the view"]},
)  # fmt: skip


def _clear(xp, g, spec):
    out = xp.array(g, order="C")
    follow_spec(xp, out, spec)[...] = 0
    return out


clear_region = op(
    "clear_region", _clear, lambda g, y, x, spec: clear_region(g, spec), kind="structure", grad_name="Clear",
    samples=lambda: iter((Sample(spread((3, 4)), params=(((transpose_view.op, (0, 1)),),)),)), ref=lambda x, s: x * 0,
    formula={"forward": "x with a region 0", "rules": ["ḡ with the region 0"]},
)  # fmt: skip


def reshape(x, shape):
    """Reshape an array or Tensor to a full shape: a view where memory allows, else a copy."""
    if not isinstance(x, Tensor):
        return x.reshape(shape) if not getattr(x, "_is_symbol", False) else unsafe_reshape(x, shape)
    d = x._array()
    if d.flags.c_contiguous or _viewable(d, shape):
        return view(x, shape)
    return unsafe_reshape(x, shape)


def _viewable(d, shape):
    try:
        d.reshape(shape, copy=False)
    except ValueError:
        return False
    return True


def full_shape(shape, size, name="reshape"):
    """Fill in a -1. Raises: RuntimeError where the shape does not hold ``size`` elements."""
    known, unknown = 1, 0
    for s in shape:
        if s < 0:
            unknown += 1
        else:
            known *= s
    if not unknown and known == size:
        return shape if type(shape) is tuple else tuple(shape)
    if unknown == 1 and known and size % known == 0 and -1 in shape:
        return tuple([size // known if s == -1 else s for s in shape])
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if -1 in shape:
        if known == 0:
            raise RuntimeError(f"cannot reshape tensor of {size} elements into shape {list(shape)} because -1 is ambiguous")
    raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size} ({name})")


def cast_to(x, dtype):
    """A tensor in one of our dtypes; the tensor itself if it has it already."""
    return x if x._d.dtype == dtype.numpy else cast(x, dtype.numpy)


def to_float(x):
    """Integers to the default floating dtype; floating and complex tensors as they are."""
    return x if x.dtype.category >= dt.CATEGORY_FLOAT else cast(x, dt.get_default_dtype().numpy)
