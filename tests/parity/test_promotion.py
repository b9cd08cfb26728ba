"""The dtype of every mixture of operands is PyTorch's: the whole grid, tensors with and without dimensions and Python numbers.

Judged is what PyTorch computes. Where it has no kernel for a mixture, a result of ours is no mistake. PyTorch's complex32, which is
not here, is complex64.
"""

import itertools

import pytest
import torch

import autograd_lab as lab

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
NUMBERS = [True, 1, 1.5, 1 + 1j]
OPERANDS = [(name, shape) for name in NAMES for shape in ((2,), ())] + NUMBERS
"""What stands on either side: (dtype, shape) of a tensor, or a Python number."""


def condition(t):
    return t.tensor([True, False])


FUNCTIONS = {
    "add": lambda t, a, b: t.add(a, b),
    "sub": lambda t, a, b: t.sub(a, b),
    "mul": lambda t, a, b: t.mul(a, b),
    "div": lambda t, a, b: t.div(a, b),
    "a + b": lambda t, a, b: a + b,
    "a - b": lambda t, a, b: a - b,
    "a * b": lambda t, a, b: a * b,
    "a / b": lambda t, a, b: a / b,
    "a // b": lambda t, a, b: a // b,
    "a % b": lambda t, a, b: a % b,
    "a ** b": lambda t, a, b: a**b,
    "a == b": lambda t, a, b: a == b,
    "eq": lambda t, a, b: t.eq(a, b),
    "a < b": lambda t, a, b: a < b,
    "ge": lambda t, a, b: t.ge(a, b),
    "maximum": lambda t, a, b: t.maximum(a, b),
    "where": lambda t, a, b: t.where(condition(t), a, b),
    "cat": lambda t, a, b: t.cat([a, b]),
    "stack": lambda t, a, b: t.stack([a, b]),
    "atan2": lambda t, a, b: t.atan2(a, b),
    "a & b": lambda t, a, b: a & b,
    "a += b": lambda t, a, b: a.add_(b),
    "a *= b": lambda t, a, b: a.mul_(b),
    "a /= b": lambda t, a, b: a.div_(b),
}


def made(library, what):
    if isinstance(what, tuple):
        name, shape = what
        return library.ones(shape, dtype=getattr(library, name))
    return what


def outcome(library, function, a, b):
    """Dtype and shape of the result, or None where it is refused."""
    try:
        found = function(library, made(library, a), made(library, b))
    except (RuntimeError, TypeError, AttributeError):  # numbers have no add_
        return None
    return named(found.dtype), tuple(found.shape)


def named(dtype):
    return "complex64" if str(dtype) == "torch.complex32" else str(dtype).removeprefix("torch.")


PAIRS = [pair for pair in itertools.product(OPERANDS, repeat=2) if any(isinstance(what, tuple) for what in pair)]
"""Both orders; of two Python numbers there is nothing to promote."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_result_dtypes(name):
    wrong, judged = [], 0
    for a, b in PAIRS:
        ours, theirs = (outcome(library, FUNCTIONS[name], a, b) for library in (lab, torch))
        judged += theirs is not None
        if theirs is not None and ours != theirs:
            wrong.append(f"{a}, {b}: {ours}, PyTorch {theirs}")
    assert judged > 50
    assert not wrong, f"{len(wrong)} of {judged} differ: " + "; ".join(wrong[:10])


def test_result_type():
    wrong = []
    for a, b in PAIRS:
        ours, theirs = (named(library.result_type(made(library, a), made(library, b))) for library in (lab, torch))
        if ours != theirs:
            wrong.append(f"{a}, {b}: {ours}, PyTorch {theirs}")
    assert not wrong, wrong


@pytest.mark.parametrize("function", ["promote_types", "can_cast"])
def test_pairs_of_dtypes(function):
    for a, b in itertools.product(NAMES, repeat=2):
        ours, theirs = (str(getattr(t, function)(getattr(t, a), getattr(t, b))) for t in (lab, torch))
        assert ours == theirs, (a, b)


@pytest.mark.parametrize("default", ["float64", "float16"])
def test_the_default_dtype_takes_part(default):
    """A Python float with an integer tensor, and the quotient of integers, have the default dtype."""
    found = []
    for library in (lab, torch):
        before = library.get_default_dtype()
        library.set_default_dtype(getattr(library, default))
        try:
            whole = library.ones(2, dtype=library.int32)
            results = whole + 1.5, whole / 2, whole / whole, whole + 1j, whole.sqrt(), library.tensor(1.5)
            found.append([named(t.dtype) for t in results])
        finally:
            library.set_default_dtype(before)
    assert found[0] == found[1]


def test_cat_of_a_number_names_its_place():
    for library in (lab, torch):
        with pytest.raises(TypeError, match="element 1"):
            library.cat([library.ones(2), 1.5])
