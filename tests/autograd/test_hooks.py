"""Hooks on tensors and nodes: what they see, in which order, what they may change, how they go away."""

import pytest
import torch

import autograd_lab as lab

LIBRARIES = pytest.mark.parametrize("lib", [lab, torch], ids=["lab", "torch"])


def leaf(lib, values):
    return lib.tensor(values, dtype=lib.float64, requires_grad=True)


@LIBRARIES
def test_a_hook_sees_the_complete_gradient_once(lib):
    x = leaf(lib, [1.0, 2.0])
    h = x * 2
    seen = []
    h.register_hook(lambda g: seen.append(g.tolist()))
    (h * 3 + h).sum().backward()
    assert seen == [[4, 4]]


@LIBRARIES
def test_a_hook_may_replace_the_gradient(lib):
    x = leaf(lib, [1.0, 2.0])
    h = x * 2
    h.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    h.sum().backward()
    assert x.grad.tolist() == [21, 21]


@LIBRARIES
def test_hooks_run_in_order_and_pass_on(lib):
    x, order = leaf(lib, [1.0]), []

    def add(n):
        def hook(g):
            order.append((n, g.item()))
            return g + n

        return hook

    h = x * 1
    handles = [h.register_hook(add(n)) for n in (1, 2, 3)]
    h.sum().backward(retain_graph=True)
    assert order == [(1, 1), (2, 2), (3, 4)] and x.grad.item() == 7
    handles[1].remove()
    handles[1].remove()
    order.clear()
    h.sum().backward()
    assert order == [(1, 1), (3, 2)]


@LIBRARIES
def test_a_leaf_hook_on_a_leaf(lib):
    x = leaf(lib, [1.0])
    handle = x.register_hook(lambda g: g * 2)
    (x * 3).sum().backward()
    handle.remove()
    (x * 3).sum().backward()
    assert x.grad.item() == 9


@LIBRARIES
def test_hooks_on_one_of_several_outputs(lib):
    x = leaf(lib, [[1.0, 2.0], [3.0, 4.0]])
    a, b = x.unbind(0)
    b.register_hook(lambda g: g * 100)
    (a * b).sum().backward()
    assert x.grad.tolist() == [[3, 4], [100, 200]]


@LIBRARIES
def test_retain_grad(lib):
    x = leaf(lib, [1.0, 2.0])
    h = x * 2
    h.retain_grad()
    x.retain_grad()
    assert h.retains_grad and not x.retains_grad
    (h * h).sum().backward()
    assert h.grad.tolist() == [4, 8] and x.grad.tolist() == [8, 16]
    with pytest.raises(RuntimeError, match=r"can't retain_grad on Tensor that has requires_grad=False"):
        lib.ones(1).retain_grad()


@LIBRARIES
def test_a_retained_gradient_is_what_hooks_made_of_it(lib):
    x = leaf(lib, [1.0])
    h = x * 2
    h.retain_grad()
    h.register_hook(lambda g: g * 5)
    h.sum().backward()
    assert h.grad.item() == 5 and x.grad.item() == 10


@LIBRARIES
def test_a_changed_retained_gradient_does_not_reach_the_leaf(lib):
    x = leaf(lib, [1.0, 1.0])
    h = x + 0
    h.retain_grad()
    h.sum().backward()
    h.grad.mul_(50)
    assert x.grad.tolist() == [1, 1]


@LIBRARIES
def test_hooks_see_gradients_of_grad(lib):
    x, seen = leaf(lib, [2.0]), []
    h = x * x
    h.register_hook(lambda g: seen.append(g.requires_grad))
    lib.autograd.grad(h.sum(), x, retain_graph=True)
    lib.autograd.grad(h.sum(), x, create_graph=True)
    assert seen == [False, False] or seen == [False, True]


@LIBRARIES
def test_hooks_are_recorded_with_create_graph(lib):
    x = leaf(lib, [2.0])
    h = x * x
    h.register_hook(lambda g: g * x)
    (g,) = lib.autograd.grad(h.sum(), x, create_graph=True)
    assert g.item() == 8
    assert lib.autograd.grad(g, x)[0].item() == 8


@LIBRARIES
def test_node_hooks(lib):
    x, seen = leaf(lib, [2.0]), []
    h = x * 3

    def post(grad_inputs, grad_outputs):
        seen.append((grad_inputs[0].item(), grad_outputs[0].item()))
        return tuple(None if g is None else g * 2 for g in grad_inputs)

    h.grad_fn.register_hook(post)
    h.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 10,))
    h.sum().backward()
    assert seen == [(30, 10)] and x.grad.item() == 60


@LIBRARIES
def test_post_accumulate_hooks(lib):
    x, seen = leaf(lib, [2.0]), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (x * 3).sum().backward()
    (x * 3).sum().backward()
    assert seen == [3, 6]
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)


@LIBRARIES
def test_bad_hooks(lib):
    x = leaf(lib, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        lib.ones(1).register_hook(print)
    h = x * 2
    h.register_hook(lambda g: g[:1])
    with pytest.raises(RuntimeError, match="has changed the size of value"):
        h.sum().backward()
    k = x * 2
    k.register_hook(lambda g: 3)
    with pytest.raises((TypeError, RuntimeError), match="expected hook to return a|expected Variable"):
        k.sum().backward()


@LIBRARIES
def test_an_error_in_a_hook_comes_through_and_the_mode_survives(lib):
    x = leaf(lib, [1.0])
    h = x * 2

    def hook(g):
        raise KeyError("mine")

    h.register_hook(hook)
    with pytest.raises(KeyError, match="mine"):
        h.sum().backward()
    assert lib.is_grad_enabled()


@LIBRARIES
def test_handles_work_as_context_managers(lib):
    x = leaf(lib, [1.0])
    with x.register_hook(lambda g: g * 100):
        (x * 1).sum().backward()
    (x * 1).sum().backward()
    assert x.grad.item() == 101


@LIBRARIES
def test_metadata_and_next_functions(lib):
    x = leaf(lib, [1.0])
    h = (x * 2).exp()
    h.grad_fn.metadata["mine"] = 5
    assert h.grad_fn.metadata["mine"] == 5
    (inner, nr), = h.grad_fn.next_functions
    assert inner.name() == "MulBackward0" and nr == 0
    (accumulate, _), (constant, _) = inner.next_functions
    assert accumulate.variable is x and constant is None
