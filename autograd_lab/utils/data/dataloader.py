"""``DataLoader``: batches of a data set, in order or shuffled."""

import warnings

import numpy as np

from ...backend import random as rnd
from ...core.tensor import wrap
from .collate import default_collate, default_convert
from .dataset import IterableDataset, Subset, TensorDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler


class _Endless:
    """The sampler of an iterable data set: it gives nothing to look up."""

    def __iter__(self):
        while True:
            yield None


class DataLoader:
    """Iterates over a data set in batches.

    Args:
        dataset: by index, or iterable
        batch_size: samples in a batch; None: single samples, not collated
        shuffle: a new random order at every pass, PyTorch's for the same seed
        sampler, batch_sampler: orders of one's own
        num_workers: accepted; this version loads in the main process
        collate_fn: makes a batch of a list of samples
        drop_last: leave out a last batch that is too short
        generator: where the order's random numbers come from

    Example::

        for x, y in DataLoader(TensorDataset(xs, ys), batch_size=64, shuffle=True):
            train_step(x, y)
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
                 pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None, *,
                 prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True):  # fmt: skip
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._iterable:
                sampler = _Endless()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.sampler, self.batch_sampler = dataset, batch_size, sampler, batch_sampler
        self.num_workers, self.drop_last, self.generator, self.timeout = num_workers, drop_last, generator, timeout
        self.pin_memory, self.worker_init_fn, self.persistent_workers = pin_memory, worker_init_fn, persistent_workers
        self.prefetch_factor = prefetch_factor
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)

    def __iter__(self):
        order = iter(self.sampler if self.batch_sampler is None else self.batch_sampler)
        (self.generator or rnd.default_generator).integers_full((), np.int64)  # PyTorch draws a seed for workers at every pass
        return _Pass(self._streamed(order) if self._iterable else self._looked_up(order), len(self) if not self._iterable else None)

    def _looked_up(self, order):
        dataset, collate = self.dataset, self.collate_fn
        if self.batch_sampler is None:
            for index in order:
                yield collate(dataset[index])
            return
        gather = _gather(dataset) if collate is default_collate else None
        if gather is not None:
            for batch in order:
                yield gather(batch)
        elif hasattr(dataset, "__getitems__"):
            for batch in order:
                yield collate(dataset.__getitems__(batch))
        else:
            for batch in order:
                yield collate([dataset[i] for i in batch])

    def _streamed(self, order):
        samples = iter(self.dataset)
        if self.batch_sampler is None:
            yield from map(self.collate_fn, samples)
            return
        for batch in order:
            drawn = []
            for _ in batch:
                try:
                    drawn.append(next(samples))
                except StopIteration:
                    break
            if len(drawn) == len(batch) or (drawn and not self.drop_last):
                yield self.collate_fn(drawn)
            if len(drawn) < len(batch):
                return

    def __len__(self):
        if not self._iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


class _Pass:
    """One pass over the data, with a length for progress bars."""

    def __init__(self, batches, length):
        self._batches, self._length = batches, length

    def __iter__(self):
        return self

    def __next__(self):
        batch = next(self._batches)
        if self._length is not None:
            self._length -= 1
        return batch

    def __length_hint__(self):
        return NotImplemented if self._length is None else max(self._length, 0)


def _gather(dataset):
    """A function that takes a whole batch out of a TensorDataset (or a Subset of one) at once, or None for other data sets."""
    if type(dataset) is Subset and type(dataset.dataset) is TensorDataset:
        inner, places = _gather(dataset.dataset), dataset.indices
        return None if inner is None else lambda batch: inner([places[i] for i in batch])
    if type(dataset) is not TensorDataset or any(t._node is not None for t in dataset.tensors):
        return None
    tensors = dataset.tensors
    return lambda batch: [wrap(t._array()[batch]) for t in tensors]


def _check_workers(num_workers, timeout, prefetch_factor, persistent):
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError("prefetch_factor option could only be specified in multiprocessing. let num_workers > 0 to enable it")
    if num_workers == 0 and persistent:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if num_workers:
        warnings.warn(f"num_workers={num_workers}: this version loads in the main process, in the same order", stacklevel=3)


def _check_iterable(shuffle, sampler, batch_sampler):
    if shuffle:
        raise ValueError(f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}")
    if sampler is not None:
        raise ValueError(f"DataLoader with IterableDataset: expected unspecified sampler option, but got sampler={sampler}")
    if batch_sampler is not None:
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified batch_sampler option, but got batch_sampler={batch_sampler}"
        )
