"""What a rule reads: it is run with one of its operands hidden, and either misses it or does not.

``saves`` says for each rule whose values it reads and whose shape. A rule handed ``None`` for an operand, or an ``Aval``
(shape and dtype without values) for one whose values it says to read, must fail or give another result; handed ``None``
for everything it does not mention, it must work. Rows called inside the rule are probed with it, as they get what it gets.
"""

import numpy as np

from autograd_lab.core.tape import Aval
from tests.table.cases import apply, cotangent, same_bits

NOTHING, SHAPE, VALUES = 0, 1, 2


class Call:
    """A row applied to raw arrays in float64, and its rules with operands hidden at will."""

    def __init__(self, case):
        self.op, self.params = case.op, case.sample.params
        self.operands = [np.array(o) if isinstance(o, np.ndarray | np.generic) else o for o in case.sample.operands]
        y = apply(self.op, self.operands, self.params)
        self.y = y
        parts = y if isinstance(y, tuple) else (y,)
        seeds = tuple(cotangent(p, i) if p.dtype.kind in "fc" else None for i, p in enumerate(parts))
        self.g = seeds if isinstance(y, tuple) else seeds[0]

    def run(self, rule, y, operands):
        """One rule's cotangents as a tuple; ``rule`` is a place, or None for the joint rule."""
        if rule is None:
            needs = tuple(isinstance(o, np.ndarray) and o.dtype.kind in "fc" for o in self.operands)
            return tuple(self.op.joint(needs, self.g, y, *operands, *self.params))
        return (self.op.rules[rule](self.g, y, *operands, *self.params),)

    def declared(self, rule):
        """What ``saves`` says this rule reads: {"y" or place: SHAPE or VALUES}."""
        y, wanted = self.op.plans[rule or 0]
        found = {place: (NOTHING, VALUES, SHAPE)[want] for place, want in enumerate(wanted) if want}
        return {**({"y": VALUES} if y else {}), **found}

    def hidden(self, declared, poison=None, how=None):
        """(y, operands) as the engine hands them to a rule that declared this; ``poison`` is hidden further."""
        operands = []
        for place, o in enumerate(self.operands):
            level = declared.get(place, NOTHING)
            if place == poison:
                operands.append(how(o))
            elif level == NOTHING:
                operands.append(None)
            else:
                operands.append(aval(o) if level == SHAPE and hasattr(o, "shape") else o)
        return (how(self.y) if poison == "y" else self.y if "y" in declared else None), operands


def aval(value):
    """Shape and dtype without values."""
    if isinstance(value, tuple):
        return tuple(map(aval, value))
    return Aval(value.shape, value.dtype) if hasattr(value, "shape") else None


def gone(value):
    """Nothing at all."""
    return None


def rules_of(op):
    """Places of the row's rules; (None,) for a joint rule."""
    return (None,) if op.joint is not None else tuple(i for i, r in enumerate(op.rules) if r is not None)


def misses(call, rule, what):
    """Whether the rule notices that a declared operand is hidden: it fails, or its result changes."""
    declared = call.declared(rule)
    whole = call.run(rule, *call.hidden(declared))
    how = aval if declared[what] == VALUES else gone
    try:
        without = call.run(rule, *call.hidden(declared, what, how))
        return not all((a is None and b is None) or same_bits(a, b) for a, b in zip(whole, without, strict=True))
    except Exception:
        return True
