"""A million nodes: forward, backward, freeing without recursion, and memory that comes back."""

import gc
import os

import pytest

import autograd_lab as lab
from autograd_lab.autograd import grad

LENGTH = 1_000_000


def resident():
    """Bytes of memory this process holds now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def chain(x, length=LENGTH):
    y = x
    for _ in range(length):
        y = y * 1.0
    return y


def test_backward_through_a_million_nodes_and_memory_returns():
    x = lab.tensor(2.0, requires_grad=True)
    chain(x, 1000).backward()
    x.grad = None
    before = resident()
    y = chain(x)
    held = resident() - before
    y.backward()
    assert x.grad.item() == 1
    del y
    gc.collect()
    left = resident() - before
    assert held > 100e6 and left < 0.35 * held, f"{held / 1e6:.0f} MB of tape, {left / 1e6:.0f} MB left"


def test_dropping_a_million_nodes_without_backward():
    x = lab.tensor(2.0, requires_grad=True)
    y = chain(x)
    del y
    assert (x * 2).item() == 4


@pytest.mark.parametrize("create_graph", [False, True])
def test_grad_through_a_long_chain(create_graph):
    x = lab.tensor(2.0, requires_grad=True)
    y = chain(x * x, 100_000)
    (g,) = grad(y, x, create_graph=create_graph)
    assert g.item() == 4
    if create_graph:
        assert grad(g, x)[0].item() == 2
    del y, g


def test_a_long_chain_of_views_and_slots():
    x = lab.tensor([1.0, 2.0], requires_grad=True)
    h = x * 1
    for _ in range(20_000):
        a, _ = h.split(1)
        h = lab.cat([a, a]).view(2)
    h.sum().backward()
    assert x.grad.tolist() == [2, 0]
    del a, h


def test_a_long_chain_of_in_place_changes():
    x = lab.tensor([1.0, 2.0], requires_grad=True)
    h = x * 1
    for _ in range(50_000):
        h += 1.0
    h.sum().backward()
    assert x.grad.tolist() == [1, 1] and h.tolist() == [50_001, 50_002]
    del h
