"""``LinearCrossEntropyLoss`` against PyTorch and against its two parts."""

import numpy as np
import pytest
import torch

import autograd_lab as lab


@pytest.mark.parametrize("options", [
    {}, {"bias": True, "reduction": "sum", "label_smoothing": 0.1}, {"out_features": (2, 3), "bias": True, "reduction": "none"},
    {"ignore_index": 1},
])  # fmt: skip
def test_it_is_pytorchs(options):
    rng = np.random.default_rng(1)
    x, t = rng.standard_normal((6, 5)).astype(np.float32), rng.integers(0, 4, (6, *options.get("out_features", ())))
    found = []
    for m in (torch, lab):
        m.manual_seed(1)
        module = m.nn.LinearCrossEntropyLoss(5, 4, **options)
        leaf = m.tensor(x, requires_grad=True)
        loss = module(leaf, m.tensor(t))
        loss.sum().backward()
        found.append((repr(module), loss.detach().numpy(), leaf.grad.numpy(), module.linear.weight.grad.numpy()))
    assert found[0][0] == found[1][0]
    for a, b in zip(found[0][1:], found[1][1:], strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)


def test_bad_input_is_refused():
    loss = lab.nn.LinearCrossEntropyLoss(3, 2)
    with pytest.raises(RuntimeError, match="in_features"):
        loss(lab.zeros(4, 5), lab.zeros(4, dtype=lab.int64))
    with pytest.raises(ValueError, match="acc_policy"):
        lab.nn.LinearCrossEntropyOptions(acc_policy="best")
