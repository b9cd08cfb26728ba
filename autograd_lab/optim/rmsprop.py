"""RMSprop."""

import numpy as np

from .each import EachOptimizer, array, average, check_common, count, decayed, scalar, zeros


class RMSprop(EachOptimizer):
    """Steps divided by the root of a running mean of squared gradients.

    v ← α v + (1 − α) g²,  p ← p − lr · g / (√v + eps); centred: √(v − ḡ²) with the running mean ḡ of gradients;
    with momentum: b ← μ b + g / (√v + eps), p ← p − lr · b.

    Args:
        params: parameters, or dicts of groups
        lr: step size (default: 1e-2)
        alpha: decay rate α (default: 0.99)
        eps: keeps the division away from 0 (default: 1e-8)
        weight_decay: adds weight_decay · p to the gradient (default: 0)
        momentum: μ (default: 0)
        centered: divide by the spread instead of the size of gradients (default: False)
        maximize: climb instead of descending (default: False)
        foreach, capturable: accepted; there is one implementation (default: None, False)

    Raises: ValueError for negative settings; NotImplementedError for ``differentiable=True``.

    Example::

        opt = torch.optim.RMSprop(net.parameters(), lr=1e-2)
        loss_fn(net(x), y).backward()
        opt.step()

    Source: Tieleman and Hinton, Lecture 6.5 of Neural Networks for Machine Learning, 2012; centred: Graves, 2013,
    arXiv:1308.0850.
    """

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
                 foreach=None, maximize=False, differentiable=False):  # fmt: skip
        check_common(lr, foreach, differentiable, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, dict(lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered, weight_decay=weight_decay,
                                      capturable=capturable, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable))  # fmt: skip

    def _begin(self, group, d, state):
        state.update(step=scalar(0), square_avg=zeros(d))
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros(d)
        if group["centered"]:
            state["grad_avg"] = zeros(d)

    def _update(self, group, state, p, g):
        count(state)
        g, alpha, lr = decayed(group, p, g), group["alpha"], float(group["lr"])
        v = array(state, "square_avg")
        v *= alpha
        v += g * g * (1 - alpha)
        if group["centered"]:
            mean = array(state, "grad_avg")
            average(mean, g, 1 - alpha)
            scale = np.sqrt(v - mean * mean)
        else:
            scale = np.sqrt(v)
        scale = scale + group["eps"]
        if group["momentum"] > 0:
            buffer = array(state, "momentum_buffer")
            buffer *= group["momentum"]
            buffer += g / scale
            p -= buffer * lr
        else:
            p -= g / scale * lr
