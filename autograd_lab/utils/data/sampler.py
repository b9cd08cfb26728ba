"""Samplers: in which order the indices of a data set come, and how they are grouped into batches."""

import itertools

import numpy as np

from ...backend import random as rnd
from ...core.tensor import Tensor


class Sampler:
    """Base of samplers: define ``__iter__()``, which yields indices or lists of them, and if possible ``__len__()``."""

    def __init__(self, data_source=None):
        self._source = data_source

    def __iter__(self):
        raise NotImplementedError("a sampler defines __iter__")

    def __class_getitem__(cls, item):
        return cls


class SequentialSampler(Sampler):
    """0, 1, 2 …"""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


def _own_generator(generator):
    """The given generator, or a new one seeded from the process's, as PyTorch does."""
    if generator is not None:
        return generator
    seed = int(rnd.default_generator.integers_full((), np.int64))
    return rnd.Generator().manual_seed(seed)


class RandomSampler(Sampler):
    """Indices in random order, each once, or with ``replacement``; the order is PyTorch's for the same seed.

    Args: num_samples: how many (default: as many as there are); generator: where the numbers come from.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.data_source, self.replacement, self._num_samples, self.generator = data_source, replacement, num_samples, generator
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self):
        """How many indices come."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        n, wanted, generator = len(self.data_source), self.num_samples, _own_generator(self.generator)
        if self.replacement:
            for start in range(0, wanted, 32):
                yield from generator.randint(0, n, (min(32, wanted - start),)).tolist()
            return
        for _ in range(wanted // n):
            yield from generator.randperm(n).tolist()
        yield from generator.randperm(n).tolist()[: wanted % n]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for i in (self.generator or rnd.default_generator).randperm(len(self.indices)).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with probabilities proportional to ``weights``."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        values = weights._array() if isinstance(weights, Tensor) else np.asarray(weights)
        self.weights = values.astype(np.float64)
        if self.weights.ndim != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {self.weights.shape}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        from ...core.public import NAMESPACES
        from ...core.tensor import wrap

        drawn = NAMESPACES["torch"]["multinomial"](wrap(self.weights), self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Groups the indices of another sampler into lists of ``batch_size``; ``drop_last`` leaves out a shorter last one."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self):
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
