"""Bad input raises PyTorch's error types with helpful text; every row is complete."""

import inspect

import numpy as np
import pytest

from autograd_lab.autograd.formula import formula
from autograd_lab.core.op import ROWS, ErrorSample, Sample
from autograd_lab.core.public import METHODS, NAMESPACES
from tests.table.cases import DOUBLE, apply, operand

ALL = pytest.mark.parametrize("op", ROWS.values(), ids=lambda op: op.name)
ERRORS = [(op, sample) for op in ROWS.values() if op.errors is not None for sample in op.errors()]


@pytest.mark.parametrize("requires_grad", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize("op, sample", ERRORS, ids=[f"{op.name}-{sample.match[:20]}" for op, sample in ERRORS])
def test_bad_input_is_refused(op, sample, requires_grad):
    assert isinstance(sample, ErrorSample)
    operands = [
        operand(o, DOUBLE, requires_grad and isinstance(o, np.ndarray) and o.dtype.kind == "f") for o in sample.operands
    ]
    with pytest.raises(sample.error, match=sample.match):
        apply(op, operands, sample.params)


@ALL
def test_row_has_samples_and_a_reference(op):
    assert op.ref is not None, "give the row a ref: a dotted NumPy or SciPy name, or a function"
    assert op.samples is not None and (samples := list(op.samples()))
    assert all(type(sample) is Sample for sample in samples)
    if op.differentiable and op.kind not in ("random", "opaque"):
        assert any(sample.order > 0 for sample in samples), "give the row a sample whose gradient is checked"


@ALL
def test_row_has_a_formula(op):
    if not op.differentiable:
        return
    if op.kind != "elementwise":
        assert op.formula and op.formula["forward"], 'give the row formula={"forward": …, "rules": […]}'
        wanted = {1, op.arity} if op.joint is not None else {len(op.rules)}
        assert len(op.formula["rules"]) in wanted, f"one text for each of {wanted} rules"
        for rule, text in zip(op.rules, op.formula["rules"], strict=False):
            assert (rule is None) == (text == ""), "an empty text where there is no rule, and only there"
    found = formula(op)
    assert found.forward_text() and found.forward_mathml()


@ALL
def test_node_name_is_like_pytorchs(op):
    plain = op.grad_name == "CopySlices" or op.grad_name.endswith("Backward0")
    assert op.grad_name.isidentifier() and plain and op.grad_name[0].isupper(), op.grad_name


def test_what_is_public_has_a_docstring_and_no_private_name():
    offered = {f"{space}.{name}": f for space, names in NAMESPACES.items() for name, f in names.items()}
    offered |= {f"Tensor.{name}": f for name, f in METHODS.items() if not name.startswith("__")}
    functions = {name: f for name, f in offered.items() if inspect.isroutine(f)}
    assert len(functions) > len(ROWS) / 2
    assert not [name for name, f in functions.items() if not (f.__doc__ or "").strip()]
    assert not [name for name in functions if name.rpartition(".")[2].startswith("_")]


@ALL
def test_saves_and_plans_fit_the_rules(op):
    if op.arity == "many":
        return
    assert op.joint is not None or len(op.rules) in (0, op.arity)
    assert len(op.saves) in (1, len(op.rules)) and len(op.plans) == len(op.saves)
