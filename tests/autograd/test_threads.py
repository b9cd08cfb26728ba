"""Two threads build and run backward at once: nothing mixes."""

import threading

import numpy as np

import autograd_lab as lab
from autograd_lab.autograd import grad


def train(seed, steps, out):
    """A small network's losses and final weights, from its own numbers."""
    generator = np.random.default_rng(seed)
    x, t = (lab.tensor(generator.normal(size=s).astype(np.float32)) for s in ((16, 5), (16, 3)))
    w1 = lab.tensor(generator.normal(size=(5, 8)).astype(np.float32), requires_grad=True)
    w2 = lab.tensor(generator.normal(size=(8, 3)).astype(np.float32), requires_grad=True)
    losses = []
    for _ in range(steps):
        loss = (((x @ w1).tanh() @ w2 - t) ** 2).mean()
        g1, g2 = grad(loss, (w1, w2), create_graph=True)
        ((g1 * g1).sum() * 0.01 + loss).backward()
        with lab.no_grad():
            for w in (w1, w2):
                w -= 0.1 * w.grad
                w.grad = None
        losses.append(loss.item())
    out[seed] = losses, w1.tolist(), w2.tolist()


def test_threads_give_what_they_give_alone():
    alone, together = {}, {}
    for seed in range(4):
        train(seed, 60, alone)
    threads = [threading.Thread(target=train, args=(seed, 60, together)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_two_threads_share_leaves():
    w = lab.ones(50, requires_grad=True)
    losses = [(w * float(i)).sum() for i in range(1, 201)]

    def run(part):
        for loss in part:
            found[threading.get_ident()] = found.get(threading.get_ident(), 0) + grad(loss, w)[0][0].item()

    found = {}
    threads = [threading.Thread(target=run, args=(losses[i::2],)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(found.values()) == 200 * 201 / 2


def test_large_arrays_in_threads_do_not_share_pool_blocks():
    def run(value, out):
        x = lab.full((200, 300), value, requires_grad=True)
        for _ in range(20):
            x.grad = None
            ((x * x).exp() * 0 + x * 3).sum().backward()
            out.append(bool((x.grad.numpy() == 3).all()))

    outs = [[], []]
    threads = [threading.Thread(target=run, args=(1.0 + i, outs[i])) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outs == [[True] * 20, [True] * 20]
