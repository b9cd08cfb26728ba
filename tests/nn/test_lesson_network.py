"""The first lesson's network on the digits: its gradients are right, and it learns as PyTorch's does."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

import autograd_lab as lab
from autograd_lab.autograd import gradcheck, gradgradcheck

DIGITS = load_digits()
OPTIMISERS = {
    "SGD": dict(lr=0.1),
    "SGD with momentum": dict(lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4),
    "Adam": dict(lr=0.002),
    "AdamW": dict(lr=0.002),
}


def network(m, hidden=128):
    return m.nn.Sequential(m.nn.Linear(64, hidden), m.nn.ReLU(), m.nn.Linear(hidden, 10))


def losses(m, name, steps=50, batch=32):
    """Losses of the first steps; the weights come from the same seed, which gives both libraries the same ones."""
    m.manual_seed(0)
    model = network(m)
    optimiser = getattr(m.optim, name.split()[0])(model.parameters(), **OPTIMISERS[name])
    loss_fn = m.nn.CrossEntropyLoss()
    out = []
    for step in range(steps):
        rows = slice(step * batch % 1600, step * batch % 1600 + batch)
        optimiser.zero_grad()
        loss = loss_fn(model(m.tensor(DIGITS.data[rows] / 16, dtype=m.float32)), m.tensor(DIGITS.target[rows]))
        loss.backward()
        optimiser.step()
        out.append(loss.item())
    return out


@pytest.mark.parametrize("name", OPTIMISERS)
def test_fifty_steps_give_pytorchs_losses(name):
    np.testing.assert_allclose(losses(lab, name), losses(torch, name), rtol=0, atol=1e-5)


@pytest.mark.parametrize("hidden", [4, 128])
def test_its_gradients_are_right(hidden):
    lab.manual_seed(0)
    model = network(lab, hidden).double()
    x, labels = lab.tensor(DIGITS.data[:3] / 16), lab.tensor(DIGITS.target[:3])

    def loss(*parameters):
        w1, b1, w2, b2 = parameters
        return lab.nn.functional.cross_entropy(lab.relu(x @ w1.t() + b1) @ w2.t() + b2, labels)

    parameters = tuple(model.parameters())
    assert lab.equal(loss(*parameters), lab.nn.functional.cross_entropy(model(x), labels))
    assert gradcheck(loss, parameters, fast_mode=hidden > 4)
    assert gradgradcheck(loss, parameters, fast_mode=True)
