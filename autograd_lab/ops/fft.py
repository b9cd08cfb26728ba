"""Fourier transforms: three rows (complex, real to half a spectrum and back) and PyTorch's functions over them."""

import numpy as np

from ..backend import dtype as dt
from ..core.bind import write_out
from ..core.op import op
from ..core.public import public
from ..core.tensor import Tensor, wrap
from .complex import conj, real_view
from .create import place
from .dims import need_tensor, one_dim, scalar_name, some_dims
from .index import embed_slice, slice_view
from .samples import Sample, spread
from .shape import cast, clone
from .triangles import roll_row

_SWAPPED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
"""The transpose of a transform without factor is its inverse without factor."""


def _complex_of(dtype):
    return np.dtype(np.complex128 if dtype in (np.float64, np.complex128, np.int64) else np.complex64)


def _transform(xp, x, dims, inverse, norm):
    return (xp.fft.ifftn if inverse else xp.fft.fftn)(x, axes=dims, norm=norm)


def _complex_samples():
    for dims, inverse, norm in (((1,), False, "backward"), ((0, 1), True, "ortho"), ((0,), True, "backward")):
        yield Sample(spread((3, 4)) + 1j * spread((3, 4), seed=1), params=(dims, inverse, norm))


fft_row = op(
    "fft", _transform, lambda g, y, x, dims, inverse, norm: fft_row(g, dims, not inverse, _SWAPPED[norm]), kind="opaque",
    grad_name="FftC2C", symbol="F", holomorphic=False, samples=_complex_samples, ref=lambda x, d, i, n: _transform(np, x, d, i, n),
    formula={"forward": "F x", "rules": ["Fᴴ ḡ"]},
)  # fmt: skip


def _at_front(ndim, dim, length):
    return (slice(None),) * dim + (slice(0, length),) + (slice(None),) * (ndim - dim - 1)


def _half_rule(g, y, x, dim, norm):
    full = embed_slice(g, x.shape, _at_front(g.ndim, dim, g.shape[dim]))
    return clone(real_view(fft_row(full, (dim,), True, _SWAPPED[norm])))


rfft_row = op(
    "rfft", lambda xp, x, dim, norm: xp.fft.rfft(x, axis=dim, norm=norm), _half_rule, saves="x.shape", kind="opaque",
    grad_name="FftR2C", symbol="F", holomorphic=False, ref=lambda x, d, n: np.fft.rfft(x, axis=d, norm=n),
    samples=lambda: (
        Sample(spread(s), params=p) for s, p in (((3, 4), (1, "backward")), ((5, 2), (0, "ortho")), ((3, 5), (1, "forward")))
    ),
    formula={"forward": "the first half of F x", "rules": ["real part of Fᴴ ḡ"]},
)  # fmt: skip


def _weights(g, dim, size):
    """2 for the frequencies that stand for two, 1 for those that are their own mirror image."""
    half = size // 2 + 1
    counts = np.full(half, 2, _complex_of(g.dtype.numpy if isinstance(g, Tensor) else g.dtype))
    counts[0] = 1
    if size % 2 == 0:
        counts[-1] = 1
    counts = counts.reshape((half,) + (1,) * (g.ndim - dim - 1))
    return wrap(counts) if isinstance(g, Tensor) else counts


def _whole_rule(g, y, x, dim, size, norm):
    return rfft_row(g, dim, _SWAPPED[norm]) * _weights(g, dim, size)


def _whole_samples():
    for shape, params in (((3, 3), (1, 4, "backward")), ((3, 2), (0, 5, "ortho")), ((2, 3), (1, 5, "forward"))):
        yield Sample(spread(shape) + 1j * spread(shape, seed=1), params=params)


irfft_row = op(
    "irfft", lambda xp, x, dim, size, norm: xp.fft.irfft(x, size, axis=dim, norm=norm), _whole_rule, kind="opaque",
    grad_name="FftC2R", symbol="F⁻¹", holomorphic=False, ref=lambda x, d, s, n: np.fft.irfft(x, s, axis=d, norm=n),
    samples=_whole_samples, formula={"forward": "F⁻¹ of the whole spectrum", "rules": ["F ḡ, inner frequencies twice"]},
)  # fmt: skip

# ----- what the public functions share -----


def _ready(input, name, real=False):
    """The input in a dtype that can be transformed."""
    need_tensor(input, name)
    if real and input._d.dtype.kind == "c":
        raise RuntimeError(f"{name} expects a real input tensor, but got {scalar_name(input.dtype)}")
    if input.dtype in (dt.float16, dt.bfloat16):
        raise RuntimeError(f"Unsupported dtype {scalar_name(input.dtype)}: {name} needs float32 or float64; convert with .float()")
    if input.dtype.category < dt.CATEGORY_FLOAT:
        input = cast(input, dt.get_default_dtype().numpy)
    return input


def as_complex(input):
    """The tensor in the complex dtype of its precision."""
    return input if input._d.dtype.kind == "c" else cast(input, _complex_of(input._d.dtype))


def _mode(norm):
    norm = "backward" if norm is None else norm
    if norm not in _SWAPPED:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"; use "backward", "ortho" or "forward"')
    return norm


def _resized(input, dim, size):
    """A dimension cut or filled up with zeros to ``size``."""
    have = input._d.shape[dim]
    if size == have:
        return input
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")
    if size < have:
        return slice_view(input, _at_front(input._d.ndim, dim, size))
    shape = tuple(size if i == dim else s for i, s in enumerate(input._d.shape))
    return embed_slice(input, shape, _at_front(input._d.ndim, dim, have))


def _nonempty(size):
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")
    return size


def _plan(input, s, dim, name):
    """(dims, sizes) that ``s`` and ``dim`` of an n-dimensional transform mean."""
    shape = input._d.shape
    s = (s,) if isinstance(s, int) else s
    if dim is None:
        if s is not None and len(s) > len(shape):
            raise RuntimeError(f"{name}: Got shape with {len(s)} values but input tensor only has {len(shape)} dimensions.")
        dims = tuple(range(len(shape) - (len(s) if s is not None else len(shape)), len(shape)))
    else:
        dims = dim = (dim,) if isinstance(dim, int) else tuple(dim)
        for d in dims:
            one_dim(d, len(shape))
        dims = tuple(one_dim(d, len(shape)) for d in dims)
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    sizes = [shape[d] if s is None or s[i] == -1 else s[i] for i, d in enumerate(dims)]
    return dims, sizes


def _given(value, out):
    return value if out is None else write_out(out, value)


def _spectrum(input, dims, sizes, inverse, norm):
    for d, size in zip(dims, sizes, strict=True):
        input = _resized(input, d, _nonempty(size))
    return fft_row(as_complex(input), dims, inverse, norm) if dims else as_complex(input)


def _half_spectrum(input, dims, sizes, norm, name):
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    for d, size in zip(dims, sizes, strict=True):
        input = _resized(input, d, _nonempty(size))
    out = rfft_row(input, dims[-1], norm)
    return fft_row(out, dims[:-1], False, norm) if dims[:-1] else out


def _from_half(input, dims, sizes, last, norm, name):
    """``last`` is the size of the result along the last of ``dims``, None for 2 (n − 1)."""
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    input, dim = as_complex(input), dims[-1]
    last = _nonempty(2 * (input._d.shape[dim] - 1) if last is None else last)
    for d, size in zip(dims[:-1], sizes[:-1], strict=True):
        input = _resized(input, d, _nonempty(size))
    input = _resized(input, dim, last // 2 + 1)
    if dims[:-1]:
        input = fft_row(input, dims[:-1], True, norm)
    return irfft_row(input, dim, last, norm)


# ----- the functions -----

_NORM = 'norm is "backward" (the inverse divides by n), "ortho" (both divide by √n) or "forward" (this way divides by n)'


def _named(function, name, text):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{text} {_NORM}."
    return public(name, method=False, namespace="fft")(function)


def _one(name, text, compute, real=False):
    def function(input, n=None, dim=-1, norm=None, *, out=None):
        norm, input = _mode(norm), _ready(input, name, real)
        if not input._d.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return _given(compute(input, n, one_dim(dim, input._d.ndim), norm), out)

    return _named(function, name, text)


def _several(name, text, compute, dims=None, real=False):
    def function(input, s=None, dim=dims, norm=None, *, out=None):
        norm, input = _mode(norm), _ready(input, name, real)
        places, sizes = _plan(input, s, dim, name)
        last = s[-1] if s is not None and len(s) and s[-1] != -1 else None
        return _given(compute(input, places, sizes, last, norm), out)

    return _named(function, name, text)


def _length(input, n, dim):
    return (input._d.shape[dim] if n is None else n,)


def _half(input, n, dim, norm):
    return _half_spectrum(input, (dim,), _length(input, n, dim), norm, "rfft")


def _hermitian(input, n, dim, norm):
    return _from_half(conj(as_complex(input)), (dim,), (None,), n, _SWAPPED[norm], "hfft")


fft = _one("fft", "The discrete Fourier transform along ``dim``, cut or padded to ``n``.",
           lambda x, n, d, norm: _spectrum(x, (d,), _length(x, n, d), False, norm))  # fmt: skip
ifft = _one("ifft", "The inverse of ``fft``.", lambda x, n, d, norm: _spectrum(x, (d,), _length(x, n, d), True, norm))
rfft = _one("rfft", "The first n/2 + 1 frequencies of a real signal; the others are their conjugates.", _half, real=True)
irfft = _one("irfft", "The inverse of ``rfft``: a real signal of length ``n`` (default 2 (m − 1)).",
             lambda x, n, d, norm: _from_half(x, (d,), (None,), n, norm, "irfft"))  # fmt: skip
hfft = _one("hfft", "The real transform of a signal given by the first half of a Hermitian one.", _hermitian)
ihfft = _one("ihfft", "The inverse of ``hfft``.", lambda x, n, d, norm: conj(_half(x, n, d, _SWAPPED[norm])), real=True)


def _many(name, what, real=False, **options):
    """``name``n and ``name``2, which differ in the default of ``dim``."""

    def compute(x, dims, sizes, last, norm):
        if name == "rfft":
            return _half_spectrum(x, dims, sizes, norm, name + "n")
        if name == "irfft":
            return _from_half(x, dims, sizes, last, norm, name + "n")
        if name == "hfft":
            return _from_half(conj(as_complex(x)), dims, sizes, last, _SWAPPED[norm], name + "n")
        if name == "ihfft":
            return conj(_half_spectrum(x, dims, sizes, _SWAPPED[norm], name + "n"))
        return _spectrum(x, dims, sizes, name == "ifft", norm)

    return (_several(name + "n", f"{what} over all dimensions, or over ``dim``.", compute, None, real),
            _several(name + "2", f"{what} over the last two dimensions.", compute, (-2, -1), real))  # fmt: skip


fftn, fft2 = _many("fft", "``fft``")
ifftn, ifft2 = _many("ifft", "``ifft``")
rfftn, rfft2 = _many("rfft", "``rfft`` along the last dimension and ``fft`` along the others,", real=True)
irfftn, irfft2 = _many("irfft", "The inverse of ``rfft`` and ``fft``")
hfftn, hfft2 = _many("hfft", "``hfft``")
ihfftn, ihfft2 = _many("ihfft", "``ihfft``", real=True)


def _shifted(input, dim, sign):
    ndim, shape = input._d.ndim, input._d.shape
    dims = tuple(range(ndim)) if dim is None else some_dims(dim, ndim) or ()
    shifts = tuple(shape[d] // 2 if sign > 0 else (shape[d] + 1) // 2 for d in dims)
    return roll_row(input, shifts, dims) if dims else clone(input)


@public("fftshift", method=False, namespace="fft")
def fftshift(input, dim=None):
    """Frequency 0 moved to the middle."""
    need_tensor(input, "fftshift")
    return _shifted(input, dim, 1)


@public("ifftshift", method=False, namespace="fft")
def ifftshift(input, dim=None):
    """The inverse of ``fftshift``."""
    need_tensor(input, "ifftshift")
    return _shifted(input, dim, -1)


def _frequencies(name, function):
    def frequencies(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
        values = getattr(np.fft, function)(_nonempty(n), d).astype((dtype or dt.get_default_dtype()).numpy)
        return _given(place(values, None, device, requires_grad), out)

    frequencies.__name__ = frequencies.__qualname__ = name
    frequencies.__doc__ = f"The frequencies that ``{name[:-4]}`` of ``n`` samples at distance ``d`` gives, in its order."
    return public(name, method=False, namespace="fft")(frequencies)


fftfreq = _frequencies("fftfreq", "fftfreq")
rfftfreq = _frequencies("rfftfreq", "rfftfreq")
