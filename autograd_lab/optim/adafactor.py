"""Adafactor: Adam's scale in the memory of a row and a column."""

import numpy as np

from ..core.tensor import Tensor, wrap
from .each import EachOptimizer, array, average, check_foreach, count, scalar, zeros


class Adafactor(EachOptimizer):
    """Steps scaled by squared gradients, of which a matrix keeps only the means of its rows and columns.

    β = 1 − t^τ,  R ← β R + (1 − β) mean of g² over columns,  C likewise over rows,  V = R C / max(mean of R, ε₁),
    u = g / max(√V, ε₁),  p ← p − max(ε₂, rms(p)) · min(lr, 1/√t) · u / max(1, rms(u) / d). Vectors keep V itself.

    Args:
        params: parameters, or dicts of groups
        lr: largest relative step size, and factor of the decay (default: 1e-2)
        beta2_decay: τ (default: -0.8)
        eps: ε₁, ε₂; None stands for the dtype's precision (default: (None, 1e-3))
        d: how large a step's root mean square may be (default: 1.0)
        weight_decay: first p ← (1 − lr · weight_decay) p (default: 0.0)
        maximize: climb instead of descending (default: False)
        foreach: accepted; there is one implementation (default: None)

    Raises: ValueError for settings out of range; RuntimeError for complex parameters.

    Example::

        opt = torch.optim.Adafactor(net.parameters(), lr=1e-2)
        loss_fn(net(x), y).backward()
        opt.step()

    Source: Shazeer and Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost, 2018, arXiv:1804.04235.
    """

    _complex = False

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for text, value, good in (
            ("Learning rate should be >= 0", lr, float(lr) >= 0),
            ("beta2_decay should be <= 0", beta2_decay, beta2_decay <= 0),
            ("epsilon1 should be >= 0", eps[0], eps[0] is None or eps[0] >= 0),
            ("epsilon2 should be >= 0", eps[1], eps[1] >= 0),
            ("Clipping threshold d should be >= 1", d, d >= 1),
            ("weight_decay should be >= 0", weight_decay, weight_decay >= 0),
        ):
            if not good:
                raise ValueError(f"{text} but is: {value}")
        check_foreach(foreach, None)
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, foreach=foreach,
                                      maximize=maximize))  # fmt: skip

    def _begin(self, group, d, state):
        state["step"] = scalar(0)
        if d.ndim > 1:
            state["row_var"] = wrap(np.zeros((*d.shape[:-1], 1), d.dtype))
            state["col_var"] = wrap(np.zeros((*d.shape[:-2], 1, d.shape[-1]), d.dtype))
        else:
            state["variance"] = zeros(d)

    def _update(self, group, state, p, g):
        t, lr, (eps1, eps2) = count(state), float(group["lr"]), group["eps"]
        if eps1 is None:
            eps1 = float(np.finfo(p.dtype).eps)
        rest = t ** group["beta2_decay"]
        size = max(eps2, rms(p)) * min(lr, t**-0.5)
        if group["weight_decay"]:
            p *= 1 - lr * group["weight_decay"]
        square = g * g
        if g.ndim > 1:
            rows, columns = array(state, "row_var"), array(state, "col_var")
            average(rows, square.mean(-1, keepdims=True), rest)
            average(columns, square.mean(-2, keepdims=True), rest)
            variance = rows * columns / np.maximum(rows.mean(-2, keepdims=True), eps1)
        else:
            variance = array(state, "variance")
            average(variance, square, rest)
        step = g / np.sqrt(np.maximum(variance, eps1 * eps1))
        p -= step * (size / max(1.0, rms(step) / group["d"]))


def rms(a):
    """Root mean square of an array."""
    return float(np.sqrt(np.square(a).mean())) if a.size else 0.0
