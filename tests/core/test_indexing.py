"""Indexing against PyTorch: random mixtures of ints, slices, None, Ellipsis, lists, index tensors and masks.

Reading, its gradient, writing numbers and tensors, and the gradient of writing give the same; what PyTorch refuses is
refused with an error of the same type.
"""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_lab as lab

# An index is made as plain data, and turned into each library's own: ("tensor", list) means an index tensor.


def whole(size):
    return st.integers(-size, size - 1) if size else st.just(0)


@st.composite
def cut(draw, size):
    start, stop = (draw(st.none() | st.integers(-size - 1, size + 1)) for _ in range(2))
    return slice(start, stop, draw(st.none() | st.integers(1, 3)))


@st.composite
def index_tensor(draw, size, shape):
    count = int(np.prod(shape))
    values = draw(st.lists(whole(size), min_size=count, max_size=count))
    return ("tensor", np.array(values, np.int64).reshape(shape))


@st.composite
def mask(draw, shape):
    count = int(np.prod(shape))
    bits = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return ("tensor", np.array(bits, bool).reshape(shape))


@st.composite
def shape_and_index(draw):
    """A shape of up to 3 dimensions and an index that fits it (mostly: index tensors may fail to broadcast)."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    wide = draw(st.sampled_from([(), (2,), (2,), (3, 1), (1, 2)]))
    items, dim, dots = [], 0, False
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.integers(0, 7)) == 0:
            items.append(None)
            continue
        if not dots and draw(st.integers(0, 7)) == 0:
            items.append(Ellipsis)
            dots = True
            continue
        if dim >= len(shape):
            break
        size = shape[dim] if not dots else min(shape[dim:])
        kind = draw(st.sampled_from(["int", "slice", "slice", "tensor", "tensor", "list", "mask", "mask2"]))
        if kind == "mask2" and (dim + 2 > len(shape) or dots):
            kind = "mask"
        if kind == "mask" and dots:
            kind = "int"
        if kind == "int":
            items.append(draw(whole(size)))
        elif kind == "slice":
            items.append(draw(cut(size)))
        elif kind == "tensor":
            items.append(draw(index_tensor(size, wide)))
        elif kind == "list":
            items.append(draw(st.lists(whole(size), min_size=2, max_size=2)))
        elif kind == "mask":
            items.append(draw(mask(shape[dim : dim + 1])))
        else:
            items.append(draw(mask(shape[dim : dim + 2])))
            dim += 1
        dim += 1
    if len(items) == 1 and draw(st.booleans()):
        return shape, items[0]
    return shape, tuple(items)


def as_index(library, item):
    if isinstance(item, tuple) and item and isinstance(item[0], str):
        return library.tensor(item[1])
    if isinstance(item, tuple):
        return tuple(as_index(library, i) for i in item)
    return item


def data(shape):
    return np.arange(1, np.prod(shape) + 1, dtype=np.float64).reshape(shape) / 3


def outcome(library, action):
    """What an action gives: arrays, or the type of the error."""
    try:
        return [None if v is None else v.detach().numpy() for v in action(library)]
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        return type(error)


def check(action):
    found, expected = outcome(lab, action), outcome(torch, action)
    if isinstance(expected, type) or isinstance(found, type):
        assert found == expected
        return
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-12)


@settings(max_examples=200)
@given(shape_and_index())
def test_reading_and_its_gradient(case):
    shape, index = case

    def read(t):
        x = t.tensor(data(shape), requires_grad=True)
        y = x[as_index(t, index)]
        weight = t.tensor(data(tuple(y.shape)))
        (y * y * weight).sum().backward()
        return [y, x.grad]

    check(read)


@settings(max_examples=200)
@given(shape_and_index(), st.sampled_from(["number", "0-d", "full", "last", "leading 1"]))
def test_writing(case, kind):
    shape, index = case

    def write(t):
        x = t.tensor(data(shape))
        part = x[as_index(t, index)]
        x[as_index(t, index)] = value_for(t, part, kind, False)
        return [x]

    if unambiguous(shape, index):
        check(write)


@settings(max_examples=200)
@given(shape_and_index(), st.sampled_from(["number", "0-d", "full", "last", "leading 1"]))
def test_writing_through_the_tape(case, kind):
    shape, index = case

    def write(t):
        w = t.tensor(data(shape), requires_grad=True)
        y = w * 2
        part = y.detach()[as_index(t, index)]
        value = value_for(t, part, kind, True)
        y[as_index(t, index)] = value
        (y * y).sum().backward()
        return [y, w.grad, *([value.grad] if kind != "number" else [])]

    if unambiguous(shape, index):
        check(write)


def value_for(t, part, kind, requires_grad):
    have = tuple(part.shape)
    if kind == "number":
        return 7.0
    want = {"0-d": (), "full": have, "last": have[-1:], "leading 1": (1, *have)}[kind]
    return t.tensor(data(want) + 50, requires_grad=requires_grad)


def unambiguous(shape, index):
    """Whether no element is written twice: which write wins is open then."""
    places = torch.arange(int(np.prod(shape))).reshape(shape)
    try:
        picked = places[as_index(torch, index)].reshape(-1)
    except (IndexError, RuntimeError, TypeError, ValueError):
        return True
    return len(torch.unique(picked)) == len(picked)


@pytest.mark.parametrize(
    ("index", "error", "words"),
    [
        (7, IndexError, "index 7 is out of bounds for dimension 0 with size 4"),
        ((0, 9), IndexError, "index 9 is out of bounds for dimension 1 with size 5"),
        (("tensor", [7]), IndexError, "index 7 is out of bounds for dimension 0 with size 4"),
        ((0, 0, 0), IndexError, "too many indices for tensor of dimension 2"),
        (1.5, IndexError, "only integers, slices"),
        ("a", TypeError, "str"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (("tensor", [True, False]), IndexError, r"The shape of the mask \[2\] at index 0 does not match"),
        ((("tensor", [0, 1]), ("tensor", [0, 1, 2])), IndexError, "shape mismatch"),
        (("tensor", [0.5]), IndexError, "tensors used as indices must be"),
    ],
)
def test_refused_indices(index, error, words):
    x = lab.ones(4, 5)
    with pytest.raises(error, match=words):
        x[as_index(lab, index)]
    with pytest.raises(error):
        torch.ones(4, 5)[as_index(torch, index)]


def test_an_int_beside_an_index_tensor_keeps_dimensions_in_place():
    x = lab.arange(24).reshape(2, 3, 4)
    assert x[0, :, lab.tensor([0, 1])].shape == (3, 2)  # NumPy would give (2, 3)


def test_values_that_do_not_fit_are_refused():
    x = lab.zeros(2, 3)
    for index in (0, slice(0, 1), lab.tensor([0])):
        with pytest.raises(RuntimeError, match="shape mismatch"):
            x[index] = lab.ones(4)
    assert x.sum() == 0
