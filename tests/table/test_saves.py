"""``saves`` equals what a probe sees: no rule reads more than it declares, none keeps what it does not read."""

import numpy as np
import pytest

from autograd_lab.core.op import ROWS
from tests.table.cases import Case, case_id, cases
from tests.table.probe import Call, misses, rules_of

PROBED = [op for op in ROWS.values() if op.differentiable and op.arity != "many" and op.samples is not None]


def saving(op, sample):
    return op in PROBED


@pytest.mark.parametrize("case", cases(saving), ids=case_id)
def test_rules_read_no_more_than_they_declare(case):
    """Everything else is hidden, as the engine hides it; and no rule returns what was saved."""
    call = Call(case)
    for rule in rules_of(case.op):
        y, operands = call.hidden(call.declared(rule))
        for out in call.run(rule, y, operands):
            for held in (y, *operands):
                assert not isinstance(held, np.ndarray) or not isinstance(out, np.ndarray) or not np.shares_memory(out, held)


@pytest.mark.parametrize("op", PROBED, ids=lambda op: op.name)
def test_what_is_declared_is_read(op):
    """Some sample shows that each declared operand matters to each rule that declares it."""
    calls = [Call(Case(op, place, sample)) for place, sample in enumerate(op.samples())]
    for rule in rules_of(op):
        for what in calls[0].declared(rule):
            assert any(misses(call, rule, what) for call in calls), (
                f"rule {0 if rule is None else rule} of {op.name} declares {what!r} in saves={op.saves} but does not read it"
            )
