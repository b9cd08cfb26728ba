"""The process-wide generator by PyTorch's names, and draws that depend on probabilities."""

import math

import numpy as np

from ..backend import dtype as dt
from ..backend import random as rnd
from ..backend.box_muller import library
from ..core.bind import write_out
from ..core.public import NAMESPACES, public
from ..core.tensor import Tensor, wrap
from .assign import write
from .dims import scalar_name
from .sorting import order


class Generator(rnd.Generator):
    """A source of random numbers with its own seed: ``Generator().manual_seed(5)``. States are tensors of bytes."""

    def get_state(self):
        """The state as a uint8 tensor."""
        return wrap(super().get_state())

    def set_state(self, new_state):
        """Continue from a state that ``get_state`` returned."""
        return super().set_state(new_state._array() if isinstance(new_state, Tensor) else new_state)


NAMESPACES.setdefault("torch", {})["Generator"] = Generator
NAMESPACES["torch"]["default_generator"] = rnd.default_generator


@public("manual_seed", method=False, namespace=("torch", "random"))
def manual_seed(seed):
    """Start the stream of random numbers that belongs to ``seed``; returns the generator."""
    return rnd.default_generator.manual_seed(int(seed))


@public("seed", method=False, namespace=("torch", "random"))
def seed():
    """Seed from the operating system's randomness and return that seed."""
    return rnd.default_generator.seed()


@public("initial_seed", method=False, namespace=("torch", "random"))
def initial_seed():
    """The seed that the present stream began with."""
    return rnd.default_generator.initial_seed()


@public("get_rng_state", method=False, namespace=("torch", "random"))
def get_rng_state():
    """The generator's state as a uint8 tensor."""
    return wrap(rnd.default_generator.get_state())


@public("set_rng_state", method=False, namespace=("torch", "random"))
def set_rng_state(new_state):
    """Continue from a state that ``get_rng_state`` returned."""
    rnd.default_generator.set_state(new_state._array() if isinstance(new_state, Tensor) else new_state)


@public("multinomial")
def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    """Indices drawn in proportion to the weights in ``input``, per row; without replacement each at most once.

    Raises: RuntimeError for weights that are negative, infinite, NaN or all 0, or for too many draws.
    """
    p = input._array()
    if p.dtype.kind != "f":
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input.dtype.name}")
    if p.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    n = p.shape[-1]
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > n:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if not np.isfinite(p).all() or (p < 0).any():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (p.sum(-1) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if out is not None and out.dtype is not dt.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {scalar_name(out.dtype)}")
    value = wrap(_chosen(p, num_samples, replacement, generator or rnd.default_generator))
    return value if out is None else write_out(out, value)


def _chosen(p, num_samples, replacement, source):
    """Places drawn in proportion to ``p``: the largest of p / exponential draws, or by the running sums of ``p``."""
    n = p.shape[-1]
    if not replacement or num_samples == 1:
        q = p / source.exponential(p.shape, p.dtype)
        return np.ascontiguousarray(order(q, p.ndim - 1, True)[..., :num_samples])
    rows = p.reshape(-1, n)
    total = np.cumsum(rows, axis=1, dtype=p.dtype)
    total /= total[:, -1:]
    total[:, -1] = 1
    draws = source.uniform((len(rows), num_samples), np.float64)
    places = np.stack([np.searchsorted(edges, u, "left") for edges, u in zip(total, draws, strict=True)])
    return places.reshape(*p.shape[:-1], num_samples)


@public("poisson", method=False)
def poisson(input, generator=None):
    """Counts drawn from Poisson distributions with these rates (its own stream of numbers, not PyTorch's)."""
    source = generator or rnd.default_generator
    return wrap(np.random.default_rng(int(source.randint(0, 1 << 31, (1,))[0])).poisson(input._d).astype(input._d.dtype))


@public("cauchy_", namespace=None)
def cauchy_(self, median=0.0, sigma=1.0, *, generator=None):
    """Fill with values drawn from the Cauchy distribution, in place: median + sigma tan(π (u − ½)).

    Raises: RuntimeError unless ``sigma`` > 0 and the dtype is floating.
    """
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    if not self.dtype.is_floating_point:
        raise RuntimeError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified "
            f"{self.dtype.name}"
        )
    units = (generator or rnd.default_generator).uniform(self._d.shape, np.float64)
    return write(self, median + sigma * library(math.tan, math.pi * (units - 0.5)), "cauchy_")


@public("geometric_", namespace=None)
def geometric_(self, p, *, generator=None):
    """Fill with the number of tries up to the first success of probability ``p``, in place: ⌈ln u / ln(1 − p)⌉.

    Raises: RuntimeError unless 0 < p < 1, NotImplementedError for bools and complex numbers.
    """
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    if self._d.dtype.kind in "bc":
        raise NotImplementedError(f"\"geometric_cpu\" not implemented for '{scalar_name(self.dtype)}'")
    units = (generator or rnd.default_generator).uniform(self._d.shape, np.float64)
    return write(self, np.ceil(np.log(units) / math.log1p(-p)), "geometric_")
