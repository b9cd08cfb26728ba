"""Learning-rate schedulers: each ``step()`` gives every parameter group its next learning rate.

Most multiply the present rate, so that several can be used one after another on the same optimiser.
"""

import math
from bisect import bisect_right
from collections import Counter

from .lr_cycles import CyclicLR, OneCycleLR
from .lr_plateau import ReduceLROnPlateau
from .schedule import LRScheduler


class LambdaLR(LRScheduler):
    """lr = first lr · lr_lambda(epoch).

    Args: optimizer; lr_lambda: a function of the epoch, or one for each group; last_epoch: where to go on.
    """

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = _per_group("lr_lambda", lr_lambda, optimizer)
        super().__init__(optimizer, last_epoch)

    _functions = "lr_lambdas"

    def get_lr(self):
        """The next rates."""
        return [base * f(self.last_epoch) for f, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(LRScheduler):
    """lr ← lr · lr_lambda(epoch)."""

    _functions = "lr_lambdas"

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = _per_group("lr_lambda", lr_lambda, optimizer)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The next rates."""
        now = self._rates()
        return now if self._starting else [lr * f(self.last_epoch) for f, lr in zip(self.lr_lambdas, now, strict=True)]


def _per_group(name, value, optimizer):
    if not isinstance(value, list | tuple):
        return [value] * len(optimizer.param_groups)
    if len(value) != len(optimizer.param_groups):
        raise ValueError(f"Expected {len(optimizer.param_groups)} lr_lambdas, but got {len(value)}")
    return list(value)


class StepLR(LRScheduler):
    """lr ← gamma · lr every ``step_size`` epochs.

    Example::

        scheduler = StepLR(opt, step_size=30, gamma=0.1)
        for epoch in range(100):
            train()
            scheduler.step()
    """

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The next rates."""
        due = not self._starting and self.last_epoch and self.last_epoch % self.step_size == 0
        return [lr * self.gamma if due else lr for lr in self._rates()]


class MultiStepLR(LRScheduler):
    """lr ← gamma · lr at each of the epochs in ``milestones``."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The next rates."""
        times = 0 if self._starting else self.milestones[self.last_epoch]
        return [lr * self.gamma**times for lr in self._rates()]


class ConstantLR(LRScheduler):
    """lr · factor for the first ``total_iters`` epochs, then the full lr."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The next rates."""
        if self.last_epoch == 0:
            return [lr * self.factor for lr in self._rates()]
        return [lr / self.factor if self.last_epoch == self.total_iters else lr for lr in self._rates()]


class LinearLR(LRScheduler):
    """The factor of lr moves evenly from ``start_factor`` to ``end_factor`` over ``total_iters`` epochs."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The next rates."""
        now, t = self._rates(), self.last_epoch
        if t == 0:
            return [lr * self.start_factor for lr in now]
        if self._starting or t > self.total_iters:
            return now
        rise = self.end_factor - self.start_factor
        factor = 1.0 + rise / (self.total_iters * self.start_factor + (t - 1) * rise)
        return [lr * factor for lr in now]


class ExponentialLR(LRScheduler):
    """lr ← gamma · lr every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The next rates."""
        return [lr if self._starting else lr * self.gamma for lr in self._rates()]


class PolynomialLR(LRScheduler):
    """lr falls to 0 as (1 − epoch / total_iters)^power."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The next rates."""
        if self._starting or self.last_epoch > self.total_iters:
            return self._rates()
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return [lr * (left / before) ** self.power for lr in self._rates()]


class CosineAnnealingLR(LRScheduler):
    """lr follows half a cosine from the first lr to ``eta_min`` in ``T_max`` epochs, and back."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):  # noqa: N803 (PyTorch's name)
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The next rates."""
        now, t = self._rates(), self.last_epoch
        if self._starting:
            return now
        if self._step_count == 1 and t > 0:
            return [self.eta_min + (base - self.eta_min) * (1 + math.cos(t * math.pi / self.T_max)) / 2 for base in self.base_lrs]
        if (t - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [lr + (base - self.eta_min) * rise for lr, base in zip(now, self.base_lrs, strict=True)]
        factor = (1 + math.cos(math.pi * t / self.T_max)) / (1 + math.cos(math.pi * (t - 1) / self.T_max))
        return [factor * (lr - self.eta_min) + self.eta_min for lr in now]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the first lr to ``eta_min``, again and again; each time ``T_mult`` times as long as before."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):  # noqa: N803 (PyTorch's names)
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, int | float):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        """The next rates."""
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def _restart_rates(self):
        self.T_cur, self.T_i = 0, self.T_0
        return self.get_lr()

    def step(self, epoch=None):
        """Go to the next epoch, or to a given one, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        self._step_count += 1
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self.T_cur, self.T_i = epoch, self.T_0
            while self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())


class SequentialLR(LRScheduler):
    """One scheduler after another: the next takes over at each epoch in ``milestones``."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler to be chained, but got no scheduler.")
        for i, scheduler in enumerate(schedulers):
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"SequentialLR expects all schedulers to belong to the same optimizer, but scheduler {i} has another one"
                )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                "milestone points, but got "
                f"number of schedulers {len(schedulers)} and the number of milestones to be equal to {len(milestones)}"
            )
        self.optimizer, self._schedulers, self._milestones = optimizer, schedulers, milestones
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in schedulers:
            scheduler.last_epoch -= 1
        schedulers[0]._first_step()
        self._last_lr = schedulers[0].get_last_lr()

    _inner = "_schedulers"

    def step(self):
        """Go to the next epoch."""
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            scheduler._restart()
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(LRScheduler):
    """Several schedulers that all take a step at every epoch."""

    _inner = "_schedulers"

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        if any(s.optimizer is not optimizer for s in schedulers):
            raise ValueError("ChainedScheduler expects all schedulers to belong to the same optimizer")
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = self._rates()

    def step(self):
        """Go to the next epoch."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()


_LRScheduler = LRScheduler
__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR",
    "LRScheduler",
    "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau",
    "SequentialLR", "StepLR",
]  # fmt: skip
