"""Base of the optimisers that go through their parameters one by one."""

import numpy as np

from ..core.modes import enable_grad
from ..core.storage import storage_of
from ..core.tensor import wrap
from .optimizer import Optimizer, check_foreach, check_number, no_differentiable


class EachOptimizer(Optimizer):
    """Optimiser whose ``_update(group, state, p, g)`` changes one parameter array in place.

    Complex parameters reach ``_update`` as pairs of real numbers, unless a subclass refuses them with ``_complex = False``.
    ``_scalars`` names state that is one float32 number, kept as it is when a state is loaded.
    """

    _complex = True
    _scalars = ()

    def step(self, closure=None):
        """Change every parameter that has a gradient.

        Args: closure: computes the loss and its gradients anew and returns the loss. Returns: what the closure returned.
        """
        if self._hooks:
            self._call_hooks("pre", closure)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._step_count += 1
        for group in self.param_groups:
            for p in group["params"]:
                if p._grad is not None:
                    self._step_one(group, p)
        if self._hooks:
            self._call_hooks("post", closure)
        return loss

    def _step_one(self, group, p):
        d, g, state = p._array(), p._grad._array(), self.state[p]
        if d.dtype.kind == "c":
            if not self._complex:
                raise RuntimeError(f"{type(self).__name__} does not support complex parameters")
        if not state:
            self._begin(group, d, state)
        if group.get("maximize"):
            g = -g
        self._update(group, state, as_real(d), as_real(g))
        storage_of(p).bump(f"{type(self).__name__}.step", None)

    def _begin(self, group, d, state):
        """Make the state of a parameter before its first step."""
        raise NotImplementedError("an optimiser defines _begin")

    def _update(self, group, state, p, g):
        raise NotImplementedError("an optimiser defines _update")

    def load_state_dict(self, state_dict):
        """Take over state and settings from ``state_dict()`` of an optimiser with the same groups.

        Raises: ValueError where the numbers of groups or parameters differ.
        """
        super().load_state_dict(state_dict)
        places = {}
        for theirs, ours in zip(state_dict["param_groups"], self.param_groups, strict=True):
            places.update(zip(theirs["params"], ours["params"], strict=True))
        for place, p in places.items():
            for name in self._scalars:
                held = state_dict["state"].get(place, {}).get(name)
                if held is not None:
                    self.state[p][name] = scalar(held)


def scalar(value):
    """A float32 number as a state tensor."""
    return wrap(np.float32(float(value)))


def zeros(d, value=0.0):
    """State of a parameter's shape, filled with a value (with both parts of complex numbers)."""
    out = np.zeros(d.shape, d.dtype)
    as_real(out)[...] = value
    return wrap(out)


def as_real(a):
    """An array as it is, or a view of a complex one with a last axis of real and imaginary parts."""
    return a[..., None].view(a.real.dtype) if a.dtype.kind == "c" else a


def array(state, name):
    """The writable array of a state tensor."""
    return as_real(state[name]._array())


def count(state):
    """Count one more step and return its number."""
    n = int(float(state["step"])) + 1
    state["step"] = scalar(n)
    return n


def decayed(group, p, g):
    """The gradient with weight_decay · p added."""
    decay = float(group["weight_decay"])
    return g + p * decay if decay else g


def average(mean, g, rest):
    """mean ← mean + rest · (g − mean), in place."""
    mean += (g - mean) * rest


def check_common(lr, foreach, differentiable, fused=None, **numbers):
    """Raise where a setting that most optimisers share is not usable."""
    check_number("lr", lr)
    for name, value in numbers.items():
        check_number(name, value)
    check_foreach(foreach, fused)
    no_differentiable(differentiable)
