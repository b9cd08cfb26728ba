"""Adam."""

import math

import numpy as np

from .optimizer import Optimizer, check_betas, check_foreach, check_number, no_differentiable


class Adam(Optimizer):
    """Adam: steps scaled by running means of gradients and of their squares.

    m ← β₁ m + (1 − β₁) g,  v ← β₂ v + (1 − β₂) g²,  p ← p − lr · m̂ / (√v̂ + eps), where m̂ and v̂ are corrected for
    their start at 0.

    Args:
        params: parameters, or dicts of groups
        lr: step size
        betas: decay rates β₁, β₂ of the running means
        eps: keeps the division away from 0
        weight_decay: adds weight_decay · p to the gradient
        amsgrad: divide by the largest v so far
        maximize: climb instead of descending
        decoupled_weight_decay: decay parameters directly, as ``AdamW``
        foreach, fused, capturable: accepted; there is one implementation
    """

    _counted = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False,
                 capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):  # fmt: skip
        check_number("lr", lr)
        check_number("eps", eps)
        check_betas(betas)
        check_number("weight_decay", weight_decay)
        check_foreach(foreach, fused, lr=lr, **{"betas[0]": betas[0], "betas[1]": betas[1]})
        no_differentiable(differentiable)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize,
                                      foreach=foreach, capturable=capturable, differentiable=differentiable, fused=fused,
                                      decoupled_weight_decay=decoupled_weight_decay))  # fmt: skip

    def _check_params(self, params):
        super()._check_params(params)
        for p in params:
            if p.is_complex():
                raise NotImplementedError(
                    f"{type(self).__name__}: complex parameters are not supported; optimise real and imaginary parts"
                )

    def _state_names(self, group):
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")

    def _step_batch(self, group, batch):
        lr, eps = float(group["lr"]), group["eps"]
        beta1, beta2 = (float(b) for b in group["betas"])
        t = batch.count()
        size = lr / (1 - beta1**t)
        if not size:
            size = 1e-300 if batch.dtype.itemsize == 8 else 1e-30
        scale, shift = 1 / (math.sqrt(1 - beta2**t) * size), eps / size
        rest1, rest2 = 1 - beta1, 1 - beta2

        def update(g, out, work, m, v, top=None):
            np.subtract(g, m, out=out)
            np.multiply(out, rest1, out=out)
            np.add(m, out, out=m)
            np.multiply(g, g, out=out)
            np.multiply(out, rest2, out=out)
            np.multiply(v, beta2, out=v)
            np.add(v, out, out=v)
            if top is not None:
                v = np.maximum(top, v, out=top)
            np.sqrt(v, out=out)
            np.multiply(out, scale, out=out)
            np.add(out, shift, out=out)
            np.divide(m, out, out=out)

        decay, decoupled = float(group["weight_decay"]), group["decoupled_weight_decay"]
        batch.run(
            update, decay=0.0 if decoupled else decay, shrink=1 - lr * decay if decoupled else 1.0, maximize=group["maximize"],
            name=f"{type(self).__name__}.step",
        )  # fmt: skip
