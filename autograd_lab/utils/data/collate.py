"""From a list of samples to a batch: tensors are stacked, numbers become tensors, containers are collated part by part."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ops.create import tensor
from ...ops.join import stack_row


def default_convert(data):
    """Arrays in nested containers as tensors, everything else as it is."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, np.ndarray | np.generic) and np.asarray(data).dtype.kind in "biufc":
        return tensor(data)
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(v) for v in data))
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return [default_convert(v) for v in data]
    return data


def default_collate(batch):
    """A batch of samples: tensors and arrays stacked along a new first dimension, numbers as one tensor, strings as a list.

    Raises: TypeError for samples of other types, RuntimeError for containers or tensors of unequal size.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return _stacked(batch)
    if isinstance(first, np.ndarray):
        if first.dtype.kind not in "biufc":
            raise TypeError(
                f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {first.dtype}"
            )
        return _stacked([wrap(np.asarray(a)) for a in batch])
    if isinstance(first, float):
        return tensor(np.array(batch, np.float64))
    if isinstance(first, bool | int | np.generic):
        return tensor(np.array(batch)) if isinstance(first, np.generic) else tensor(list(batch))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(part) for part in zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(part) for part in zip(*batch, strict=True)]
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}")


def _stacked(tensors):
    shape = tensors[0]._d.shape
    for t in tensors:
        if t._d.shape != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                f"{list(t._d.shape)} in the same batch; "
                "pad the samples or pass a collate_fn"
            )
    if any(t._node is not None for t in tensors):
        return stack_row(tensors, 0)
    return wrap(np.stack([t._d for t in tensors]))
