"""NAdam: Adam with Nesterov momentum."""

import numpy as np

from .each import EachOptimizer, array, average, check_common, count, decayed, scalar, zeros
from .optimizer import check_betas


class NAdam(EachOptimizer):
    """Adam that looks ahead by one step of momentum.

    μₜ = β₁ (1 − ½ · 0.96^(t ψ)),  m and v as in Adam,  s = √(v / (1 − β₂ᵗ)) + eps,
    p ← p − lr · ((1 − μₜ) g / (1 − Πμ up to t) + μₜ₊₁ m / (1 − Πμ up to t + 1)) / s.

    Args:
        params: parameters, or dicts of groups
        lr: step size (default: 2e-3)
        betas: decay rates β₁, β₂ (default: (0.9, 0.999))
        eps: keeps the division away from 0 (default: 1e-8)
        weight_decay: adds weight_decay · p to the gradient (default: 0)
        momentum_decay: ψ (default: 4e-3)
        decoupled_weight_decay: decay parameters directly, as ``AdamW`` (default: False)
        maximize: climb instead of descending (default: False)
        foreach, capturable: accepted; there is one implementation (default: None, False)

    Raises: ValueError for negative settings or rates outside [0, 1); NotImplementedError for ``differentiable=True``.

    Example::

        opt = torch.optim.NAdam(net.parameters(), lr=2e-3)
        loss_fn(net(x), y).backward()
        opt.step()

    Source: Dozat, Incorporating Nesterov Momentum into Adam, 2016.
    """

    _scalars = ("mu_product",)

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False,
                 differentiable=False):  # fmt: skip
        check_common(lr, foreach, differentiable, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        check_betas(betas)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay,
                                      decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach,
                                      capturable=capturable, differentiable=differentiable))  # fmt: skip

    def _begin(self, group, d, state):
        state.update(step=scalar(0), mu_product=scalar(1), exp_avg=zeros(d), exp_avg_sq=zeros(d))

    def _update(self, group, state, p, g):
        lr, psi = float(group["lr"]), group["momentum_decay"]
        beta1, beta2 = (float(b) for b in group["betas"])
        t = count(state)
        if group["decoupled_weight_decay"]:
            p *= 1 - lr * group["weight_decay"]
        else:
            g = decayed(group, p, g)
        mu = beta1 * (1 - 0.5 * 0.96 ** (t * psi))
        mu_next = beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * psi))
        state["mu_product"] = scalar(np.float32(float(state["mu_product"])) * np.float32(mu))
        product = float(state["mu_product"])
        m, v = array(state, "exp_avg"), array(state, "exp_avg_sq")
        average(m, g, 1 - beta1)
        v *= beta2
        v += g * g * (1 - beta2)
        scale = np.sqrt(v / (1 - beta2**t)) + group["eps"]
        p -= g / scale * (lr * (1 - mu) / (1 - product))
        p -= m / scale * (lr * mu_next / (1 - product * mu_next))
