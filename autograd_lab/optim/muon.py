"""Muon: momentum made orthogonal, for the matrices of hidden layers."""

import math

import numpy as np

from ..core.tensor import Tensor
from .each import EachOptimizer, array, average, zeros


class Muon(EachOptimizer):
    """Steps along the nearest orthogonal matrix to the momentum, so that every direction moves alike.

    b ← μ b + (1 − μ) g,  u = b, or (1 − μ) g + μ b with nesterov,  p ← (1 − lr · weight_decay) p − lr · a · NS(u). NS repeats
    X ← a X + (b X Xᵀ + c (X Xᵀ)²) X from X = u / ‖u‖ in bfloat16, as in PyTorch; a adjusts to the shape.

    Args:
        params: matrices, or dicts of groups; give biases and embeddings to another optimiser
        lr: step size (default: 1e-3)
        weight_decay: decay of the parameters (default: 0.1)
        momentum: μ (default: 0.95)
        nesterov: look ahead (default: True)
        ns_coefficients: a, b, c (default: (3.4445, -4.775, 2.0315))
        eps: least norm that is divided by (default: 1e-7)
        ns_steps: repetitions (default: 5)
        adjust_lr_fn: "original": √max(1, rows / columns); "match_rms_adamw": 0.2 √max(rows, columns) (default: None, as "original")

    Raises: ValueError for parameters that are not matrices and for settings out of range; RuntimeError for complex parameters.

    Example::

        opt = torch.optim.Muon([p for p in net.parameters() if p.ndim == 2], lr=0.02)
        loss_fn(net(x), y).backward()
        opt.step()

    Source: Jordan, Muon: An Optimizer for Hidden Layers in Neural Networks, 2024; Liu et al., Muon is Scalable for LLM
    Training, 2025, arXiv:2502.16982.
    """

    _complex = False

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315),
                 eps=1e-7, ns_steps=5, adjust_lr_fn=None):  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for text, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not float(value) >= 0:
                raise ValueError(f"{text} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps,
                                      adjust_lr_fn=adjust_lr_fn))  # fmt: skip
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.shape}")

    def _begin(self, group, d, state):
        state["momentum_buffer"] = zeros(d)

    def _update(self, group, state, p, g):
        lr, momentum, buffer = float(group["lr"]), group["momentum"], array(state, "momentum_buffer")
        average(buffer, g, 1 - momentum)
        step = g + (buffer - g) * momentum if group["nesterov"] else buffer
        step = orthogonal(step, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = p.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            ratio = 0.2 * math.sqrt(max(rows, columns))
        else:
            ratio = math.sqrt(max(1, rows / columns))
        p *= 1 - lr * group["weight_decay"]
        p -= step.astype(p.dtype) * (lr * ratio)


def orthogonal(matrix, coefficients, steps, eps):
    """Newton–Schulz steps towards the nearest orthogonal matrix, rounded to bfloat16 after each product."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    x = rounded(matrix)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    x = rounded(x / max(float(rounded(np.sqrt(np.square(x).sum()))), eps))
    for _ in range(steps):
        gram = rounded(x @ x.T)
        update = rounded(b * gram + c * (gram @ gram))
        x = rounded(a * x + update @ x)
    return x.T if tall else x


def rounded(a):
    """A float32 copy rounded to bfloat16's eight bits, ties to even."""
    bits = np.array(a, np.float32, order="C").view(np.uint32)
    return ((bits + (0x7FFF + ((bits >> 16) & 1)).astype(np.uint32)) & np.uint32(0xFFFF0000)).view(np.float32)
