"""Schedules that move the learning rate up and down, and momentum against it: CyclicLR and OneCycleLR."""

import math

from .schedule import LRScheduler


def per_group(name, value, optimizer):
    """One value for each parameter group. Raises: ValueError for a list of another length."""
    if isinstance(value, list | tuple):
        if len(value) != len(optimizer.param_groups):
            raise ValueError(f"{name} must have the same length as optimizer.param_groups. {name} has "
                             f"{len(value)} values, param_groups "
                             f"has {len(optimizer.param_groups)}.")  # fmt: skip
        return list(value)
    return [value] * len(optimizer.param_groups)


class _WithMomentum(LRScheduler):
    def _need_momentum(self, optimizer):
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults

    def _set_momentum(self, values):
        for group, momentum in zip(self.optimizer.param_groups, values, strict=True):
            if self.use_beta1:
                group["betas"] = (momentum, *group["betas"][1:])
            else:
                group["momentum"] = momentum

    def _begin_momentum(self, lows, highs):
        self._set_momentum(highs)
        for group, low, high in zip(self.optimizer.param_groups, lows, highs, strict=True):
            group["base_momentum"], group["max_momentum"] = low, high


class CyclicLR(_WithMomentum):
    """lr goes up from ``base_lr`` to ``max_lr`` and down again, over and over; one step for each batch.

    Args: step_size_up, step_size_down: lengths in batches; mode: triangular (equal peaks), triangular2 (each half as high),
    exp_range (peaks times gamma^batch); scale_fn, scale_mode: a height of one's own; cycle_momentum: momentum goes the other way.
    """

    _functions = "_scale"

    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0,
                 scale_fn=None,
                 scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1):  # fmt: skip
        self._attach(optimizer)
        lows = per_group("base_lr", base_lr, optimizer)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, lows, strict=True):
                group["lr"] = lr
        self.max_lrs = per_group("max_lr", max_lr, optimizer)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        self.mode, self.gamma, self._scale = mode, gamma, [] if scale_fn is None else [scale_fn]
        self.scale_mode = scale_mode if scale_fn is not None else ("iterations" if mode == "exp_range" else "cycle")
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._need_momentum(optimizer)
            self.base_momentums = per_group("base_momentum", base_momentum, optimizer)
            self.max_momentums = per_group("max_momentum", max_momentum, optimizer)
            if last_epoch == -1:
                self._begin_momentum(self.base_momentums, self.max_momentums)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def scale_fn(self, x):
        """The height of the peak in cycle (or at batch) ``x``."""
        if self._scale:
            return self._scale[0](x)
        return {"triangular": lambda: 1.0, "triangular2": lambda: 1 / 2.0 ** (x - 1), "exp_range": lambda: self.gamma**x}[
            self.mode
        ]()

    def get_lr(self):
        """The next rates; sets the momentum too."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        part = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height = part * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            self._set_momentum([hi - (hi - lo) * height for lo, hi in zip(self.base_momentums, self.max_momentums, strict=True)])
        return [lo + (hi - lo) * height for lo, hi in zip(self.base_lrs, self.max_lrs, strict=True)]


class OneCycleLR(_WithMomentum):
    """One rise of lr to ``max_lr`` and one fall far below the start; one step for each batch.

    Args: total_steps, or epochs and steps_per_epoch; pct_start: share of the rise; anneal_strategy: cos or linear;
    cycle_momentum: momentum goes the other way; div_factor: max_lr / first lr; final_div_factor: first lr / last lr;
    three_phase: fall to the first lr, then further.
    """

    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3, anneal_strategy="cos",
                 cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0, final_div_factor=1e4,
                 three_phase=False,
                 last_epoch=-1):  # fmt: skip
        self._attach(optimizer)
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.anneal_strategy = anneal_strategy
        rise = float(pct_start * self.total_steps)
        self._phases = [(rise - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")]
        if three_phase:
            self._phases.append((2 * rise - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"))
            self._phases.append((self.total_steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"))
        else:
            self._phases.append((self.total_steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"))
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, per_group("max_lr", max_lr, optimizer), strict=True):
                group["max_lr"], group["initial_lr"] = high, high / div_factor
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._need_momentum(optimizer)
            if last_epoch == -1:
                self._begin_momentum(per_group("base_momentum", base_momentum, optimizer),
                                     per_group("max_momentum", max_momentum, optimizer))  # fmt: skip
        super().__init__(optimizer, last_epoch)

    def _between(self, start, end, part):
        if self.anneal_strategy == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start

    def get_lr(self):
        """The next rates; sets the momentum too."""
        at = self.last_epoch
        if at > self.total_steps:
            raise ValueError(f"Tried to step {at} times. The specified number of total steps is {self.total_steps}")
        start = 0.0
        for i, phase in enumerate(self._phases):
            if at <= phase[0] or i == len(self._phases) - 1:
                break
            start = phase[0]
        part = (at - start) / (phase[0] - start)
        _, lr_from, lr_to, m_from, m_to = phase
        groups = self.optimizer.param_groups
        if self.cycle_momentum:
            self._set_momentum([self._between(g[m_from], g[m_to], part) for g in groups])
        return [self._between(g[lr_from], g[lr_to], part) for g in groups]


def _total(total_steps, epochs, steps_per_epoch):
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return epochs * steps_per_epoch
