"""``AdaptiveLogSoftmaxWithLoss`` against PyTorch."""

import numpy as np
import pytest
import torch

import autograd_lab as lab


def pair(**options):
    torch.manual_seed(1)
    lab.manual_seed(1)
    theirs, ours = (m.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10, 15], div_value=2.0, **options) for m in (torch, lab))
    assert repr(ours) == repr(theirs) and list(ours.state_dict()) == list(theirs.state_dict())
    return theirs.double(), ours.double()


@pytest.mark.parametrize("labels", [[0, 3, 4, 9, 12, 19, 15, 2], [1, 2, 3], 17, 2])
@pytest.mark.parametrize("head_bias", [False, True])
def test_it_is_pytorchs(labels, head_bias):
    labels = np.array(labels)
    x = np.random.default_rng(1).standard_normal((*labels.shape, 16))
    found = []
    for m, module in zip((torch, lab), pair(head_bias=head_bias), strict=True):
        leaf = m.tensor(x, requires_grad=True)
        output, loss = module(leaf, m.tensor(labels))
        (loss + (output * output).sum()).backward()
        batch = leaf if labels.ndim else leaf.unsqueeze(0)
        found.append([output, loss, leaf.grad, module.log_prob(batch), module.predict(batch)])
        found[-1] += [p.grad if p.grad is not None else m.zeros(p.shape) for p in module.parameters()]
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-9, atol=1e-11)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="cutoffs"):
        lab.nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 2])
    with pytest.raises(RuntimeError, match="Target values"):
        lab.nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])(lab.zeros(1, 4), lab.tensor([5]))
