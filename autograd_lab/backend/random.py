"""The random number generator: a Mersenne Twister that gives PyTorch's CPU numbers bit for bit.

PyTorch seeds MT19937 with ``init_genrand(seed)`` and draws 32 bits at a time; NumPy has the same generator in C, so
every method takes its raw draws in one call and shapes them with array operations:

    uniform, 32 bits or fewer   low 24 bits of a draw, times 2**-24
    uniform, float64            low 53 bits of two draws (the first is the upper half), times 2**-53
    randint                     a draw modulo the range; two draws joined where the range is 2**28 or more
    normal, fewer than 16       Box–Muller on pairs of float64 uniforms; the second value waits for the next call
    normal, 16 and more         see ``box_muller``; of a size that 16 does not divide, the last 16 are drawn again
    bernoulli                   a float64 uniform (scalar p) or a uniform of p's dtype (tensor p) below p
    randperm                    a Fisher–Yates shuffle from the front
"""

import math
import operator
import secrets
import threading

import numpy as np

from . import box_muller
from .device import device as Device
from .permutation import fisher_yates
from .random_arguments import MANTISSA, check_integers, check_permutation, check_uniform, floating, size_of, whole

DEFAULT_SEED = 67280421310721
STATE_BYTES = 5056
_WORDS = 624
_LOW_24, _LOW_53 = (1 << 24) - 1, (1 << 53) - 1

# The bytes of torch.get_rng_state(): the C++ structs of PyTorch's CPU generator, padding included.
_STATE = np.dtype(
    {
        "names": ["seed", "left", "seeded", "next", "words", "normal", "has_normal"],
        "formats": ["<u8", "<i4", "<i4", "<u8", ("<u8", _WORDS), "<f8", "<i4"],
        "offsets": [0, 8, 12, 16, 24, 5024, 5040],
        "itemsize": STATE_BYTES,
    }
)


class Generator:
    """A source of random numbers with its own seed: ``Generator().manual_seed(5)``.

    A new generator has PyTorch's default seed, 67280421310721. Calls from several threads are serialised, so none
    corrupts the state.

    Raises: RuntimeError for a device type that is none of cpu, cuda, xpu.
    """

    def __init__(self, device="cpu"):
        self.device = Device(device)
        self._lock = threading.RLock()
        self._bits = np.random.MT19937(0)
        self._numbers = np.random.Generator(self._bits)
        self.manual_seed(DEFAULT_SEED)

    def manual_seed(self, seed):
        """Start the stream that belongs to ``seed``; a negative seed counts from 2**64 downwards.

        Returns: the generator. Raises: RuntimeError if ``seed`` is no integer, ValueError outside [-2**63, 2**64).
        """
        try:
            seed = operator.index(None if isinstance(seed, bool) else seed)
        except TypeError:
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}; pass an int") from None
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError(f"Overflow when unpacking long long: the seed {seed} is outside [-2**63, 2**64)")
        with self._lock:
            self._seed = seed % (1 << 64)
            words = np.random.RandomState(self._seed & 0xFFFFFFFF).get_state(legacy=False)["state"]["key"]
            self._place(words, _WORDS)
            self._started = False
            self._waiting = None
        return self

    def seed(self):
        """Seed from the operating system's randomness and return that seed."""
        seed = secrets.randbits(64)
        self.manual_seed(seed)
        return seed

    def initial_seed(self):
        """The seed that the present stream began with."""
        return self._seed

    def get_state(self):
        """The state as a NumPy uint8 array of 5056 bytes, the same bytes as PyTorch's ``get_state``."""
        with self._lock:
            inner = self._bits.state["state"]
            fresh = not self._started and inner["pos"] == _WORDS
            state = np.zeros(1, _STATE)
            state["seed"], state["seeded"] = self._seed, 1
            state["left"] = 1 if fresh else _WORDS + 1 - inner["pos"]
            state["next"] = 0 if fresh else inner["pos"]
            state["words"] = inner["key"]
            if self._waiting is not None:
                state["normal"], state["has_normal"] = self._waiting, 1
            return state.view(np.uint8)

    def set_state(self, state):
        """Continue from a state taken with ``get_state``, from this library or from PyTorch.

        Returns: the generator. Raises: TypeError unless ``state`` is an array of bytes, RuntimeError if it is no state.
        """
        if not hasattr(state, "dtype"):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(state).__name__}")
        state = np.ascontiguousarray(state)
        if state.dtype != np.uint8:
            raise TypeError(f"RNG state must be a torch.ByteTensor (dtype uint8), got dtype {state.dtype}")
        if state.size != STATE_BYTES:
            raise RuntimeError(
                f"Expected a CPUGeneratorImplState of size {STATE_BYTES} but found the input RNG state size to be "
                f"{state.size}; pass what get_state returned"
            )
        fields = state.reshape(-1).view(_STATE)[0]
        left, after = int(fields["left"]), int(fields["next"])
        if fields["seeded"] != 1 or not 0 < left <= _WORDS or after > _WORDS:
            raise RuntimeError("Invalid mt19937 state; pass what get_state returned")
        with self._lock:
            self._seed = int(fields["seed"])
            self._place(fields["words"].astype(np.uint32), _WORDS if left == 1 else after)
            self._started = after != 0
            self._waiting = float(fields["normal"]) if fields["has_normal"] else None
        return self

    def clone_state(self):
        """Another generator in the same state; the two go on independently."""
        return Generator(self.device).set_state(self.get_state())

    def __repr__(self):
        return f"<Generator device={self.device} initial_seed={self._seed}>"

    def __reduce__(self):
        return _restore, (self.device, self.get_state())

    def _place(self, words, position):
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": words, "pos": position}}

    def _draw32(self, n):
        """``n`` raw draws as uint32."""
        self._started = self._started or n > 0
        return self._numbers.integers(0, 1 << 32, size=n, dtype=np.uint32)

    def _draw64(self, n):
        """``n`` draws of 64 bits as uint64; the first of two 32-bit draws is the upper half."""
        self._started = self._started or n > 0
        joined = self._numbers.integers(0, (1 << 64) - 1, size=n, dtype=np.uint64, endpoint=True)
        return joined if _FIRST_IS_UPPER else (joined << np.uint64(32)) | (joined >> np.uint64(32))

    def _unit32(self, n):
        """``n`` float32 uniforms in [0, 1)."""
        raw = self._draw32(n)
        raw &= np.uint32(_LOW_24)
        # As signed integers, because only those have a fast conversion to float.
        unit = raw.view(np.int32).astype(np.float32)
        return np.multiply(unit, np.float32(2**-24), out=unit)

    def _unit64(self, n):
        """``n`` float64 uniforms in [0, 1)."""
        raw = self._draw64(n)
        raw &= np.uint64(_LOW_53)
        unit = raw.view(np.int64).astype(np.float64)
        return np.multiply(unit, 2.0**-53, out=unit)

    def uniform(self, shape, dtype=np.float32, low=0.0, high=1.0):
        """Uniform numbers in [low, high).

        Raises: RuntimeError if ``low > high`` or a bound does not fit ``dtype``; NotImplementedError unless floating.
        """
        dtype = floating(dtype, "uniform_")
        n, shape = size_of(shape)
        check_uniform(low, high, dtype)
        if dtype == np.float64:
            with self._lock:
                unit = self._unit64(n)
            if low != 0 or high != 1:
                unit = box_muller.fused_float64(unit, high - low, low)
            return unit.reshape(shape)
        with self._lock:
            unit = self._unit32(n)
        if low != 0 or high != 1:
            low32, high32 = np.float32(low), np.float32(high)
            unit = (unit.astype(np.float64) * np.float64(high32 - low32) + np.float64(low32)).astype(np.float32)
        if dtype != np.float32:
            unit = unit.astype(dtype)
            # Rounding to a short dtype can reach the open end; PyTorch puts the lower bound there.
            unit[unit == dtype.type(high)] = dtype.type(low)
        return unit.reshape(shape)

    def randint(self, low, high, shape, dtype=np.int64):
        """Integers from ``low`` up to, not including, ``high``; ``high=None`` means all up to the end of int64.

        Raises: RuntimeError if ``low >= high`` or a bound does not fit ``dtype``; TypeError if one is no integer.
        """
        dtype = np.dtype(dtype)
        n, shape = size_of(shape)
        low, high = whole(low, "randint", "low"), (1 << 63 if high is None else whole(high, "randint", "high"))
        check_integers(low, high, dtype)
        with self._lock:
            values = self._below(high - low, n)
        # Over all 64 bits PyTorch does not add the lower bound: the draw is the number.
        return _shifted(values, 0 if high - low == 1 << 64 else low, dtype).reshape(shape)

    def _below(self, span, n):
        """``n`` raw draws modulo ``span``, as uint32 or uint64."""
        if span >= 1 << 28:
            raw = self._draw64(n)
            return raw if span == 1 << 64 else _remainder(raw, span)
        return _remainder(self._draw32(n), span)

    def integers_full(self, shape, dtype=np.int64):
        """``Tensor.random_()``: integers over all that ``dtype`` counts exactly, from 0.

        Up to the largest value of an integer dtype; up to 2**24 for float32, 2**53 for float64, 2**11 and 2**8 for the
        16-bit floats. Raises: NotImplementedError for complex and for unsigned integers wider than 8 bits.
        """
        dtype = np.dtype(dtype)
        n, shape = size_of(shape)
        if dtype in MANTISSA:
            span = (1 << MANTISSA[dtype]) + 1
        elif dtype.kind == "b":
            span = 2
        elif dtype.kind == "i" or dtype == np.uint8:
            span = int(np.iinfo(dtype).max) + 1
        else:
            raise NotImplementedError(f'"random_kernel_cpu" not implemented for {dtype}')
        with self._lock:
            wide = dtype.itemsize == 8
            raw = self._draw64(n) if wide else self._draw32(n)
        return _remainder(raw, span).astype(dtype).reshape(shape)

    def randperm(self, n, dtype=np.int64):
        """The numbers 0 to n-1 in random order. Raises: RuntimeError if n is negative or too large for ``dtype``."""
        dtype, n = np.dtype(dtype), whole(n, "randperm", "n")
        check_permutation(n, dtype)
        if n < 2:
            return np.arange(n, dtype=np.int64).astype(dtype)
        with self._lock:
            raw = self._draw32(n - 1)
        target = np.empty(n, np.int64)
        target[:-1] = raw % np.arange(n, 1, -1, dtype=np.uint32)
        target[-1] = 0
        target += np.arange(n)
        return np.asarray(fisher_yates(target)).astype(dtype)

    def normal(self, shape, dtype=np.float32, mean=0.0, std=1.0):
        """Normal numbers.

        Raises: RuntimeError if ``std`` is negative; NotImplementedError unless ``dtype`` is floating.
        """
        dtype = floating(dtype, "normal_kernel_cpu")
        n, shape = size_of(shape)
        if not std >= 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
        with self._lock:
            if n < box_muller.BLOCK:
                values = self._few_normals(n, mean, std)
            elif dtype == np.float64:
                values = self._many_normals(n, self._unit64, box_muller.normals_float64, mean, std)
            elif dtype == np.float32:
                values = self._many_normals(n, self._unit32, box_muller.normals_float32, mean, std)
            else:
                values = self._short_normals(n, mean, std)
        return values.astype(dtype, copy=False).reshape(shape)

    def _few_normals(self, n, mean, std):
        """Fewer than 16: pairs in float64; what the last pair has over is kept for the next call of any dtype."""
        standard = [] if self._waiting is None or n == 0 else [self._waiting]
        missing = n - len(standard)
        if standard:
            self._waiting = None
        if missing > 0:
            units = self._unit64((missing + 1) // 2 * 2).tolist()
            for turn, height in zip(units[0::2], units[1::2], strict=True):
                radius = math.sqrt(-2.0 * math.log1p(-height))
                theta = 2.0 * math.pi * turn
                standard += (radius * math.cos(theta), radius * math.sin(theta))
            if missing % 2:
                self._waiting = standard.pop()
        values = np.array(standard, np.float64)
        return values if mean == 0 and std == 1 else box_muller.fused_float64(values, std, mean)

    def _many_normals(self, n, units, transform, mean, std):
        """Sixteen and more: all uniforms first, then blocks of 16, then the last 16 anew if some are left over."""
        values = units(n)
        whole = n - n % box_muller.BLOCK
        transform(values[:whole], mean, std)
        if whole != n:
            values[-box_muller.BLOCK :] = transform(units(box_muller.BLOCK), mean, std)
        return values

    def _short_normals(self, n, mean, std):
        """As above for float16 and bfloat16, where PyTorch draws block by block and so none for the remainder."""
        whole = n - n % box_muller.BLOCK
        values = np.empty(n, np.float32)
        values[:whole] = box_muller.normals_float32(self._unit32(whole), mean, std)
        if whole != n:
            values[-box_muller.BLOCK :] = box_muller.normals_float32(self._unit32(box_muller.BLOCK), mean, std)
        return values

    def bernoulli_scalar(self, p, shape, dtype=np.bool_):
        """Ones with probability ``p``, else zeros (``bernoulli_(p)``; dropout keeps where this is 1).

        Raises: RuntimeError if ``p`` is outside [0, 1].
        """
        p = float(p)
        if not 0 <= p <= 1:
            raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
        n, shape = size_of(shape)
        with self._lock:
            raw = self._draw64(n)
        raw &= np.uint64(_LOW_53)
        # u < p as whole numbers: scaling by 2**53 is exact.
        ones = raw < np.uint64(math.ceil(p * 2.0**53))
        return ones.astype(dtype, copy=False).reshape(shape)

    def bernoulli_tensor(self, p, dtype=None):
        """Ones with the probability given for each element, of ``p``'s shape and dtype.

        Raises: RuntimeError if some probability is outside [0, 1] or NaN; NotImplementedError unless ``p`` is floating.
        """
        p = np.asarray(p)
        floating(p.dtype, "bernoulli_tensor_cpu_p_")
        if not ((p >= 0) & (p <= 1)).all():
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true; some p is outside [0, 1] or is NaN")
        with self._lock:
            units = self._unit64(p.size) if p.dtype == np.float64 else self._unit32(p.size)
        exact = p.astype(np.float32) if p.dtype.itemsize == 2 else p
        return (units.reshape(p.shape) < exact).astype(p.dtype if dtype is None else dtype)

    def exponential(self, shape, dtype=np.float32, rate=1.0):
        """Exponential numbers, ``-log(1-u)/rate``.

        Raises: RuntimeError unless ``rate > 0`` and ``dtype`` is floating.
        """
        dtype = np.dtype(dtype)
        if dtype not in MANTISSA:
            raise RuntimeError(f"Exponential distribution is a continuous probability distribution, got dtype {dtype}")
        if not rate > 0:
            raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
        n, shape = size_of(shape)
        with self._lock:
            units = self._unit64(n)
        units *= -1.0
        logs = box_muller.library(math.log1p, units) if dtype == np.float64 else np.log1p(units, out=units)
        return (-1.0 / rate * logs).astype(dtype, copy=False).reshape(shape)


def _restore(device, state):
    """Rebuild a pickled generator."""
    return Generator(device).set_state(state)


def _first_is_upper():
    """Whether NumPy puts the first of two draws in the upper half; C leaves the order to NumPy's compiler."""
    both = int(np.random.Generator(np.random.MT19937(0)).integers(0, (1 << 64) - 1, dtype=np.uint64, endpoint=True))
    return both >> 32 == np.random.MT19937(0).random_raw()


_FIRST_IS_UPPER = _first_is_upper()


def _remainder(raw, span):
    """Unsigned draws modulo ``span``, in place."""
    span = raw.dtype.type(span)
    if span & (span - raw.dtype.type(1)) == 0:
        return np.bitwise_and(raw, span - raw.dtype.type(1), out=raw)
    # NumPy divides by one number much faster than it takes the remainder.
    quotient = np.floor_divide(raw, span)
    np.multiply(quotient, span, out=quotient)
    return np.subtract(raw, quotient, out=raw)


def _shifted(values, low, dtype):
    """``values + low`` as ``dtype``; the sum wraps at 64 bits as PyTorch's does."""
    if low == 0 and values.dtype == np.uint32:
        values = values.view(np.int32)  # below 2**28, and signed integers convert faster
        return values.astype(dtype)
    values = values.astype(np.int64) if values.dtype == np.uint32 else values.view(np.int64)
    if low:
        values += np.int64(low)
    return values.astype(dtype, copy=False)


default_generator = Generator()
"""The process-wide generator. Like PyTorch's it starts from a random seed, until ``manual_seed`` sets one."""
default_generator.seed()
