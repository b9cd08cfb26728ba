"""ASGD: averaged stochastic gradient descent."""

from .each import EachOptimizer, array, check_common, count, decayed, scalar, zeros


class ASGD(EachOptimizer):
    """Gradient descent with a falling step size; ``state[p]["ax"]`` holds the mean of the parameters since step t0.

    p ← (1 − λ η) p − η g,  ax ← ax + μ (p − ax),  η ← lr / (1 + λ lr t)^α,  μ ← 1 / max(1, t − t0).

    Args:
        params: parameters, or dicts of groups
        lr: step size (default: 1e-2)
        lambd: decay λ (default: 1e-4)
        alpha: power α of the step size (default: 0.75)
        t0: the step at which averaging begins (default: 1e6)
        weight_decay: adds weight_decay · p to the gradient (default: 0)
        maximize: climb instead of descending (default: False)
        foreach, capturable: accepted; there is one implementation (default: None, False)

    Raises: ValueError for a negative lr or weight_decay; NotImplementedError for ``differentiable=True``.

    Example::

        opt = torch.optim.ASGD(net.parameters(), lr=1e-2, t0=100)
        loss_fn(net(x), y).backward()
        opt.step()

    Source: Polyak and Juditsky, Acceleration of Stochastic Approximation by Averaging, 1992.
    """

    _scalars = ("eta", "mu")

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):  # fmt: skip
        check_common(lr, foreach, differentiable, weight_decay=weight_decay)
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize, differentiable=differentiable, capturable=capturable))  # fmt: skip

    def _begin(self, group, d, state):
        state.update(step=scalar(0), eta=scalar(group["lr"]), mu=scalar(1), ax=zeros(d))

    def _update(self, group, state, p, g):
        lr, decay = float(group["lr"]), group["lambd"]
        t, g = count(state), decayed(group, p, g)
        eta, mu, mean = float(state["eta"]), float(state["mu"]), array(state, "ax")
        p *= 1 - decay * eta
        p -= g * eta
        if mu == 1:
            mean[...] = p
        else:
            mean += (p - mean) * mu
        state["eta"] = scalar(lr / (1 + decay * lr * t) ** group["alpha"])
        state["mu"] = scalar(1 / max(1, t - group["t0"]))
