"""``nn.init``: fill tensors with first values, in place and off the tape. Random ones are PyTorch's for the same seed."""

import math
import warnings

import numpy as np

from ..backend import random as rnd
from ..core.storage import storage_of

_GAINS = {
    "linear": 1, "conv1d": 1, "conv2d": 1, "conv3d": 1, "conv_transpose1d": 1, "conv_transpose2d": 1, "conv_transpose3d": 1,
    "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4,
}  # fmt: skip


def _write(tensor, values):
    d = tensor._array()
    d[...] = values
    storage_of(tensor).bump("init", None)
    return tensor


def _generator(generator):
    return generator or rnd.default_generator


def calculate_gain(nonlinearity, param=None):
    """How much a nonlinearity shrinks what passes, so that initial weights can make up for it."""
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Fill with numbers drawn uniformly from [a, b)."""
    d = tensor._array()
    return _write(tensor, _generator(generator).uniform(d.shape, d.dtype, a, b))


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Fill with numbers drawn from the normal distribution."""
    d = tensor._array()
    return _write(tensor, _generator(generator).normal(d.shape, d.dtype, mean, std))


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Fill from the normal distribution cut off at ``a`` and ``b``, by drawing again whatever falls outside."""

    def below(x):
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
                      stacklevel=2)  # fmt: skip
    d, source = tensor._array(), _generator(generator)
    if below((b - mean) / std) - below((a - mean) / std) > 0.3:
        values = _redrawn(
            lambda: source.normal(d.shape, d.dtype, mean, std), lambda x: (x < d.dtype.type(a)) | (x > d.dtype.type(b))
        )
    else:  # most normal numbers would fall outside: uniform ones, kept with the density's probability
        peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

        def refused(x):
            height = ((x - mean) / std) ** 2 * -0.5 - peak
            return np.log(source.uniform(d.shape, d.dtype)) > height

        values = _redrawn(lambda: source.uniform(d.shape, d.dtype, a, b), refused)
    return _write(tensor, values)


def _redrawn(draw, refused):
    """Draw whole arrays until every element has once been accepted."""
    values = draw()
    pending = refused(values)
    while pending.any():
        fresh = draw()
        values = np.where(pending, fresh, values)
        pending &= refused(fresh)
    return values


def constant_(tensor, val):
    """Fill with one number."""
    return _write(tensor, val)


def ones_(tensor):
    """Fill with 1."""
    return _write(tensor, 1.0)


def zeros_(tensor):
    """Fill with 0."""
    return _write(tensor, 0.0)


def eye_(tensor):
    """Fill a matrix with the identity. Raises: ValueError unless it has two dimensions."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _write(tensor, np.eye(*tensor._d.shape))


def dirac_(tensor, groups=1):
    """Fill a convolution's weight so that it passes its input on unchanged."""
    shape = tensor._d.shape
    if len(shape) not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    values = np.zeros(shape, tensor._d.dtype)
    per = shape[0] // groups
    middle = tuple(s // 2 for s in shape[2:])
    for g in range(groups):
        for d in range(min(per, shape[1])):
            values[(g * per + d, d, *middle)] = 1
    return _write(tensor, values)


def _fans(tensor):
    shape = tensor._d.shape
    if len(shape) < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


_calculate_fan_in_and_fan_out = _fans


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Glorot's: uniform from ±gain · √(6 / (fan_in + fan_out))."""
    fan_in, fan_out = _fans(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    a = math.sqrt(3.0) * std
    return uniform_(tensor, -a, a, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Glorot's: normal with standard deviation gain · √(2 / (fan_in + fan_out))."""
    fan_in, fan_out = _fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan = _fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """He's: uniform from ±gain · √(3 / fan)."""
    if 0 in tensor._d.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """He's: normal with standard deviation gain / √fan."""
    if 0 in tensor._d.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor, gain=1, generator=None):
    """Fill with a (half-)orthogonal matrix times ``gain``."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    d = tensor._array()
    if not d.size:
        return tensor
    rows, cols = d.shape[0], d.size // d.shape[0]
    flat = _generator(generator).normal((rows, cols), d.dtype)
    q, r = np.linalg.qr(flat.T if rows < cols else flat)
    q = q * np.sign(np.diag(r))
    return _write(tensor, (q.T if rows < cols else q).reshape(d.shape) * gain)


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Fill a matrix from N(0, std²) with the given share of zeros in each column."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor._d.shape
    zeros = math.ceil(sparsity * rows)
    normal_(tensor, 0, std, generator)
    for col in range(cols):
        tensor._array()[_generator(None).randperm(rows)[:zeros], col] = 0
    return tensor
