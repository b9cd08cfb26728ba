"""The tape: nodes are plain data (op, edges, saved values, parameters), never closures.

An edge points to where an operand came from: a ``Node``, a ``Slot`` of a node with several outputs, the leaf
``Tensor`` itself, or None for a constant.
"""

import itertools
import linecache
import os
import sys
from collections import namedtuple

from .modes import modes, set_default_watch

next_seq = itertools.count(1).__next__

FREED = "freed"
"""Stands in ``Node.saved`` after backward let go of the saved values."""

Line = namedtuple("Line", "file line text function")
Line.__doc__ = "A line of the learner's program: file name, number, its text, the function it stands in."


class Aval:
    """Shape and dtype of an operand whose values the rule does not read."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

    @property
    def ndim(self):
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self):
        """Number of elements."""
        n = 1
        for s in self.shape:
            n *= s
        return n


class Leaf:
    """The class of the ``LEAF`` marker in ``Tensor._node`` of a leaf that requires grad."""

    __slots__ = ()

    def __repr__(self):
        return "LEAF"


LEAF = Leaf()


class Node:
    """One recorded application of an op.

    op        the row
    edges     one per operand: Node, Slot, leaf Tensor or None
    saved     one per operand: Tensor (its values are read by a rule), Aval (only its shape is), number, array, or None
    versions  versions of the saved tensors' storages at recording time, or None when all were 0 and unshared
    y         the output array if a rule reads it; y_storage  its Storage if someone aliased or changed it since
    params    the op's parameters that are not operands
    seq       increasing with time: the order of the tape
    shape, dtype   of the output (tuples of them for several outputs)
    where     (code, last instruction) of the learner's line, or None
    extra     a dict for hooks, metadata, retained gradients, the module's Scope; None normally
    """

    __slots__ = (
        "op", "edges", "saved", "versions", "y", "y_storage", "params", "seq", "shape", "dtype", "where", "extra", "__weakref__",
    )  # fmt: skip

    def name(self):
        """PyTorch's name of the node: ``MulBackward0``."""
        return self.op.grad_name

    @property
    def next_functions(self):
        """Where the gradients go: pairs of (node or AccumulateGrad or None, output number)."""
        out = []
        for edge in self.edges:
            if edge is None:
                out.append((None, 0))
            elif type(edge) is Node:
                out.append((edge, 0))
            elif type(edge) is Slot:
                out.append((edge.node, edge.nr))
            else:
                out.append((AccumulateGrad(edge), 0))
        return tuple(out)

    @property
    def metadata(self):
        """A dict for whatever one wants to attach to this node.

        ``metadata["module"]`` is the path of the module that made it, where somebody watched.
        """
        notes = self.notes()
        if "metadata" not in notes:
            scope = notes.get("scope")
            notes["metadata"] = {} if scope is None else {"module": scope.path}
        return notes["metadata"]

    def notes(self):
        """The node's extra dict, made on first need."""
        if self.extra is None:
            self.extra = {}
        return self.extra

    def line(self):
        """The learner's line that made this node, or None if lines were not recorded."""
        return line_of(self.where)

    def register_hook(self, hook):
        """Call ``hook(grad_inputs, grad_outputs)`` after this node's rule; it may return new grad_inputs."""
        return add_hook(self.notes().setdefault("hooks", {}), hook)

    def register_prehook(self, hook):
        """Call ``hook(grad_outputs)`` before this node's rule; it may return new grad_outputs."""
        return add_hook(self.notes().setdefault("prehooks", {}), hook)

    def __repr__(self):
        return f"<{self.op.grad_name} object at seq {self.seq}>"


class Slot:
    """One output of a node that has several."""

    __slots__ = ("node", "nr", "__weakref__")

    def __init__(self, node, nr):
        self.node, self.nr = node, nr


class AccumulateGrad:
    """How a leaf appears among ``next_functions``: it adds what arrives to ``variable.grad``."""

    __slots__ = ("variable",)

    def __init__(self, variable):
        self.variable = variable

    def name(self):
        """``AccumulateGrad``, as PyTorch calls it."""
        return "AccumulateGrad"

    next_functions = ()

    def __eq__(self, other):
        return isinstance(other, AccumulateGrad) and other.variable is self.variable

    def __hash__(self):
        return id(self.variable)

    def __repr__(self):
        return "<AccumulateGrad object>"


class RemovableHandle:
    """Returned by ``register_hook``; ``remove()`` takes the hook away, also at the end of a ``with`` block."""

    _ids = itertools.count()

    def __init__(self, hooks):
        self.id = next(self._ids)
        self._hooks = hooks

    def remove(self):
        """Take the hook away; harmless when repeated."""
        self._hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.remove()


class LeafHooks:
    """Hooks of a leaf: on its complete gradient, and after ``.grad`` was written."""

    __slots__ = ("tensor", "post")

    def __init__(self):
        self.tensor, self.post = {}, {}


def add_hook(hooks, hook):
    """Put ``hook`` into a dict of hooks and return its handle."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


# ----- the learner's line -----

_PACKAGE = __name__.partition(".")[0]
_PREFIX = _PACKAGE + "."


def _is_library(frame):
    name = frame.f_globals.get("__name__", "")
    return name.startswith(_PREFIX) or name == _PACKAGE


def caller(depth=1):
    """The nearest frame outside the library, or None. It is not for keeping: a frame keeps its locals alive."""
    frame = sys._getframe(depth)
    while frame is not None and _is_library(frame):
        frame = frame.f_back
    return frame


def note_line(node, operands, output, depth=1):
    """The ``watch`` function that keeps the learner's line and the module at work (0.2 µs)."""
    frame = sys._getframe(depth + 1)
    while frame is not None and _is_library(frame):
        frame = frame.f_back
    if frame is not None:
        node.where = (frame.f_code, frame.f_lasti)
    scope = modes.now.scope
    if scope is not None:
        node.extra = {"scope": scope}


def record_lines(on=True):
    """Keep the learner's line with every recorded node (on in IPython, off in scripts), process-wide."""
    set_default_watch(note_line if on else None)


def line_of(where):
    """Turn a kept (code, instruction) into a Line, or None."""
    if where is None:
        return None
    code, instruction = where
    number = code.co_firstlineno
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            number = line
            break
    file = code.co_filename
    return Line(file, number, linecache.getline(file, number).strip(), code.co_name)


_cell_of = None


def name_cells(cell_of):
    """Let messages say ``cell [7]`` for the file a notebook cell stands for: ``cell_of(file)`` is its number or None."""
    global _cell_of
    _cell_of = cell_of


def where_text(where):
    """``file.py, line 12: y = x * w`` (or ``cell [7], line 2: …``) for a message, or an empty string."""
    line = line_of(where)
    if line is None:
        return ""
    cell = _cell_of(line.file) if _cell_of is not None else None
    name = os.path.basename(line.file) if cell is None else f"cell [{cell}]"
    return f"{name}, line {line.line}" + (f": {line.text}" if line.text else "")
