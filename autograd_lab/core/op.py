"""The op row: everything about an op in one record, and the registry of all rows.

A row is declared once with ``op(...)``. What comes back is the row's callable, specialised at import for speed; it
reads arrays (raw), Tensors (recorded) and symbols (formulas) alike, so a rule written with it serves plain backward,
``create_graph=True`` and the formula panel.
"""

from . import specialise
from .public import publish

ROWS: dict = {}
"""Every row by name."""


class Op:
    """One row.

    name, symbol   PyTorch's name; the sign drawn on the graph
    kind           elementwise, reduction, view, structure, matmul, random, opaque (how it is drawn, fused, shaped)
    forward        a NumPy function name, or ``forward(xp, *operands, *params)`` with only ``xp.*`` calls and operators
    rules          one vjp rule per operand, ``rule(g, y, *operands, *params)``, or None where there is no derivative
    joint          instead of rules: ``joint(needs, g, y, *operands, *params)`` -> one cotangent (or None) per operand
    saves          per rule, which of ``y`` and the operands it reads; ``x.shape`` where only the shape is read;
                   ``operands`` where a row of many operands reads their values
    dtypes         how operands are cast: same, arith, float, compare, match, free, tail (see bind.py)
    holomorphic    for complex operands the engine conjugates what was saved and the rule stays plain maths
    outputs        1, or "many" when forward returns a tuple; ``nondiff`` numbers the outputs without derivative
    samples, errors  functions that yield Sample and ErrorSample for the table test
    ref            the NumPy or SciPy reference, a dotted name or a function, for the table test
    formula        {"forward": text, "rules": [text, …]} where the symbol reading cannot derive it
    doc            the callable's docstring; derived where the author gives none
    """

    __slots__ = (
        "name", "symbol", "kind", "forward", "rules", "joint", "saves", "dtypes", "holomorphic", "outputs", "nondiff",
        "samples", "errors", "ref", "formula", "grad_name", "arity", "plans", "call", "doc", "upcast", "simple",
    )  # fmt: skip

    def __repr__(self):
        return f"<op {self.name}>"

    @property
    def differentiable(self):
        """Whether the row has any derivative rule."""
        return self.joint is not None or any(rule is not None for rule in self.rules)


class Sample:
    """One input of the table test: operands (arrays or numbers), parameters, how far gradients are checked.

    order      0: forward only, 1: first, 2: second derivatives too
    wrt        which operands are differentiated (None: all floating arrays)
    note       words for the test's id
    """

    __slots__ = ("operands", "params", "order", "wrt", "note")

    def __init__(self, *operands, params=(), order=2, wrt=None, note=""):
        self.operands, self.params, self.order, self.wrt, self.note = operands, tuple(params), order, wrt, note


class ErrorSample:
    """Bad input of the table test: operands, parameters, the error's type and a pattern its text must match."""

    __slots__ = ("operands", "params", "error", "match")

    def __init__(self, *operands, params=(), error=RuntimeError, match=""):
        self.operands, self.params, self.error, self.match = operands, tuple(params), error, match


def _camel(name):
    return "".join(part[:1].upper() + part[1:] for part in name.strip("_").split("_"))


def _doc(row):
    """A docstring for a row whose author wrote none: what it computes, by its formula, sign or name."""
    written = row.formula["forward"] if row.formula else None
    if row.kind != "elementwise":
        text = f"{written or row.name}."
    elif row.arity == 1:
        text = f"``{written or row.name}`` of each element."
    else:
        text = f"``{written or f'input {row.symbol} other'}``, element by element; shapes broadcast and dtypes promote."
    if isinstance(row.forward, str):
        text += f" Computed by ``numpy.{row.forward}``."
    return text


def _plan(op, saves):
    """For one rule's ``saves`` text: (save y?, per operand 0 nothing, 1 its values, 2 its shape)."""
    rule = op.joint or next((r for r in op.rules if r is not None), None)
    skip = 3 if op.joint else 2
    names = rule.__code__.co_varnames[skip : skip + op.arity] if rule is not None else ()
    wanted, y = [0] * op.arity, False
    for word in saves.split():
        if word == "y":
            y = True
            continue
        name, _, shape = word.partition(".")
        place = names.index(name)
        wanted[place] = max(wanted[place], 1) if not shape else (wanted[place] or 2)
    return y, tuple(wanted)


def op(
    name,
    forward,
    *rules,
    joint=None,
    saves="",
    kind="elementwise",
    arity=None,
    dtypes="same",
    symbol=None,
    formula=None,
    samples=None,
    errors=None,
    ref=None,
    outputs=1,
    nondiff=(),
    grad_name=None,
    holomorphic=True,
    doc="",
    public=None,
    aliases=(),
    namespace="torch",
):
    """Declare a row and return its callable, ``call(*operands, *params)`` (positional only).

    ``arity`` is the number of operands (default: the number of rules); "many" takes one list of operands.
    ``saves`` is one string for all rules or a tuple with one per rule.
    ``public`` (default: elementwise rows) offers the callable as function, method and in-place twin, ``aliases`` too.
    """
    row = Op()
    row.name, row.kind, row.forward, row.rules, row.joint = name, kind, forward, rules, joint
    row.symbol = symbol or name
    row.dtypes, row.holomorphic, row.outputs, row.nondiff = dtypes, holomorphic, outputs, nondiff
    row.samples, row.errors, row.ref, row.formula = samples, errors, ref, formula
    # PyTorch's one name without the suffix is CopySlices.
    row.grad_name = grad_name if grad_name == "CopySlices" else (grad_name or _camel(name)) + "Backward0"
    row.arity = (len(rules) or 1) if arity is None else arity
    row.doc = doc or _doc(row)
    row.simple = joint is None and outputs == 1 and kind != "function"
    row.upcast = kind not in ("view", "structure", "random")
    row.saves = saves if isinstance(saves, tuple) else (saves,) * max(len(rules), 1)
    if row.arity == "many":
        row.plans = None
    else:
        row.plans = tuple(_plan(row, text) for text in row.saves)
    if name in ROWS:
        raise ValueError(f"a row named {name!r} exists already")
    ROWS[name] = row
    row.call = specialise.callable_for(row)
    row.call.__name__ = row.call.__qualname__ = name
    row.call.op = row
    row.call.__doc__ = row.doc
    if public if public is not None else kind == "elementwise":
        publish(row.call, (name, *aliases), True, True, namespace)
    return row.call
