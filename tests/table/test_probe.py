"""The probe itself: it sees a row that saves too much, and a rule that reads what it did not declare."""

import copy

import pytest

from autograd_lab.core.op import ROWS, _plan
from tests.table.cases import Case
from tests.table.probe import SHAPE, VALUES, Call, misses


def call_of(name, saves=None, sample=0):
    """A row's first sample; with ``saves``, of a copy of the row that declares something else."""
    op = ROWS[name]
    if saves is not None:
        op = copy.copy(op)
        op.saves = (saves,) * len(op.rules)
        op.plans = tuple(_plan(op, text) for text in op.saves)
    return Call(Case(op, sample, list(op.samples())[sample]))


@pytest.mark.parametrize(
    "name, saves, rule, surplus",
    [("mul", "a b", 0, 0), ("tanh", "y x", 0, 0), ("exp", "y x.shape", 0, 0), ("sum", "x", 0, 0), ("add", "y", 0, "y"),
     ("transpose", "x.shape", 0, 0)],
)  # fmt: skip
def test_a_row_that_saves_too_much_is_caught(name, saves, rule, surplus):
    assert not misses(call_of(name, saves), rule, surplus)


@pytest.mark.parametrize("name, saves, rule", [("mul", "", 0), ("tanh", "x", 0), ("sum", "", 0), ("sin", "x.shape", 0)])
def test_a_rule_that_reads_more_than_declared_is_caught(name, saves, rule):
    call = call_of(name, saves)
    with pytest.raises((TypeError, AttributeError)):
        call.run(rule, *call.hidden(call.declared(rule)))


def test_what_rows_declare_now():
    assert call_of("tanh").declared(0) == {"y": VALUES}
    assert call_of("matmul").declared(0) == {0: SHAPE, 1: VALUES}
    assert misses(call_of("tanh"), 0, "y") and misses(call_of("matmul"), 0, 0) and misses(call_of("matmul"), 0, 1)
