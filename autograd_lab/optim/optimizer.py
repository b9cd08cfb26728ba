"""``Optimizer``: parameter groups, state, hooks; the base of all optimisers."""

import warnings
from collections import OrderedDict, defaultdict
from copy import deepcopy

import numpy as np

from ..core.modes import enable_grad
from ..core.storage import storage_of
from ..core.tape import add_hook
from ..core.tensor import Tensor, wrap
from ..ops.shape import cast_to
from .flat import Plan


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()


class Optimizer:
    """Base of the optimisers.

    Args: params: an iterable of tensors, of (name, tensor) pairs, or of dicts with ``params`` and settings of their own;
    defaults: the settings of groups that do not give them.

    A subclass names its per-element state in ``_state_names`` and subtracts in ``_step_batch``; see ``sgd.py``.
    """

    _counted = False

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got a Tensor of shape "
                f"{list(params._d.shape)}; put it in a list: [tensor]"
            )
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        self._plans = []
        self._hooks = {}
        self._step_count = 0
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list: model.parameters() found no Parameter. Are "
                             "layers kept in a plain "
                             "list instead of nn.ModuleList, or was the generator used up already?")  # fmt: skip
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

    # ----- groups -----

    def add_param_group(self, param_group):
        """Add parameters with settings of their own, for example layers that are unfrozen during training."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering "
                            "of tensors in sets will "
                            "change between runs. Please use a list instead.")  # fmt: skip
        params = list(params)
        named = [isinstance(p, tuple) for p in params]
        if any(named):
            if not all(named):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        param_group["params"] = params
        self._check_params(params)
        if self.param_groups and ("param_names" in self.param_groups[0]) != ("param_names" in param_group):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group with names to the optimizer"
            )
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)
        self._plans.append(None)

    def _check_params(self, params):
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not p.is_leaf and not self.defaults.get("differentiable"):
                raise ValueError(
                    f"can't optimize a non-leaf Tensor (shape {list(p._d.shape)}, made by {p.grad_fn.name()}): "
                    "optimise the tensor it was "
                    "computed from"
                )
        if len({id(p) for p in params}) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error", stacklevel=4
            )

    # ----- stepping -----

    def zero_grad(self, set_to_none=True):
        """Forget the gradients of all parameters (or fill them with zeros): the next ``backward`` starts anew."""
        if set_to_none:
            for group in self.param_groups:
                for p in group["params"]:
                    p._grad = None
            return
        for group in self.param_groups:
            for p in group["params"]:
                g = p._grad
                if g is not None:
                    if g._node is not None:
                        g = p._grad = g.detach()
                    g._array()[...] = 0
                    storage_of(g).bump("zero_", None)

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
        plans = self._plans
        for i, group in enumerate(self.param_groups):
            names = self._state_names(group)
            plan = plans[i]
            if plan is None or not plan.fits(group, names):
                plan = plans[i] = Plan(group, names, self.state, self._counted)
            for batch in plan.batches:
                self._step_batch(group, batch)
        if self._hooks:
            self._call_hooks("post", closure)
        return loss

    def _state_names(self, group):
        """The names of the per-element state that this group needs."""
        return ()

    def _step_batch(self, group, batch):
        raise NotImplementedError("an optimiser defines _step_batch, or its own step")

    def _call_hooks(self, when, closure):
        args = () if closure is None else (closure,)
        for hook in tuple(self._hooks.get(when, {}).values()):
            hook(self, args, {})

    def register_step_pre_hook(self, hook):
        """Call ``hook(optimizer, args, kwargs)`` before every step."""
        return add_hook(self._hooks.setdefault("pre", OrderedDict()), hook)

    def register_step_post_hook(self, hook):
        """Call ``hook(optimizer, args, kwargs)`` after every step."""
        return add_hook(self._hooks.setdefault("post", OrderedDict()), hook)

    # ----- saving -----

    def state_dict(self):
        """State and settings as plain data: ``state`` by the parameters' places, ``param_groups`` with places for tensors."""
        places, groups = {}, []
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            for p in group["params"]:
                places.setdefault(id(p), len(places))
            packed["params"] = [places[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {(places[id(k)] if isinstance(k, Tensor) else k): v for k, v in self.state.items() if v}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Take over state and settings from ``state_dict()`` of an optimiser with the same groups.

        Raises: ValueError where the numbers of groups or parameters differ.
        """
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError(
                f"loaded state dict has a different number of parameter groups ({len(saved)}, here {len(self.param_groups)})"
            )
        for theirs, ours in zip(saved, self.param_groups, strict=True):
            if len(theirs["params"]) != len(ours["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group "
                    f"({len(theirs['params'])} parameters, here {len(ours['params'])})"
                )
        pairs = [
            (place, p)
            for theirs, ours in zip(saved, self.param_groups, strict=True)
            for place, p in zip(theirs["params"], ours["params"], strict=True)
        ]
        by_place = dict(pairs)
        state = defaultdict(dict)
        for key, value in state_dict["state"].items():
            p = by_place.get(key)
            if p is None:
                state[key] = deepcopy(value)
            else:
                state[p] = {name: _fitted(name, v, p) for name, v in value.items()}
        groups = []
        for theirs, ours in zip(saved, self.param_groups, strict=True):
            new = {k: deepcopy(v) for k, v in theirs.items() if k != "params"}
            new["params"] = ours["params"]
            if "param_names" in ours and "param_names" not in new:
                new["param_names"] = ours["param_names"]
            groups.append(new)
        self.__setstate__({"state": state, "param_groups": groups})

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._plans = [None] * len(self.param_groups)
        self.__dict__.setdefault("_hooks", {})
        self.__dict__.setdefault("_step_count", 0)

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"


def _fitted(name, value, p):
    """A loaded state value: a copy, in the parameter's dtype unless it counts steps."""
    if not isinstance(value, Tensor):
        return deepcopy(value)
    copy = wrap(np.array(value._d))
    return copy if name == "step" or not p.is_floating_point() else cast_to(copy, p.dtype)


def check_number(name, value, low=0.0):
    """Raise ValueError in PyTorch's words unless a setting is at least ``low`` (a one-element Tensor for ``lr`` too)."""
    if isinstance(value, Tensor):
        if value._d.size != 1:
            raise ValueError(f"Tensor {name} must be 1-element")
        value = value.item()
    if not value >= low:
        words = {"lr": "learning rate", "eps": "epsilon value"}.get(name, f"{name} value")
        raise ValueError(f"Invalid {words}: {value}")


def check_betas(betas, allow_one=False):
    """Raise ValueError in PyTorch's words unless decay rates lie in [0, 1)."""
    if isinstance(betas[0], Tensor) != isinstance(betas[1], Tensor):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas):
        if isinstance(beta, Tensor) and beta._d.size != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")
        if not 0.0 <= float(beta) < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_foreach(foreach, fused, **settings):
    """Raise ValueError where a Tensor setting is combined with ``foreach``, as PyTorch does on the CPU."""
    if foreach and fused:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    for name, value in settings.items():
        if foreach and isinstance(value, Tensor):
            raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")


def no_differentiable(differentiable):
    """Raise NotImplementedError for ``differentiable=True``: steps here change memory and are not recorded."""
    if differentiable:
        raise NotImplementedError(
            "differentiable=True is not supported: compute the updated parameters yourself with autograd.grad(create_graph=True)"
        )
