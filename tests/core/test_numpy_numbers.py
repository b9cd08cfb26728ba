"""A NumPy number beside a tensor counts as a Python number: it never widens the tensor, whichever side it stands on."""

import operator

import numpy as np
import pytest
import torch

import autograd_lab as lab

NUMBERS = [np.float64(1.5), np.float32(1.5), np.float16(1.5), np.int64(2), np.int32(2), np.uint8(2)]
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: type(n).__name__)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8"])
@pytest.mark.parametrize("operation", OPERATORS, ids=lambda f: f.__name__)
def test_operators(operation, dtype, number):
    def results(lib):
        x = lib.tensor([1.0, 2.0, 3.0]).to(getattr(lib, dtype))
        return [outcome(lambda: operation(x, number)), outcome(lambda: operation(number, x))]

    for got, want in zip(results(lab), results(torch), strict=True):
        if isinstance(want, type):
            assert got is want
        else:
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(got, want, rtol=2e-3 if dtype == "float16" else 1e-6)


def outcome(function):
    try:
        return function().numpy()
    except Exception as error:
        return type(error)


def test_a_square_root_keeps_float32_and_the_gradient():
    x = lab.ones(2, requires_grad=True)
    y = x / np.sqrt(64)
    assert y.dtype == lab.float32
    y.sum().backward()
    assert x.grad.dtype == lab.float32 and x.grad.tolist() == [0.125, 0.125]


def test_comparisons_bounds_and_choices():
    for lib in (lab, torch):
        x = lib.tensor([0.0, 1.0, 2.0])
        assert (x > np.float32(0.5)).tolist() == [False, True, True]
        assert x.clamp(np.float32(0.5), np.float64(1.5)).tolist() == [0.5, 1.0, 1.5]
        assert lib.where(x > 0, np.float64(7), x).dtype == lib.float32
        assert x.clone().mul_(np.float64(3)).tolist() == [0.0, 3.0, 6.0]
        assert lib.arange(np.int64(3)).dtype == lib.int64
