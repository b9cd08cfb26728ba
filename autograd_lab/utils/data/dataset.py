"""Data sets: by index, by iteration, of tensors, and combinations."""

import bisect
import itertools
import math
import warnings

from ...backend import random as rnd


class Dataset:
    """Base of data sets by index: define ``__getitem__(index)`` and ``__len__()``.

    Example::

        class Squares(Dataset):
            def __len__(self):
                return 100

            def __getitem__(self, i):
                return torch.tensor(float(i)), torch.tensor(float(i * i))
    """

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])

    def __class_getitem__(cls, item):
        return cls


class IterableDataset(Dataset):
    """Base of data sets by iteration, for streams: define ``__iter__()``."""

    def __iter__(self):
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Samples are slices of tensors along their first dimension: ``TensorDataset(x, y)[i]`` is ``(x[i], y[i])``.

    Raises: AssertionError where first dimensions differ.
    """

    def __init__(self, *tensors):
        if any(t._d.shape[0] != tensors[0]._d.shape[0] for t in tensors):
            raise AssertionError(f"Size mismatch between tensors: first dimensions are {[t._d.shape[0] for t in tensors]}")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __len__(self):
        return self.tensors[0]._d.shape[0]


class StackDataset(Dataset):
    """Several data sets side by side: samples are tuples, or dicts where the data sets were given by name."""

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via ``kwargs``) like "
                "input/output, but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = [len(d) for d in (args or kwargs.values())]
        if len(set(lengths)) > 1:
            raise ValueError(f"Size mismatch between datasets: {lengths}")
        self._length = lengths[0]

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: d[index] for name, d in self.datasets.items()}
        return tuple(d[index] for d in self.datasets)

    def __len__(self):
        return self._length


class ConcatDataset(Dataset):
    """Data sets one after another."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, index):
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset):
    """Iterable data sets one after another."""

    def __init__(self, datasets):
        self.datasets = datasets

    def __iter__(self):
        for d in self.datasets:
            yield from d

    def __len__(self):
        return sum(len(d) for d in self.datasets)


class Subset(Dataset):
    """The samples of a data set with the given indices."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, generator=None):
    """Cut a data set at random into parts of the given lengths, or shares that sum to 1; the cut is PyTorch's for the same seed.

    Raises: ValueError where lengths do not sum to the data set's.
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _from_shares(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError(
            f"Sum of input lengths does not equal the length of the input dataset! ({sum(lengths)} and {len(dataset)})"
        )
    order = (generator or rnd.default_generator).randperm(len(dataset)).tolist()
    return [Subset(dataset, order[end - n : end]) for end, n in zip(itertools.accumulate(lengths), lengths, strict=True)]


def _from_shares(n, shares):
    lengths = []
    for i, share in enumerate(shares):
        if share < 0 or share > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        lengths.append(math.floor(n * share))
    for i in range(n - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3)
    return lengths
