"""What tensors that share memory have in common: a version number and, for differentiable views, a list of them."""

import weakref


class Storage:
    """Shared by a tensor, its views and its ``detach()`` aliases.

    version   counts in-place changes; the engine compares it with the version at the time a value was saved
    views     weak references to differentiable views, whose ``grad_fn`` moves when the base is changed in place
    last      (op name, where) of the last in-place change, for error messages
    """

    __slots__ = ("version", "views", "_purge_at", "last")

    def __init__(self):
        self.version = 0
        self.views = []
        self._purge_at = 16
        self.last = None

    def add_view(self, tensor):
        """Remember a view; dead ones are dropped now and then, so a data set sliced a million times stays small."""
        self.views.append(weakref.ref(tensor))
        if len(self.views) > self._purge_at:
            self.purge()

    def purge(self):
        """Drop the views that no longer exist."""
        self.views = [r for r in self.views if r() is not None]
        self._purge_at = 2 * len(self.views) + 16

    def live_views(self):
        """The views that still exist."""
        return [t for t in (r() for r in self.views) if t is not None]

    def bump(self, name, where):
        """Count one in-place change by op ``name`` at ``where``."""
        self.version += 1
        self.last = (name, where)


def storage_of(tensor):
    """The tensor's Storage, made on first need (a tensor nobody aliased or changed has none).

    An op that saved its own output (exp, tanh…) learns of it here, so that a later in-place change is noticed.
    """
    st = tensor._st
    if st is None:
        st = tensor._st = Storage()
        node = tensor._node
        if getattr(node, "y", None) is not None and tensor._base is None:
            node.y_storage = st
    return st
