"""Python ints beside integer tensors: in range they stay exact, beyond it they wrap, as in PyTorch."""

import pickle

import pytest
import torch

import autograd_lab as lab

CASES = {
    "square": lambda m: m.tensor([2, 3]) ** 2,
    "wraps to the left": lambda m: m.tensor([200], dtype=m.uint8) + 100,
    "wraps to the right": lambda m: m.tensor([5], dtype=m.uint8) - 7,
    "too large for int8": lambda m: m.tensor([1], dtype=m.int8) * 300,
    "compared with what does not fit": lambda m: m.tensor([3], dtype=m.uint8) == -1,
    "large against int64": lambda m: m.arange(3) > 300_000_000_000,
    "number to the power": lambda m: 2 ** m.tensor([3]),
    "bool": lambda m: m.tensor([True]) + 1,
    "floor": lambda m: m.tensor([7, -7]) // 2,
    "remainder": lambda m: m.tensor([7, -7]) % -3,
    "shift": lambda m: m.tensor([3], dtype=m.uint8) << 1,
}


@pytest.mark.parametrize("name", CASES)
def test_ints_beside_integer_tensors(name):
    ours, theirs = CASES[name](lab), CASES[name](torch)
    assert ours.tolist() == theirs.tolist() and str(ours.dtype) == str(theirs.dtype)


@pytest.mark.parametrize("m", [lab, torch], ids=["lab", "torch"])
@pytest.mark.parametrize("base", [2, [2, 3]])
def test_whole_numbers_have_no_negative_whole_power(m, base):
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        m.tensor(base) ** -1


@pytest.mark.parametrize("m", [lab, torch], ids=["lab", "torch"])
def test_a_result_is_pickled_as_a_leaf(m):
    y = pickle.loads(pickle.dumps(m.tensor([1.0, 2.0], requires_grad=True) * 2))
    assert y.tolist() == [2.0, 4.0] and y.requires_grad and y.is_leaf
