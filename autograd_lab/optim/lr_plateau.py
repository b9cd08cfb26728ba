"""``ReduceLROnPlateau``: a smaller learning rate when a measure stops improving."""

import math

from .lr_cycles import per_group
from .schedule import LRScheduler


class ReduceLROnPlateau(LRScheduler):
    """lr ← factor · lr after ``patience`` epochs in which the measure given to ``step`` did not improve.

    Args: mode: min or max; threshold, threshold_mode: how much counts as better, relative or absolute; cooldown: epochs of rest
    after a change; min_lr: never below; eps: smaller changes are not made.
    """

    def __init__(self, optimizer, mode="min", factor=0.1, patience=10, threshold=1e-4, threshold_mode="rel", cooldown=0, min_lr=0,
                 eps=1e-8):  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self._attach(optimizer)
        self.default_min_lr = None if isinstance(min_lr, list | tuple) else min_lr
        self.min_lrs = per_group("min_lr", min_lr, optimizer)
        self.factor, self.patience, self.cooldown, self.eps = factor, patience, cooldown, eps
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.last_epoch = 0
        self._last_lr = self._rates()
        self._reset()

    def _reset(self):
        """Forget what was seen."""
        self.best = math.inf if self.mode == "min" else -math.inf
        self.cooldown_counter = self.num_bad_epochs = 0

    def is_better(self, a, best):
        """Whether ``a`` improves on ``best`` by more than the threshold."""
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            return sign * a > sign * best * (1 + sign * self.threshold)
        return sign * a > sign * (best + sign * self.threshold)

    @property
    def in_cooldown(self):
        """Whether it rests after a change."""
        return self.cooldown_counter > 0

    def step(self, metrics, epoch=None):
        """Note the measure of one more epoch."""
        now = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(now, self.best):
            self.best, self.num_bad_epochs = now, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        rates = self._rates()
        if self.num_bad_epochs > self.patience:
            lower = [max(lr * self.factor, low) for lr, low in zip(rates, self.min_lrs, strict=True)]
            rates = [new if old - new > self.eps else old for old, new in zip(rates, lower, strict=True)]
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._set(rates)
