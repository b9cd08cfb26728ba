"""Which module of a model is at work: known only while somebody watches recording."""

_new = object.__new__
_FEW = 32


class Scope:
    """One call of a module. It holds names only, so that a kept node keeps no model alive.

    label   the module's dotted path from the module that called it; of a model its class name
    kind    the module's class name
    parts   how many modules stand directly inside
    parent  the Scope of the module that called it, or None
    """

    __slots__ = ("label", "kind", "parts", "parent")

    @property
    def path(self):
        """The dotted path from the model that was called; "" for the model itself."""
        labels, scope = [], self
        while scope.parent is not None:
            labels.append(scope.label)
            scope = scope.parent
        return ".".join(reversed(labels))


def enter(now, module):
    """Make ``module`` the one at work in a thread; return what ``leave`` needs."""
    before = now.scope, now.module
    now.scope = scope = _new(Scope)
    scope.kind, scope.parts, scope.parent = type(module).__name__, len(module._modules), before[0]
    scope.label = scope.kind if before[1] is None else _label(now, before[1], module)
    now.module = module
    return before


def leave(now, before):
    """Let the module that was at work before go on."""
    now.scope, now.module = before
    if now.module is None:
        now.paths = None


def _label(now, owner, module):
    """The path of a module from the one that calls it; one that is not found there goes by its class."""
    children = owner._modules
    if len(children) <= _FEW:
        for name, child in children.items():
            if child is module:
                return name
    if now.paths is None:
        now.paths = {}
    paths = now.paths.get(id(owner))
    if paths is None:  # looked up once per call of the model
        paths = now.paths[id(owner)] = {id(m): path for path, m in owner.named_modules()}
    return paths.get(id(module)) or type(module).__name__
