"""Containers: modules that hold modules or parameters in an order or by name."""

import operator
from collections import OrderedDict
from collections.abc import Mapping

from ...core.tensor import Parameter, Tensor
from ..module import Module


class Sequential(Module):
    """Run modules one after another, each on the output of the one before.

    Args: modules, or one ordered dict of names to modules.

    Example::

        net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
        net[0]                     # the first layer
    """

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], Mapping):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input):
        """The output of the last module."""
        for module in self._modules.values():
            input = module(input)
        return input

    def _name_at(self, index):
        n = len(self._modules)
        index = operator.index(index)
        if not -n <= index < n:
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[index]

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def __setitem__(self, index, module):
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index):
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name_at(index)]
        for name in names:
            delattr(self, name)
        self._renumber()

    def _renumber(self):
        rest = list(self._modules.values())
        self.__dict__["_modules"] = {str(i): m for i, m in enumerate(rest)}

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __add__(self, other):
        return Sequential(*self, *other)

    def __iadd__(self, other):
        return self.extend(other)

    def append(self, module):
        """Add a module at the end; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Add modules at the end; returns the container."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index, module):
        """Put a module before position ``index``; returns the container."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        items = list(self._modules.values())
        if not -len(items) <= index <= len(items):
            raise IndexError(f"Index out of range: {index}")
        items.insert(index if index >= 0 else index + len(items), module)
        self.__dict__["_modules"] = {str(i): m for i, m in enumerate(items)}
        return self

    def pop(self, key):
        """Take a module out and return it."""
        module = self[key]
        del self[key]
        return module


class ModuleList(Module):
    """A list of modules whose parameters the owner finds (those in a plain list it does not).

    Example: ``self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])``
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _index(self, index):
        n = len(self)
        index = operator.index(index)
        if not -n <= index < n:
            raise IndexError(f"index {index} is out of range")
        return str(index % n)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._index(index)]

    def __setitem__(self, index, module):
        setattr(self, self._index(index), module)

    def __delitem__(self, index):
        names = [str(i) for i in range(len(self))][index] if isinstance(index, slice) else [self._index(index)]
        kept = [m for name, m in self._modules.items() if name not in names]
        self.__dict__["_modules"] = {str(i): m for i, m in enumerate(kept)}

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return type(self)([*self, *other])

    def append(self, module):
        """Add a module at the end; returns the list."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Add modules at the end; returns the list."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index, module):
        """Put a module before position ``index``."""
        items = list(self)
        items.insert(index, module)
        self.__dict__["_modules"] = {str(i): m for i, m in enumerate(items)}

    def pop(self, key):
        """Take a module out and return it."""
        module = self[key]
        del self[key]
        return module

    def __repr__(self):
        from ..module import _indented

        texts = [repr(m) for m in self]
        if not texts:
            return f"{self._get_name()}()"
        lines, start = [], 0
        while start < len(texts):
            end = start
            while end + 1 < len(texts) and texts[end + 1] == texts[start]:
                end += 1
            name = str(start) if end == start else f"{start}-{end}"
            text = texts[start] if end == start else f"{end - start + 1} x {texts[start]}"
            lines.append(f"({name}): {_indented(text)}")
            start = end + 1
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules by name, in order, whose parameters the owner finds.

    Example: ``self.heads = nn.ModuleDict({"a": nn.Linear(8, 2), "b": nn.Linear(8, 3)})``
    """

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key):
        """Take a module out and return it."""
        return self._modules.pop(key)

    def keys(self):
        """The names."""
        return self._modules.keys()

    def items(self):
        """Pairs of name and module."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules):
        """Add modules from a mapping or from pairs."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                f"ModuleDict.update should be called with an iterable of key/value pairs, but got {type(modules).__name__}"
            )
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self[name] = module


class ParameterList(Module):
    """A list of parameters that the owner finds. Tensors put in become Parameters."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self):
        return self._size

    def _key(self, index):
        index = operator.index(index)
        if not -self._size <= index < self._size:
            raise IndexError(f"index {index} is out of range")
        return str(index % self._size)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(*index.indices(len(self)))])
        return getattr(self, self._key(index))

    def __setitem__(self, index, value):
        setattr(self, self._key(index), _as_parameter(value))

    def __iter__(self):
        return iter(self[i] for i in range(len(self)))

    def __iadd__(self, values):
        return self.extend(values)

    def append(self, value):
        """Add one at the end; returns the list."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Add several at the end; returns the list."""
        if isinstance(values, Tensor) or not hasattr(values, "__iter__"):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self):
        """One line for each entry."""
        return "\n".join(f"  ({i}): {_described(p)}" for i, p in enumerate(self))


class ParameterDict(Module):
    """Parameters by name that the owner finds. Tensors put in become Parameters."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, str(key))

    def __setitem__(self, key, value):
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a string (type is '{type(key).__name__}')."
            )
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, key)

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def keys(self):
        """The names."""
        return self._keys.keys()

    def items(self):
        """Pairs of name and parameter."""
        return ((k, self[k]) for k in self._keys)

    def values(self):
        """The parameters."""
        return (self[k] for k in self._keys)

    def get(self, key, default=None):
        """The parameter of that name, or ``default``."""
        return self[key] if key in self else default

    def pop(self, key):
        """Take a parameter out and return it."""
        value = self[key]
        del self[key]
        return value

    def clear(self):
        """Take all parameters out."""
        for key in list(self._keys):
            del self[key]

    def update(self, parameters):
        """Add parameters from a mapping or from pairs; those of a plain dict in the order of their names, as PyTorch does."""
        items = parameters.items() if hasattr(parameters, "items") else parameters
        ordered = isinstance(parameters, OrderedDict | ParameterDict) or not isinstance(parameters, Mapping)
        for key, value in items if ordered else sorted(items, key=operator.itemgetter(0)):
            self[key] = value

    def extra_repr(self):
        """One line for each entry."""
        return "\n".join(f"  ({k}): {_described(p, named=True)}" for k, p in self.items())


def _as_parameter(value):
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _described(p, named=False):
    if not isinstance(p, Tensor):
        return f"Object of type: {type(p).__name__}"
    kind = "Parameter" if isinstance(p, Parameter) else "Tensor"
    return f"{kind} containing: [{p.type() if named else p.dtype} of size {'x'.join(map(str, p._d.shape))}]"
