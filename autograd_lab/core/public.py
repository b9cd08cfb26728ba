"""The public names: which functions the package, its namespaces and Tensor offer.

Rows and functions register themselves where they are written; ``methods.py`` binds what stands here to Tensor and the
package's ``__init__`` publishes it, so that a new op touches one place.
"""

NAMESPACES: dict = {}
"""Namespace ("torch", "nn.functional", "linalg", …) -> name -> function."""
METHODS: dict = {}
"""Tensor method name -> function whose first argument is the tensor."""
INPLACE: dict = {}
"""Name of an in-place method (``add_``) -> the function that computes the new value."""


def public(*names, method=True, inplace=False, namespace="torch"):
    """Decorator: offer a function under ``names``, as a method and with an in-place twin if said so.

    Without ``names`` it goes by its own, less a trailing underscore that keeps it apart from a Python name.
    ``namespace=None`` offers the method only.
    """

    def register(function):
        publish(function, names or (function.__name__.rstrip("_"),), method, inplace, namespace)
        return function

    return register


def publish(function, names, method=True, inplace=False, namespace="torch"):
    """Register ``function`` under ``names``."""
    for name in dict.fromkeys(names):
        if namespace is not None:
            for space in (namespace,) if isinstance(namespace, str) else namespace:
                NAMESPACES.setdefault(space, {})[name] = function
        if method:
            METHODS[name] = function
        if inplace:
            INPLACE[name + "_"] = function
