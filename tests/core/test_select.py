"""The branch-free ``where`` gives NumPy's result to the last bit, infinities, NaN and the sign of zero included."""

import numpy as np
import pytest

from autograd_lab.backend import select


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [3, 1000])
@pytest.mark.parametrize("zero", [0.0, 0, -0.0])
def test_where_with_zero_is_numpys(dtype, size, zero):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(size).astype(dtype)
    x[:3] = np.inf, np.nan, -0.0
    c = rng.random(size) > 0.5
    for ours, theirs in ((select.where(c, x, zero), np.where(c, x, zero)), (select.where(c, zero, x), np.where(c, zero, x))):
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()


def test_where_reads_arrays_with_gaps_and_broadcasts():
    x = np.arange(4096.0).reshape(64, 64).T
    c = x % 3 == 0
    assert np.array_equal(select.where(c, x, 0.0), np.where(c, x, 0.0))
    assert np.array_equal(select.where(c[:1], x, 0.0), np.where(c[:1], x, 0.0))
