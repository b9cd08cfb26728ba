"""Box–Muller transforms that round as PyTorch's CPU kernels round.

PyTorch turns uniforms into normals in blocks of 16: value j (the radius) goes with value j+8 (the angle). In single
precision its kernel evaluates the Cephes polynomials for log, sin and cos with fused multiply-adds; in double precision
it calls the C library. NumPy has no fused multiply-add, so one is made here: a product of two float32 values is exact
in float64, and a float64 sum rounded to float32 is the fused result.
"""

import math

import numpy as np

BLOCK = 16
CHUNK = 2048  # blocks transformed at a time, so that the temporaries stay in the cache

_LOG = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
    -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
_LOG_LOW, _LOG_HIGH = np.float32(-2.12194440e-4), np.float32(0.693359375)  # ln 2 in two parts
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_QUARTER_TURN = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)  # -pi/4 in three parts
_ROOT_HALF_BITS = np.int32(0x3F3504F3)
_ONE_BITS = np.int32(0x3F800000)
_FOUR_OVER_PI = np.float32(1.27323954473516)
_TWO_PI = np.float32(2 * math.pi)
_HALF, _ONE = np.float32(0.5), np.float32(1)


def _single(value):
    """A constant rounded to float32, as a float64 that takes part in exact products."""
    return np.float64(np.float32(value))


_LOG, _COS, _SIN = (tuple(map(_single, table)) for table in (_LOG, _COS, _SIN))


class _Work:
    """Work arrays for one chunk. Names ending in 32 and 64 hold float32 values in that precision."""

    def __init__(self, shape):
        self.x32, self.y32, self.z32, self.w32 = np.empty((4, *shape), np.float32)
        self.x64, self.y64, self.z64, self.w64 = np.empty((4, *shape), np.float64)
        self.bits = np.empty(shape, np.int32)
        self.sign = np.empty(shape, np.int32)

    def fused(self, factor, term):
        """``y32 = y64 * factor + term`` with one rounding (``factor`` and ``term`` are float64)."""
        np.multiply(self.y64, factor, out=self.y64)
        np.add(self.y64, term, out=self.y64)
        np.copyto(self.y32, self.y64, casting="same_kind")

    def polynomial(self, coefficients, x):
        """Horner's rule with a fused multiply-add per coefficient; the result is in ``y32``."""
        np.multiply(x, coefficients[0], out=self.y64)
        np.add(self.y64, coefficients[1], out=self.y64)
        np.copyto(self.y32, self.y64, casting="same_kind")
        for c in coefficients[2:]:
            np.copyto(self.y64, self.y32)
            self.fused(x, c)


def _log(u, work):
    """The natural logarithm of float32 values in (0, 1], left in ``x32``; ``u`` is overwritten."""
    x, y, z, e, bits = work.x32, work.y32, work.z32, work.w32, work.bits
    # The mantissa is brought to [sqrt 1/2, sqrt 2) and the exponent to match, on the bits of the number.
    raw = u.view(np.int32)
    np.add(raw, _ONE_BITS - _ROOT_HALF_BITS, out=bits)
    np.right_shift(bits, 23, out=raw)
    np.subtract(raw, 127, out=raw)
    np.copyto(e, raw, casting="same_kind")
    np.bitwise_and(bits, 0x7FFFFF, out=bits)
    np.add(bits, _ROOT_HALF_BITS, out=bits)
    np.subtract(bits.view(np.float32), _ONE, out=x)
    np.multiply(x, x, out=z)
    np.copyto(work.x64, x)
    work.polynomial(_LOG, work.x64)
    np.multiply(y, x, out=y)
    np.copyto(work.y64, y)
    np.copyto(work.z64, z)
    np.multiply(e, _LOG_LOW, out=y)
    np.copyto(work.w64, y)
    work.fused(work.z64, work.w64)
    np.multiply(z, _HALF, out=z)
    np.subtract(y, z, out=y)
    np.add(x, y, out=x)
    np.multiply(e, _LOG_HIGH, out=e)  # exact, as is the same product inside PyTorch's fused addition
    np.add(x, e, out=x)
    return x


def _sin_cos(theta, work):
    """Sine and cosine of float32 angles in [0, 2 pi), left in ``y32`` and ``w32``; ``theta`` is overwritten."""
    x, y, z, cos, octant, sign = theta, work.y32, work.z32, work.w32, work.bits, work.sign
    np.multiply(theta, _FOUR_OVER_PI, out=y)
    np.copyto(octant, y, casting="unsafe")
    np.add(octant, 1, out=octant)
    np.bitwise_and(octant, -2, out=octant)
    np.copyto(z, octant, casting="same_kind")
    for part in map(np.float32, _QUARTER_TURN[:2]):  # these two products are exact
        np.multiply(z, part, out=y)
        np.add(x, y, out=x)
    np.copyto(work.y64, z)
    np.copyto(work.x64, x)
    work.fused(_single(_QUARTER_TURN[2]), work.x64)
    np.copyto(x, y)
    np.copyto(work.x64, x)
    np.multiply(x, x, out=z)
    np.copyto(work.z64, z)

    work.polynomial(_COS, work.z64)
    np.multiply(y, z, out=y)
    np.copyto(work.y64, y)
    np.multiply(work.z64, -0.5, out=work.w64)
    work.fused(work.z64, work.w64)
    np.add(y, _ONE, out=cos)

    work.polynomial(_SIN, work.z64)
    np.multiply(y, z, out=y)
    np.copyto(work.y64, y)
    work.fused(work.x64, work.x64)
    _place(y.view(np.int32), cos.view(np.int32), octant, sign, x.view(np.int32))
    return y, cos


def _place(sin, cos, octant, sign, spare):
    """Exchange sine and cosine and set their signs by octant, on the bits: no branch, so no misprediction."""
    np.right_shift(octant, 1, out=sign)
    np.bitwise_and(sign, 1, out=sign)
    np.negative(sign, out=sign)  # all ones where the two change places
    np.bitwise_xor(sin, cos, out=spare)
    np.bitwise_and(spare, sign, out=spare)
    np.bitwise_xor(sin, spare, out=sin)
    np.bitwise_xor(cos, spare, out=cos)
    np.left_shift(octant, 29, out=sign)  # octants 4 and 6: bit 31, the sign bit; 2 and 6 also set bit 30
    np.bitwise_and(sign, np.int32(-(2**31)), out=sign)
    np.bitwise_xor(sin, sign, out=sin)
    np.subtract(octant, 2, out=octant)
    np.bitwise_not(octant, out=octant)
    np.left_shift(octant, 29, out=sign)
    np.bitwise_and(sign, np.int32(-(2**31)), out=sign)
    np.bitwise_xor(cos, sign, out=cos)


def normals_float32(uniforms, mean=0.0, std=1.0):
    """Turn float32 uniforms, in place, into normals: ``radius(u[j]) * cos|sin(2 pi u[j+8]) * std + mean``.

    Args: a contiguous float32 array whose length is a multiple of 16. Returns the same array.
    """
    plain = mean == 0 and std == 1
    mean, std = _single(mean), _single(std)
    blocks = uniforms.reshape(-1, 2, BLOCK // 2)
    work = None
    for start in range(0, len(blocks), CHUNK):
        block = blocks[start : start + CHUNK]
        if work is None or len(block) != len(work.x32):
            work = _Work((len(block), BLOCK // 2))
            radius = np.empty_like(work.x32)
        np.subtract(_ONE, block[:, 0], out=radius)
        np.multiply(_log(radius, work), np.float32(-2), out=radius)
        np.sqrt(radius, out=radius)
        np.multiply(block[:, 1], _TWO_PI, out=work.x32)
        for half, wave in enumerate(reversed(_sin_cos(work.x32, work))):
            if plain:
                np.multiply(wave, radius, out=block[:, half])
            else:
                np.multiply(wave, radius, out=wave)
                np.copyto(work.x64, wave)
                np.multiply(work.x64, std, out=work.x64)
                np.add(work.x64, mean, out=work.x64)
                block[:, half] = work.x64
    return uniforms


def normals_float64(uniforms, mean=0.0, std=1.0):
    """Turn float64 uniforms, in place, into normals in blocks of 16, with the C library's functions."""
    blocks = uniforms.reshape(-1, 2, BLOCK // 2)
    radius = np.sqrt(-2.0 * library(math.log, 1.0 - blocks[:, 0]))
    # A complex exponential of an imaginary number goes through the C library's sin and cos; NumPy's own differ.
    turn = np.exp(1j * (2 * math.pi * blocks[:, 1]))
    blocks[:, 0] = radius * turn.real
    blocks[:, 1] = radius * turn.imag
    if mean != 0 or std != 1:
        uniforms[:] = fused_float64(uniforms, std, mean)
    return uniforms


def library(function, values):
    """Apply one of ``math``'s functions to every float64 value: the C library's bits, which NumPy's SIMD loops lack."""
    return np.fromiter(map(function, values.ravel().tolist()), np.float64, values.size).reshape(values.shape)


def fused_float64(a, b, c):
    """``a*b + c`` in float64 with a single rounding, for an array and two numbers of ordinary size.

    The exact sum is product + error (Dekker's split) + c; the small parts are added rounding to odd, after which the
    last addition rounds as if all had been exact (Boldo and Melquiond).
    """
    a, b, c = np.asarray(a, np.float64), np.float64(b), np.float64(c)
    product = a * b
    error = _product_error(a, b, product)
    upper, upper_error = _two_sum(product, c)
    lower, lost = _two_sum(error, upper_error)
    bits = np.atleast_1d(lower).view(np.int64)
    even = (np.atleast_1d(lost) != 0) & ((bits & 1) == 0)
    away = np.where((np.atleast_1d(lost) > 0) == (bits >= 0), 1, -1)
    odd = np.where(even, bits + away, bits).view(np.float64).reshape(np.shape(lower))
    return upper + odd


def _two_sum(a, b):
    """The rounded sum and its exact error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _split(a):
    """A float64 in two halves of 26 bits."""
    scaled = a * 134217729.0
    high = scaled - (scaled - a)
    return high, a - high


def _product_error(a, b, product):
    """The exact error of a rounded product."""
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
