"""Every row with every sample: values, gradients to second order, both readings of a rule, ownership, dtypes."""

import importlib

import numpy as np
import pytest

from autograd_lab.autograd import backward
from autograd_lab.core.tape import LEAF
from autograd_lab.core.tensor import wrap
from tests.table.cases import DOUBLE, SINGLE, case_id, cases, cotangent, operand, same_bits, set_thresholds
from tests.table.numeric import check


def differentiable(op, sample):
    return op.differentiable


def checked(op, sample):
    return op.differentiable and sample.order > 0


def reference(op):
    """The row's reference as a function."""
    if callable(op.ref):
        return op.ref
    module, _, name = op.ref.rpartition(".")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("case", cases(lambda op, sample: op.ref is not None), ids=case_id)
def test_forward_equals_reference(case):
    operands, params = case.sample.operands, case.sample.params
    wanted = reference(case.op)(*((list(operands),) if case.op.arity == "many" else operands), *params)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for dtype, rtol in ((DOUBLE, 1e-10), (SINGLE, 2e-5)):
        found = case.call(case.tensors(dtype, wrt=()))
        assert len(found) == len(wanted)
        for y, expected in zip(found, wanted, strict=True):
            assert y._d.shape == np.shape(expected)
            np.testing.assert_allclose(y._d, expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("case", cases(checked), ids=case_id)
def test_gradients_equal_differences(case):
    operands = case.tensors(wrt=())

    def function(*args):
        given = list(operands)
        for place, arg in zip(case.wrt, args, strict=True):
            given[place] = arg
        return tuple(y for i, y in enumerate(case.call(given)) if i not in case.op.nondiff)

    order = case.sample.order
    if case.op.kind == "elementwise" and case.op.arity == 1 and order == 2:
        order = 3
    check(function, [np.array(case.sample.operands[i], np.result_type(case.sample.operands[i], float)) for i in case.wrt], order)


@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
@pytest.mark.parametrize("case", cases(differentiable), ids=case_id)
def test_raw_and_recorded_rules_agree_bit_for_bit(case, dtype):
    raw = case.gradients(case.tensors(dtype))
    recorded = case.gradients(case.tensors(dtype), create_graph=True)
    plain = backward_gradients(case, case.tensors(dtype))
    for place, a, b, c in zip(case.wrt, raw, recorded, plain, strict=False):
        assert (a is None) == (b is None) == (c is None)
        if a is not None:
            assert same_bits(a, b), f"operand {place}: raw {a!r}, recorded {b!r}"
            assert same_bits(a, c), f"operand {place}: grad {a!r}, backward {c!r}"


def backward_gradients(case, operands, wrt=None):
    """What ``backward`` leaves in ``.grad``, for the cotangents of ``Case.gradients``."""
    outputs = [o for o in case.call(operands) if o.requires_grad]
    if outputs:
        backward(outputs, [wrap(cotangent(o, i)) for i, o in enumerate(outputs)])
    grads = [operands[i]._grad for i in (case.wrt if wrt is None else wrt)]
    return [None if g is None else g._d for g in grads] if outputs else []


@pytest.mark.parametrize("case", cases(differentiable), ids=case_id)
def test_one_operand_alone_has_the_same_gradient(case):
    """A rule needs only what it declared itself, not what another operand's rule saved."""
    together = case.gradients(case.tensors())
    for place, expected in zip(case.wrt, together, strict=False):
        operands = case.tensors(wrt=(place,))
        found = case.gradients(operands, wrt=(place,))
        if expected is None or not found:
            assert not found or found[0] is None
        else:
            assert same_bits(found[0], expected), f"operand {place}"


@pytest.mark.parametrize("case", cases(), ids=case_id)
def test_dtype_is_kept(case):
    if any(isinstance(p, np.dtype) or getattr(p, "dtype", None) == DOUBLE for p in case.sample.params):
        return  # the sample itself asks for another dtype
    operands = case.tensors(SINGLE)
    if not any(getattr(getattr(o, "_d", None), "dtype", None) == SINGLE for o in operands):
        return
    for y in case.call(operands):
        assert y._d.dtype.kind in "biu" or y._d.dtype in (SINGLE, np.dtype(np.complex64)), f"output is {y.dtype}"
    for place, g in zip(case.wrt, case.gradients(operands), strict=False):
        assert g is None or g.dtype == operands[place]._d.dtype, f"gradient of operand {place} is {g.dtype}"


@pytest.mark.parametrize("create_graph", [False, True], ids=["raw", "recorded"])
@pytest.mark.parametrize("case", cases(), ids=case_id)
def test_frozen_operands_and_cotangents(case, create_graph):
    """No forward and no rule writes into what it was given."""
    operands = case.tensors()
    for t in operands:
        if hasattr(t, "_d"):
            t._array().flags.writeable = False
    outputs = [o for o in case.call(operands) if o.requires_grad]
    if not outputs:
        return
    seeds = []
    for i, o in enumerate(outputs):
        o._array().flags.writeable = False
        seeds.append(wrap(cotangent(o, i)))
        seeds[-1]._array().flags.writeable = False
    backward(outputs, seeds, create_graph=create_graph)


SHARING = {"view_of", "to_device"}
"""Structure rows that hand on memory: the place of a changed base's view, and a move to where the array is already."""


@pytest.mark.parametrize("case", cases(lambda op, sample: op.kind != "view" and op.name not in SHARING), ids=case_id)
def test_an_output_has_memory_of_its_own(case):
    operands = case.tensors()
    for y in case.call(operands):
        for o in operands:
            assert not hasattr(o, "_d") or not np.shares_memory(y._d, o._d)


@pytest.mark.parametrize("case", cases(differentiable), ids=case_id)
def test_leaf_gradients_are_dense_writable_and_their_own(case):
    operands = case.tensors()
    outputs = [o for o in case.call(operands) if o.requires_grad]
    if not outputs:
        return
    seeds = [wrap(cotangent(o, i)) for i, o in enumerate(outputs)]
    backward(outputs, seeds, retain_graph=True)
    held = [t._d for t in (*operands, *outputs, *seeds) if hasattr(t, "_d")]
    grads = [operands[i]._grad._d for i in case.wrt if operands[i]._grad is not None]
    for i, g in enumerate(grads):
        if isinstance(g, np.generic):
            continue
        assert g.flags.writeable and (g.size == 0 or 0 not in g.strides or g.shape.count(1))
        assert g.flags.forc or g.size == np.prod(g.shape)
        assert g.nbytes == 0 or np.lib.array_utils.byte_bounds(g)[1] - np.lib.array_utils.byte_bounds(g)[0] == g.nbytes
        for other in (*held, *grads[:i], *grads[i + 1 :]):
            assert not np.shares_memory(g, other)


# ----- large arrays: the pooled path -----


THRESHOLDS = {"pooled": {"LARGE": 17}, "by blocks": {"LARGE": 17, "HUGE": 17, "BLOCK": 5}}


@pytest.mark.parametrize("thresholds", THRESHOLDS.values(), ids=THRESHOLDS)
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
@pytest.mark.parametrize("case", cases(), ids=case_id)
def test_paths_of_large_arrays_give_the_same_bits(case, dtype, thresholds, monkeypatch):
    values = [y._d for y in case.call(case.tensors(dtype, wrt=()))]
    raw, plain = case.gradients(case.tensors(dtype)), backward_gradients(case, case.tensors(dtype))
    set_thresholds(monkeypatch, thresholds)
    for y, expected in zip(case.call(case.tensors(dtype, wrt=())), values, strict=True):
        assert same_bits(y._d, expected)
    for found, expected in zip(case.gradients(case.tensors(dtype)), raw, strict=True):
        assert expected is None or same_bits(found, expected)
    for found, expected in zip(backward_gradients(case, case.tensors(dtype)), plain, strict=True):
        assert expected is None or same_bits(found, expected)


@pytest.mark.parametrize(
    "case", cases(lambda op, sample: op.kind == "elementwise" and any(np.ndim(o) == 2 for o in sample.operands)), ids=case_id
)
def test_large_arrays_equal_small_ones(case):
    """Operands repeated along a new dimension, beyond 128 kB."""
    times = 3000

    def repeated(o):
        return np.repeat(o[None], times, 0) if np.ndim(o) == 2 and o.size else o

    small = case.tensors(SINGLE)
    large = [operand(repeated(o), SINGLE, i in case.wrt) for i, o in enumerate(case.sample.operands)]
    for y, expected in zip(case.call(large), case.call(small), strict=True):
        assert not expected.numel() or y._d.nbytes > 128_000 or y._d.dtype == bool
        np.testing.assert_allclose(y._d, np.broadcast_to(expected._d, y._d.shape), rtol=1e-6)
    if not case.op.differentiable or not case.wrt:
        return
    for operands, copies in ((small, times), (large, 1)):
        for y in case.call(operands):
            y.backward(wrap(np.full(y._d.shape, copies if operands is small else 1, y._d.dtype)))
    for place in case.wrt:
        if small[place]._node is LEAF and small[place]._grad is not None:
            expected = small[place]._grad._d
            if large[place]._d.ndim == 3:
                expected = np.broadcast_to(expected / times, large[place]._d.shape)
            np.testing.assert_allclose(large[place]._grad._d, expected, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("case", cases(), ids=case_id)
def test_outputs_without_derivative_need_no_gradient(case):
    for i, y in enumerate(case.call(case.tensors())):
        if not case.op.differentiable or i in case.op.nondiff or y._d.dtype.kind in "iub":
            assert not y.requires_grad
        elif case.wrt and all(case.op.rules[p] is not None for p in case.wrt) if case.op.rules else case.wrt:
            assert y.requires_grad and y.grad_fn.name() == case.op.grad_name
