"""Normalisation, distances and embeddings of nn.functional."""

import math

import numpy as np

from ...core.modes import modes
from ...core.storage import storage_of
from ...errors import shape_text
from ...ops import embedding as tables
from ...ops.compare import where
from ...ops.elementwise import abs as absolute
from ...ops.elementwise import clamp_min, rsqrt, sqrt
from ...ops.join import stack_row
from ...ops.normalize import norm
from ...ops.reduce import amax_row, mean_row, sum_row
from ...ops.shape import reshape
from .checks import constant, need_tensor, positive_dim, same_dtype
from .convolution import pad
from .pooling import avg_pool2d, avg_pool3d


def _move_average(running, value, momentum):
    """running ← (1 − momentum) · running + momentum · value, in its memory."""
    d = running._array()
    d[...] = (1 - momentum) * d + momentum * value.reshape(d.shape)
    storage_of(running).bump("batch_norm", None)


def _check_channels(name, channels, **tensors):
    for argument, t in tensors.items():
        if t is not None and t._d.shape != (channels,):
            raise RuntimeError(f"{name}: {argument} should contain {channels} elements not {t._d.size}")


def _with_given(input, mean, var, weight, bias, eps, view):
    """Normalise with given statistics: they are constants, so this is one scale and one shift per channel."""
    scale = rsqrt(var + eps)
    if weight is not None:
        scale = scale * weight
    y = (input - reshape(mean, view)) * reshape(scale, view)
    return y if bias is None else y + reshape(bias, view)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    """Normalise each channel of (N, C, …) over batch and positions, then scale and shift.

    In training the batch's mean and variance are used and the running ones moved towards them; otherwise the running ones.
    """
    need_tensor("batch_norm", "input", input)
    shape = input._d.shape
    if eps <= 0:
        raise ValueError(f"batch_norm eps must be positive, but got {eps}")
    if len(shape) < 2:
        if not input._d.size:
            return input.clone()
        raise RuntimeError(f"batch_norm: expected an input of at least 2 dimensions (N, C, …), got {shape_text(shape)}")
    _check_channels("batch_norm", shape[1], running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    view = (1, shape[1], *(1,) * (len(shape) - 2))
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
        return _with_given(input, running_mean, running_var, weight, bias, eps, view)
    n = input._d.size // shape[1] if shape[1] else 0
    if n <= 1 and input._d.size:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    y, mean, var = norm(input, weight, bias, (0, *range(2, len(shape))), eps, view)
    if running_mean is not None and n:
        _move_average(running_mean, mean._d, momentum)
    if running_var is not None and n:
        _move_average(running_var, var._d * (n / (n - 1)) if n > 1 else var._d, momentum)
    return y


def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05
):  # fmt: skip
    """Normalise each channel of each sample over its positions."""
    need_tensor("instance_norm", "input", input)
    shape = input._d.shape
    if len(shape) < 3:
        raise ValueError(f"instance_norm: expected an input (N, C, positions…), got {shape_text(shape)}")
    _check_channels("instance_norm", shape[1], running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    view = (1, shape[1], *(1,) * (len(shape) - 2))
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats=False")
        return _with_given(input, running_mean, running_var, weight, bias, eps, view)
    n = math.prod(shape[2:])
    if n == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    y, mean, var = norm(input, weight, bias, tuple(range(2, len(shape))), eps, view)
    if running_mean is not None:
        _move_average(running_mean, mean._d.mean(0), momentum)
    if running_var is not None:
        _move_average(running_var, var._d.mean(0) * (n / max(n - 1, 1)), momentum)
    return y


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Normalise over the last dimensions, which are ``normalized_shape``, then scale and shift elementwise."""
    need_tensor("layer_norm", "input", input)
    given = tuple(normalized_shape) if not isinstance(normalized_shape, int) else (normalized_shape,)
    shape = input._d.shape
    k = len(given)
    if not given or shape[len(shape) - k :] != given or len(shape) < k:
        raise RuntimeError(
            f"Given normalized_shape={list(given)}, expected input with shape [*, {', '.join(map(str, given))}], but got input of "
            f"size{shape_text(shape)}"
        )
    for name, t in (("weight", weight), ("bias", bias)):
        if t is not None and t._d.shape != given:
            raise RuntimeError(f"Expected {name} to be of same shape as normalized_shape, but got {name} of "
                               f"shape {shape_text(t._d.shape)} "
                               f"and normalized_shape = {list(given)}")  # fmt: skip
    n = len(shape)
    return norm(input, weight, bias, tuple(range(n - k, n)), eps, (*(1,) * (n - k), *given))[0]


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """Normalise groups of channels of each sample, then scale and shift each channel."""
    need_tensor("group_norm", "input", input)
    shape = input._d.shape
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if num_groups <= 0 or shape[1] % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape {shape_text(shape)} and "
            f"num_groups={num_groups}"
        )
    _check_channels("group_norm", shape[1], weight=weight, bias=bias)
    per = shape[1] // num_groups
    rest = shape[2:]
    x = reshape(input, (shape[0], num_groups, per, *rest))
    y = norm(x, weight, bias, tuple(range(2, x._d.ndim)), eps, (1, num_groups, per, *(1,) * len(rest)))[0]
    return reshape(y, shape)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide by the root of the mean square over the last dimensions, then scale."""
    given = tuple(normalized_shape)
    shape = input._d.shape
    if not given:
        raise RuntimeError("Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element")
    if shape[len(shape) - len(given) :] != given:
        raise RuntimeError(f"Given normalized_shape={list(given)}, expected input with shape [*, {', '.join(map(str, given))}], "
                           f"but got input of size{shape_text(shape)}")  # fmt: skip
    dims = tuple(range(len(shape) - len(given), len(shape)))
    eps = float(np.finfo(input._d.dtype).eps) if eps is None else eps
    y = input * rsqrt(mean_row(input * input, dims, True) + eps)
    return y if weight is None else y * weight


def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
    """Divide by a power of the mean square over ``size`` neighbouring channels."""
    shape = input._d.shape
    if len(shape) < 3:
        raise ValueError(f"Expected 3D or higher dimensionality input (got {len(shape)} dimensions)")
    if not input._d.size:
        return input
    squares = reshape(input * input, (shape[0], 1, *shape[1:]) if len(shape) == 3 else (shape[0], 1, shape[1], shape[2], -1))
    if len(shape) == 3:
        means = avg_pool2d(pad(squares, (0, 0, size // 2, (size - 1) // 2)), (size, 1), 1)
    else:
        means = avg_pool3d(pad(squares, (0, 0, 0, 0, size // 2, (size - 1) // 2)), (size, 1, 1), 1)
    return input / (reshape(means, shape) * alpha + k) ** beta


# ----- norms and distances -----


def _p_norm(x, p, dim, keepdim):
    """The p-norm along one dimension, whose slope at 0 is 0 as in PyTorch."""
    dims = (positive_dim(dim, x._d.ndim),) if dim is not None and x._d.ndim else None
    size = absolute(x)
    if p == math.inf:
        return amax_row(size, dims, keepdim)
    if p == 1:
        return sum_row(size, dims, keepdim)
    if p == 0:
        return sum_row((size != 0).to(x.dtype), dims, keepdim)
    total = sum_row(size * size if p == 2 else where(size == 0, 0.0, where(size == 0, 1.0, size) ** p), dims, keepdim)
    safe = where(total == 0, 1.0, total)
    return where(total == 0, 0.0, sqrt(safe) if p == 2 else safe ** (1.0 / p))


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """``input`` divided by its p-norm along ``dim`` (but at least ``eps``)."""
    need_tensor("normalize", "input", input)
    return input / clamp_min(_p_norm(input, p, dim, True), eps)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """x₁ · x₂ / (max(‖x₁‖, eps) · max(‖x₂‖, eps)) along ``dim``."""
    x1, x2 = same_dtype(need_tensor("cosine_similarity", "x1", x1), need_tensor("cosine_similarity", "x2", x2))
    if x1._d.dtype.kind in "iub":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {x1.dtype.name}")
    shape = np.broadcast_shapes(x1._d.shape, x2._d.shape)
    if x1._d.shape != shape:
        x1 = x1.expand(shape)
    if x2._d.shape != shape:
        x2 = x2.expand(shape)
    n1, n2 = (clamp_min(_p_norm(x, 2, dim, True), eps) for x in (x1, x2))
    return sum_row((x1 / n1) * (x2 / n2), (positive_dim(dim, len(shape)),) if shape else None, False)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of x₁ − x₂ + eps along the last dimension."""
    return _p_norm(x1 - x2 + eps, p, -1, keepdim)


def pdist(input, p=2.0):
    """The p-norm distances of all pairs of rows, as one vector."""
    n = input._d.shape[0]
    i, j = np.triu_indices(n, 1)
    return _p_norm(input[constant(i)] - input[constant(j)], p, -1, False)


# ----- tables -----


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of ``weight`` that the whole numbers in ``input`` name.

    Args: padding_idx: this row gets no gradient; max_norm: rows that are longer are shortened first, in place.
    Raises: IndexError for a number outside the table.
    """
    need_tensor("embedding", "input", input)
    if input._d.dtype.kind not in "iu":
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input.dtype.name} instead (while checking arguments for embedding)"
        )
    if weight._d.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, got {shape_text(weight._d.shape)}")
    rows = weight._d.shape[0]
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:
        _shorten(weight, input._array(), max_norm, norm_type)
    y = tables.embedding(weight, input, padding_idx)
    if scale_grad_by_freq and y._node is not None and modes.now.grad:
        _, inverse, counts = np.unique(input._array(), return_inverse=True, return_counts=True)
        y = _gradient_divided(y, constant((1 / counts[inverse]).reshape(*input._d.shape, 1).astype(y._d.dtype)))
    return y


def _gradient_divided(y, factor):
    """y forward, factor · ḡ backward."""
    return y * factor + (y * (1 - factor)).detach()


def _shorten(weight, index, limit, p):
    d = weight._array()
    for i in np.unique(index):
        length = float(np.linalg.norm(d[i].astype(np.float64), p))
        if length > limit:
            d[i] *= limit / (length + 1e-7)
    storage_of(weight).bump("embedding_renorm_", None)


def embedding_bag(
    input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
    per_sample_weights=None, include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """Sum, mean or maximum of bags of rows: ``input`` is (bags, length), or one list cut at ``offsets``."""
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None, but it is only supported for mode='sum'")
    index = input._array()
    if index.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences"
            )
        bags = np.repeat(np.arange(index.shape[0]), index.shape[1])
        count = index.shape[0]
    elif index.ndim == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        starts = offsets._array()
        if len(starts) and starts[0] != 0:
            raise ValueError(
                f"offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. Got {starts[0]}"
            )
        count = len(starts) - bool(include_last_offset)
        bags = np.searchsorted(starts[:count], np.arange(index.size), side="right") - 1
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {index.ndim}")
    return _bags(index.reshape(-1), bags, count, weight, max_norm, norm_type, mode, per_sample_weights, padding_idx)


def _bags(flat, bags, count, weight, max_norm, norm_type, mode, per_sample, padding_idx):
    kept = np.ones(len(flat), bool) if padding_idx is None else flat != padding_idx % weight._d.shape[0]
    values = embedding(constant(flat), weight, padding_idx, max_norm, norm_type)
    member = ((bags == np.arange(count)[:, None]) & kept).astype(weight._d.dtype)
    if mode == "max":
        parts = [values[constant(np.flatnonzero(row))].amax(0) if row.any() else values[0] * 0 for row in member]
        return stack_row(parts, 0)
    if per_sample is not None:
        values = values * reshape(per_sample, (-1, 1))
    if mode == "mean":
        member = member / np.maximum(member.sum(1, keepdims=True), 1).astype(member.dtype)
    return constant(member) @ values


def one_hot(tensor, num_classes=-1):
    """Whole numbers as vectors of zeros with a single one: shape (*, num_classes), int64."""
    need_tensor("one_hot", "tensor", tensor)
    d = tensor._array()
    if d.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if d.size and d.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        if not d.size:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(d.max()) + 1
    if num_classes <= 0:
        raise RuntimeError("num_classes should be positive")
    if d.size and d.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    out = np.zeros((*d.shape, num_classes), np.int64)
    np.put_along_axis(out, d[..., None], 1, -1)
    return constant(out)
