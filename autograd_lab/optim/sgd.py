"""Stochastic gradient descent with momentum."""

import numpy as np

from .optimizer import Optimizer, check_foreach, check_number, no_differentiable


class SGD(Optimizer):
    """Stochastic gradient descent: p ← p − lr · g, with momentum b ← μ b + (1 − dampening) g, p ← p − lr · b.

    Args:
        params: parameters, or dicts of groups
        lr: step size
        momentum: μ
        dampening: how much less new gradients count
        weight_decay: adds weight_decay · p to the gradient
        nesterov: look ahead: p ← p − lr · (g + μ b)
        maximize: climb instead of descending
        foreach, fused: accepted; there is one implementation

    Example::

        opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        opt.zero_grad()
        loss_fn(net(x), y).backward()
        opt.step()
    """

    def __init__(self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None,
                 differentiable=False, fused=None):  # fmt: skip
        check_number("lr", lr)
        check_number("momentum", momentum)
        check_number("weight_decay", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_foreach(foreach, fused)
        no_differentiable(differentiable)
        super().__init__(params, dict(lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov,
                                      maximize=maximize, foreach=foreach, differentiable=differentiable, fused=fused))  # fmt: skip

    def _state_names(self, group):
        return ("momentum_buffer",) if group["momentum"] else ()

    def _step_batch(self, group, batch):
        lr, momentum, dampening, nesterov = float(group["lr"]), group["momentum"], group["dampening"], group["nesterov"]
        first = batch.first

        def plain(g, out, work):
            np.multiply(g, lr, out=out)

        def heavy(g, out, work, buffer):
            if first:
                buffer[...] = g
            else:
                np.multiply(buffer, momentum, out=buffer)
                if dampening:
                    np.multiply(g, 1 - dampening, out=out)
                    np.add(buffer, out, out=buffer)
                else:
                    np.add(buffer, g, out=buffer)
            if nesterov:
                np.multiply(buffer, momentum, out=out)
                np.add(out, g, out=out)
                np.multiply(out, lr, out=out)
            else:
                np.multiply(buffer, lr, out=out)

        decay = float(group["weight_decay"])
        batch.run(heavy if momentum else plain, decay=decay, maximize=group["maximize"], name="SGD.step")
