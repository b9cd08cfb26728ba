"""``Module``: a tree of layers that knows its parameters, buffers and children.

The class is put together from three files: this one (the tree, moving, modes, calling), ``module_state.py``
(``state_dict`` and loading) and ``module_hooks.py`` (forward and backward hooks).
"""

import warnings

from ..backend import dtype as dt
from ..backend.device import device as Device
from ..core.tensor import Parameter, Tensor
from ..ops.shape import cast_to
from .module_hooks import GLOBAL_HOOKS, HookMethods, call_heeding
from .module_state import StateMethods
from .parameter import Buffer

_set = object.__setattr__


class Module(HookMethods, StateMethods):
    """Base of all layers and models.

    A subclass calls ``super().__init__()`` first, assigns its Parameters and child Modules as attributes, and
    defines ``forward``. Calling the module runs its hooks and ``forward``.

    Example::

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 2)

            def forward(self, x):
                return self.fc(x).tanh()
    """

    training: bool
    dump_patches = False
    _version = 1
    _hooked = False
    call_super_init = False

    def __init__(self, *args, **kwargs):
        if not self.call_super_init and (args or kwargs):
            word = f"keyword argument '{next(iter(kwargs))}'" if kwargs else f"{len(args)} positional arguments"
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected {word}")
        _set(self, "training", True)
        _set(self, "_parameters", {})
        _set(self, "_buffers", {})
        _set(self, "_non_persistent_buffers_set", set())
        _set(self, "_modules", {})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *input):
        """Compute the output. Every subclass defines it.

        Raises: NotImplementedError where a subclass does not.
        """
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args, **kwargs):
        if self._hooked or GLOBAL_HOOKS:
            return call_heeding(self, args, kwargs)
        return self.forward(*args, **kwargs)

    # ----- attributes -----

    def __getattr__(self, name):
        d = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            entries = d.get(table)
            if entries is not None and name in entries:
                return entries[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        d = self.__dict__
        if isinstance(value, Parameter):
            self._need_init("parameters")
            self._forget(name, "_buffers", "_modules")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            self._need_init("module")
            self._forget(name, "_parameters", "_buffers")
            d["_modules"][name] = value
        elif isinstance(value, Buffer):
            self._need_init("buffers")
            self._forget(name, "_parameters", "_modules")
            self.register_buffer(name, value, getattr(value, "persistent", True))
        elif "_modules" in d and (name in d["_parameters"] or name in d["_modules"] or name in d["_buffers"]):
            self._replace(name, value)
        else:
            if type(value) in _PLAIN_CONTAINERS:
                _warn_of_hidden_modules(self, name, value)
            _set(self, name, value)

    def _need_init(self, what):
        if "_modules" not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call; call super().__init__() first")

    def _forget(self, name, *tables):
        d = self.__dict__
        d.pop(name, None)
        for table in tables:
            d[table].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _replace(self, name, value):
        d = self.__dict__
        if name in d["_parameters"]:
            if value is not None:
                raise TypeError(f"cannot assign '{_type_name(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            self.register_parameter(name, None)
        elif name in d["_modules"]:
            if value is not None:
                raise TypeError(f"cannot assign '{_type_name(value)}' as child module '{name}' (torch.nn.Module or None expected)")
            d["_modules"][name] = None
        else:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{_type_name(value)}' as buffer '{name}' (torch.Tensor or None expected)")
            d["_buffers"][name] = value

    def __delattr__(self, name):
        for table in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[:1].isdigit())

    # ----- registering -----

    def register_parameter(self, name, param):
        """Add a Parameter (or None) under ``name``. Raises: TypeError for other tensors, KeyError for bad names."""
        self._need_init("parameter")
        self._check_name(name, "parameter", self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                "To express parameters in terms of others, compute the value in the forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that is saved (if ``persistent``) and moved with the module but not trained."""
        self._need_init("buffer")
        self._check_name(name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Add a child Module (or None) under ``name``."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._need_init("module")
        self._check_name(name, "module", self._modules)
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, name, what, table):
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in table:
            raise KeyError(f"attribute '{name}' already exists")

    # ----- walking the tree -----

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Yield (dotted name, module) of this module and all below it, each module once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self):
        """Yield this module and all below it."""
        for _, module in self.named_modules():
            yield module

    def named_children(self):
        """Yield (name, module) of the direct children."""
        seen = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self):
        """Yield the direct children."""
        for _, child in self.named_children():
            yield child

    def _named_members(self, table, prefix, recurse, remove_duplicate):
        seen = set()
        for path, module in self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]:
            for name, value in getattr(module, table).items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield f"{path}.{name}" if path else name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """Yield (dotted name, Parameter), of children too if ``recurse``."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """Yield the Parameters: what an optimiser trains."""
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Yield (dotted name, buffer), of children too if ``recurse``."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """Yield the buffers."""
        for _, b in self.named_buffers(recurse=recurse):
            yield b

    def get_submodule(self, target):
        """The module at a dotted path. Raises: AttributeError where there is none."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def _get_member(self, target, kind, what):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        table = module._buffers if what == "buffer" else module._parameters
        if name not in table:
            raise AttributeError(f"`{name}` is not {kind}")
        return table[name]

    def get_parameter(self, target):
        """The Parameter at a dotted path."""
        return self._get_member(target, "an nn.Parameter", "parameter")

    def get_buffer(self, target):
        """The buffer at a dotted path."""
        return self._get_member(target, "a buffer", "buffer")

    def set_submodule(self, target, module, strict=False):
        """Put ``module`` at a dotted path in place of what stands there."""
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        setattr(parent, name, module)

    # ----- changing all of it -----

    def apply(self, fn):
        """Call ``fn(module)`` on every module, children first; returns the module."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _apply(self, fn, recurse=True):
        if recurse:
            for child in self.children():
                child._apply(fn)
        for p in self._parameters.values():
            if p is not None:
                p.data = fn(p.data)
                if p._grad is not None:
                    p._grad.data = fn(p._grad.data)
        for name, b in self._buffers.items():
            if b is not None:
                self._buffers[name] = fn(b)
        return self

    def to(self, *args, **kwargs):
        """Move and cast parameters and buffers in place: ``to(device)``, ``to(dtype)``, ``to(device, dtype)``, ``to(tensor)``.

        Only floating and complex ones are cast. Raises: TypeError for an integer dtype.
        """
        target, dtype = kwargs.get("device"), kwargs.get("dtype")
        for a in args:
            if isinstance(a, dt.dtype):
                dtype = a
            elif isinstance(a, Tensor):
                target, dtype = a.device, a.dtype
            elif isinstance(a, str | int | Device) and not isinstance(a, bool):
                target = a
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
        target = None if target is None else Device(target)

        def move(t):
            if target is not None and t.device != target:
                t = t.to(target)
            return cast_to(t, dtype) if dtype is not None and _is_float(t) else t

        return self._apply(move)

    def type(self, dst_type):
        """Cast all parameters and buffers to a dtype."""
        return self._apply(lambda t: cast_to(t, dst_type))

    def _cast(self, dtype):
        return self._apply(lambda t: cast_to(t, dtype) if t.is_floating_point() else t)

    def float(self):
        """Cast floating parameters and buffers to float32."""
        return self._cast(dt.float32)

    def double(self):
        """Cast floating parameters and buffers to float64."""
        return self._cast(dt.float64)

    def half(self):
        """Cast floating parameters and buffers to float16."""
        return self._cast(dt.float16)

    def bfloat16(self):
        """Cast floating parameters and buffers to bfloat16."""
        return self._cast(dt.bfloat16)

    def cpu(self):
        """Move to the CPU."""
        return self.to("cpu")

    def cuda(self, device=None):
        """Move to a CUDA device."""
        return self.to(Device("cuda") if device is None else Device("cuda", device) if isinstance(device, int) else device)

    def train(self, mode=True):
        """Set training mode (dropout on, batch statistics used) here and below; returns the module."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self):
        """Set evaluation mode here and below; returns the module."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Let all parameters require gradients, or freeze them; returns the module."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Forget all gradients, or fill them with zeros."""
        for p in self.parameters():
            if p._grad is None:
                continue
            if set_to_none:
                p._grad = None
            else:
                p._grad = p._grad.detach()
                p._grad._array()[...] = 0

    def share_memory(self):
        """Nothing to do here: workers exchange data with their parent by themselves. Returns the module."""
        return self

    # ----- printing -----

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """What stands between the brackets of the module's line when it is printed."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = []
        for name, child in self._modules.items():  # a loop takes one frame less per level than a comprehension
            lines.append(f"({name}): {_indented(repr(child))}")
        head = extra.split("\n") if extra else []
        if not lines and len(head) <= 1:
            return f"{self._get_name()}({extra})"
        return self._get_name() + "(\n  " + "\n  ".join(head + lines) + "\n)"


_PLAIN_CONTAINERS = frozenset((list, tuple, dict, set))


def _indented(text):
    first, *rest = text.split("\n")
    return "\n".join([first, *("  " + line for line in rest)])


def _is_float(t):
    return t.is_floating_point() or t.is_complex()


def _type_name(value):
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _warn_of_hidden_modules(owner, name, value):
    """Warn when modules or parameters are put into a plain list, tuple or dict, where the owner cannot find them."""
    items = list(value.values()) if type(value) is dict else list(value)
    if not any(isinstance(v, Module | Parameter) for v in items) or "_modules" not in owner.__dict__:
        return
    known = {id(m) for m in owner.modules()} | {id(p) for p in owner.parameters()}
    hidden = [v for v in items if isinstance(v, Module | Parameter) and id(v) not in known]
    if not hidden:
        return
    kind, plain = "Module" if isinstance(hidden[0], Module) else "Parameter", type(value).__name__
    cure = f"nn.{kind}{'Dict' if plain == 'dict' else 'List'}"
    warnings.warn(
        f"{type(owner).__name__}.{name} is a plain {plain} of {len(hidden)} {kind}(s): their parameters are invisible to "
        f"parameters(), to(), state_dict() and the optimizer, so they will not train. Use {cure}(...) instead",
        UserWarning, stacklevel=3,
    )  # fmt: skip
