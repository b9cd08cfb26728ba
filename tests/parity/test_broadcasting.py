"""Broadcasting against PyTorch: values and gradients for shapes of up to four dimensions, of sizes 0 and 1 too."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_lab as lab

SIZES = st.sampled_from([0, 1, 1, 2, 3])


@st.composite
def shapes(draw, count):
    """``count`` shapes that broadcast: each is a tail of one shape, with ones put in here and there."""
    whole = draw(st.lists(SIZES, max_size=4))
    found = []
    for _ in range(count):
        tail = whole[draw(st.integers(0, len(whole))) :]
        found.append(tuple(1 if draw(st.booleans()) else size for size in tail))
    return found


@st.composite
def any_shapes(draw):
    """Two shapes that may or may not fit each other."""
    return [tuple(draw(st.lists(SIZES, max_size=4))) for _ in range(2)]


def values(shape, seed, positive=False, whole=False):
    """Normal numbers; small whole ones have ties among them."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-2, 3, shape).astype(float) if whole else rng.normal(size=shape)
    return abs(x) + 0.5 if positive else x


def outcome(library, function, arrays):
    """Value and gradients under a cotangent of unequal numbers, or the type of what was raised."""
    leaves = [library.tensor(a, requires_grad=True) for a in arrays]
    try:
        y = function(library, *leaves)
    except (RuntimeError, IndexError, ValueError) as error:
        return type(error).__name__
    y.backward(library.arange(1.0, y.numel() + 1, dtype=library.float64).reshape(y.shape))
    return [y.detach().numpy(), *(leaf.grad.numpy() for leaf in leaves)]


def same(function, arrays):
    ours, theirs = (outcome(library, function, arrays) for library in (lab, torch))
    assert isinstance(ours, str) == isinstance(theirs, str), (ours, theirs)
    if isinstance(ours, str):
        assert ours == theirs
        return
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


BINARY = {
    "add": lambda t, a, b: t.add(a, b, alpha=2),
    "sub": lambda t, a, b: a - b,
    "mul": lambda t, a, b: a * b,
    "maximum": lambda t, a, b: t.maximum(a, b),
    "minimum": lambda t, a, b: t.minimum(a, b),
    "atan2": lambda t, a, b: t.atan2(a, b + 0.25),
}


@pytest.mark.parametrize("name", BINARY)
@settings(max_examples=200)
@given(shapes=shapes(2), seed=st.integers(0, 1000), whole=st.booleans())
def test_two_operands(name, shapes, seed, whole):
    same(BINARY[name], [values(shape, seed + i, whole=whole) for i, shape in enumerate(shapes)])


@settings(max_examples=200)
@given(shapes=shapes(2), seed=st.integers(0, 1000))
def test_pow(shapes, seed):
    base, exponent = shapes
    same(lambda t, a, b: a**b, [values(base, seed, positive=True), values(exponent, seed + 1)])


@settings(max_examples=200)
@given(shapes=shapes(3), seed=st.integers(0, 1000))
def test_where(shapes, seed):
    chosen = values(shapes[0], seed) > 0
    arrays = [values(shape, seed + 1 + i) for i, shape in enumerate(shapes[1:])]
    same(lambda t, a, b: t.where(t.tensor(chosen), a, b), arrays)


@settings(max_examples=200)
@given(shapes=shapes(3), seed=st.integers(0, 1000))
def test_three_operands(shapes, seed):
    arrays = [values(shape, seed + i) for i, shape in enumerate(shapes)]
    same(lambda t, a, b, c: t.addcmul(a, b, c, value=0.5) + t.lerp(a, b, c), arrays)


@settings(max_examples=200)
@given(shapes=shapes(2), seed=st.integers(0, 1000))
def test_expand_as_and_broadcast_tensors(shapes, seed):
    def both(t, a, b):
        a, b = t.broadcast_tensors(a, b)
        return a * 2 + b.expand_as(a)

    same(both, [values(shape, seed + i) for i, shape in enumerate(shapes)])


@pytest.mark.parametrize("name", ["add", "mul", "maximum"])
@settings(max_examples=200)
@given(shapes=any_shapes(), seed=st.integers(0, 1000))
def test_shapes_that_may_not_fit(name, shapes, seed):
    """What PyTorch refuses is refused, with its error type."""
    same(BINARY[name], [values(shape, seed + i) for i, shape in enumerate(shapes)])


@settings(max_examples=200)
@given(shapes=any_shapes(), seed=st.integers(0, 1000))
def test_writing_in_place_may_not_grow(shapes, seed):
    same(lambda t, a, b: (a * 1).mul_(b), [values(shape, seed + i) for i, shape in enumerate(shapes)])
