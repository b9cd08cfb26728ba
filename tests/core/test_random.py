"""The generator gives PyTorch's numbers bit for bit, in any order of calls."""

import copy
import pickle
import threading
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograd_lab.backend import box_muller
from autograd_lab.backend.permutation import _chains, _loop
from autograd_lab.backend.random import DEFAULT_SEED, Generator, default_generator

FLOATS = {
    torch.float16: np.float16,
    torch.bfloat16: ml_dtypes.bfloat16,
    torch.float32: np.float32,
    torch.float64: np.float64,
}
INTEGERS = {
    torch.bool: np.bool_,
    torch.uint8: np.uint8,
    torch.int8: np.int8,
    torch.int16: np.int16,
    torch.int32: np.int32,
    torch.int64: np.int64,
}
SIZES = (0, 1, 7, 15, 16, 17, 100, 1000, 4097)


def _numpy(tensor):
    return tensor.float().numpy().astype(ml_dtypes.bfloat16) if tensor.dtype == torch.bfloat16 else tensor.numpy()


class Pair:
    """Our generator and PyTorch's, from one seed; ``same`` compares a draw of each and the states after it."""

    def __init__(self, seed=5):
        self.ours, self.theirs = Generator().manual_seed(seed), torch.Generator().manual_seed(seed)

    def same(self, drawn, expected):
        expected = _numpy(expected)
        assert drawn.dtype == expected.dtype and drawn.shape == expected.shape
        assert drawn.tobytes() == expected.tobytes()
        assert self.ours.get_state().tobytes() == self.theirs.get_state().numpy().tobytes()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_floating_draws(n, kind):
    pair, dtype = Pair(), FLOATS[kind]
    ours, theirs = pair.ours, pair.theirs
    pair.same(ours.uniform(n, dtype), torch.rand(n, dtype=kind, generator=theirs))
    pair.same(ours.uniform(n, dtype, -2.3, 7.1), torch.empty(n, dtype=kind).uniform_(-2.3, 7.1, generator=theirs))
    pair.same(ours.normal(n, dtype), torch.randn(n, dtype=kind, generator=theirs))
    pair.same(ours.normal(n, dtype, 0.3, 1.7), torch.empty(n, dtype=kind).normal_(0.3, 1.7, generator=theirs))
    pair.same(ours.exponential(n, dtype, 1.7), torch.empty(n, dtype=kind).exponential_(1.7, generator=theirs))
    pair.same(ours.integers_full(n, dtype), torch.empty(n, dtype=kind).random_(generator=theirs))
    pair.same(ours.randint(-5, 50, n, dtype), torch.randint(-5, 50, (n,), dtype=kind, generator=theirs))
    p, ours_p = torch.rand(n, dtype=kind, generator=theirs), ours.uniform(n, dtype)
    pair.same(ours.bernoulli_tensor(ours_p), torch.bernoulli(p, generator=theirs))
    pair.same(ours.bernoulli_scalar(0.3, n, dtype), torch.empty(n, dtype=kind).bernoulli_(0.3, generator=theirs))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("high", (1, 2, 10, 2**20, 2**28 - 1, 2**28, 2**28 + 1, 2**32, 2**40 + 7, 2**63 - 1))
def test_randint_on_both_sides_of_64_bit_draws(n, high):
    pair = Pair()
    pair.same(pair.ours.randint(0, high, n), torch.randint(0, high, (n,), generator=pair.theirs))
    pair.same(pair.ours.randint(-high, high, n), torch.randint(-high, high, (n,), generator=pair.theirs))


def test_randint_over_all_64_bits():
    pair = Pair()
    lowest = -(2**63)
    expected = torch.empty(50, dtype=torch.int64).random_(lowest, None, generator=pair.theirs)
    pair.same(pair.ours.randint(lowest, None, 50), expected)


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_integer_dtypes(kind):
    pair, dtype = Pair(), INTEGERS[kind]
    for n in SIZES:
        pair.same(pair.ours.integers_full(n, dtype), torch.empty(n, dtype=kind).random_(generator=pair.theirs))
        pair.same(pair.ours.randint(0, 2, n, dtype), torch.randint(0, 2, (n,), dtype=kind, generator=pair.theirs))
        expected = torch.empty(n, dtype=kind).bernoulli_(0.3, generator=pair.theirs)
        pair.same(pair.ours.bernoulli_scalar(0.3, n, dtype), expected)


@pytest.mark.parametrize("n", (*SIZES, 2, 255, 256, 257, 258, 100_000))
def test_randperm(n):
    pair = Pair()
    pair.same(pair.ours.randperm(n), torch.randperm(n, generator=pair.theirs))


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_the_two_shuffles_are_one(data):
    n = data.draw(st.integers(1, 40))
    target = np.array([data.draw(st.integers(i, n - 1)) for i in range(n)], np.int64)
    assert _chains(target).tolist() == _loop(target.tolist())


CALLS = {
    "rand": (lambda g, n: g.uniform(n), lambda g, n: torch.rand(n, generator=g)),
    "rand64": (lambda g, n: g.uniform(n, np.float64), lambda g, n: torch.rand(n, dtype=torch.float64, generator=g)),
    "randn": (lambda g, n: g.normal(n), lambda g, n: torch.randn(n, generator=g)),
    "randn64": (lambda g, n: g.normal(n, np.float64), lambda g, n: torch.randn(n, dtype=torch.float64, generator=g)),
    "randint": (lambda g, n: g.randint(0, 10, n), lambda g, n: torch.randint(0, 10, (n,), generator=g)),
    "randperm": (lambda g, n: g.randperm(n), lambda g, n: torch.randperm(n, generator=g)),
    "bernoulli": (
        lambda g, n: g.bernoulli_scalar(0.3, n, np.float32),
        lambda g, n: torch.empty(n).bernoulli_(0.3, generator=g),
    ),
}


@given(
    st.integers(-(2**63), 2**64 - 1),
    st.lists(st.tuples(st.sampled_from(sorted(CALLS)), st.integers(0, 40)), max_size=8),
)
@settings(max_examples=150, deadline=None)
def test_any_order_of_calls(seed, calls):
    """The value that a small randn keeps back survives the other calls as PyTorch's does."""
    pair = Pair(seed)
    for name, n in calls:
        ours, theirs = CALLS[name]
        pair.same(ours(pair.ours, n), theirs(pair.theirs, n))


def test_a_state_passes_between_the_libraries():
    pair = Pair()
    pair.ours.normal(3), torch.randn(3, generator=pair.theirs)
    ours = Generator().set_state(pair.theirs.get_state().numpy())
    theirs = torch.Generator()
    theirs.set_state(torch.from_numpy(pair.ours.get_state()))
    assert ours.normal(700).tolist() == torch.randn(700, generator=theirs).tolist()
    assert ours.initial_seed() == theirs.initial_seed() == 5


def test_a_fresh_and_a_used_up_block_are_told_apart():
    pair = Pair()
    pair.same(pair.ours.uniform(624), torch.rand(624, generator=pair.theirs))
    again = Generator().set_state(pair.ours.get_state())
    assert again.get_state().tobytes() == pair.ours.get_state().tobytes()
    assert again.uniform(3).tolist() == torch.rand(3, generator=pair.theirs).tolist()


def test_copies_go_on_alike_and_apart():
    g = Generator().manual_seed(5)
    g.normal(3)
    others = g.clone_state(), copy.deepcopy(g), pickle.loads(pickle.dumps(g))
    expected = g.normal(5).tolist()
    assert [other.normal(5).tolist() for other in others] == [expected] * 3


def test_seeds():
    assert Generator().initial_seed() == DEFAULT_SEED == torch.Generator().initial_seed()
    assert default_generator.initial_seed() != DEFAULT_SEED
    for seed in (-1, -(2**63), 2**63, 2**64 - 1, 2**32, 2**32 + 5):
        ours, theirs = Generator().manual_seed(seed), torch.Generator().manual_seed(seed)
        assert ours.initial_seed() == theirs.initial_seed()
        assert ours.uniform(3).tolist() == torch.rand(3, generator=theirs).tolist()
    g = Generator()
    assert g.seed() == g.initial_seed()
    assert str(g.device) == "cpu"


@pytest.mark.parametrize(
    "ours, theirs",
    [
        (lambda g: g.manual_seed(3.7), lambda g: g.manual_seed(3.7)),
        (lambda g: g.manual_seed(True), lambda g: g.manual_seed(True)),
        (lambda g: g.manual_seed("5"), lambda g: g.manual_seed("5")),
        (lambda g: g.manual_seed(2**64), lambda g: g.manual_seed(2**64)),
        (lambda g: g.manual_seed(-(2**63) - 1), lambda g: g.manual_seed(-(2**63) - 1)),
        (lambda g: Generator("foo"), lambda g: torch.Generator("foo")),
        (lambda g: g.set_state(5), lambda g: g.set_state(5)),
        (lambda g: g.set_state(np.zeros(5056)), lambda g: g.set_state(torch.zeros(5056))),
        (lambda g: g.set_state(np.zeros(3, np.uint8)), lambda g: g.set_state(torch.zeros(3, dtype=torch.uint8))),
        (lambda g: g.set_state(np.zeros(5056, np.uint8)), lambda g: g.set_state(torch.zeros(5056, dtype=torch.uint8))),
        (lambda g: g.uniform(-1), lambda g: torch.rand(-1)),
        (lambda g: g.uniform(3, np.int64), lambda g: torch.rand(3, dtype=torch.int64)),
        (lambda g: g.uniform(3, low=2, high=1), lambda g: torch.zeros(3).uniform_(2, 1)),
        (lambda g: g.uniform(3, high=float("inf")), lambda g: torch.zeros(3).uniform_(0, float("inf"))),
        (lambda g: g.uniform(3, low=float("nan")), lambda g: torch.zeros(3).uniform_(float("nan"), 1)),
        (lambda g: g.uniform(3, low=-3e38, high=3e38), lambda g: torch.zeros(3).uniform_(-3e38, 3e38)),
        (lambda g: g.normal(3, std=-1), lambda g: torch.zeros(3).normal_(0, -1)),
        (lambda g: g.normal(3, np.int64), lambda g: torch.randn(3, dtype=torch.int64)),
        (lambda g: g.randint(5, 5, 2), lambda g: torch.randint(5, 5, (2,))),
        (lambda g: g.randint(0, 2.5, 2), lambda g: torch.randint(0, 2.5, (2,))),
        (lambda g: g.randint(0, 300, 2, np.uint8), lambda g: torch.randint(0, 300, (2,), dtype=torch.uint8)),
        (lambda g: g.randint(-1, 3, 2, np.uint8), lambda g: torch.randint(-1, 3, (2,), dtype=torch.uint8)),
        (lambda g: g.randint(0, 3, 2, np.bool_), lambda g: torch.randint(0, 3, (2,), dtype=torch.bool)),
        (lambda g: g.randint(0, 3, 2, np.complex64), lambda g: torch.randint(0, 3, (2,), dtype=torch.complex64)),
        (lambda g: g.randint(0, 2**63 + 1, 2), lambda g: torch.randint(0, 2**63 + 1, (2,))),
        (lambda g: g.randperm(-1), lambda g: torch.randperm(-1)),
        (lambda g: g.randperm(2.5), lambda g: torch.randperm(2.5)),
        (lambda g: g.randperm(300, np.uint8), lambda g: torch.randperm(300, dtype=torch.uint8)),
        (lambda g: g.randperm(5000, np.float16), lambda g: torch.randperm(5000, dtype=torch.float16)),
        (lambda g: g.bernoulli_scalar(1.5, 3), lambda g: torch.zeros(3).bernoulli_(1.5)),
        (lambda g: g.bernoulli_scalar(float("nan"), 3), lambda g: torch.zeros(3).bernoulli_(float("nan"))),
        (lambda g: g.bernoulli_tensor(np.array([-0.5])), lambda g: torch.bernoulli(torch.tensor([-0.5]))),
        (lambda g: g.bernoulli_tensor(np.array([np.nan])), lambda g: torch.bernoulli(torch.tensor([float("nan")]))),
        (lambda g: g.bernoulli_tensor(np.array([1])), lambda g: torch.bernoulli(torch.tensor([1]))),
        (lambda g: g.exponential(3, rate=0), lambda g: torch.zeros(3).exponential_(0)),
        (lambda g: g.exponential(3, np.int64), lambda g: torch.zeros(3, dtype=torch.int64).exponential_(1)),
        (lambda g: g.integers_full(3, np.complex64), lambda g: torch.zeros(3, dtype=torch.complex64).random_()),
        (lambda g: g.integers_full(3, np.uint16), lambda g: torch.zeros(3, dtype=torch.uint16).random_()),
    ],
)
def test_errors_have_pytorchs_type(ours, theirs):
    with pytest.raises(Exception) as expected:  # noqa: B017 (the type is what is compared)
        theirs(torch.Generator())
    with pytest.raises(expected.type) as raised:
        ours(Generator())
    assert type(raised.value) is expected.type


def test_a_failed_call_draws_nothing():
    g = Generator()
    before = g.get_state().tobytes()
    for call in (lambda: g.normal(3, std=-1), lambda: g.randint(0, 300, 2, np.uint8), lambda: g.randperm(-1)):
        with pytest.raises(RuntimeError):
            call()
    assert g.get_state().tobytes() == before


def test_threads_share_a_generator():
    """Eight threads together take exactly the draws that one would take."""
    g, drawn = Generator().manual_seed(5), []
    threads = [threading.Thread(target=lambda: drawn.extend(g.uniform(1000) for _ in range(20))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = Generator().manual_seed(5).uniform(160_000)
    assert sorted(np.concatenate(drawn).tolist()) == sorted(alone.tolist())


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
@settings(max_examples=500, deadline=None)
def test_fused_float64_rounds_once(a, b, c):
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0 or abs(exact) > 1e-200:
        assert box_muller.fused_float64(np.array([a]), b, c)[0] == float(exact)
