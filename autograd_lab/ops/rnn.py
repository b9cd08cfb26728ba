"""Recurrent layers over a whole sequence in one node: plain, LSTM and GRU.

Operands are the input's part of the gates for all times (T, B, gates), the recurrent weight and the first state; the
steps run one after another inside the row. What the rules read of each step is an output too, and differentiable, so
that a recorded backward is right to second order without running the sequence anew. ``reverse`` goes from the last time
to the first; the outputs stand in the order of the input all the same.
"""

import numpy as np

from ..core.op import op
from ..core.tensor import Tensor
from .compare import where
from .conv import empty, plain
from .elementwise import tanh
from .index import slice_view
from .join import cat_row, join_last, narrow_last, stack_row
from .reduce import sum_row
from .samples import Sample, spread
from .shape import reshape


def _times(n, reverse):
    return range(n - 1, -1, -1) if reverse else range(n)


def _arrived(g):
    """Whether a cotangent is more than the zeros that stand for "nothing came"."""
    return (isinstance(g, Tensor) and g._node is not None) or bool((g._d if isinstance(g, Tensor) else g).any())


def _before(first, states, reverse):
    """The state that each step began with: ``first``, then all but the last."""
    first = reshape(first, (1, *first.shape))
    n = states.shape[0]
    if n == 1:
        return first
    if reverse:
        return cat_row([slice_view(states, (slice(1, n),)), first], 0)
    return cat_row([first, slice_view(states, (slice(0, n - 1),))], 0)


def _ordered(parts, reverse):
    """What the backward loop collected, newest step first, as one (T, …) in the order of the input."""
    return stack_row(parts if reverse else parts[::-1], 0)


def _flat(x):
    return reshape(x, (-1, x.shape[-1]))


def _step(g, later, t):
    """The cotangent of step ``t``'s state: what came to this output, and what later steps sent."""
    return later if g is None else g[t] if later is None else g[t] + later


# ----- plain -----


def _rnn(xp, gx, w_hh, h0, relu, reverse):
    lib = plain(xp)
    out, h, w = empty(xp, gx.shape, gx.dtype), h0, w_hh.T
    for t in _times(gx.shape[0], reverse):
        y = lib.matmul(h, w, out=out[t])
        y += gx[t]
        h = lib.maximum(y, 0, out=y) if relu else lib.tanh(y, out=y)
    return out


def _rnn_rule(needs, g, y, gx, w_hh, h0, relu, reverse):
    slope = where(y > 0, y * 0 + 1, 0.0) if relu else 1 - y * y
    later, parts = None, []
    for t in _times(y.shape[0], not reverse):
        d = _step(g, later, t) * slope[t]
        parts.append(d)
        later = d @ w_hh
    d = _ordered(parts, reverse)
    return d, _flat(d).T @ _flat(_before(h0, y, reverse)) if needs[1] else None, later


def _rnn_reference(gx, w_hh, h0, relu, reverse):
    h, out = h0, np.empty_like(gx)
    for t in _times(len(gx), reverse):
        pre = gx[t] + h @ w_hh.T
        h = out[t] = np.maximum(pre, 0) if relu else np.tanh(pre)
    return out


def _rnn_samples():
    x, w, h = spread((3, 2, 4)), spread((4, 4), seed=1), spread((2, 4), seed=2)
    for relu, reverse in ((False, False), (False, True), (True, False)):
        yield Sample(x, w, h, params=(relu, reverse), note=f"{'relu' if relu else 'tanh'}{' reversed' * reverse}")
    yield Sample(x[:1], w, h, params=(False, False), note="one step")


rnn_row = op(
    "rnn_sequence", _rnn, joint=_rnn_rule, saves="y w_hh h0", kind="matmul", arity=3, dtypes="match", symbol="RNN",
    samples=_rnn_samples, ref=_rnn_reference, grad_name="Rnn",
    formula={"forward": "hₜ = tanh(xₜ + hₜ₋₁ @ Wᵀ) for all t",
             "rules": ["aₜ = (ḡₜ + aₜ₊₁ @ W) · (1 − hₜ²)", "Σₜ aₜᵀ @ hₜ₋₁", "a₁ @ W"]},
)  # fmt: skip

# ----- LSTM -----


def _lstm(xp, gx, w_hh, h0, c0, reverse):
    lib, size = plain(xp), c0.shape[-1]
    n, batch, width = gx.shape
    hs, cs = empty(xp, (n, batch, size), gx.dtype), empty(xp, (n, batch, size), gx.dtype)
    acts, part = empty(xp, gx.shape, gx.dtype), xp.empty((batch, size), gx.dtype)
    scale, shift = xp.zeros(width, gx.dtype) + 0.5, xp.zeros(width, gx.dtype) + 0.5
    scale[2 * size : 3 * size], shift[2 * size : 3 * size] = 1, 0
    scale, shift = scale.astype(gx.dtype), shift.astype(gx.dtype)
    h, c, w = h0, c0, w_hh.T
    for t in _times(n, reverse):
        a = lib.matmul(h, w, out=acts[t])
        a += gx[t]
        a *= scale  # σ(x) = ½ + ½ tanh(x/2): one tanh serves all four gates
        lib.tanh(a, out=a)
        a *= scale
        a += shift
        new = lib.multiply(a[:, size : 2 * size], c, out=cs[t])
        new += lib.multiply(a[:, :size], a[:, 2 * size : 3 * size], out=part)
        c = new
        h = lib.tanh(c, out=hs[t])
        h *= a[:, 3 * size :]
    return hs, cs, acts


def _lstm_rule(needs, g, y, gx, w_hh, h0, c0, reverse):
    hs, cs, acts = y
    size = cs.shape[-1]
    g_h, g_c, g_acts = (part if _arrived(part) else None for part in g)
    i, f, c_new, o = (narrow_last(acts, k * size, size) for k in range(4))
    tc = tanh(cs)
    to_c = o * (1 - tc * tc)
    sig = acts * (1 - acts)
    own_i, own_f, own_c, own_o = (1 - c_new * c_new if k == 2 else narrow_last(sig, k * size, size) for k in range(4))
    factor = join_last([own_i * c_new, own_f * _before(c0, cs, reverse), own_c * i, own_o * tc])
    extra = None if g_acts is None else join_last([own_i, own_f, own_c, own_o]) * g_acts
    h_later = c_later = None
    parts = []
    for t in _times(cs.shape[0], not reverse):
        dh, dc = _step(g_h, h_later, t), _step(g_c, c_later, t)
        if dh is not None:
            dc = dh * to_c[t] if dc is None else dc + dh * to_c[t]
        elif dc is None:
            dc = cs[t] * 0
        d = cat_row([dc, dc, dc, cs[t] * 0 if dh is None else dh], 1) * factor[t]
        if extra is not None:
            d = d + extra[t]
        parts.append(d)
        h_later, c_later = d @ w_hh, dc * f[t]
    d = _ordered(parts, reverse)
    return d, _flat(d).T @ _flat(_before(h0, hs, reverse)) if needs[1] else None, h_later, c_later


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _lstm_reference(gx, w_hh, h0, c0, reverse):
    n, size, h, c = len(gx), c0.shape[-1], h0, c0
    hs, cs, acts = np.empty((n, *c0.shape), gx.dtype), np.empty((n, *c0.shape), gx.dtype), np.empty_like(gx)
    for t in _times(n, reverse):
        i, f, k, o = np.split(gx[t] + h @ w_hh.T, [size, 2 * size, 3 * size], 1)
        i, f, k, o = _sigmoid(i), _sigmoid(f), np.tanh(k), _sigmoid(o)
        c = cs[t] = f * c + i * k
        h = hs[t] = o * np.tanh(c)
        acts[t] = np.concatenate([i, f, k, o], 1)
    return hs, cs, acts


def _lstm_samples():
    x, w, h, c = spread((3, 2, 12)), spread((12, 3), seed=1), spread((2, 3), seed=2), spread((2, 3), seed=3)
    yield Sample(x, w, h, c, params=(False,))
    yield Sample(x, w, h, c, params=(True,), note="reversed")
    yield Sample(x[:1], spread((12, 2), seed=1), h[:, :2].copy(), c, params=(False,), note="one step, projected state")


lstm_row = op(
    "lstm_sequence", _lstm, joint=_lstm_rule, saves="y w_hh h0 c0", kind="matmul", arity=4, outputs=3, dtypes="match",
    symbol="LSTM", samples=_lstm_samples, ref=_lstm_reference, grad_name="Lstm",
    formula={"forward": "i, f, g, o = gates(xₜ + hₜ₋₁ @ Wᵀ); cₜ = f · cₜ₋₁ + i · g; hₜ = o · tanh cₜ",
             "rules": ["aₜ = ḡ of the gates at t", "Σₜ aₜᵀ @ hₜ₋₁", "a₁ @ W", "f₁ · ḡ of c₁"]},
)  # fmt: skip

# ----- GRU -----


def _gru(xp, gx, w_hh, b_hh, h0, reverse):
    lib, size = plain(xp), h0.shape[-1]
    n, batch, width = gx.shape
    hs, acts = empty(xp, (n, batch, size), gx.dtype), empty(xp, (n, batch, 4 * size), gx.dtype)
    gates, h, w = xp.empty((batch, width), gx.dtype), h0, w_hh.T
    for t in _times(n, reverse):
        lib.matmul(h, w, out=gates)
        if b_hh is not None:
            gates += b_hh
        a, x = acts[t], gx[t]
        rz, new = a[:, : 2 * size], a[:, 2 * size : 3 * size]
        lib.add(gates[:, : 2 * size], x[:, : 2 * size], out=rz)
        rz *= 0.5  # σ(x) = ½ + ½ tanh(x/2)
        lib.tanh(rz, out=rz)
        rz *= 0.5
        rz += 0.5
        a[:, 3 * size :] = gates[:, 2 * size :]
        lib.multiply(a[:, :size], a[:, 3 * size :], out=new)
        new += x[:, 2 * size :]
        lib.tanh(new, out=new)
        after = lib.subtract(h, new, out=hs[t])
        after *= a[:, size : 2 * size]
        after += new
        h = after
    return hs, acts


def _gru_rule(needs, g, y, gx, w_hh, b_hh, h0, reverse):
    hs, acts = y
    size = hs.shape[-1]
    g_h, g_acts = (part if _arrived(part) else None for part in g)
    r, z, n, q = (narrow_last(acts, k * size, size) for k in range(4))
    before = _before(h0, hs, reverse)
    own_r, own_z, own_n = r * (1 - r), z * (1 - z), 1 - n * n
    to_n = (1 - z) * own_n
    factor = join_last([to_n * q * own_r, (before - n) * own_z, to_n * r])
    extra = extra_n = None
    if g_acts is not None:
        a_r, a_z, a_n, a_q = (narrow_last(g_acts, k * size, size) for k in range(4))
        extra_n = a_n * own_n
        extra = join_last([(extra_n * q + a_r) * own_r, a_z * own_z, extra_n * r + a_q])
    later, parts, states = None, [], []
    for t in _times(hs.shape[0], not reverse):
        dh = _step(g_h, later, t)
        dh = hs[t] * 0 if dh is None else dh
        d = cat_row([dh, dh, dh], 1) * factor[t]
        if extra is not None:
            d = d + extra[t]
        parts.append(d)
        states.append(dh)
        later = d @ w_hh + dh * z[t]
    d, dx = _ordered(parts, reverse), None
    if needs[0]:
        d_n = to_n * _ordered(states, reverse)
        dx = join_last([narrow_last(d, 0, 2 * size), d_n if extra_n is None else d_n + extra_n])
    dw = _flat(d).T @ _flat(before) if needs[1] else None
    return dx, dw, sum_row(d, (0, 1), False) if needs[2] else None, later


def _gru_reference(gx, w_hh, b_hh, h0, reverse):
    n, size, h = len(gx), h0.shape[-1], h0
    hs, acts = np.empty((n, *h0.shape), gx.dtype), np.empty((n, h0.shape[0], 4 * size), gx.dtype)
    for t in _times(n, reverse):
        gh = h @ w_hh.T + (0 if b_hh is None else b_hh)
        r, z = _sigmoid(gx[t][:, :size] + gh[:, :size]), _sigmoid(gx[t][:, size : 2 * size] + gh[:, size : 2 * size])
        q = gh[:, 2 * size :]
        new = np.tanh(gx[t][:, 2 * size :] + r * q)
        h = hs[t] = (1 - z) * new + z * h
        acts[t] = np.concatenate([r, z, new, q], 1)
    return hs, acts


def _gru_samples():
    x, w, b, h = spread((3, 2, 9)), spread((9, 3), seed=1), spread((9,), seed=2), spread((2, 3), seed=3)
    yield Sample(x, w, b, h, params=(False,))
    yield Sample(x, w, b, h, params=(True,), note="reversed")
    yield Sample(x[:1], w, None, h, params=(False,), note="one step, no bias")


gru_row = op(
    "gru_sequence", _gru, joint=_gru_rule, saves="y w_hh h0", kind="matmul", arity=4, outputs=2, dtypes="match", symbol="GRU",
    samples=_gru_samples, ref=_gru_reference, grad_name="Gru",
    formula={"forward": "r, z = σ(xₜ + hₜ₋₁ @ Wᵀ); n = tanh(xₜ + r · (hₜ₋₁ @ Wᵀ + b)); hₜ = (1 − z) · n + z · hₜ₋₁",
             "rules": ["aₜ = ḡ of the gates at t", "Σₜ aₜᵀ @ hₜ₋₁", "Σₜ aₜ", "a₁ @ W + z₁ · ḡ of h₁"]},
)  # fmt: skip
