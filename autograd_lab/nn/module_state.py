"""Saving and loading the state of a Module: ``state_dict`` and ``load_state_dict`` with PyTorch's keys and words."""

from collections import OrderedDict, namedtuple

import numpy as np

from ..core.storage import storage_of
from ..core.tape import add_hook
from ..core.tensor import Parameter, Tensor

_EXTRA = "_extra_state"


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What ``load_state_dict`` did not find and did not need."""

    __slots__ = ()

    def __repr__(self):
        return "<All keys matched successfully>" if not self.missing_keys and not self.unexpected_keys else super().__repr__()

    __str__ = __repr__


def copy_into(target, source):
    """Write a tensor's values into another's memory, off the tape, as ``copy_`` under ``no_grad`` does."""
    np.copyto(target._array(), source._d, casting="unsafe")
    storage_of(target).bump("copy_", None)


class StateMethods:
    """The part of Module that saves and loads."""

    def get_extra_state(self):
        """What ``state_dict`` holds beside tensors; define it together with ``set_extra_state``."""
        raise RuntimeError("get_extra_state is not defined by this module")

    def set_extra_state(self, state):
        """Take back what ``get_extra_state`` gave."""
        raise RuntimeError("set_extra_state is not defined by this module")

    def _has_extra(self, name):
        return getattr(type(self), name) is not getattr(StateMethods, name)

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """An ordered dict of dotted names to parameters and persistent buffers, sharing their memory.

        Args: prefix: put before every name; keep_vars: give the parameters themselves, on the tape.
        """
        if args:
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = {"version": self._version}
        for hook in tuple(self.__dict__.get("_state_dict_pre_hooks", {}).values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in tuple(self.__dict__.get("_state_dict_hooks", {}).values()):
            replaced = hook(self, destination, prefix, {"version": self._version})
            destination = destination if replaced is None else replaced
        return destination

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, p in self._parameters.items():
            if p is not None:
                destination[prefix + name] = p if keep_vars else p.detach()
        for name, b in self._buffers.items():
            if b is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = b if keep_vars else b.detach()
        if self._has_extra("get_extra_state"):
            destination[prefix + _EXTRA] = self.get_extra_state()

    def _own_state(self):
        """(name, tensor) of what this module itself saves."""
        yield from ((k, v) for k, v in self._parameters.items() if v is not None)
        yield from ((k, v) for k, v in self._buffers.items() if v is not None and k not in self._non_persistent_buffers_set)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for hook in tuple(self.__dict__.get("_load_state_dict_pre_hooks", {}).values()):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, own in self._own_state():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            error = self._load_one(key, name, own, state_dict[key], assign)
            if error:
                error_msgs.append(error)
        if self._has_extra("set_extra_state"):
            if prefix + _EXTRA in state_dict:
                self.set_extra_state(state_dict[prefix + _EXTRA])
            elif strict:
                missing_keys.append(prefix + _EXTRA)
        elif strict and prefix + _EXTRA in state_dict:
            unexpected_keys.append(prefix + _EXTRA)
        if strict:
            known = {n for n, _ in self._own_state()} | set(self._modules) | {_EXTRA}
            for key in state_dict:
                if key.startswith(prefix) and key != prefix + _EXTRA:
                    first, dot, _ = key[len(prefix) :].partition(".")
                    if first not in known or (dot and first not in self._modules):
                        unexpected_keys.append(key)

    def _load_one(self, key, name, own, value, assign):
        if not isinstance(value, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but '
                f"received {type(value)}"
            )
        if getattr(own, "_is_uninitialized", False):
            own.materialize(value._d.shape)
        if own._d.ndim == 0 and value._d.shape == (1,):
            value = value.detach()[0]
        if own._d.shape != value._d.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in current model "
                f"is {own.shape}."
            )
        if not assign:
            copy_into(own, value)
        elif isinstance(own, Parameter):
            self._parameters[name] = value if isinstance(value, Parameter) else Parameter(value.detach(), own.requires_grad)
        else:
            self._buffers[name] = value
        return None

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy values from a ``state_dict`` into this module.

        Args: strict: every name must match in both directions; assign: take the tensors themselves instead of copying.
        Returns: a pair (missing_keys, unexpected_keys).
        Raises: RuntimeError that lists missing, unexpected and mis-shaped names; TypeError unless a dict is given.
        """
        if not hasattr(state_dict, "items"):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata

        def load(module, local, prefix):
            own = {} if metadata is None else dict(metadata.get(prefix[:-1], {}))
            if assign:
                own["assign_to_params_buffers"] = True
            module._load_from_state_dict(local, prefix, own, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    start = f"{prefix}{name}."
                    load(child, {k: v for k, v in local.items() if k.startswith(start)}, start)
            keys = IncompatibleKeys(missing, unexpected)
            for hook in tuple(module.__dict__.get("_load_state_dict_post_hooks", {}).values()):
                hook(module, keys)

        load(self, state_dict, "")
        if strict:
            if unexpected:
                errors.insert(0, "Unexpected key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in unexpected)))
            if missing:
                errors.insert(0, "Missing key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in missing)))
        if errors:
            raise RuntimeError("Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors)))
        return IncompatibleKeys(missing, unexpected)

    # ----- hooks of saving and loading -----

    def _state_hook(self, table, hook):
        return add_hook(self.__dict__.setdefault(table, OrderedDict()), hook)

    def register_state_dict_post_hook(self, hook):
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after saving."""
        return self._state_hook("_state_dict_hooks", hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def register_state_dict_pre_hook(self, hook):
        """Call ``hook(module, prefix, keep_vars)`` before saving."""
        return self._state_hook("_state_dict_pre_hooks", hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)`` before loading."""
        return self._state_hook("_load_state_dict_pre_hooks", hook)

    def register_load_state_dict_post_hook(self, hook):
        """Call ``hook(module, incompatible_keys)`` after loading."""
        return self._state_hook("_load_state_dict_post_hooks", hook)
