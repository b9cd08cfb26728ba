"""Custom functions: values, second derivatives, marks, contexts, ownership and errors, against PyTorch where it has them."""

import gc
import weakref

import pytest
import torch

import autograd_lab as lab
from autograd_lab.autograd import Function, gradcheck, gradgradcheck
from autograd_lab.autograd.function import once_differentiable

LIBRARIES = pytest.mark.parametrize("lib", [lab, torch], ids=["lab", "torch"])


def leaf(lib, values, dtype=None):
    return lib.tensor(values, dtype=dtype or lib.float64, requires_grad=True)


def cube(lib):
    class Cube(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, power=3):
            assert not lib.is_grad_enabled()
            ctx.save_for_backward(x)
            ctx.power = power
            return x**power

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.power * x ** (ctx.power - 1), None

    return Cube


@LIBRARIES
def test_values_gradients_and_name(lib):
    x = leaf(lib, [1.0, 2.0, 3.0])
    y = cube(lib).apply(x)
    assert y.tolist() == [1, 8, 27] and y.requires_grad and not y.is_leaf
    assert y.grad_fn.name() == "CubeBackward"
    assert "AccumulateGrad" in y.grad_fn.next_functions[0][0].name()
    y.sum().backward()
    assert x.grad.tolist() == [3, 12, 27]
    assert cube(lib).apply(x, 2).tolist() == [1, 4, 9]


@LIBRARIES
def test_second_and_third_derivatives(lib):
    x = leaf(lib, [2.0])
    g, out = cube(lib).apply(x), []
    for _ in range(3):
        (g,) = lib.autograd.grad(g.sum(), x, create_graph=True)
        out.append(g.item())
    assert out == [12, 12, 6]


def test_checks_pass():
    x = leaf(lab, [0.5, -1.5])
    assert gradcheck(cube(lab).apply, x) and gradgradcheck(cube(lab).apply, x)


@LIBRARIES
def test_without_gradients_nothing_is_recorded(lib):
    assert not cube(lib).apply(lib.tensor([1.0])).requires_grad
    with lib.no_grad():
        assert not cube(lib).apply(leaf(lib, [1.0])).requires_grad


def pair(lib, materialize=True):
    seen = []

    class Pair(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(materialize)
            ctx.save_for_backward(x, y)
            seen.append(ctx.needs_input_grad)
            return x * y, x + y, "words", (x > 0)

        @staticmethod
        def backward(ctx, g, h, *rest):
            seen.append((g, h, *rest))
            x, y = ctx.saved_tensors
            g = 0 if g is None else g
            h = 0 if h is None else h
            return g * y + h, (g * x + h if ctx.needs_input_grad[1] else None)

    return Pair, seen


@LIBRARIES
def test_several_outputs(lib):
    x, y = leaf(lib, [2.0]), leaf(lib, [5.0])
    Pair, seen = pair(lib)
    product, total, words, positive = Pair.apply(x, y)
    assert words == "words" and not positive.requires_grad
    assert [product.grad_fn is total.grad_fn, product.output_nr, total.output_nr] == [True, 0, 1]
    (product + 10 * total).backward()
    assert (x.grad.item(), y.grad.item()) == (15, 12)
    assert seen[0] == (True, True)


@LIBRARIES
@pytest.mark.parametrize("materialize", [True, False])
def test_outputs_without_gradient(lib, materialize):
    x, y = leaf(lib, [2.0]), lib.tensor([5.0], dtype=lib.float64)
    Pair, seen = pair(lib, materialize)
    Pair.apply(x, y)[0].backward()
    assert x.grad.item() == 5 and seen[0] == (True, False)
    g, h = seen[1][:2]
    assert g.item() == 1 and (h.item() == 0 if materialize else h is None)


@LIBRARIES
def test_setup_context(lib):
    class Scale(lib.autograd.Function):
        @staticmethod
        def forward(x, factor):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.factor = inputs
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * ctx.factor + 0 * y, None

    x = leaf(lib, [1.0, 2.0])
    Scale.apply(x, 3.0).sum().backward()
    assert x.grad.tolist() == [3, 3]


def exponential(lib):
    class Exponential(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    return Exponential


@LIBRARIES
def test_saved_output_differentiates_again(lib):
    x = leaf(lib, [0.5])
    y = exponential(lib).apply(x)
    (g,) = lib.autograd.grad(y, x, create_graph=True)
    (h,) = lib.autograd.grad(g, x)
    assert h.item() == pytest.approx(y.item())


@LIBRARIES
def test_saved_values_changed_in_place_are_noticed(lib):
    x = leaf(lib, [0.5])
    y = exponential(lib).apply(x)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    w = leaf(lib, [0.5]) * 1
    z = cube(lib).apply(w)
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


@LIBRARIES
def test_backward_twice(lib):
    x = leaf(lib, [2.0])
    y = cube(lib).apply(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 24
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


@LIBRARIES
def test_mark_dirty(lib):
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(lib, [1.0, 2.0])
    y = x * 3
    z = Double.apply(y)
    assert z is y and y.tolist() == [6, 12]
    y.sum().backward()
    assert x.grad.tolist() == [6, 6]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Double.apply(leaf(lib, [1.0]))


@LIBRARIES
def test_dirty_inputs_must_be_returned(lib):
    class Forgetful(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    with pytest.raises(RuntimeError, match="were not returned as output"):
        Forgetful.apply(leaf(lib, [1.0]) * 1)


@LIBRARIES
def test_mark_non_differentiable(lib):
    class Sorted(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x * 2, x * 3
            ctx.mark_non_differentiable(b)
            return a, b

        @staticmethod
        def backward(ctx, g, h):
            assert h.item() == 0
            return 2 * g

    x = leaf(lib, [1.0])
    a, b = Sorted.apply(x)
    assert a.requires_grad and not b.requires_grad
    a.backward()
    assert x.grad.item() == 2


@LIBRARIES
def test_an_input_handed_back_keeps_its_own_history(lib):
    class Same(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x * 2

    x = leaf(lib, [3.0])
    y = Same.apply(x)
    assert y is not x and x.is_leaf and y.grad_fn is not None
    (g,) = lib.autograd.grad(y, x, create_graph=True)
    assert g.item() == 6 and lib.autograd.grad(g, x)[0].item() == 2


def returning(lib, result):
    class Odd(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, n):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return result(g)

    return Odd.apply(leaf(lib, [1.0, 2.0, 3.0]), 5).sum()


@LIBRARIES
@pytest.mark.parametrize(
    "result, error, match",
    [
        (lambda g: g, RuntimeError, r"OddBackward returned an incorrect number of gradients \(expected 2, got 1\)"),
        (lambda g: (g, None, g), RuntimeError, r"incorrect number of gradients \(expected 2, got 3\)"),
        (lambda g: (g[:2], None), RuntimeError, r"OddBackward returned an invalid gradient at index 0 - got \[2\].*\[3\]"),
        (lambda g: (1.0, None), RuntimeError, r"expected Variable or None \(got float\)"),
    ],
)  # fmt: skip
def test_wrong_results_of_backward(lib, result, error, match):
    with pytest.raises(error, match=match):
        returning(lib, result).backward()


@LIBRARIES
def test_surplus_nones_and_broadcast_gradients_are_accepted(lib):
    returning(lib, lambda g: (g, None, None)).backward()

    class Wide(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum() + lib.zeros(2, 3)

        @staticmethod
        def backward(ctx, g):
            return g

    x = lib.ones(3, requires_grad=True)
    Wide.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


@LIBRARIES
def test_errors_of_forward(lib):
    class Number(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x

    class Missing(lib.autograd.Function):
        pass

    with pytest.raises(TypeError, match="save_for_backward can only save variables, but argument 0 is of type int"):
        Number.apply(leaf(lib, [1.0]))
    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        Missing.apply(leaf(lib, [1.0]))


@LIBRARIES
def test_once_differentiable(lib):
    once = once_differentiable if lib is lab else torch.autograd.function.once_differentiable

    class Once(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once
        def backward(ctx, g):
            assert not lib.is_grad_enabled()
            return 2 * g * ctx.saved_tensors[0]

    x = leaf(lib, [3.0])
    scale = leaf(lib, [1.0])
    y = Once.apply(x) * scale
    y.backward(retain_graph=True)
    assert x.grad.item() == 6
    (g,) = lib.autograd.grad(y, x, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice a function that was marked with @once_differentiable"):
        g.backward()


def test_a_paused_recording_mode_survives_backward():
    class Reads(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(lab.is_grad_enabled())
            return g * 2

    seen, x = [], leaf(lab, [1.0])
    Reads.apply(x).backward()
    lab.autograd.grad(Reads.apply(x), x, create_graph=True)
    assert seen == [False, True] and lab.is_grad_enabled()


def test_no_cycle_keeps_a_function_alive():
    gc.disable()
    try:
        y = exponential(lab).apply(leaf(lab, [1.0]) * 2)
        node, ctx = weakref.ref(y.grad_fn), weakref.ref(y.grad_fn.params[0])
        del y
        assert node() is None and ctx() is None
    finally:
        gc.enable()


def test_the_error_of_a_freed_function_names_the_line():
    from autograd_lab.core.tape import record_lines

    record_lines()
    try:
        y = cube(lab).apply(leaf(lab, [2.0]))  # this line
    finally:
        record_lines(False)
    y.backward()
    with pytest.raises(RuntimeError, match=r"CubeBackward was recorded at test_function.py, line \d+: y = cube\(lab\)"):
        y.backward()
