"""AdamW: Adam whose weight decay acts on the parameters, not on the gradients."""

from .adam import Adam


class AdamW(Adam):
    """Adam with decoupled weight decay: p ← (1 − lr · weight_decay) p before each step.

    Args: as ``Adam``; weight_decay: default 0.01.
    """

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False,
                 foreach=None,
                 capturable=False, differentiable=False, fused=None):  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
                         differentiable=differentiable, fused=fused, decoupled_weight_decay=True)  # fmt: skip
