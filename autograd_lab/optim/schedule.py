"""``LRScheduler``: the base of the learning-rate schedulers."""

import types
import warnings

from ..core.tensor import Tensor
from .optimizer import Optimizer


class LRScheduler:
    """Base of the schedulers: counts epochs and writes what ``get_lr`` gives into the optimiser's groups.

    Args: optimizer; last_epoch: −1 to begin, or the epoch to go on from.
    Call ``step()`` after the optimiser's steps of an epoch (or of a batch, for schedules by batch).
    """

    _functions = None
    _inner = None
    _starting = False

    def __init__(self, optimizer, last_epoch=-1):
        self._attach(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copy(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0"
                )
        self.base_lrs = [_copy(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._first_step()

    def _attach(self, optimizer):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer

    def _first_step(self):
        self._step_count = 0
        self._starting = True
        try:
            self.step()
        finally:
            del self._starting

    def _restart(self):
        """Begin at epoch 0, as a later part of a sequence."""
        self._step_count = 0
        self.last_epoch = 0
        closed = getattr(self, "_restart_rates", None)
        self._starting = True
        try:
            self._set(closed() if closed else self._closed(0))
        finally:
            del self._starting
        self._step_count = 1

    def _closed(self, epoch):
        """The rates at an epoch of a fresh schedule: of epoch 0, what the first step gives from the first rates."""
        for group, base in zip(self.optimizer.param_groups, self.base_lrs, strict=True):
            group["lr"] = base
        return self.get_lr()

    def _rates(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def get_last_lr(self):
        """The rates that the last step set, one for each group."""
        return self._last_lr

    def get_lr(self):
        """The next rates, one for each group."""
        raise NotImplementedError("a scheduler defines get_lr")

    def step(self, epoch=None):
        """Go to the next epoch."""
        if self._step_count == 1 and not self.optimizer._step_count:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first value of the "
                "learning rate schedule is "
                "skipped. Call `optimizer.step()` first",
                UserWarning, stacklevel=2,
            )  # fmt: skip
        self._step_count += 1
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set(self.get_lr())

    def _set(self, rates):
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"]._array()[...] = float(lr)
            else:
                group["lr"] = lr
        self._last_lr = [_copy(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self):
        """Everything but the optimiser, as plain data.

        Functions and lambdas are left out; of objects that can be called, their attributes are kept.
        """
        state = {k: v for k, v in self.__dict__.items() if k not in ("optimizer", self._functions, self._inner)}
        if self._functions:
            state[self._functions] = [
                None if isinstance(f, types.FunctionType) else dict(f.__dict__) for f in getattr(self, self._functions)
            ]
        if self._inner:
            state[self._inner] = [s.state_dict() for s in getattr(self, self._inner)]
        return state

    def load_state_dict(self, state_dict):
        """Go on from a ``state_dict()``. Load the optimiser's state too: it holds the present rates."""
        state = dict(state_dict)
        functions = state.pop(self._functions, None) if self._functions else None
        inner = state.pop(self._inner, None) if self._inner else None
        self.__dict__.update(state)
        for f, saved in zip(getattr(self, self._functions, ()) if functions else (), functions or (), strict=True):
            if saved is not None:
                f.__dict__.update(saved)
        for scheduler, saved in zip(getattr(self, self._inner, ()) if inner else (), inner or (), strict=True):
            scheduler.load_state_dict(saved)


def _copy(value):
    return value.clone() if isinstance(value, Tensor) else value
