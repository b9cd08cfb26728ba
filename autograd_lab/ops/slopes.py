"""Numerical calculus along a dimension: ``trapezoid``, ``cumulative_trapezoid``, ``gradient``; and ``logcumsumexp``."""

import numpy as np

from ..core.bind import write_out
from ..core.op import op
from ..core.public import public
from ..core.tensor import Tensor
from .dims import is_floating, need_tensor, one_dim
from .elementwise import exp
from .index import slice_view
from .join import cat_row, stack_row
from .layout import _reshaped
from .reductions import cumsum, sum_
from .samples import Sample, spread
from .scans import _at, diff
from .shape import to_float

# ----- logarithms of running sums -----


def _log_sums(xp, x, dim):
    if not x.ndim:
        return x.copy()
    if x.dtype.kind != "c":
        return xp.logaddexp.accumulate(x, axis=dim)
    out = x.copy()
    lead = (slice(None),) * dim
    for i in range(1, x.shape[dim]):
        a, b = out[(*lead, i - 1)], x[(*lead, i)]
        top, less = xp.where(a.real >= b.real, a, b), xp.where(a.real >= b.real, b, a)
        out[(*lead, i)] = top + xp.log(1 + xp.exp(less - top))
    return out


def _log_sums_rule(g, y, x, dim):
    """From the end: r_i = g_i + r_{i+1} · exp(y_i − y_{i+1}), times exp(x_i − y_i); every exponent is at most 0."""
    if not x.ndim or not x.shape[dim]:
        return g
    n = x.shape[dim]
    parts, rest = [None] * n, None
    for i in range(n - 1, -1, -1):
        rest = _at(g, dim, i) if rest is None else _at(g, dim, i) + rest * exp(_at(y, dim, i) - _at(y, dim, i + 1))
        parts[i] = rest * exp(_at(x, dim, i) - _at(y, dim, i))
    return stack_row(parts, dim)


logcumsumexp_row = op(
    "logcumsumexp", _log_sums, _log_sums_rule, saves="y x", kind="structure",
    samples=lambda: (Sample(spread((3, 4)), params=(d,)) for d in (0, 1)), ref=lambda x, d: np.log(np.cumsum(np.exp(x), d)),
    formula={"forward": "ln of the running sum of exp x", "rules": ["Σ ḡⱼ exp(xᵢ − yⱼ) over j ≥ i"]},
)  # fmt: skip


@public("logcumsumexp")
def logcumsumexp(input, dim, *, out=None):
    """ln of the running sum of exp x along ``dim``, safe from overflow. Raises: RuntimeError for whole numbers."""
    need_tensor(input, "logcumsumexp")
    if not is_floating(input):
        raise RuntimeError(f"logcumsumexp(): needs a floating or complex tensor, got {input.dtype.name}")
    value = logcumsumexp_row(input, one_dim(dim, input._d.ndim))
    return value if out is None else write_out(out, value)


# ----- areas -----


def _ends(y, dim):
    lead = (slice(None),) * dim
    return slice_view(y, (*lead, slice(0, -1), ...)), slice_view(y, (*lead, slice(1, None), ...))


def _pieces(y, x, dx, dim):
    """Twice the area of each piece."""
    left, right = _ends(y, dim)
    if x is None:
        return (left + right) * dx
    if x._d.ndim == 1 and y._d.ndim > 1:
        if x._d.shape[0] != y._d.shape[dim]:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        widths = _reshaped(diff(x), (-1,) + (1,) * (y._d.ndim - dim - 1))
    else:
        widths = diff(x, 1, dim - y._d.ndim if x._d.ndim >= y._d.ndim else -1)
    return widths * (left + right)


def _checked(name, y, x, dx):
    need_tensor(y, name)
    if y._d.dtype.kind == "b" or (x is not None and x._d.dtype.kind == "b"):
        raise RuntimeError(f"{name}: received a bool input for `x` or `y`, but bool is not supported")
    if isinstance(dx, bool) or isinstance(dx, complex) and y._d.dtype.kind != "c":
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")


@public("trapezoid", "trapz", method=False)
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The area under ``y`` along ``dim`` by trapezoids, at the places ``x`` or with steps ``dx``."""
    _checked("trapezoid", y, x, dx)
    dim = one_dim(dim, y._d.ndim)
    if not y._d.shape[dim]:
        return sum_(to_float(y), dim)
    if x is None:
        left, right = (_at(y, dim, i) for i in (0, -1))
        return (sum_(y, dim) - (left + right) * 0.5) * dx
    return sum_(_pieces(y, x, dx, dim), dim) / 2.0


@public("cumulative_trapezoid", method=False)
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The area under ``y`` along ``dim`` up to each place after the first."""
    _checked("cumulative_trapezoid", y, x, dx)
    dim = one_dim(dim, y._d.ndim)
    return cumsum(_pieces(y, x, dx, dim), dim) / 2.0


# ----- slopes -----


def _part(x, dim, start, end):
    return slice_view(x, (slice(None),) * dim + (slice(start, end), ...))


def _weighted(parts, weights):
    total = parts[0] * weights[0]
    for part, weight in zip(parts[1:], weights[1:], strict=True):
        total = total + part * weight
    return total


def _slope(x, steps, dim, order):
    """The slope along one dimension by central differences; at both ends one-sided ones of ``order`` 1 or 2."""
    n = x._d.shape[dim]
    if not isinstance(steps, Tensor):
        middle = (_part(x, dim, 2, n) - _part(x, dim, 0, n - 2)) / steps / 2
        if order == 1:
            first = (_part(x, dim, 1, 2) - _part(x, dim, 0, 1)) / steps
            last = (_part(x, dim, n - 1, n) - _part(x, dim, n - 2, n - 1)) / steps
        else:
            first = _weighted([_part(x, dim, i, i + 1) for i in range(3)], (-1.5, 2, -0.5)) / steps
            last = _weighted([_part(x, dim, n - i, n - i + 1) for i in (1, 2, 3)], (1.5, -2, 0.5)) / steps
        return cat_row([first, middle, last], dim)
    wide = _reshaped(steps, (-1,) + (1,) * (x._d.ndim - dim - 1))
    width = _part(wide, 0, 1, n) - _part(wide, 0, 0, n - 1)
    a, b = _part(width, 0, 0, n - 2), _part(width, 0, 1, n - 1)
    parts = [_part(x, dim, i, n - 2 + i) for i in range(3)]
    middle = _weighted(parts, (-b / (a * (a + b)), (b - a) / (a * b), a / (b * (a + b))))
    if order == 1:
        first = (_part(x, dim, 1, 2) - _part(x, dim, 0, 1)) / _part(width, 0, 0, 1)
        last = (_part(x, dim, n - 1, n) - _part(x, dim, n - 2, n - 1)) / _part(width, 0, n - 2, n - 1)
    else:
        a, b = _part(width, 0, 0, 1), _part(width, 0, 1, 2)
        weights = (-(2 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b)))
        first = _weighted([_part(x, dim, i, i + 1) for i in range(3)], weights)
        a, b = _part(width, 0, n - 3, n - 2), _part(width, 0, n - 2, n - 1)
        weights = (b / (a * (a + b)), -(a + b) / (a * b), (2 * b + a) / (b * (a + b)))
        last = _weighted([_part(x, dim, n - i, n - i + 1) for i in (3, 2, 1)], weights)
    return cat_row([first, middle, last], dim)


@public("gradient", method=False)
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Slopes of ``input`` along ``dim`` (all dimensions by default), by central differences, as a tuple.

    ``spacing`` is a step, or a list with a step or a vector of coordinates per dimension. Raises: RuntimeError where too few
    points are left for ``edge_order``.
    """
    need_tensor(input, "gradient")
    ndim = input._d.ndim
    dims = tuple(range(ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    placed = [one_dim(d, ndim) for d in dims]
    for i, d in enumerate(placed):
        if d in placed[:i]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    steps = list(spacing) if isinstance(spacing, list | tuple) else [1 if spacing is None else spacing] * len(placed)
    if len(steps) != len(placed):
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, a scalar or a list of length {len(placed)}, got {len(steps)}"
        )
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for step, d in zip(steps, placed, strict=True):
        if isinstance(step, Tensor) and step._d.ndim != 1:
            raise RuntimeError("torch.gradient expected each element of spacing to have one dimension")
        if isinstance(step, Tensor) and step.device != input.device:
            raise RuntimeError("torch.gradient expected each tensor to be on the same device")
        if not ndim or input._d.shape[d] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple(_slope(input, step, d, edge_order) for step, d in zip(steps, placed, strict=True))
