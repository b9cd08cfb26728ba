"""Matrix products: ``matmul`` in all its ranks, ``linear`` (the layer's fused form), ``addmm`` and friends, ``outer``."""

import numpy as np

from ..core.op import op
from ..core.public import public
from ..core.tensor import Tensor, wrap
from .reduce import sum_row
from .samples import ErrorSample, Sample, spread
from .shape import reshape, sum_to, transpose_view


def _swap(x):
    return transpose_view(x, x.ndim - 2, x.ndim - 1)


def _column(x):
    return reshape(x, (*x.shape, 1))


def _row(x):
    return reshape(x, (*x.shape[:-1], 1, x.shape[-1]))


def _left_rule(g, y, a, b):
    if a.ndim == 2 and b.ndim == 2:
        return g @ b.T  # the operator goes to NumPy at once when the rule runs on arrays
    if a.ndim == 1 and b.ndim == 1:
        return g * b
    if b.ndim == 1:
        return _column(g) * b
    if a.ndim == 1:
        return sum_to(matmul(_row(g), _swap(b)), (1, a.shape[0])) if b.ndim == 2 else _sum_leading(matmul(_row(g), _swap(b)), a)
    return matmul(g, _swap(b))


def _sum_leading(x, a):
    return sum_to(x, a.shape) if x.ndim == 1 else reshape(sum_to(x, (1, a.shape[0])), a.shape)


def _right_rule(g, y, a, b):
    if a.ndim == 2 and b.ndim == 2:
        return a.T @ g
    if a.ndim == 1 and b.ndim == 1:
        return g * a
    if a.ndim == 1:
        return _column(a) * _row(g)
    if b.ndim == 1:
        product = matmul(_swap(a), _column(g))
        return reshape(sum_to(product, (b.shape[0], 1)), b.shape)
    if b.ndim == 2 and a.ndim > 2:
        rows = 1
        for s in a.shape[:-1]:
            rows *= s
        return matmul(_swap(reshape(a, (rows, a.shape[-1]))), reshape(g, (rows, g.shape[-1])))
    return matmul(_swap(a), g)


def _samples():
    for sa, sb in (((3, 4), (4, 2)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((2, 3, 4), (2, 4, 2)), ((2, 3, 4), (4, 2)),
                   ((5, 1, 3, 4), (2, 4, 2)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,))):  # fmt: skip
        yield Sample(spread(sa), spread(sb, seed=1), note=f"{sa} {sb}")


def _errors():
    yield ErrorSample(np.ones((2, 3)), np.ones((4, 2)), error=RuntimeError, match="cannot be multiplied|must match")


def _matmul(xp, a, b):
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("both arguments to matmul need to be at least 1D; use * for a scalar")
    if a.ndim > 2 and b.ndim == 2:
        if a.shape[-1] != b.shape[0]:
            raise _mismatch(a, b)
        return xp.matmul(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[-1])
    try:
        return xp.matmul(a, b)
    except ValueError:
        raise _mismatch(a, b) from None


def _mismatch(a, b):
    return RuntimeError(
        f"matmul: mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, a.shape))} and {'x'.join(map(str, b.shape))}): "
        f"the last size of the first ({a.shape[-1]}) must equal the second-last of the second "
        f"({b.shape[-2] if b.ndim > 1 else b.shape[0]}). Transpose or reshape one of them"
    )


matmul = op(
    "matmul", _matmul, _left_rule, _right_rule, saves=("a.shape b", "a b.shape"), kind="matmul", dtypes="match", symbol="@",
    grad_name="Mm", samples=_samples, errors=_errors, ref="numpy.matmul", public=True,
    formula={"forward": "a @ b", "rules": ["ḡ @ bᵀ", "aᵀ @ ḡ"]},
)  # fmt: skip


def _linear(xp, x, weight, bias):
    if x.shape[-1] != weight.shape[-1]:
        raise RuntimeError(
            f"linear: mat1 and mat2 shapes cannot be multiplied ({'x'.join(map(str, x.shape))} and "
            f"{weight.shape[1]}x{weight.shape[0]}): the input's last size {x.shape[-1]} must be in_features={weight.shape[1]}"
        )
    if x.ndim == 2:
        out = xp.matmul(x, weight.T)
    elif x.ndim == 1:
        out = xp.matmul(weight, x)
    else:
        out = xp.matmul(x.reshape(-1, x.shape[-1]), weight.T)
    if bias is not None:
        out = xp.add(out, bias, out=out) if out.ndim else out + bias
    return out if x.ndim <= 2 else out.reshape(*x.shape[:-1], weight.shape[0])


def _linear_weight(g, y, x, weight, bias):
    if x.ndim == 1:
        return _column(g) * x
    if x.ndim > 2:
        g, x = reshape(g, (-1, g.shape[-1])), reshape(x, (-1, x.shape[-1]))
    return g.T @ x


_ONES: dict = {}


def _row_of_ones(n, like):
    """Ones to multiply from the left: BLAS sums the rows of a matrix in a third of the time that ``sum(0)`` takes."""
    d = like._d if isinstance(like, Tensor) else like
    ones = _ONES.get((n, d.dtype.num))
    if ones is None:
        ones = np.ones(n, d.dtype)
        ones.flags.writeable = False
        if len(_ONES) < 64:
            _ONES[n, d.dtype.num] = ones
    return wrap(ones) if isinstance(like, Tensor) else ones


def _linear_bias(g, y, x, weight, bias):
    if g.ndim == 2:
        if not isinstance(g, Tensor | np.ndarray) or (isinstance(g, Tensor) and not isinstance(g._d, np.ndarray)):
            return g.sum(0)
        return _row_of_ones(g.shape[0], g) @ g
    return g if g.ndim == 1 else sum_row(g, tuple(range(g.ndim - 1)), False)


def _linear_samples():
    for shape in ((3, 4), (4,), (2, 3, 4)):
        yield Sample(spread(shape), spread((5, 4), seed=1), spread((5,), seed=2), note=f"{shape}")
    yield Sample(spread((3, 4)), spread((5, 4), seed=1), None, note="no bias")


linear = op(
    "linear", _linear, lambda g, y, x, weight, bias: g @ weight if g.ndim == 2 else matmul(g, weight), _linear_weight, _linear_bias,
    saves=("weight", "x", ""), kind="matmul", dtypes="match", grad_name="Addmm", samples=_linear_samples,
    ref=lambda x, w, b: x @ w.T + (0 if b is None else b), public=False,
    formula={"forward": "x @ Wᵀ + b", "rules": ["ḡ @ W", "ḡᵀ @ x", "Σ ḡ over the batch"]},
)  # fmt: skip


@public(inplace=False)
def mm(input, mat2):
    """Matrix product of two 2-d tensors, without broadcasting.

    Raises: RuntimeError unless both are 2-d and inner sizes agree.
    """
    _need_ndim("mm", (input, 2), (mat2, 2))
    return matmul(input, mat2)


@public()
def bmm(input, mat2):
    """Batched matrix product of two 3-d tensors with the same batch size."""
    _need_ndim("bmm", (input, 3), (mat2, 3))
    if input.shape[0] != mat2.shape[0]:
        raise RuntimeError(f"batch1 and batch2 must have same number of batches, got {input.shape[0]} and {mat2.shape[0]}")
    return matmul(input, mat2)


@public()
def mv(input, vec):
    """Matrix-vector product."""
    _need_ndim("mv", (input, 2), (vec, 1))
    return matmul(input, vec)


@public()
def dot(input, tensor):
    """Inner product of two 1-d tensors of equal length."""
    _need_ndim("dot", (input, 1), (tensor, 1))
    if input.shape != tensor.shape:
        raise RuntimeError(f"inconsistent tensor size, expected the same size, got {input.shape[0]} and {tensor.shape[0]}")
    return matmul(input, tensor)


@public("outer", "ger")
def outer(input, vec2):
    """Outer product of two 1-d tensors: ``out[i, j] = input[i] * vec2[j]``."""
    _need_ndim("outer", (input, 1), (vec2, 1))
    return _column(input) * vec2


@public(inplace=True)
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """``beta · input + alpha · mat1 @ mat2``; ``input`` broadcasts."""
    product = mm(mat1, mat2)
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return product + (input if beta == 1 else input * beta)


def _need_ndim(name, *pairs):
    for place, (t, ndim) in enumerate(pairs, 1):
        if t.ndim != ndim:
            raise RuntimeError(f"{name}: operand {place} must be {ndim}-d, got shape {list(t.shape)}")
