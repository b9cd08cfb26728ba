"""Averages of weights over training (SWA and EMA), and the schedule that goes with them."""

import math
from copy import deepcopy
from itertools import chain

import numpy as np

from ..core.modes import no_grad
from ..core.tensor import Tensor, wrap
from ..nn.module import Module
from ..nn.modules.normalization import _BatchNorm
from .schedule import LRScheduler

__all__ = [
    "SWALR", "AveragedModel", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip


def get_ema_avg_fn(decay=0.999):
    """The rule of the exponential moving average for one tensor: mean ← decay · mean + (1 − decay) · p.

    Args: decay (default: 0.999). Raises: ValueError unless it lies in [0, 1].
    """
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    def ema_update(ema_param, current_param, num_averaged):
        with no_grad():
            return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """The rule of the equal average for one tensor: mean ← mean + (p − mean) / (n + 1)."""

    def swa_update(averaged_param, current_param, num_averaged):
        with no_grad():
            return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay=0.999):
    """The rule of ``get_ema_avg_fn`` for lists of tensors, in place.

    Args: decay (default: 0.999). Raises: ValueError unless it lies in [0, 1].
    """
    return _for_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn():
    """The rule of ``get_swa_avg_fn`` for lists of tensors, in place."""
    return _for_lists(get_swa_avg_fn())


def _for_lists(rule):
    def update(averaged_param_list, current_param_list, num_averaged):
        with no_grad():
            for mean, p in zip(averaged_param_list, current_param_list, strict=True):
                mean.copy_(rule(mean, p, num_averaged))

    return update


class AveragedModel(Module):
    """A copy of a model that holds the average of its parameters: equal (SWA) or with a rule such as EMA.

    The first ``update_parameters`` copies the parameters; each later one applies mean ← avg_fn(mean, p, n).

    Args:
        model: the model that is trained
        device: where the copy lives (default: None: the model's)
        avg_fn: rule for one tensor (default: None: equal average)
        multi_avg_fn: rule for lists of tensors, in place (default: None)
        use_buffers: average buffers too; otherwise they are copied (default: False)

    Raises: AssertionError where both rules are given.

    Example::

        averaged = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.99))
        for x, y in loader:
            train_step(net, x, y)
            averaged.update_parameters(net)
        update_bn(loader, averaged)

    Source: Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization, 2018, arXiv:1803.05407.
    """

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", wrap(np.int64(0)))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        """What the averaged model gives."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Take the present parameters of the model into the average."""
        ours, theirs = list(self.module.parameters()), list(model.parameters())
        if self.use_buffers:
            ours, theirs = list(chain(ours, self.module.buffers())), list(chain(theirs, model.buffers()))
        ours = [p.detach() for p in ours]
        theirs = [q.detach().to(p.device) for p, q in zip(ours, theirs, strict=True)]
        n = int(self.n_averaged)
        with no_grad():
            if n == 0:
                for p, q in zip(ours, theirs, strict=True):
                    p.copy_(q)
            else:
                rule = self.multi_avg_fn or _for_lists(self.avg_fn or get_swa_avg_fn())
                kinds = {}
                for p, q in zip(ours, theirs, strict=True):
                    pair = kinds.setdefault(p.dtype, ([], []))
                    pair[0].append(p)
                    pair[1].append(q)
                for means, present in kinds.values():
                    rule(means, present, self.n_averaged)
            if not self.use_buffers:
                for p, q in zip(self.module.buffers(), model.buffers(), strict=True):
                    p.detach().copy_(q.detach().to(p.device))
            self.n_averaged += 1


def update_bn(loader, model, device=None):
    """Compute the running means and variances of batch normalisation anew, in one pass over the data.

    Args: loader: gives batches, or tuples that begin with one; model: for example an ``AveragedModel``; device: where batches
    are moved first (default: None).
    """
    momenta = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not momenta:
        return
    for module in momenta:
        module.reset_running_stats()
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    with no_grad():
        for batch in loader:
            if isinstance(batch, list | tuple):
                batch = batch[0]
            model(batch if device is None else batch.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Goes from the present rate to swa_lr within anneal_epochs and stays there.

    lr = α(t) swa_lr + (1 − α(t)) lr₀ with t = epoch / anneal_epochs, α(t) = t or (1 − cos π t) / 2.

    Args:
        optimizer: whose groups are set
        swa_lr: the last rate, or one for each group
        anneal_epochs: length of the way (default: 10)
        anneal_strategy: "cos" or "linear" (default: "cos")
        last_epoch: −1 to begin (default: -1)

    Raises: ValueError for another strategy, a negative number of epochs or a wrong number of rates.

    Example::

        scheduler = SWALR(opt, swa_lr=0.05, anneal_epochs=5)

    Source: Izmailov et al., 2018, arXiv:1803.05407.
    """

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        groups = optimizer.param_groups
        rates = list(swa_lr) if isinstance(swa_lr, list | tuple) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            raise ValueError(
                f"swa_lr must have the same length as optimizer.param_groups. swa_lr has {len(rates)} values, "
                f"param_groups has {len(groups)}."
            )
        for rate, group in zip(rates, groups, strict=True):
            group["swa_lr"] = rate.item() if isinstance(rate, Tensor) else rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t):
        """How much of the way is done at time t in [0, 1]."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self):
        """The next rates, one for each group."""
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        length = max(1, self.anneal_epochs)
        before = self.anneal_func(max(0, min(1, (step - 1) / length)))
        now = self.anneal_func(max(0, min(1, step / length)))
        rates = []
        for group in self.optimizer.param_groups:
            lr, last = group["lr"], group["swa_lr"]
            first = last if before == 1 else (lr - before * last) / (1 - before)
            rates.append(last * now + first * (1 - now))
        return rates
