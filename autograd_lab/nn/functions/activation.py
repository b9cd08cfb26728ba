"""Activations, softmax and dropout of nn.functional."""

import numpy as np

from ...backend import random as rnd
from ...methods import in_place
from ...ops import activation as rows
from ...ops import elementwise
from ...ops.elementwise import sigmoid, tanh
from ...ops.shape import reshape
from ...ops.softmax import log_softmax as _log_softmax
from ...ops.softmax import softmax as _softmax
from .checks import constant, need_tensor, positive_dim

logsigmoid = elementwise.logsigmoid


def _in_place(name, function):
    change = in_place(function, name)
    change.__doc__ = f"In-place version of ``{name[:-1]}``."
    return change


def _applied(input, inplace, change, function, *params):
    return change(input, *params) if inplace else function(input, *params)


def _floating(name, x):
    need_tensor(name, "input", x)
    if x._d.dtype.kind in "iub":
        raise NotImplementedError(f"\"{name}\" not implemented for '{x.dtype.name}'; use a floating dtype")
    return x


_relu_ = _in_place("relu_", elementwise.relu)
_leaky_ = _in_place("leaky_relu_", rows.leaky_relu)
_elu_ = _in_place("elu_", rows.elu)
_silu_ = _in_place("silu_", elementwise.silu)
_mish_ = _in_place("mish_", rows.mish)
_hardtanh_ = _in_place("hardtanh_", rows.hardtanh)
_hardsigmoid_ = _in_place("hardsigmoid_", rows.hardsigmoid)
_hardswish_ = _in_place("hardswish_", rows.hardswish)
_threshold_ = _in_place("threshold_", rows.threshold)


def relu(input, inplace=False):
    """max(x, 0), elementwise."""
    return _relu_(input) if inplace else elementwise.relu(input)


def relu_(input):
    """In-place version of ``relu``."""
    return _relu_(input)


def relu6(input, inplace=False):
    """x limited to [0, 6], elementwise."""
    return _applied(input, inplace, _hardtanh_, rows.hardtanh, 0, 6)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where x > 0, else ``negative_slope`` · x."""
    return _applied(input, inplace, _leaky_, rows.leaky_relu, negative_slope)


def leaky_relu_(input, negative_slope=0.01):
    """In-place version of ``leaky_relu``."""
    return _leaky_(input, negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """x where x > 0, else alpha · (exp(x) − 1)."""
    return _applied(_floating("elu", input), inplace, _elu_, rows.elu, alpha, 1.0, 1.0)


def elu_(input, alpha=1.0):
    """In-place version of ``elu``."""
    return elu(input, alpha, True)


def celu(input, alpha=1.0, inplace=False):
    """x where x > 0, else alpha · (exp(x / alpha) − 1)."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _applied(_floating("celu", input), inplace, _elu_, rows.elu, alpha, 1.0, 1.0 / alpha)


def selu(input, inplace=False):
    """The self-normalising unit: scale · elu(x, alpha) with the two constants of its paper."""
    return _applied(
        _floating("selu", input),
        inplace,
        _elu_,
        rows.elu,
        1.6732632423543772848170429916717,
        1.0507009873554804934193349852946,
        1.0,
    )


def gelu(input, approximate="none"):
    """x · Φ(x), Φ the normal distribution function; ``approximate="tanh"`` is a cheaper form close to it."""
    if approximate == "none":
        return elementwise.gelu(_floating("gelu", input))
    if approximate != "tanh":
        raise RuntimeError(f"approximate argument must be either none or tanh, got {approximate!r}")
    return elementwise.gelu_tanh(_floating("gelu", input))


def silu(input, inplace=False):
    """x · σ(x), also called swish."""
    return _applied(input, inplace, _silu_, elementwise.silu)


def mish(input, inplace=False):
    """x · tanh(softplus(x))."""
    return _applied(_floating("mish", input), inplace, _mish_, rows.mish)


def softplus(input, beta=1.0, threshold=20.0):
    """ln(1 + exp(beta · x)) / beta: a smooth ReLU; the identity where beta · x > threshold."""
    return rows.softplus(_floating("softplus", input), beta, threshold)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x limited to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if need_tensor("hardtanh", "input", input)._d.dtype.kind in "iu":
        min_val, max_val = int(min_val), int(max_val)
    return _applied(input, inplace, _hardtanh_, rows.hardtanh, min_val, max_val)


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    """In-place version of ``hardtanh``."""
    return hardtanh(input, min_val, max_val, True)


def hardsigmoid(input, inplace=False):
    """(x + 3) / 6 limited to [0, 1]."""
    return _applied(_floating("hardsigmoid", input), inplace, _hardsigmoid_, rows.hardsigmoid)


def hardswish(input, inplace=False):
    """x · hardsigmoid(x)."""
    return _applied(_floating("hardswish", input), inplace, _hardswish_, rows.hardswish)


def softsign(input):
    """x / (1 + |x|)."""
    return input / (elementwise.abs(input) + 1)


def tanhshrink(input):
    """x − tanh(x)."""
    return input - tanh(input)


def softshrink(input, lambd=0.5):
    """x moved towards 0 by ``lambd``."""
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return rows.softshrink(_floating("softshrink", input), lambd)


def hardshrink(input, lambd=0.5):
    """x where |x| > ``lambd``, else 0."""
    return rows.hardshrink(_floating("hardshrink", input), lambd)


def threshold(input, threshold, value, inplace=False):
    """x where x > ``threshold``, else ``value``."""
    return _applied(input, inplace, _threshold_, rows.threshold, threshold, value)


def threshold_(input, threshold, value):
    """In-place version of ``threshold``."""
    return _threshold_(input, threshold, value)


def prelu(input, weight):
    """x where x > 0, else weight · x with one weight for all or one per channel."""
    need_tensor("prelu", "weight", weight)
    if weight._d.size != 1 or weight._d.ndim > 1:
        channels = input._d.shape[1] if input._d.ndim > 1 else 1
        if weight._d.ndim != 1 or weight._d.size != channels:
            raise RuntimeError(f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight._d.size} "
                               f"and channel size = {channels}.")  # fmt: skip
        weight = reshape(weight, (1, -1, *(1,) * (input._d.ndim - 2)) if input._d.ndim > 1 else (1,))
    elif not input._d.ndim:
        weight = reshape(weight, ())
    return rows.prelu(input, weight)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """Leaky ReLU whose slope is drawn from [lower, upper) in training and is their mean otherwise."""
    if lower > upper:
        raise RuntimeError(f"Lower bound should be less than or equal to the upper bound, got {lower} and {upper}")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    d = input._array()
    below = d <= 0
    slopes = np.ones(d.shape, d.dtype)
    slopes[below] = rnd.default_generator.uniform((int(below.sum()),), np.float64, lower, upper)
    return input.mul_(constant(slopes)) if inplace else input * constant(slopes)


def glu(input, dim=-1):
    """The first half of ``input`` along ``dim``, gated by the sigmoid of the second half."""
    dim = positive_dim(dim, input._d.ndim)
    if input._d.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    n = input._d.shape[dim]
    if n % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {n}")
    first = input[(slice(None),) * dim + (slice(0, n // 2),)]
    return first * sigmoid(input[(slice(None),) * dim + (slice(n // 2, n),)])


def _softmax_dim(dim, ndim):
    return dim if dim is not None else (0 if ndim in (0, 1, 3) else 1)


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) / Σ exp(x) along ``dim``: positive numbers that sum to 1."""
    return _softmax(input, _softmax_dim(dim, input._d.ndim), dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """ln softmax(x) along ``dim``, computed without overflow."""
    return _log_softmax(input, _softmax_dim(dim, input._d.ndim), dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(−x) along ``dim``."""
    return softmax(-input, dim, dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of the softmax with Gumbel noise; ``hard`` gives a one-hot vector with the soft one's gradient."""
    noise = -np.log(rnd.default_generator.exponential(logits._d.shape, logits._d.dtype))
    soft = softmax((logits + constant(noise.astype(logits._d.dtype))) / tau, dim)
    if not hard:
        return soft
    dim = positive_dim(dim, logits._d.ndim)
    top = np.expand_dims(soft._d.argmax(dim), dim)
    chosen = np.zeros(soft._d.shape, soft._d.dtype)
    np.put_along_axis(chosen, top, 1, dim)
    return constant(chosen) - soft.detach() + soft


# ----- dropout -----


def _check_p(p):
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _mask(shape, p, dtype):
    """PyTorch's numbers: 1 / (1 − p) where a draw keeps the element, else 0."""
    keep = 1.0 - p
    kept = rnd.default_generator.bernoulli_scalar(keep, shape, np.float32 if dtype.itemsize < 4 else dtype)
    return (kept / kept.dtype.type(keep)).astype(dtype) if keep else np.zeros(shape, dtype)


_dropout_ = _in_place("dropout_", rows.dropout)


def dropout(input, p=0.5, training=True, inplace=False):
    """Zero each element with probability ``p`` and scale the rest by 1 / (1 − p); the identity when not training.

    The mask is PyTorch's for the same ``manual_seed``. Raises: ValueError if ``p`` is outside [0, 1].
    """
    _check_p(p)
    if not training or p == 0 or not input._d.size:
        return input
    mask = constant(_mask(input._d.shape, p, input._d.dtype))
    return _dropout_(input, mask) if inplace else rows.dropout(input, mask)


def _feature_dropout(input, p, training, inplace, feature_dims):
    _check_p(p)
    if not training or p == 0:
        return input
    d = input._d
    shape = d.shape[: d.ndim - feature_dims] + (1,) * feature_dims
    mask = constant(_mask(shape, p, d.dtype))
    return _dropout_(input, mask) if inplace else rows.dropout(input, mask)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zero whole channels of (N, C, L) or (C, L) with probability ``p``."""
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input.")
    return _feature_dropout(input, p, training, inplace, 1)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Zero whole channels of (N, C, H, W) with probability ``p``."""
    return _feature_dropout(input, p, training, inplace, max(input.ndim - 2, 0))


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Zero whole channels of (N, C, D, H, W) with probability ``p``."""
    return _feature_dropout(input, p, training, inplace, max(input.ndim - 2, 0))


def _alpha(input, p, training, shape):
    _check_p(p)
    if not training or p == 0:
        return input
    alpha = 1.7580993408473766
    kept = rnd.default_generator.bernoulli_scalar(1 - p, shape, np.float64)
    a = 0.0 if p == 1 else 1 / np.sqrt((alpha * alpha * p + 1) * (1 - p))
    dtype = input._d.dtype
    shift = ((kept - 1) * (alpha * a) + alpha * a * p).astype(dtype)
    return rows.dropout(input, constant((kept * a).astype(dtype))) + constant(shift)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean and variance of SELU networks: dropped elements take SELU's lower limit."""
    out = _alpha(input, p, training, input._d.shape)
    return input.copy_(out) if inplace and out is not input else out


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """``alpha_dropout`` of whole channels."""
    d = input._d
    out = _alpha(input, p, training, d.shape[:2] + (1,) * (d.ndim - 2))
    return input.copy_(out) if inplace and out is not input else out


__all__ = [name for name, value in list(globals().items()) if callable(value) and not name.startswith("_")
           and getattr(value, "__module__", "") == __name__] + ["logsigmoid", "sigmoid", "tanh"]  # fmt: skip
