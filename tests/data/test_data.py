"""Loading data: PyTorch's order for the same seed, batches of every kind of sample, lengths for progress bars."""

import operator
from collections import namedtuple

import numpy as np
import pytest
import torch
import torch.utils.data as theirs

import autograd_lab as lab
import autograd_lab.utils.data as ours

SEEDS = range(5)


def order(m, d, seed, **settings):
    m.manual_seed(seed)
    data = d.TensorDataset(m.arange(23), m.arange(23) * 2)
    loader = d.DataLoader(data, **settings)
    return [[x.tolist(), y.tolist()] for _ in range(2) for x, y in loader], float(m.rand(1))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "settings", [dict(batch_size=4, shuffle=True), dict(batch_size=5, shuffle=True, drop_last=True), dict(batch_size=7)]
)
def test_order_and_random_stream_are_pytorchs(seed, settings):
    assert order(lab, ours, seed, **settings) == order(torch, theirs, seed, **settings)


@pytest.mark.parametrize("seed", SEEDS)
def test_generators_samplers_and_splits_are_pytorchs(seed):
    out = []
    for m, d in ((torch, theirs), (lab, ours)):
        m.manual_seed(seed)
        data = d.TensorDataset(m.arange(20))
        generator = m.Generator().manual_seed(seed + 1)
        first = [b[0].tolist() for b in d.DataLoader(data, batch_size=6, shuffle=True, generator=generator) for _ in range(1)]
        second = list(d.RandomSampler(data, replacement=True, num_samples=40))
        third = list(d.SubsetRandomSampler(list(range(3, 15))))
        parts = [list(p.indices) for p in d.random_split(data, [0.5, 0.3, 0.2])]
        fourth = [b[0].tolist() for b in d.DataLoader(d.Subset(data, parts[0]), batch_size=3, shuffle=True)]
        out.append((first, second, third, parts, fourth))
    assert out[0] == out[1]


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize("sample", [
    lambda m, i: i, lambda m, i: i / 2, lambda m, i: str(i), lambda m, i: np.float32(i), lambda m, i: np.arange(3) + i,
    lambda m, i: (m.tensor([i, i]), {"k": i, "s": [i, "x"]}), lambda m, i: Pair(i, float(i)), lambda m, i: i > 1,
])  # fmt: skip
def test_collating_is_pytorchs(sample):
    def plain(value):
        if hasattr(value, "tolist"):
            return str(value.dtype), tuple(value.shape), value.tolist()
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items()}
        if isinstance(value, tuple | list):
            return type(value).__name__, [plain(v) for v in value]
        return value

    a = theirs.default_collate([sample(torch, i) for i in range(3)])
    b = ours.default_collate([sample(lab, i) for i in range(3)])
    assert plain(b) == plain(a)


class Squares(ours.Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return lab.tensor(float(i)), i * i


class Stream(ours.IterableDataset):
    def __iter__(self):
        return iter(range(7))


def test_own_data_sets_and_streams():
    batches = list(ours.DataLoader(Squares(), batch_size=4))
    assert [b[1].tolist() for b in batches] == [[0, 1, 4, 9], [16, 25, 36, 49], [64, 81]]
    assert batches[0][0].dtype is lab.float32 and batches[0][1].dtype is lab.int64
    assert [b.tolist() for b in ours.DataLoader(Stream(), batch_size=3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [b.tolist() for b in ours.DataLoader(Stream(), batch_size=3, drop_last=True)] == [[0, 1, 2], [3, 4, 5]]
    assert list(ours.DataLoader(Squares(), batch_size=None))[3][1] == 9
    assert list(ours.DataLoader(Squares(), batch_sampler=[[1, 2], [3]], collate_fn=lambda s: [b for _, b in s])) == [[1, 4], [9]]
    assert len(Squares() + Squares()) == 20 and (Squares() + Squares())[13][1] == 9


def test_lengths_serve_progress_bars():
    loader = ours.DataLoader(Squares(), batch_size=4)
    assert len(loader) == 3 and len(ours.DataLoader(Squares(), batch_size=4, drop_last=True)) == 2
    one_pass = iter(loader)
    assert operator.length_hint(one_pass) == 3
    next(one_pass)
    assert operator.length_hint(one_pass) == 2


def test_what_is_refused():
    data = Squares()
    with pytest.raises(ValueError, match="mutually exclusive with shuffle"):
        ours.DataLoader(data, shuffle=True, sampler=[1])
    with pytest.raises(ValueError, match="batch_size should be a positive integer"):
        ours.DataLoader(data, batch_size=0)
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        ours.TensorDataset(lab.zeros(2), lab.zeros(3))
    with pytest.raises(ValueError, match="does not equal the length"):
        ours.random_split(data, [3, 3])
    with pytest.raises(RuntimeError, match="equal size.*entry 1|equal size, but got"):
        ours.default_collate([lab.zeros(2), lab.zeros(3)])
    with pytest.raises(TypeError, match="found <class 'object'>"):
        ours.default_collate([object()])
