"""Adagrad."""

import numpy as np

from .each import EachOptimizer, array, check_common, count, decayed, scalar, zeros


class Adagrad(EachOptimizer):
    """Steps divided by the root of the sum of all squared gradients so far: rare features keep large steps.

    s ← s + g²,  p ← p − lr / (1 + (t − 1) lr_decay) · g / (√s + eps).

    Args:
        params: parameters, or dicts of groups
        lr: step size (default: 1e-2)
        lr_decay: how fast the step size falls (default: 0)
        weight_decay: adds weight_decay · p to the gradient (default: 0)
        initial_accumulator_value: first value of s (default: 0)
        eps: keeps the division away from 0 (default: 1e-10)
        maximize: climb instead of descending (default: False)
        foreach, fused: accepted; there is one implementation (default: None)

    Raises: ValueError for negative settings; RuntimeError for ``foreach`` with ``fused``; NotImplementedError for
    ``differentiable=True``.

    Example::

        opt = torch.optim.Adagrad(net.parameters(), lr=1e-2)
        loss_fn(net(x), y).backward()
        opt.step()

    Source: Duchi, Hazan and Singer, Adaptive Subgradient Methods for Online Learning and Stochastic Optimization, 2011.
    """

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
                 maximize=False, differentiable=False, fused=None):  # fmt: skip
        check_common(lr, foreach, differentiable, fused, lr_decay=lr_decay, weight_decay=weight_decay,
                     initial_accumulator_value=initial_accumulator_value, eps=eps)  # fmt: skip
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
                                      initial_accumulator_value=initial_accumulator_value, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, fused=fused))  # fmt: skip
        for group in self.param_groups:
            for p in group["params"]:
                self._begin(group, p._array(), self.state[p])

    def _begin(self, group, d, state):
        state.update(step=scalar(0), sum=zeros(d, group["initial_accumulator_value"]))

    def _update(self, group, state, p, g):
        t, g = count(state), decayed(group, p, g)
        total = array(state, "sum")
        total += g * g
        p -= g / (np.sqrt(total) + group["eps"]) * (float(group["lr"]) / (1 + (t - 1) * group["lr_decay"]))
