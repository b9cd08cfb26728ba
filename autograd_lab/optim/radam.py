"""RAdam: Adam with rectified early steps."""

import math

import numpy as np

from .each import EachOptimizer, array, average, check_common, count, decayed, scalar, zeros
from .optimizer import check_betas


class RAdam(EachOptimizer):
    """Adam that trusts its scale only as far as enough steps have been averaged.

    ρ∞ = 2 / (1 − β₂) − 1,  ρ = ρ∞ − 2 t β₂ᵗ / (1 − β₂ᵗ).  While ρ ≤ 5: p ← p − lr · m̂. Then p ← p − lr · r · m̂ / √v̂ with
    r = √((ρ − 4)(ρ − 2) ρ∞ / ((ρ∞ − 4)(ρ∞ − 2) ρ)).

    Args:
        params: parameters, or dicts of groups
        lr: step size (default: 1e-3)
        betas: decay rates β₁, β₂ (default: (0.9, 0.999))
        eps: keeps the division away from 0 (default: 1e-8)
        weight_decay: adds weight_decay · p to the gradient (default: 0)
        decoupled_weight_decay: decay parameters directly, as ``AdamW`` (default: False)
        maximize: climb instead of descending (default: False)
        foreach, capturable: accepted; there is one implementation (default: None, False)

    Raises: ValueError for negative settings or rates outside [0, 1); NotImplementedError for ``differentiable=True``.

    Example::

        opt = torch.optim.RAdam(net.parameters(), lr=1e-3)
        loss_fn(net(x), y).backward()
        opt.step()

    Source: Liu et al., On the Variance of the Adaptive Learning Rate and Beyond, 2019, arXiv:1908.03265.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):  # fmt: skip
        check_common(lr, foreach, differentiable, eps=eps, weight_decay=weight_decay)
        check_betas(betas)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize, foreach=foreach,
                                      capturable=capturable, decoupled_weight_decay=decoupled_weight_decay,
                                      differentiable=differentiable))  # fmt: skip

    def _begin(self, group, d, state):
        state.update(step=scalar(0), exp_avg=zeros(d), exp_avg_sq=zeros(d))

    def _update(self, group, state, p, g):
        lr = float(group["lr"])
        beta1, beta2 = (float(b) for b in group["betas"])
        t = count(state)
        if group["decoupled_weight_decay"]:
            p *= 1 - lr * group["weight_decay"]
        else:
            g = decayed(group, p, g)
        m, v = array(state, "exp_avg"), array(state, "exp_avg_sq")
        average(m, g, 1 - beta1)
        v *= beta2
        v += g * g * (1 - beta2)
        size, left = lr / (1 - beta1**t), 1 - beta2**t
        limit = 2 / (1 - beta2) - 1
        rho = limit - 2 * t * beta2**t / left
        if rho > 5:
            rectified = math.sqrt((rho - 4) * (rho - 2) * limit / ((limit - 4) * (limit - 2) * rho))
            p -= m / (np.sqrt(v) + group["eps"]) * (size * math.sqrt(left) * rectified)
        else:
            p -= m * size
