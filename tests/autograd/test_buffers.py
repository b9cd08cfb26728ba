"""Graphs of large arrays: pooled buffers and rules that write over their cotangent change no bit and no other value.

Thresholds are lowered so that small arrays take the paths of large ones; random graphs then share, reuse and keep values.
"""

import numpy as np
import pytest

import autograd_lab as lab
from tests.table.cases import same_bits, set_thresholds

UNARY = ["tanh", "exp", "sigmoid", "relu", "sin", "neg", "square", "abs"]
BINARY = ["add", "sub", "mul", "maximum"]
THRESHOLDS = {"pooled": {"LARGE": 17}, "by blocks": {"LARGE": 17, "HUGE": 17, "BLOCK": 7}}


def random_graph(seed, dtype):
    """Leaves, values on the way (some retained, some hooked) and the loss of a random graph over 4×5 arrays."""
    generator = np.random.default_rng(seed)
    leaves = [lab.tensor(generator.uniform(-1, 1, (4, 5)).astype(dtype), requires_grad=True) for _ in range(3)]
    values, kept, seen = list(leaves), [], []
    for _ in range(generator.integers(5, 25)):
        a = values[generator.integers(max(0, len(values) - 6), len(values))]
        b = values[generator.integers(len(values))]
        kind = generator.integers(10)
        if kind < 4:
            value = getattr(lab, UNARY[generator.integers(len(UNARY))])(a) * 0.7
        elif kind < 8:
            value = getattr(lab, BINARY[generator.integers(len(BINARY))])(a, b)
        elif kind == 8:
            value = a.T.reshape(4, 5) + b[:1]
        else:
            value = a * 1.0
            value.add_(b)
        if generator.integers(5) == 0:
            value.retain_grad()
            kept.append(value)
        if generator.integers(8) == 0:
            value.register_hook(lambda g: seen.append(g) or None)
        values.append(value)
    return leaves, kept, seen, values, (values[-1] * values[-2]).sum() + values[-1].mean()


def run(seed, dtype, create_graph):
    """All gradients of a random graph by backward, twice; and the values afterwards."""
    leaves, kept, seen, values, loss = random_graph(seed, dtype)
    before = [v.detach().numpy().copy() for v in values]
    loss.backward(retain_graph=True, create_graph=create_graph)
    grads = [t.grad for t in (*leaves, *kept)] + list(seen)
    first = [None if g is None else g.detach().numpy().copy() for g in grads]
    if not create_graph:
        loss.backward()  # may not disturb what the first one left
    for v, old in zip(values, before, strict=True):
        assert same_bits(v.detach().numpy(), old), "backward wrote over a value of the forward pass"
    for g, old in zip(seen, first[len(leaves) + len(kept) :], strict=False):
        assert same_bits(g.detach().numpy(), old), "backward wrote over a gradient that a hook kept"
    arrays = [t.grad.detach().numpy() for t in (*leaves, *kept) if t.grad is not None]
    for i, a in enumerate(arrays):
        assert not any(np.shares_memory(a, b) for b in arrays[i + 1 :]) and a.flags.writeable
        assert not any(np.shares_memory(a, v.detach().numpy()) for v in values)
    return first


@pytest.mark.parametrize("thresholds", THRESHOLDS.values(), ids=THRESHOLDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed, dtype, thresholds, monkeypatch):
    small = run(seed, dtype, False)
    assert_same(run(seed, dtype, True), small)
    set_thresholds(monkeypatch, thresholds)
    large = run(seed, dtype, False)
    assert_same(run(seed, dtype, True), large)
    for a, b in zip(large, small, strict=True):  # pooled results lie in row-major order, where sums may round otherwise
        np.testing.assert_allclose(0 if a is None else a, 0 if b is None else b, rtol=1e-4, atol=1e-6)


def assert_same(found, expected):
    """Bit for bit."""
    assert len(found) == len(expected)
    assert all((a is None and b is None) or same_bits(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("thresholds", THRESHOLDS.values(), ids=THRESHOLDS)
def test_stepping_keeps_what_was_shown(thresholds, monkeypatch):
    """A step's arrays stay as they were while later steps run."""
    from autograd_lab.autograd.engine import sweep

    set_thresholds(monkeypatch, thresholds)
    for seed in range(20):
        *_, loss = random_graph(seed, "float32")
        shown = []
        for step in sweep([loss], [np.float32(1)], accumulate=False):
            parts = [a for a in (step.g, *step.grads) if isinstance(a, np.ndarray)]
            shown += [(a, a.copy()) for a in parts]
        assert all(same_bits(a, b) for a, b in shown)
