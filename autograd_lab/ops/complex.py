"""Complex numbers: parts, conjugate, argument. The engine conjugates saved operands for holomorphic rows only."""

import numpy as np

from ..core.bind import write_out
from ..core.op import op
from ..core.public import METHODS, public
from ..core.tensor import Tensor, wrap
from .compare import where
from .samples import Sample, spread
from .shape import cast


def _complex_samples(order=2):
    def samples():
        yield Sample(spread((3, 4)) + 1j * spread((3, 4), seed=1), order=order)
        yield Sample(spread((3, 4)), order=order, note="real")

    return samples


conj = op(
    "conj", "conjugate", lambda g, y, x: conj(g), holomorphic=False, symbol="x̄", samples=_complex_samples(), ref="numpy.conjugate",
    formula={"forward": "x̄", "rules": ["conjugate of ḡ"]}, public=False, kind="structure",
)  # fmt: skip


def _complex_dtype(value):
    dtype = value._d.dtype if isinstance(value, Tensor) else value.dtype
    return np.dtype(np.complex128 if dtype.itemsize == 8 else np.complex64)


real_view = op(
    "real", lambda xp, x: x.real, lambda g, y, x: g, kind="view", holomorphic=False, samples=_complex_samples(), ref="numpy.real",
    formula={"forward": "real part", "rules": ["ḡ"]},
)  # fmt: skip
imag_view = op(
    "imag", lambda xp, x: x.imag, lambda g, y, x: cast(g, _complex_dtype(g)) * 1j, kind="view", holomorphic=False,
    samples=lambda: iter((Sample(spread((3, 4)) + 1j * spread((3, 4), seed=1)),)), ref="numpy.imag",
    formula={"forward": "imaginary part", "rules": ["i · ḡ"]},
)  # fmt: skip


def _angle(xp, x):
    if x.dtype.kind == "c":
        return xp.angle(x)
    return xp.where(xp.isnan(x), x, xp.where(x < 0, x.dtype.type(np.pi), x.dtype.type(0)))


def _angle_rule(g, y, x):
    if not hasattr(x, "is_complex") and x.dtype.kind != "c" or isinstance(x, Tensor) and not x.is_complex():
        return g * 0.0
    size = x.real * x.real + x.imag * x.imag
    turned = where(size == 0, 0.0, g / where(size == 0, 1.0, size))
    return cast(-x.imag * turned, _complex_dtype(g)) + cast(x.real * turned, _complex_dtype(g)) * 1j


angle = op(
    "angle", _angle,
    _angle_rule, saves="x", dtypes="float", holomorphic=False, samples=_complex_samples(order=1), ref="numpy.angle", public=True,
    kind="structure", formula={"forward": "arg x", "rules": ["ḡ · i x / |x|²"]},
)  # fmt: skip


@public("conj")
def conj_(input):
    """The complex conjugate; a real tensor as it is."""
    return conj(input) if input._d.dtype.kind == "c" else input


@public("conj_physical", inplace=True)
def conj_physical(input):
    """The complex conjugate as new memory; a real tensor as it is."""
    return conj(input) if input._d.dtype.kind == "c" else input


@public("resolve_conj")
def resolve_conj(input):
    """The tensor itself: conjugation is never put off here."""
    return input


@public("resolve_neg")
def resolve_neg(input):
    """The tensor itself: negation is never put off here."""
    return input


@public("real", method=False)
def real(input):
    """The real part, a view of a complex tensor."""
    return real_view(input) if input._d.dtype.kind == "c" else input


@public("imag", method=False)
def imag(input):
    """The imaginary part, a view. Raises: RuntimeError for a real tensor."""
    if input._d.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return imag_view(input)


@public("isreal")
def isreal(input):
    """Per element, whether its imaginary part is 0."""
    return wrap(np.isreal(input._d))


def _joined(xp, a, b):
    out = xp.empty(np.broadcast_shapes(a.shape, b.shape), _complex_dtype(a))
    out.real, out.imag = a, b
    return out


complex_row = op(
    "complex", _joined, lambda g, y, a, b: real_view(g), lambda g, y, a, b: imag_view(g), kind="structure", dtypes="match",
    holomorphic=False, ref=lambda a, b: a + 1j * b,
    samples=lambda: iter((
        Sample(spread((3, 4)), spread((3, 4), seed=1)), Sample(spread((3, 1)), spread((4,), seed=1), note="broadcast"),
    )),
    formula={"forward": "a + i b", "rules": ["real part of ḡ", "imaginary part of ḡ"]},
)  # fmt: skip


@public("complex", method=False)
def complex_(real, imag, *, out=None):
    """real + i · imag. Raises: RuntimeError for different dtypes."""
    if real._d.dtype != imag._d.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {real.dtype.name} but got scalar type {imag.dtype.name} for second argument"
        )
    if real._d.dtype.kind != "f":
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {real.dtype.name} and {imag.dtype.name}"
        )
    if out is not None and out._d.dtype != _complex_dtype(real):
        raise RuntimeError(f"Expected object of scalar type {_complex_dtype(real)} but got {out.dtype.name} for argument 'out'")
    value = complex_row(real, imag)
    return value if out is None else write_out(out, value)


def _as_real(xp, x):
    return x[..., None].view(np.float64 if x.dtype.itemsize == 16 else np.float32)


def _as_complex(xp, x):
    joined = x if x.flags.c_contiguous else xp.ascontiguousarray(x)
    return joined.view(np.complex128 if x.dtype.itemsize == 8 else np.complex64)[..., 0]


real_pairs = op(
    "view_as_real", _as_real, lambda g, y, x: complex_pairs(g), kind="view", holomorphic=False, ref=lambda x: _as_real(np, x),
    samples=lambda: iter((Sample(spread((3, 4)) + 1j * spread((3, 4), seed=1)),)),
    formula={"forward": "real and imaginary part as pairs", "rules": ["ḡ as complex numbers"]},
)  # fmt: skip
complex_pairs = op(
    "view_as_complex", _as_complex, lambda g, y, x: real_pairs(g), kind="view", holomorphic=False, ref=lambda x: _as_complex(np, x),
    samples=lambda: iter((Sample(spread((3, 2))),)), formula={"forward": "pairs as complex numbers", "rules": ["ḡ as pairs"]},
)  # fmt: skip


@public("view_as_real", method=False)
def view_as_real(input):
    """A view of a complex tensor as pairs of real and imaginary part. Raises: RuntimeError for a real tensor."""
    if input._d.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return real_pairs(input)


@public("view_as_complex", method=False)
def view_as_complex(input):
    """A view of pairs as complex numbers. Raises: RuntimeError unless the last dimension has size 2."""
    if input._d.dtype.kind != "f" or not input._d.ndim or input._d.shape[-1] != 2:
        raise RuntimeError(f"Tensor must have a last dimension of size 2 and be Float or Double, got {list(input._d.shape)}")
    return complex_pairs(input)


def _set_part(view):
    def assign(self, value):
        view(self)[...] = value

    return assign


METHODS.update(real=property(real, _set_part(real)), imag=property(imag, _set_part(imag)))
