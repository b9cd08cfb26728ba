"""Rows and their samples as test cases, and how a row is called with them. A new row is tested without touching tests."""

import sys

import numpy as np

import autograd_lab  # noqa: F401 (registers the rows)
from autograd_lab.autograd import grad
from autograd_lab.core.op import ROWS
from autograd_lab.core.tape import LEAF
from autograd_lab.core.tensor import Tensor, wrap

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class Case:
    """One row with one of its samples."""

    def __init__(self, op, place, sample):
        self.op, self.sample = op, sample
        note = sample.note.replace(" ", "_") if sample.note else ""
        self.id = f"{op.name}-{place}" + (f"-{note}" if note else "")

    @property
    def wrt(self):
        """Places of the operands that are differentiated."""
        if self.sample.wrt is not None:
            return tuple(self.sample.wrt)
        return tuple(i for i, o in enumerate(self.sample.operands) if is_floating(o))

    def tensors(self, dtype=DOUBLE, wrt=None):
        """The sample's operands as fresh leaves of ``dtype``; those in ``wrt`` (default: all it names) require grad."""
        wrt = self.wrt if wrt is None else wrt
        return [operand(o, dtype, i in wrt) for i, o in enumerate(self.sample.operands)]

    def call(self, operands):
        """The row applied to operands; always a tuple of outputs."""
        out = apply(self.op, operands, self.sample.params)
        return out if isinstance(out, tuple) else (out,)

    def gradients(self, operands, create_graph=False, seed=0, wrt=None):
        """Gradients of the row's outputs for random cotangents, as arrays by operand (None where there is none)."""
        inputs = [operands[i] for i in (self.wrt if wrt is None else wrt)]
        outputs = [o for o in self.call(operands) if o.requires_grad]
        if not outputs or not inputs:
            return []
        seeds = [wrap(cotangent(o, seed + i)) for i, o in enumerate(outputs)]
        found = grad(outputs, inputs, seeds, create_graph=create_graph, allow_unused=True)
        return [None if g is None else g._d for g in found]


def is_floating(value):
    """Whether a sample's operand is an array (or NumPy scalar) of floating or complex numbers."""
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc"


def operand(value, dtype, requires_grad):
    """A sample's operand as a Tensor of ``dtype``; Python numbers, None and other parameters stay."""
    if not isinstance(value, np.ndarray | np.generic):
        return value
    array = np.array(value)
    if array.dtype.kind == "f":
        array = array.astype(dtype)
    elif array.dtype.kind == "c":
        array = array.astype(np.complex64 if dtype == SINGLE else np.complex128)
    t = wrap(array)
    if requires_grad:
        t._node = LEAF
    return t


def apply(op, operands, params):
    """The row's callable on operands, which go as one list to rows of many."""
    return op.call(list(operands), *params) if op.arity == "many" else op.call(*operands, *params)


def cotangent(output, seed=0):
    """A random array in the shape and dtype of an output."""
    d = output._d if isinstance(output, Tensor) else output
    generator = np.random.default_rng(1000 + seed)
    values = generator.uniform(0.5, 1.5, d.shape) * generator.choice([-1.0, 1.0], d.shape)
    if d.dtype.kind == "c":
        values = values + 1j * generator.uniform(-1, 1, d.shape)
    return np.asarray(values).astype(d.dtype)


def cases(keep=lambda op, sample: True):
    """Cases for ``pytest.mark.parametrize``: every row with each of its samples that ``keep`` wants."""
    return [
        Case(op, place, sample)
        for op in ROWS.values()
        if op.samples is not None
        for place, sample in enumerate(op.samples())
        if keep(op, sample)
    ]


def case_id(case):
    """The test id of a case."""
    return case.id


def same_bits(a, b):
    """Whether two arrays agree in shape, dtype and every bit; any NaN equals any NaN."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind in "fc":
        a, b = np.where(a != a, np.array(np.nan, a.dtype), a), np.where(b != b, np.array(np.nan, b.dtype), b)
    return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def set_thresholds(monkeypatch, thresholds):
    """Set sizes from which arrays take another path (LARGE, HUGE, BLOCK) in every module that knows them."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("autograd_lab."):
            for name, value in thresholds.items():
                if name in vars(module):
                    monkeypatch.setattr(module, name, value)
