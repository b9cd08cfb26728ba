"""Adadelta."""

import numpy as np

from .each import EachOptimizer, array, check_common, count, decayed, scalar, zeros


class Adadelta(EachOptimizer):
    """Steps in the parameters' own units: gradients scaled by the ratio of past steps to past gradients.

    v ← ρ v + (1 − ρ) g²,  Δ = √(u + eps) / √(v + eps) · g,  u ← ρ u + (1 − ρ) Δ²,  p ← p − lr · Δ.

    Args:
        params: parameters, or dicts of groups
        lr: factor of the steps (default: 1.0)
        rho: decay rate ρ of both means (default: 0.9)
        eps: keeps the division away from 0 (default: 1e-6)
        weight_decay: adds weight_decay · p to the gradient (default: 0)
        maximize: climb instead of descending (default: False)
        foreach, capturable: accepted; there is one implementation (default: None, False)

    Raises: ValueError for negative settings or a rho outside [0, 1]; NotImplementedError for ``differentiable=True``.

    Example::

        opt = torch.optim.Adadelta(net.parameters())
        loss_fn(net(x), y).backward()
        opt.step()

    Source: Zeiler, ADADELTA: An Adaptive Learning Rate Method, 2012, arXiv:1212.5701.
    """

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
                 differentiable=False):  # fmt: skip
        check_common(lr, foreach, differentiable, eps=eps, weight_decay=weight_decay)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize,
                                      capturable=capturable, foreach=foreach, differentiable=differentiable))  # fmt: skip

    def _begin(self, group, d, state):
        state.update(step=scalar(0), square_avg=zeros(d), acc_delta=zeros(d))

    def _update(self, group, state, p, g):
        count(state)
        g, rho, eps = decayed(group, p, g), group["rho"], group["eps"]
        v, u = array(state, "square_avg"), array(state, "acc_delta")
        v *= rho
        v += g * g * (1 - rho)
        delta = np.sqrt(u + eps) / np.sqrt(v + eps) * g
        u *= rho
        u += delta * delta * (1 - rho)
        p -= delta * float(group["lr"])
