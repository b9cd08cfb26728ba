"""Rprop: steps by the signs of gradients."""

import numpy as np

from .each import EachOptimizer, array, check_common, count, scalar, zeros


class Rprop(EachOptimizer):
    """Each number has its own step size, which grows while the gradient keeps its sign and shrinks when it turns.

    s ← s · η₊ where g · previous g > 0, s · η₋ where < 0 (g is then taken as 0); kept in step_sizes; p ← p − sign(g) · s.
    For whole data sets, not for batches.

    Args:
        params: parameters, or dicts of groups
        lr: first step size (default: 1e-2)
        etas: factors η₋, η₊ (default: (0.5, 1.2))
        step_sizes: least and largest step size (default: (1e-6, 50))
        maximize: climb instead of descending (default: False)
        foreach, capturable: accepted; there is one implementation (default: None, False)

    Raises: ValueError for a negative lr or unless 0 < η₋ < 1 < η₊; NotImplementedError for ``differentiable=True``.

    Example::

        opt = torch.optim.Rprop(net.parameters(), lr=1e-2)
        loss_fn(net(x), y).backward()
        opt.step()

    Source: Riedmiller and Braun, A Direct Adaptive Method for Faster Backpropagation Learning: The RPROP Algorithm, 1993.
    """

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False,
                 differentiable=False):  # fmt: skip
        check_common(lr, foreach, differentiable)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, dict(lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize,
                                      differentiable=differentiable, capturable=capturable))  # fmt: skip

    def _begin(self, group, d, state):
        state.update(step=scalar(0), prev=zeros(d), step_size=zeros(d, float(group["lr"])))

    def _update(self, group, state, p, g):
        count(state)
        less, more = group["etas"]
        previous, size = array(state, "prev"), array(state, "step_size")
        turn = g * previous
        factor = np.where(turn > 0, more, np.where(turn < 0, less, 1.0)).astype(size.dtype)
        np.clip(size * factor, *group["step_sizes"], out=size)
        previous[...] = np.where(turn < 0, np.zeros_like(g), g)
        p -= np.sign(previous) * size
