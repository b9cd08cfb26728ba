"""The modules, by family."""

# ruff: noqa: I001 (several imports to a line)

from ..module import Module
from . import (
    activation, adaptive, attention, container, conv, ctc, dropout, fractional, lazy, linear, linear_cross_entropy, loss,
    normalization, padding, pooling, rnn, shape, sparse, transformer as transformers, vision,
)  # fmt: skip

_FAMILIES = (
    activation, adaptive, attention, container, conv, ctc, dropout, fractional, lazy, linear, linear_cross_entropy, loss,
    normalization, padding, pooling, rnn, shape, sparse, transformers, vision,
)  # fmt: skip
__all__ = sorted(
    name
    for family in _FAMILIES
    for name, value in vars(family).items()
    if isinstance(value, type) and issubclass(value, Module) and value.__module__ == family.__name__ and name[0] != "_"
    and name != "NonDynamicallyQuantizableLinear"
)
globals().update({name: getattr(family, name) for family in _FAMILIES for name in __all__ if hasattr(family, name)})
