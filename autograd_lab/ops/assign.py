"""In-place writing: ``copy_``, ``fill_``, ``zero_`` and the random fillers. What is overwritten gets no gradient."""

import math

import numpy as np

from ..backend import random as rnd
from ..core import bind as core_bind
from ..core.modes import modes
from ..core.op import op
from ..core.public import METHODS, public
from ..core.storage import storage_of
from ..core.tensor import Tensor, wrap
from .dims import number_of
from .samples import Sample, spread
from .shape import cast_to, clone, expand_copy, reshape

# ----- rows -----

overwritten = op(
    "overwrite", lambda xp, x, values: values, lambda g, y, x, values: fill_row(g, 0.0),
    kind="structure", grad_name="Zero", arity=1,
    samples=lambda: iter((Sample(spread((3, 4)), params=(spread((3, 4), seed=1),)),)), ref=lambda x, v: v,
    formula={"forward": "new values", "rules": ["0"]},
)  # fmt: skip


def _fill(xp, x, value):
    return xp.full(x.shape, value, x.dtype)


fill_row = op(
    "fill", _fill, lambda g, y, x, value: fill_row(g, 0.0), lambda g, y, x, value: g, kind="structure", dtypes="free",
    samples=lambda: iter((Sample(spread((3, 4)), 2.5), Sample(spread((3, 4)), spread(()), note="tensor"))),
    ref=lambda x, v: np.full(x.shape, v), formula={"forward": "value everywhere", "rules": ["0", "Σ ḡ"]},
)  # fmt: skip


@public("fill", inplace=True)
def fill(input, value):
    """A tensor of the shape and dtype of ``input`` filled with one number or 0-d tensor.

    Raises: RuntimeError for a value with dimensions.
    """
    if isinstance(value, Tensor) and value._d.ndim:
        raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got tensor with {value._d.ndim} dimensions.")
    if isinstance(value, complex) and input._d.dtype.kind != "c":
        raise RuntimeError("value cannot be converted to type without overflow: it is complex")
    return fill_row(input, value)


# ----- writing -----


def is_plain(self):
    """Whether writing into this tensor's memory needs no change of history."""
    if not modes.now.grad:
        return True
    return self._node is None and (self._base is None or self._base._node is None)


def write(self, values, name):
    """Write values (an array or number) that carry no gradient into the tensor's memory."""
    if is_plain(self):
        d = self._array()
        if not d.flags.writeable and np.ndim(values) == 0:
            d = _repeated_memory(self, d)
        try:
            np.copyto(d, values, casting="unsafe")
        except ValueError:
            raise core_bind.not_writable(name, d, values) from None
        storage_of(self).bump(name, None)
        return self
    core_bind.check_inplace(self, name)
    try:
        values = np.broadcast_to(np.asarray(values, self._d.dtype), self._d.shape)
    except ValueError:
        raise core_bind.not_writable(name, self._d, values) from None
    return core_bind.change(self, overwritten(off_memory(self), values), name)


def _repeated_memory(self, d):
    """The memory behind an expanded tensor, writable: one value may be written over and over."""
    owner = self._owner()
    if not owner.flags.writeable or not owner.flags.c_contiguous:
        return d
    return np.ndarray(d.shape, d.dtype, owner, self.storage_offset() * d.itemsize, d.strides)


def zero_(self):
    """Set every element to 0, in place."""
    return write(self, 0, "zero_")


def fill_(self, value):
    """Set every element to ``value`` (a number or 0-d tensor), in place."""
    if isinstance(value, Tensor) and value._d.ndim == 0 and value._node is None:
        value = value._d
    if not isinstance(value, Tensor) and not isinstance(value, complex):
        return write(self, value, "fill_")
    core_bind.check_inplace(self, "fill_")
    return core_bind.change(self, fill(off_memory(self), value), "fill_")


def off_memory(self):
    """The tensor's value and place on the tape, to compute from while the tensor itself is changed."""
    shadow = wrap(self._d)
    shadow._node = self._node
    return shadow


def copy_(self, src, non_blocking=False):
    """Copy the elements of ``src`` into this tensor, with broadcasting and conversion, in place.

    Raises: RuntimeError if ``src`` does not broadcast to this shape.
    """
    if not isinstance(src, Tensor):
        src = wrap(np.asarray(src))
    if src._node is None or not modes.now.grad:
        d = src._d
        return write(self, d.real if d.dtype.kind == "c" and self._d.dtype.kind != "c" else d, "copy_")
    core_bind.check_inplace(self, "copy_")
    value = region_value(src, self._d.shape, self.dtype, "copy_")
    return core_bind.change(self, clone(value) if value is src else value, "copy_")


def region_value(src, shape, dtype, name):
    """``src`` on the tape, in the shape and dtype of the region it is written to."""
    have = src._d.shape
    if len(have) > len(shape) and not any(s != 1 for s in have[: len(have) - len(shape)]):
        src = reshape(src, have[len(have) - len(shape) :])
    value = cast_to(src, dtype)
    if value._d.shape != shape:
        try:
            fits = np.broadcast_shapes(value._d.shape, shape) == shape
        except ValueError:
            fits = False
        if not fits:
            raise RuntimeError(f"{name}: shape mismatch: value of shape {list(have)} cannot be broadcast to shape {list(shape)}")
        value = expand_copy(value, shape)
    return value


METHODS.update(zero_=zero_, fill_=fill_, copy_=copy_)


def _publish_functions():
    from ..core.public import NAMESPACES

    NAMESPACES["torch"].update(zero_=zero_, fill_=fill_)


_publish_functions()

# ----- random -----


def _parts(self):
    """Shape and dtype to draw for a tensor: complex numbers as pairs of reals."""
    d = self._d
    if d.dtype.kind == "c":
        return (*d.shape, 2), np.dtype(np.float64 if d.dtype.itemsize == 16 else np.float32)
    return d.shape, d.dtype


def _joined(self, drawn):
    return drawn.view(self._d.dtype)[..., 0] if self._d.dtype.kind == "c" else drawn


def _generator(generator):
    return rnd.default_generator if generator is None else generator


def normal_(self, mean=0.0, std=1.0, *, generator=None):
    """Fill with values drawn from N(mean, std²), in place."""
    shape, dtype = _parts(self)
    mean, std = number_of(mean), number_of(std)
    if self._d.dtype.kind == "c":
        if std < 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
        values = _joined(self, _generator(generator).normal(shape, dtype, 0.0, std / math.sqrt(2))) + mean
    else:
        values = _generator(generator).normal(shape, dtype, mean, std)
    return write(self, values, "normal_")


def uniform_(self, from_=0.0, to=1.0, *, generator=None, **named):
    """Fill with values drawn uniformly from [from, to), in place."""
    low, high = number_of(named.pop("from", from_)), number_of(to)
    if named:
        raise TypeError(f"uniform_() got an unexpected keyword argument '{next(iter(named))}'")
    shape, dtype = _parts(self)
    return write(self, _joined(self, _generator(generator).uniform(shape, dtype, low, high)), "uniform_")


def random_(self, from_=None, to=None, *, generator=None, **named):
    """Fill with whole numbers drawn from [from, to), in place; without bounds, from all that the dtype counts exactly."""
    low = named.pop("from", from_)
    source = _generator(generator)
    d = self._d
    if low is None and to is None:
        values = source.integers_full(d.shape, d.dtype)
    else:
        low, high = (0, low) if to is None and "from" not in named and from_ is not None else (low or 0, to)
        values = source.randint(low, high, d.shape, d.dtype)
    return write(self, values, "random_")


def bernoulli_(self, p=0.5, *, generator=None):
    """Fill with 1 with probability ``p`` (a number, or a tensor of one per element), else 0, in place."""
    source = _generator(generator)
    if isinstance(p, Tensor):
        return write(self, source.bernoulli_tensor(np.broadcast_to(p._array(), self._d.shape)), "bernoulli_")
    return write(self, source.bernoulli_scalar(p, self._d.shape, self._d.dtype), "bernoulli_")


def exponential_(self, lambd=1.0, *, generator=None):
    """Fill with values drawn from the exponential distribution with rate ``lambd``, in place."""
    return write(self, _generator(generator).exponential(self._d.shape, self._d.dtype, lambd), "exponential_")


def log_normal_(self, mean=1.0, std=2.0, *, generator=None):
    """Fill with exp of values drawn from N(mean, std²), in place. Raises: RuntimeError unless ``std`` > 0."""
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    source, left = _generator(generator), self._d.size
    parts = [np.empty(0)]
    while left:  # PyTorch draws these one by one, which the generator does for fewer than 16
        parts.append(source.normal((min(left, 15),), np.float64, mean, std))
        left -= parts[-1].size
    return write(self, np.exp(np.concatenate(parts)).reshape(self._d.shape), "log_normal_")


METHODS.update(
    normal_=normal_, uniform_=uniform_, random_=random_, bernoulli_=bernoulli_, exponential_=exponential_, log_normal_=log_normal_
)  # fmt: skip
