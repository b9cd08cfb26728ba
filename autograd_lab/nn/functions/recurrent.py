"""Recurrent layers as functions: several layers and directions, whole or packed batches, over the rows of ops/rnn.py."""

from ...ops.join import cat_row, stack_row
from ...ops.matmul import linear
from ...ops.rnn import gru_row, lstm_row, rnn_row
from ...ops.shape import reshape
from .activation import dropout


def _both(a, b):
    return a if b is None else a + b


def sequence(mode, x, state, weights, reverse):
    """One layer in one direction over (T, B, features).

    Args: mode: RNN_TANH, RNN_RELU, LSTM or GRU; state: (h,) or (h, c); weights: (w_ih, w_hh, b_ih, b_hh, w_hr), None where absent.
    Returns: the outputs (T, B, H) and the last state.
    """
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    last = 0 if reverse else x._d.shape[0] - 1
    if mode == "GRU":
        out = gru_row(linear(x, w_ih, b_ih), w_hh, b_hh, state[0], reverse)[0]
        return out, (out[last],)
    gates = linear(x, w_ih, None if b_ih is None else _both(b_ih, b_hh))
    if mode != "LSTM":
        out = rnn_row(gates, w_hh, state[0], mode == "RNN_RELU", reverse)
        return out, (out[last],)
    if w_hr is None:
        out, cells, _ = lstm_row(gates, w_hh, state[0], state[1], reverse)
        return out, (out[last], cells[last])
    return _projected(gates, w_hh, w_hr, state, reverse)


def _projected(gates, w_hh, w_hr, state, reverse):
    """LSTM whose hidden state is projected: step by step, as the projection stands between the steps."""
    (h, c), n, parts = state, gates._d.shape[0], []
    for t in range(n - 1, -1, -1) if reverse else range(n):
        raw, cells, _ = lstm_row(gates[t : t + 1], w_hh, h, c, False)
        h, c = linear(raw[0], w_hr, None), cells[0]
        parts.append(h)
    return stack_row(parts[::-1] if reverse else parts, 0), (h, c)


def _packed(mode, data, batch_sizes, state, weights, reverse):
    """One layer in one direction over packed data: runs of steps with the same number of sequences, one after another.

    Sequences are sorted by falling length. Forward, those that end leave the state; in reverse, they enter it.
    """
    runs, start, t = [], 0, 0
    while t < len(batch_sizes):
        size, first = batch_sizes[t], t
        while t < len(batch_sizes) and batch_sizes[t] == size:
            t += 1
        runs.append((start, t - first, size))
        start += (t - first) * size
    outs, ended = [], []
    now = tuple(s[: runs[-1][2]] for s in state) if reverse else state
    for start, steps, size in reversed(runs) if reverse else runs:
        have = now[0]._d.shape[0]
        if have > size:
            ended.append(tuple(s[size:] for s in now))
            now = tuple(s[:size] for s in now)
        elif have < size:
            now = tuple(cat_row([s, whole[have:size]], 0) for s, whole in zip(now, state, strict=True))
        x = reshape(data[start : start + steps * size], (steps, size, -1))
        out, now = sequence(mode, x, now, weights, reverse)
        outs.append(reshape(out, (steps * size, -1)))
    ended.append(now)
    final = tuple(cat_row(list(parts), 0) if len(parts) > 1 else parts[0] for parts in zip(*ended[::-1], strict=True))
    outs = outs[::-1] if reverse else outs
    return cat_row(outs, 0) if len(outs) > 1 else outs[0], final


def layers(mode, x, states, weights, bidirectional, dropout_p, training, batch_sizes=None):
    """All layers and directions.

    Args:
        x: (T, B, features), or packed data (sum of lengths, features) with ``batch_sizes``
        states: (h,) or (h, c), each (layers · directions, B, size)
        weights: per layer and direction, as ``sequence`` takes them
    Returns: the last layer's outputs, and the last states, shaped as ``states``.
    """
    directions = 2 if bidirectional else 1
    depth = len(weights) // directions
    finals = []
    for layer in range(depth):
        outs = []
        for direction in range(directions):
            k = layer * directions + direction
            state = tuple(s[k] for s in states)
            if batch_sizes is None:
                out, final = sequence(mode, x, state, weights[k], direction == 1)
            else:
                out, final = _packed(mode, x, batch_sizes, state, weights[k], direction == 1)
            outs.append(out)
            finals.append(final)
        x = outs[0] if directions == 1 else cat_row(outs, outs[0]._d.ndim - 1)
        if dropout_p and training and layer < depth - 1:
            x = dropout(x, dropout_p, True)
    return x, tuple(stack_row(list(parts), 0) for parts in zip(*finals, strict=True))


def cell(mode, x, state, weights):
    """One step for (B, features): the new state as a tuple."""
    w_ih, w_hh, b_ih, b_hh = weights
    x = reshape(x, (1, *x._d.shape))
    return sequence(mode, x, state, (w_ih, w_hh, b_ih, b_hh, None), False)[1]
