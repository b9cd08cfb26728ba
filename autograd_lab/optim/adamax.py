"""Adamax: Adam with the infinity norm."""

import numpy as np

from .each import EachOptimizer, array, average, check_common, count, decayed, scalar, zeros
from .optimizer import check_betas


class Adamax(EachOptimizer):
    """Adam whose scale is a decaying maximum of gradients instead of a mean of their squares.

    m ← β₁ m + (1 − β₁) g,  u ← max(β₂ u, |g| + eps),  p ← p − lr / (1 − β₁ᵗ) · m / u.

    Args:
        params: parameters, or dicts of groups
        lr: step size (default: 2e-3)
        betas: decay rates β₁, β₂ (default: (0.9, 0.999))
        eps: keeps the division away from 0 (default: 1e-8)
        weight_decay: adds weight_decay · p to the gradient (default: 0)
        maximize: climb instead of descending (default: False)
        foreach, capturable: accepted; there is one implementation (default: None, False)

    Raises: ValueError for negative settings or rates outside [0, 1); NotImplementedError for ``differentiable=True``.

    Example::

        opt = torch.optim.Adamax(net.parameters(), lr=2e-3)
        loss_fn(net(x), y).backward()
        opt.step()

    Source: Kingma and Ba, Adam: A Method for Stochastic Optimization, 2014, arXiv:1412.6980.
    """

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):  # fmt: skip
        check_common(lr, foreach, differentiable, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))  # fmt: skip

    def _begin(self, group, d, state):
        state.update(step=scalar(0), exp_avg=zeros(d), exp_inf=zeros(d))

    def _update(self, group, state, p, g):
        beta1, beta2 = (float(b) for b in group["betas"])
        t, g = count(state), decayed(group, p, g)
        m, u = array(state, "exp_avg"), array(state, "exp_inf")
        average(m, g, 1 - beta1)
        np.maximum(u * beta2, np.abs(g) + group["eps"], out=u)
        p -= m / u * (float(group["lr"]) / (1 - beta1**t))
