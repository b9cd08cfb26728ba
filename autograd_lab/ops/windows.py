"""Windows for short-time spectra: ``signal.windows`` and PyTorch's older ``hann_window`` and its kin."""

import math

import numpy as np

from ..backend import dtype as dt
from ..core.public import public
from ..core.tensor import wrap
from .create import arange, linspace, ones, place, tensor
from .dims import scalar_name
from .elementwise import abs as absolute
from .elementwise import cos, exp, sin
from .layout import unsqueeze
from .reductions import sum_
from .special import i0

_SPACE = "signal.windows"
_STRIDED = (None, "torch.strided")


def _checked(name, M, dtype, layout):
    """The dtype of a window. Raises: ValueError for a negative length, another layout or dtype."""
    dtype = dtype or dt.get_default_dtype()
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout not in _STRIDED:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (dt.float32, dt.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def _short(M, dtype, device, requires_grad):
    return ones(M, dtype=dtype, device=device, requires_grad=requires_grad)


def _line(start, end, M, dtype, device, requires_grad):
    return linspace(start, end, M, dtype=dtype, device=device, requires_grad=requires_grad)


@public(method=False, namespace=_SPACE)
def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """exp(−|n − center| / tau), also called Poisson window.

    ``sym=False`` gives a period of it. Raises: ValueError unless ``tau`` > 0, or for a ``center`` of a symmetric window.
    """
    dtype = _checked("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if M == 0:
        return _short(M, dtype, device, requires_grad)
    if center is None:
        center = (M if not sym and M > 1 else M - 1) / 2.0
    step = 1 / tau
    return exp(-absolute(_line(-center * step, (-center + (M - 1)) * step, M, dtype, device, requires_grad)))


@public(method=False, namespace=_SPACE)
def cosine(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """sin(π (n + ½) / M), the sine window."""
    dtype = _checked("cosine", M, dtype, layout)
    if M == 0:
        return _short(M, dtype, device, requires_grad)
    step = math.pi / (M + 1 if not sym and M > 1 else M)
    return sin(_line(0.5 * step, (0.5 + (M - 1)) * step, M, dtype, device, requires_grad))


@public(method=False, namespace=_SPACE)
def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """exp(−n² / (2 std²)), counted from the middle. Raises: ValueError unless ``std`` > 0."""
    dtype = _checked("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return _short(M, dtype, device, requires_grad)
    start = -(M if not sym and M > 1 else M - 1) / 2.0
    step = 1 / (std * math.sqrt(2))
    return exp(-(_line(start * step, (start + (M - 1)) * step, M, dtype, device, requires_grad) ** 2))


@public(method=False, namespace=_SPACE)
def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """I₀(beta √(1 − (2n/N − 1)²)) / I₀(beta) with N = M − 1 (M if periodic). Raises: ValueError for a negative ``beta``."""
    dtype = _checked("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return _short(M, dtype, device, requires_grad)
    beta = dtype.numpy.type(beta)
    step = 2.0 * beta / (M if not sym else M - 1)
    end = min(beta, -beta + (M - 1) * step)
    k = _line(float(-beta), float(end), M, dtype, device, requires_grad)
    return i0((float(beta * beta) - k**2).sqrt()) / i0(wrap(np.asarray(beta)))


@public(method=False, namespace=_SPACE)
def bartlett(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """1 − |2n / N − 1| with N = M − 1 (M if periodic): a triangle."""
    dtype = _checked("bartlett", M, dtype, layout)
    if M < 2:
        return _short(M, dtype, device, requires_grad)
    step = 2 / (M if not sym else M - 1)
    return 1 - absolute(_line(-1, -1 + (M - 1) * step, M, dtype, device, requires_grad))


@public(method=False, namespace=_SPACE)
def general_cosine(M, *, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """Σᵢ (−1)ⁱ aᵢ cos(2π i n / N) with N = M − 1 (M if periodic).

    Raises: TypeError unless ``a`` is a list or tuple, ValueError if it is empty.
    """
    dtype = _checked("general_cosine", M, dtype, layout)
    if M < 2:
        return _short(M, dtype, device, requires_grad)
    if not hasattr(a, "__iter__"):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    step = 2 * math.pi / (M if not sym else M - 1)
    k = _line(0, (M - 1) * step, M, dtype, device, requires_grad)
    weights = tensor([(-1) ** i * w for i, w in enumerate(a)], dtype=dtype, device=device, requires_grad=requires_grad)
    i = arange(len(a), dtype=dtype, device=device, requires_grad=requires_grad)
    return sum_(unsqueeze(weights, -1) * cos(unsqueeze(i, -1) * k), 0)


@public(method=False, namespace=_SPACE)
def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """alpha − (1 − alpha) cos(2π n / N) with N = M − 1 (M if periodic)."""
    return general_cosine(
        M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def _cosines(name, coefficients, text):
    def window(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
        return general_cosine(
            M, a=coefficients, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
        )

    window.__name__ = window.__qualname__ = name
    window.__doc__ = f"The {text} window: ``general_cosine`` with the coefficients {', '.join(map(str, coefficients))}."
    return public(name, method=False, namespace=_SPACE)(window)


hamming = _cosines("hamming", [0.54, 1.0 - 0.54], "Hamming")
hann = _cosines("hann", [0.5, 0.5], "Hann")
blackman = _cosines("blackman", [0.42, 0.5, 0.08], "Blackman")
nuttall = _cosines("nuttall", [0.3635819, 0.4891775, 0.1365995, 0.0106411], "Nuttall")


# ----- the older functions -----


def _classic(name, window_length, periodic, dtype, layout, device, requires_grad, values):
    """``values(n, N)`` for n = 0 … window_length − 1, where N is the last place of the symmetric window."""
    dtype = dtype or dt.get_default_dtype()
    if layout not in _STRIDED:
        raise RuntimeError(f"{name} is not implemented for sparse types, got: {layout}")
    if dtype.category != dt.CATEGORY_FLOAT:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {scalar_name(dtype)}")
    if window_length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
    if window_length < 2:
        return _short(window_length, dtype, device, requires_grad)
    last = window_length if periodic else window_length - 1
    n = np.arange(last + 1, dtype=np.float64 if dtype is dt.float64 else np.float32)
    return place(values(n, last)[:window_length].astype(dtype.numpy), dtype, device, requires_grad)


@public(method=False)
def hann_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """½ − ½ cos(2π n / N); ``periodic`` leaves out the last point of the symmetric window that is one longer."""
    return hamming_window(
        window_length, periodic, 0.5, 0.5, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad,
        _name="hann_window",
    )  # fmt: skip


@public(method=False)
def hamming_window(
    window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None, pin_memory=False,
    requires_grad=False, _name="hamming_window",
):  # fmt: skip
    """alpha − beta cos(2π n / N)."""

    def values(n, last):
        return np.cos(n * n.dtype.type(2 * math.pi / last)) * n.dtype.type(-beta) + n.dtype.type(alpha)

    return _classic(_name, window_length, periodic, dtype, layout, device, requires_grad, values)


@public(method=False)
def blackman_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """0.42 − 0.5 cos(2π n / N) + 0.08 cos(4π n / N)."""

    def values(n, last):
        x = n * n.dtype.type(math.pi / last)
        return np.cos(x * 4) * n.dtype.type(0.08) - np.cos(x * 2) * n.dtype.type(0.5) + n.dtype.type(0.42)

    return _classic("blackman_window", window_length, periodic, dtype, layout, device, requires_grad, values)


@public(method=False)
def bartlett_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
    """A triangle: 2n / N up to the middle, then 2 − 2n / N."""

    def values(n, last):
        x = n * n.dtype.type(2.0 / last)
        return np.where(np.arange(len(n)) <= last // 2, x, 2 - x)

    return _classic("bartlett_window", window_length, periodic, dtype, layout, device, requires_grad, values)


@public(method=False)
def kaiser_window(
    window_length, periodic=True, beta=12.0, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):  # fmt: skip
    """I₀(beta √(1 − (2n/N − 1)²)) / I₀(beta)."""

    def values(n, last):
        x = n.astype(np.float64) * (2.0 / last) - 1
        bent = i0(wrap(beta * np.sqrt(np.maximum(1 - x * x, 0))))
        return bent._d / i0(wrap(np.asarray(float(beta))))._d

    return _classic("kaiser_window", window_length, periodic, dtype, layout, device, requires_grad, values)
