"""The short-time Fourier transform and its inverse, composed of windows, products and transforms."""

import numpy as np

from ..core.public import public
from ..core.tensor import wrap
from .complex import real_pairs
from .dims import need_tensor
from .fft import as_complex, fft_row, irfft_row, rfft_row
from .index import embed_slice, index_row, slice_view
from .scans import fold_back, unfold_view
from .shape import expand_copy, reshape, transpose_view

_PADDINGS = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _padded(input, width, mode):
    """The signal continued on both sides."""
    lead, n = (slice(None),) * (input._d.ndim - 1), input._d.shape[-1]
    if mode == "constant":
        return embed_slice(input, (*input._d.shape[:-1], n + 2 * width), (*lead, slice(width, width + n)))
    if mode not in _PADDINGS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if mode == "reflect" and width >= n:
        raise RuntimeError(f"Padding size should be less than the corresponding input dimension, but got: padding {width} for {n}")
    return index_row(input, (*lead, np.pad(np.arange(n), width, mode=_PADDINGS[mode])))


def _lengths(name, n_fft, hop_length, win_length, window):
    hop = n_fft // 4 if hop_length is None else hop_length
    win = n_fft if win_length is None else win_length
    if n_fft <= 0:
        raise RuntimeError(f"{name}: expected n_fft > 0, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < win <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft, but got win_length={win}")
    if window is not None and window._d.shape != (win,):
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={win}, but got window with size "
            f"{list(window._d.shape)}"
        )
    return hop, win


def _full_window(window, win, n_fft, dtype):
    """The window in the middle of ``n_fft`` places; ones where none is given."""
    if window is None:
        window = wrap(np.ones(win, dtype))
    left = (n_fft - win) // 2
    return window if win == n_fft else embed_slice(window, (n_fft,), (slice(left, left + win),))


@public("stft")
def stft(
    input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None,
    return_complex=None, align_to_window=None,
):  # fmt: skip
    """The Fourier transforms of overlapping pieces of a signal, of shape (batch, frequencies, frames).

    Args: hop_length: distance of the pieces (n_fft / 4); window: weights of a piece; center: pieces are centred at
    multiples of ``hop_length``, the signal continued by ``pad_mode``; normalized: divide by √n_fft; onesided: half of the
    frequencies (for real signals).
    Raises: RuntimeError unless ``return_complex`` is given for a real signal, or for lengths that do not fit.
    """
    need_tensor(input, "stft")
    if input._d.dtype.kind not in "fc" or input._d.ndim not in (1, 2):
        raise RuntimeError(
            f"stft: expected a 1D or 2D tensor of floating or complex values, got {input.dtype.name} {list(input._d.shape)}"
        )
    hop, win = _lengths("stft", n_fft, hop_length, win_length, window)
    whole = input._d.dtype.kind == "c" or (window is not None and window._d.dtype.kind == "c")
    if return_complex is None:
        if not whole:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        return_complex = True
    onesided = not whole if onesided is None else onesided
    if onesided and whole:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false.")
        input = _padded(input, n_fft // 2, pad_mode)
    elif align_to_window:
        left = (n_fft - win) // 2
        input = _padded(input, left, "constant")
    if n_fft > input._d.shape[-1]:
        raise RuntimeError(f"stft: expected 0 < n_fft < {input._d.shape[-1]}, but got n_fft={n_fft}")
    frames = unfold_view(input, input._d.ndim - 1, n_fft, hop) * _full_window(window, win, n_fft, input._d.real.dtype)
    norm, last = "ortho" if normalized else "backward", frames._d.ndim - 1
    out = rfft_row(frames, last, norm) if onesided else fft_row(as_complex(frames), (last,), False, norm)
    out = transpose_view(out, last - 1, last)
    return out if return_complex else real_pairs(out)


def _overlapped(frames, length, n_fft, hop):
    """Frames (…, frame, place) added up where they overlap."""
    return fold_back(frames, (*frames._d.shape[:-2], length), frames._d.ndim - 2, n_fft, hop)


def _frames_of(input, n_fft, norm, onesided, return_complex):
    """The pieces of the signal, by inverse transform along the last dimension."""
    last = input._d.ndim - 1
    if return_complex:
        if onesided:
            raise RuntimeError("istft: cannot have onesided output if window or input is complex")
        return fft_row(input, (last,), True, norm)
    if not onesided:
        input = slice_view(input, (Ellipsis, slice(0, n_fft // 2 + 1)))
    return irfft_row(input, last, n_fft, norm)


@public("istft")
def istft(
    input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None,
    return_complex=False,
):  # fmt: skip
    """The inverse of ``stft``: pieces of the signal, windowed, added up where they overlap and divided by the windows' sum.

    Raises: RuntimeError for a real input, lengths that do not fit, or windows that leave gaps.
    """
    need_tensor(input, "istft")
    if input._d.dtype.kind != "c":
        raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    if not input._d.size or input._d.ndim not in (2, 3):
        raise RuntimeError(f"istft: expected a tensor with 2 or 3 dimensions and some elements, got {list(input._d.shape)}")
    hop, win = _lengths("istft", n_fft, hop_length, win_length, window)
    sizes = input._d.shape[-2:]
    onesided = sizes[0] != n_fft if onesided is None else onesided
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if sizes[0] != wanted:
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) to match n_fft: {wanted}, but got {sizes[0]}"
        )
    if not return_complex and window is not None and window._d.dtype.kind == "c":
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    weights = _full_window(window, win, n_fft, input._d.real.dtype)
    ndim = input._d.ndim
    frames = _frames_of(
        transpose_view(input, ndim - 2, ndim - 1), n_fft, "ortho" if normalized else "backward", onesided, return_complex
    )
    total = n_fft + hop * (sizes[1] - 1)
    signal = _overlapped(frames * weights, total, n_fft, hop)
    envelope = _overlapped(expand_copy(reshape(weights * weights, (1, n_fft)), (sizes[1], n_fft)), total, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = total - start if length is None else min(start + length, total)
    signal, envelope = (slice_view(t, (Ellipsis, slice(start, end))) for t in (signal, envelope))
    if not envelope._d.size or np.abs(envelope._d).min() <= 1e-11:
        raise RuntimeError("istft: window overlap add min: 0; the windows leave gaps")
    signal = signal / envelope
    if length is not None and start + length > total:
        signal = embed_slice(signal, (*signal._d.shape[:-1], length), (Ellipsis, slice(0, end - start)))
    return signal
