"""Sequences of different lengths: padded to one length, or packed without padding."""

from typing import NamedTuple

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ops.index import index_row
from ...ops.join import stack_row
from ..functions.convolution import pad

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence",
    "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """Sequences of falling length, time by time and without padding, as recurrent layers take them.

    data holds the elements of time 0 of all sequences, then those of time 1 of all that are long enough, and so on;
    ``batch_sizes`` says how many there are at each time. Made by ``pack_padded_sequence`` and ``pack_sequence``.
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError("batch_sizes should always be on CPU; make packed sequences with pack_padded_sequence")
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The same with ``data`` moved or cast."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = (None if t is None else t.to(data.device) for t in (self.sorted_indices, self.unsorted_indices))
        return type(self)(data, self.batch_sizes, *moved)

    def cpu(self):
        """The same on the CPU."""
        return self.to("cpu")

    def cuda(self, *args, **kwargs):
        """The same on a CUDA device."""
        return self.to("cuda", *args, **kwargs)

    def double(self):
        """The same in float64."""
        return self._as(Tensor.double)

    def float(self):
        """The same in float32."""
        return self._as(Tensor.float)

    def half(self):
        """The same in float16."""
        return self._as(Tensor.half)

    def _as(self, cast):
        return type(self)(cast(self.data), *self[1:])

    @property
    def is_cuda(self):
        """Whether ``data`` is on a CUDA device."""
        return self.data.device.type == "cuda"


def invert_permutation(permutation):
    """The permutation that undoes ``permutation``; None stays None."""
    if permutation is None:
        return None
    index = permutation._array()
    out = np.empty_like(index)
    out[index] = np.arange(index.size)
    return wrap(out)


def _take(x, index, dim):
    return index_row(x, ((slice(None),) * dim) + (index,))


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Pack padded sequences (T, B, …), or (B, T, …) with ``batch_first``.

    Args: lengths: of each sequence, a tensor or a list; enforce_sorted: they come by falling length already (else they are
        sorted here, and the recurrent layer puts its results back in order).
    Raises: RuntimeError for lengths that are not positive, not sorted, too many or too large.
    Example::

        packed = nn.utils.rnn.pack_padded_sequence(torch.randn(4, 2, 3), [4, 2])
        out, h = nn.GRU(3, 5)(packed)
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"pack_padded_sequence(): argument 'input' must be Tensor, not {type(input).__name__}")
    lengths = np.array(lengths._array() if isinstance(lengths, Tensor) else [int(n) for n in lengths]).astype(np.int64)
    if lengths.ndim != 1 or not lengths.size:
        raise RuntimeError("Cannot pack empty tensors: lengths must be a vector with one length per sequence")
    x = input.transpose(0, 1) if batch_first else input
    steps, batch = x._d.shape[:2]
    if lengths.size != batch:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.size} (batch_size={batch})")
    order = None
    if not enforce_sorted:
        order = np.argsort(-lengths, kind="stable")
        lengths, x = lengths[order], _take(x, order, 1)
    elif np.any(np.diff(lengths) > 0):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement"
        )
    if lengths[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if lengths[0] > steps:
        raise RuntimeError(f"Expected `lengths` of at most {steps}, the padded length, but got {lengths[0]}")
    there = np.arange(lengths[0])[:, None] < lengths
    times, rows = np.nonzero(there)
    data = index_row(x, (times, rows))
    return PackedSequence(data, wrap(there.sum(1)), None if order is None else wrap(order))


def _places(batch_sizes):
    """(time, sequence) of every element of packed data."""
    times = np.repeat(np.arange(batch_sizes.size), batch_sizes)
    return times, np.arange(times.size) - np.repeat(np.cumsum(batch_sizes) - batch_sizes, batch_sizes)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The inverse of ``pack_padded_sequence``: the padded tensor and the lengths, in the order of before the packing.

    Args: padding_value: what stands after the end; total_length: pad to this length.
    Raises: ValueError for a ``total_length`` shorter than the longest sequence.
    """
    sizes = sequence.batch_sizes._array()
    longest = sizes.size
    if total_length is not None and total_length < longest:
        raise ValueError(
            f"Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    steps, batch = longest if total_length is None else total_length, int(sizes[0])
    places = _places(sizes)
    lengths = (sizes[:, None] > np.arange(batch)).sum(0)
    filled = np.zeros((steps, batch), np.int64)
    filled[places] = np.arange(places[0].size)
    empty = np.ones((steps, batch), bool)
    empty[places] = False
    if sequence.unsorted_indices is not None:
        back = sequence.unsorted_indices._array()
        filled, empty, lengths = filled[:, back], empty[:, back], lengths[back]
    if batch_first:
        filled, empty = filled.T, empty.T
    out = index_row(sequence.data, (np.ascontiguousarray(filled),))
    empty = wrap(empty.reshape(*empty.shape, *(1,) * (out._d.ndim - 2)))
    return out.masked_fill(empty, padding_value), wrap(lengths)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stack sequences (length, …) of different lengths, padded to the longest: (T, B, …), or (B, T, …) with ``batch_first``.

    Args: padding_side: "right" or "left".
    """
    try:
        sequences = tuple(sequences)
    except TypeError:
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        ) from None
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("right", "left"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max(s._d.shape[0] for s in sequences)
    padded = []
    for s in sequences:
        short = longest - s._d.shape[0]
        sides = (0, short) if padding_side == "right" else (short, 0)
        padded.append(pad(s, (0, 0) * (s._d.ndim - 1) + sides, value=padding_value) if short else s)
    return stack_row(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded tensor as a list."""
    x = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [s[: int(n)] for s, n in zip(x.unbind(0), lengths._array(), strict=True)]


def pack_sequence(sequences, enforce_sorted=True):
    """Pack a list of sequences (length, …)."""
    lengths = [s._d.shape[0] for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The list of sequences that a PackedSequence holds."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
