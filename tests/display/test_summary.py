"""Summaries: every shape and dtype has one, and it travels as strict JSON."""

import json

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograd_lab.display.schema import Summary
from autograd_lab.display.summary import summary


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3)), np.float32(0.1), np.array([True, False]), np.array([1 + 2j, 0]), np.full(3, np.nan),
        np.array([np.inf, -np.inf, 1], np.float32), np.ones((3, 4), ml_dtypes.bfloat16), np.arange(200),
        np.full(100, np.nan, np.float16), np.array([2**63 - 1]), np.array([1e200, -1e200]), np.zeros((2, 3, 4, 5)),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)  # fmt: skip
def test_any_array_has_a_summary(array):
    found = summary(array)
    assert set(found) == set(Summary.__annotations__)
    json.dumps(found, allow_nan=False)
    assert found["size"] == array.size
    assert (found["values"] is None) == (array.size > 64)


def test_empty_is_not_zero():
    found = summary(np.zeros((0, 3)))
    assert found["min"] is None and found["mean"] is None and found["zeros"] == 0 and found["values"] == []


def test_all_nan_has_counts_and_no_statistics():
    found = summary(np.array([np.nan, np.inf], np.float32))
    assert (found["nan"], found["inf"], found["mean"], found["norm"]) == (1, 1, None, None)
    assert found["values"] == ["NaN", "Infinity"]


def test_elements_keep_their_own_precision():
    assert summary(np.float32(0.1))["values"] == [0.1]
    assert summary(np.float64(0.1) + np.float64(0.2))["values"] == [0.30000000000000004]


def test_norm_does_not_overflow():
    assert summary(np.array([3e200, 4e200]))["norm"] == pytest.approx(5e200)


def test_a_nan_marks_its_block_of_the_thumbnail():
    array = np.ones((64, 64), np.float32)
    array[0, 0] = np.nan
    values = summary(array)["grid"]["values"]
    assert values[0] == "NaN" and values[1:] == [1.0] * 255


@given(hnp.arrays(st.sampled_from([np.float32, np.float64]), hnp.array_shapes(min_dims=0, max_dims=3, max_side=12)))
def test_statistics_are_numpys(array):
    found = summary(array)
    json.dumps(found, allow_nan=False)
    finite = array[np.isfinite(array)].astype(np.float64)
    assert found["nan"] == np.isnan(array).sum() and found["inf"] == np.isinf(array).sum()
    assert found["zeros"] == (array == 0).sum()
    if finite.size:
        assert found["min"] == pytest.approx(finite.min(), rel=1e-6)
        assert found["max"] == pytest.approx(finite.max(), rel=1e-6)
