"""Hooks of Modules: functions called before and after ``forward``, and when gradients pass through a module."""

from collections import OrderedDict

from ..core.modes import MODULE_CALLS as GLOBAL_HOOKS
from ..core.modes import modes
from ..core.scope import enter, leave
from ..core.tape import RemovableHandle
from ..core.tensor import Tensor
from ..ops.boundary import boundary


class _Handle(RemovableHandle):
    """A handle that tidies up after the last global hook, so that calls are fast again."""

    def __init__(self, hooks, table=None):
        super().__init__(hooks)
        self._table = table

    def remove(self):
        """Take the hook away; harmless when repeated."""
        super().remove()
        if self._table is not None and not self._hooks:
            GLOBAL_HOOKS.pop(self._table, None)


def _add(hooks, hook, table=None, prepend=False, with_kwargs=False, always_call=False):
    handle = _Handle(hooks, table)
    hooks[handle.id] = (hook, with_kwargs, always_call)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def _add_global(table, hook, **how):
    return _add(GLOBAL_HOOKS.setdefault(table, OrderedDict()), hook, table, **how)


def register_module_forward_pre_hook(hook):
    """Call ``hook(module, args)`` before every module's forward."""
    return _add_global("_forward_pre_hooks", hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Call ``hook(module, args, output)`` after every module's forward."""
    return _add_global("_forward_hooks", hook, with_kwargs=with_kwargs, always_call=always_call)


def register_module_full_backward_hook(hook):
    """Call ``hook(module, grad_input, grad_output)`` when gradients have passed through any module."""
    return _add_global("_backward_hooks", hook)


def register_module_full_backward_pre_hook(hook):
    """Call ``hook(module, grad_output)`` before gradients pass through any module."""
    return _add_global("_backward_pre_hooks", hook)


class HookMethods:
    """The part of Module that registers hooks."""

    def _hook_table(self, table):
        d = self.__dict__
        d["_hooked"] = True
        if table not in d:
            d[table] = OrderedDict()
        return d[table]

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Call ``hook(module, args)`` before ``forward``; what it returns (if not None) replaces the arguments."""
        return _add(self._hook_table("_forward_pre_hooks"), hook, prepend=prepend, with_kwargs=with_kwargs)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Call ``hook(module, args, output)`` after ``forward``; what it returns (if not None) replaces the output."""
        return _add(self._hook_table("_forward_hooks"), hook, prepend=prepend, with_kwargs=with_kwargs, always_call=always_call)

    def register_full_backward_hook(self, hook, prepend=False):
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the module's inputs are known.

        What it returns (if not None) replaces ``grad_input``.
        """
        return _add(self._hook_table("_backward_hooks"), hook, prepend=prepend)

    register_backward_hook = register_full_backward_hook

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Call ``hook(module, grad_output)`` before gradients pass through; what it returns replaces ``grad_output``."""
        return _add(self._hook_table("_backward_pre_hooks"), hook, prepend=prepend)


def _hooks(module, table):
    return (*GLOBAL_HOOKS.get(table, {}).values(), *module.__dict__.get(table, {}).values())


def call_heeding(module, args, kwargs):
    """``module(*args, **kwargs)`` where it has hooks or somebody watches."""
    hooked = module._hooked or len(GLOBAL_HOOKS) > ("watch" in GLOBAL_HOOKS)
    now = modes.now
    if now.watch is None:
        return call_with_hooks(module, args, kwargs) if hooked else module.forward(*args, **kwargs)
    before = enter(now, module)
    try:
        return call_with_hooks(module, args, kwargs) if hooked else module.forward(*args, **kwargs)
    finally:
        leave(now, before)


def call_with_hooks(module, args, kwargs):
    """``module(*args, **kwargs)`` with every hook that is registered."""
    called = set()
    try:
        return _call(module, args, kwargs, called)
    except Exception:
        for entry in _hooks(module, "_forward_hooks"):
            hook, with_kwargs, always_call = entry
            if always_call and id(entry) not in called:
                hook(module, args, kwargs, None) if with_kwargs else hook(module, args, None)
        raise


def _call(module, args, kwargs, called):
    for hook, with_kwargs, _ in _hooks(module, "_forward_pre_hooks"):
        result = hook(module, args, kwargs) if with_kwargs else hook(module, args)
        if result is None:
            continue
        if with_kwargs:
            if not (isinstance(result, tuple) and len(result) == 2):
                raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}.")
            args, kwargs = result
        else:
            args = result if isinstance(result, tuple) else (result,)
    crossing = None
    before, after = _hooks(module, "_backward_pre_hooks"), _hooks(module, "_backward_hooks")
    if before or after:
        crossing = _Crossing(module, [h[0] for h in before], [h[0] for h in after])
        args = crossing.enter(args)
    output = module.forward(*args, **kwargs)
    for entry in _hooks(module, "_forward_hooks"):
        hook, with_kwargs, _ = entry
        called.add(id(entry))
        result = hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)
        output = output if result is None else result
    return output if crossing is None else crossing.leave(output)


class _Crossing:
    """Puts a boundary node before and one after a module, so that its backward hooks see all gradients at once."""

    def __init__(self, module, before, after):
        self.module, self.before, self.after = module, before, after
        self.grad_output = None
        self.inputs = False
        self.places, self.count = (), 0

    def enter(self, args):
        """Pass the tensors among the arguments through a boundary node."""
        passed, node, self.places = _through(args)
        self.count = len(args)
        if node is not None and self.after:
            self.inputs = True
            node.register_hook(self._inputs_known)
        return passed

    def leave(self, output):
        """Pass the tensors of the output through a boundary node."""
        alone = isinstance(output, Tensor)
        if not alone and not isinstance(output, tuple | list):
            return output
        passed, node, places = _through((output,) if alone else tuple(output))
        if node is not None:
            count = 1 if alone else len(output)
            node.register_prehook(lambda grads: self._outputs_known(grads, places, count))
        return passed[0] if alone else type(output)(passed)

    def _outputs_known(self, grads, places, count):
        full = _spread(grads, places, count)
        for hook in self.before:
            result = hook(self.module, full)
            if result is not None:
                full = result if isinstance(result, tuple) else (result,)
        self.grad_output = full
        if not self.inputs:
            for hook in self.after:
                hook(self.module, (None,) * max(self.count, 1), full)
        return tuple(full[i] for i in places)

    def _inputs_known(self, grad_inputs, grad_outputs):
        full = _spread(grad_inputs, self.places, self.count)
        for hook in self.after:
            result = hook(self.module, full, self.grad_output)
            if result is not None:
                full = result if isinstance(result, tuple) else (result,)
        return tuple(full[i] for i in self.places)


def _spread(values, places, count):
    out = [None] * count
    for place, value in zip(places, values, strict=True):
        out[place] = value
    return tuple(out)


def _through(values):
    """The values with those that require gradients passed through one node: (values, node, their places)."""
    places = tuple(i for i, v in enumerate(values) if isinstance(v, Tensor) and v._node is not None)
    if not places:
        return values, None, ()
    passed = boundary([values[i] for i in places])
    out = list(values)
    for place, t in zip(places, passed, strict=True):
        out[place] = t
    return tuple(out), passed[0].grad_fn, places
