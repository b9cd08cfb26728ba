"""``grad()`` and ``backward(inputs=)``: which gradients, for what, and what is left alone. PyTorch is the oracle."""

import numpy as np
import pytest
import torch

import autograd_lab as lab

LIBRARIES = pytest.mark.parametrize("lib", [lab, torch], ids=["lab", "torch"])


def leaf(lib, values):
    return lib.tensor(values, dtype=lib.float64, requires_grad=True)


@LIBRARIES
def test_grad_returns_a_tuple_and_leaves_grad_alone(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    found = lib.autograd.grad((x * w).sum(), (w, x))
    assert isinstance(found, tuple) and [g.tolist() for g in found] == [[1, 2], [3, 4]]
    assert x.grad is None and w.grad is None and not found[0].requires_grad


@LIBRARIES
def test_a_single_input_gives_a_tuple_too(lib):
    x = leaf(lib, [1.0, 2.0])
    (g,) = lib.autograd.grad(x.sum(), x)
    assert g.tolist() == [1, 1]


@LIBRARIES
def test_inputs_may_be_results(lib):
    x = leaf(lib, [1.0, 2.0])
    h = x * x
    k = h.exp()
    y = (k * h).sum()
    gh, gx, gk = lib.autograd.grad(y, (h, x, k))
    e = np.exp([1.0, 4.0])
    assert gk.tolist() == [1, 4]
    assert gh.tolist() == pytest.approx(list(e + e * [1, 4]))
    assert gx.tolist() == pytest.approx(list((e + e * [1, 4]) * [2, 4]))


@LIBRARIES
def test_the_output_itself_and_repeated_inputs(lib):
    x = leaf(lib, 3.0)
    y = x * x
    gy, gx, again = lib.autograd.grad(y, (y, x, x))
    assert (gy.item(), gx.item(), again.item()) == (1, 6, 6)


@LIBRARIES
def test_an_output_among_several_as_input(lib):
    x = leaf(lib, [[3.0, 1.0], [2.0, 5.0]])
    a, b = x.unbind(0)
    ga, gb, gx = lib.autograd.grad((a * b).sum() + a.sum(), (a, b, x))
    assert ga.tolist() == [3, 6] and gb.tolist() == [3, 1] and gx.tolist() == [[3, 6], [3, 1]]


@LIBRARIES
def test_unused_inputs(lib):
    x, other = leaf(lib, [1.0]), leaf(lib, [1.0, 2.0])
    y = (x * 2).sum()
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used in the graph"):
        lib.autograd.grad(y, (x, other), retain_graph=True)
    g, missing = lib.autograd.grad(y, (x, other), allow_unused=True, retain_graph=True)
    assert g.item() == 2 and missing is None
    g, zeros = lib.autograd.grad(y, (x, other), materialize_grads=True)
    assert zeros.tolist() == [0, 0] and zeros.dtype == lib.float64


@LIBRARIES
def test_materialize_and_allow_unused_contradict(lib):
    x = leaf(lib, [1.0])
    with pytest.raises(ValueError, match="Expected allow_unused to be True or not passed when materialize_grads=True"):
        lib.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True)


@LIBRARIES
def test_inputs_that_need_no_gradient(lib):
    x = leaf(lib, [1.0])
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        lib.autograd.grad((x * 2).sum(), lib.ones(1))


@LIBRARIES
def test_only_what_leads_to_the_inputs_runs(lib):
    ran = []

    class Noted(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x, name):
            ctx.name = name
            return x * 1

        @staticmethod
        def backward(ctx, g):
            ran.append(ctx.name)
            return g, None

    x, w = leaf(lib, [1.0]), leaf(lib, [2.0])
    y = Noted.apply(Noted.apply(x, "x") * Noted.apply(w, "w"), "top").sum()
    lib.autograd.grad(y, x)
    assert ran == ["top", "x"]


@LIBRARIES
def test_backward_into_some_inputs_only(lib):
    x, w = leaf(lib, [1.0]), leaf(lib, [2.0])
    h = x * w
    (h * 3).sum().backward(inputs=[w], retain_graph=True)
    assert x.grad is None and w.grad.item() == 3
    h.retain_grad()
    (h * 3).sum().backward(inputs=[x, w])
    assert x.grad.item() == 6 and w.grad.item() == 6
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * 2).backward(inputs=[])


@LIBRARIES
def test_weighted_outputs(lib):
    x = leaf(lib, [1.0, 2.0])
    (g,) = lib.autograd.grad([x * 2, x * x], x, [lib.tensor([1.0, 10.0], dtype=lib.float64), lib.ones(2, dtype=lib.float64)])
    assert g.tolist() == [4, 24]


@LIBRARIES
def test_a_batch_of_cotangents_gives_a_jacobian(lib):
    x = leaf(lib, [1.0, 2.0, 3.0])
    y = x * x
    (j,) = lib.autograd.grad(y, x, lib.eye(3, dtype=lib.float64), is_grads_batched=True)
    assert j.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    with pytest.raises(RuntimeError, match="a second time"):
        lib.autograd.grad(y, x, lib.ones(3, dtype=lib.float64))


@LIBRARIES
def test_seeds_are_checked(lib):
    x = leaf(lib, [1.0, 2.0])
    y = x * 2
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] .*3.* and output\[0\] .*2"):
        y.backward(lib.ones(3))
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        lib.autograd.grad(y, x)


def test_as_many_gradients_as_tensors():
    y = leaf(lab, [1.0, 2.0]) * 2
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        lab.autograd.backward([y], [y, y])


@LIBRARIES
def test_the_seed_is_neither_kept_nor_changed(lib):
    x = leaf(lib, [1.0, 2.0])
    seed = lib.ones(2, dtype=lib.float64)
    x.backward(seed)
    (x + 0).backward(seed)
    assert seed.tolist() == [1, 1] and x.grad.tolist() == [2, 2]


@LIBRARIES
def test_mixed_second_derivatives_of_gradient_penalty(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [0.5, -0.5])
    y = (x * w).tanh().sum()
    (g,) = lib.autograd.grad(y, x, create_graph=True)
    penalty = (g.pow(2).sum() - 1) ** 2
    penalty.backward()
    reference = torch.tensor([0.5, -0.5], dtype=torch.float64, requires_grad=True)
    xt = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    (gt,) = torch.autograd.grad((xt * reference).tanh().sum(), xt, create_graph=True)
    ((gt.pow(2).sum() - 1) ** 2).backward()
    assert w.grad.tolist() == pytest.approx(reference.grad.tolist())


@LIBRARIES
def test_grad_works_under_no_grad_and_leaves_the_mode(lib):
    x = leaf(lib, [2.0])
    y = (x**3).sum()
    with lib.no_grad():
        (g,) = lib.autograd.grad(y, x, create_graph=True)
        assert not lib.is_grad_enabled()
    assert g.item() == 12 and g.requires_grad


@LIBRARIES
@pytest.mark.filterwarnings("ignore:Using backward")
def test_recorded_gradients_of_two_leaves_are_two_tensors(lib):
    x, w = leaf(lib, [1.0, 2.0]), leaf(lib, [3.0, 4.0])
    h = x + w
    h.retain_grad()
    lib.autograd.backward(h, h.detach(), create_graph=True)
    x.grad.detach().mul_(100)
    assert w.grad.tolist() == [4, 6] and h.grad.tolist() == [4, 6]


@LIBRARIES
@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_recorded_gradient_can_be_added_to(lib):
    x = leaf(lib, [2.0])
    (x**3).sum().backward(create_graph=True)
    (x * 5).sum().backward()
    assert x.grad.tolist() == [17]


def test_gradients_accumulate_on_the_tape_under_no_grad():
    x = leaf(lab, [2.0])
    y = (x**3).sum()
    with lab.no_grad():
        for _ in range(2):
            y.backward(create_graph=True)
    assert x.grad.requires_grad and x.grad.tolist() == [24]


@LIBRARIES
def test_second_order_reaches_a_leaf_through_promotion(lib):
    """A rule that reads the promoted copy of a leaf leads to the leaf itself when it is recorded."""
    x, w = leaf(lib, [1.0, 2.0]), lib.tensor([3.0, 4.0], requires_grad=True)
    y = x * w
    gx, gw = lib.autograd.grad((y * y).sum(), (x, w), create_graph=True)
    hx, hw = lib.autograd.grad((gx * gx).sum() + (gw * gw).sum(), (x, w))
    assert hx.tolist() == [792, 6144] and hw.dtype == lib.float32 and hw.tolist() == [456, 4608]
