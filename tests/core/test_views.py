"""Views share memory, versions and history: small programs that give the same numbers, gradients and refusals as PyTorch."""

import numpy as np
import pytest
import torch

import autograd_lab as lab


def leaf(t, *shape):
    """A leaf that requires grad, the same in both libraries."""
    return t.tensor((np.arange(1, np.prod(shape) + 1).reshape(shape) / 7).astype(np.float32), requires_grad=True)


def plain(t, *shape):
    return leaf(t, *shape).detach()


# Each program takes the library and returns what is compared: tensors, versions, flags.


def memory_is_shared(t):
    x = plain(t, 3, 4)
    for view in (x[1:], x.t(), x.view(2, 6), x[:, 1], x.unsqueeze(0), x.permute(1, 0), x.narrow(1, 0, 2), x.diagonal()):
        view.add_(1)
    return [x, x._version]


def detach_shares_the_version(t):
    x = plain(t, 3)
    d = x.detach()
    d.mul_(2)
    return [x, x._version, d._version]


def data_has_a_version_of_its_own(t):
    x = leaf(t, 3)
    x.data.mul_(2)
    return [x.detach(), x._version]


def assigning_counts(t):
    x = plain(t, 3)
    x[0] = 1
    x[t.tensor([1])] = 2
    x[x > 1] = 0
    x[1:] = t.zeros(2)
    return [x, x._version]


def adding_in_place_to_an_item(t):
    x = plain(t, 3)
    x[0] += 1
    return [x]


def reshape_of_a_transpose_copies(t):
    x = plain(t, 2, 3)
    y = x.t().reshape(6)
    y.zero_()
    return [x, x._version]


def expand_then_zero(t):
    x = plain(t, 3, 1)
    x.expand(3, 4).zero_()
    return [x]


def in_place_on_a_view_of_a_result(t):
    w = leaf(t, 3, 4)
    y = w * 2
    y[1].mul_(3)
    y.sum().backward()
    return [y.detach(), w.grad]


def in_place_on_the_base_moves_the_view(t):
    w = leaf(t, 3, 4)
    y = w * 2
    v = y[0]
    y.mul_(5)
    v.sum().backward()
    return [v.detach(), w.grad]


def siblings_see_each_other(t):
    w = leaf(t, 4)
    y = w * 1
    a, b = y[:3], y[1:]
    a.mul_(2)
    b.mul_(3)
    (a * a).sum().backward()
    return [a.detach(), b.detach(), w.grad]


def a_view_of_a_view(t):
    w = leaf(t, 3, 4)
    y = w * 1
    y.t()[1:][:, 0].mul_(4)
    (y * y).sum().backward()
    return [y.detach(), w.grad]


def writing_a_recorded_value_into_plain_memory(t):
    w = leaf(t, 4)
    x = t.zeros(3, 4)
    x[1] = w * 2
    (x * x).sum().backward()
    return [x.detach(), x.requires_grad, w.grad]


def writing_into_many_rows(t):
    w = leaf(t, 3)
    out = t.zeros(2, 3)
    for i in range(2):
        out[i] = w * (i + 1)
    (out**2).sum().backward()
    return [out.detach(), w.grad]


def writing_a_number_stops_the_gradient(t):
    w = leaf(t, 2, 3)
    y = w * w
    y[0, 1] = 5
    y.sum().backward()
    return [y.detach(), w.grad]


def index_put_through_the_tape(t):
    w, v = leaf(t, 4), leaf(t, 2)
    y = w * 2
    y[t.tensor([0, 3])] = v * 3
    (y * y).sum().backward()
    return [y.detach(), w.grad, v.grad]


def masked_assignment(t):
    w = leaf(t, 2, 3)
    y = w * 2
    y[w > 0.4] = 0.5
    (y * y).sum().backward()
    return [y.detach(), w.grad]


def mixed_index_assignment(t):
    w = leaf(t, 3, 4)
    y = w * 1
    y[1, t.tensor([0, 2])] = w[0, :2] * 10
    (y * y).sum().backward()
    return [y.detach(), w.grad]


def item_plus_equals_on_the_tape(t):
    w = leaf(t, 3)
    y = w * w
    y[1] += w[0]
    y[1:] *= 2
    (y * y).sum().backward()
    return [y.detach(), w.grad]


def copy_into_a_view(t):
    w, v = leaf(t, 2, 3), leaf(t, 3)
    y = w * 2
    y[0].copy_(v)
    (y * y).sum().backward()
    return [y.detach(), w.grad, v.grad]


def zero_a_column(t):
    w = leaf(t, 3, 3)
    y = w.exp()
    z = y * 1
    z[:, 1].zero_()
    (z * y).sum().backward()
    return [z.detach(), w.grad]


def fill_with_a_recorded_number(t):
    w, s = leaf(t, 3), leaf(t, 1)
    y = w * 2
    y.fill_(s.sum())
    y.sum().backward()
    return [y.detach(), w.grad, s.grad]


def clamp_in_place(t):
    w = leaf(t, 5)
    y = w * 3
    y.clamp_(0.6, 1.5)
    (y * y).sum().backward()
    return [y.detach(), w.grad]


def in_place_where_the_rule_reads_the_old_value(t):
    w = leaf(t, 3)
    y = w * 2
    y.pow_(2)
    y.mul_(w)
    y.sum().backward()
    return [y.detach(), w.grad]


def plain_memory_times_a_recorded_value(t):
    w, x = leaf(t, 3), plain(t, 3)
    x.mul_(w)
    x.sum().backward()
    return [x.detach(), w.grad]


def shapes_change_in_place(t):
    w = leaf(t, 1, 3)
    y = w * 2
    y.squeeze_().unsqueeze_(1)
    y.t_()
    (y * y).sum().backward()
    return [y.detach(), w.grad]


def no_grad_update_of_a_leaf(t):
    w = leaf(t, 3)
    (w * w).sum().backward()
    with t.no_grad():
        w -= 0.1 * w.grad
        w[0] = 0
        w[1:].mul_(2)
    return [w.detach(), w.requires_grad, w.is_leaf, w._version]


def unbind_and_iterate(t):
    w = leaf(t, 3, 2)
    total = 0
    for i, row in enumerate(w):
        total = total + (row * (i + 1)).sum()
    a, b = w.unbind(1)
    (total + (a * b).sum()).backward()
    return [w.grad]


def split_and_chunk(t):
    w = leaf(t, 7, 2)
    a, b, c = w.split(3)
    d, e = w.chunk(2, dim=1)
    f, g = w.split([5, 2])
    ((a * 2).sum() + (b * b).sum() + c.sum() + (d * e).sum() + (f.sum() * g.sum())).backward()
    return [w.grad]


def expand_sums_back(t):
    w = leaf(t, 3, 1)
    (w.expand(2, 3, 4) * t.arange(24.0).view(2, 3, 4)).sum().backward()
    return [w.grad]


def second_order_through_views(t):
    w = leaf(t, 3, 2)
    y = (w.t()[1] ** 3).sum() + (w.view(-1)[::2] ** 2).sum()
    (g,) = t.autograd.grad(y, w, create_graph=True)
    (g * g).sum().backward()
    return [g.detach(), w.grad]


PROGRAMS = [f for f in list(globals().values()) if callable(f) and f not in (leaf, plain) and f.__module__ == __name__]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_program(program):
    for found, expected in zip(program(lab), program(torch), strict=True):
        if isinstance(expected, torch.Tensor):
            assert tuple(found.shape) == tuple(expected.shape)
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
        else:
            assert found == expected


# Programs that PyTorch refuses; ours refuse with the same type.


def leaf_in_place(t):
    leaf(t, 3).add_(1)


def view_of_a_leaf_in_place(t):
    leaf(t, 3)[0] = 1.0


def leaf_by_index_tensor(t):
    leaf(t, 3)[t.tensor([0])] = 1.0


def saved_output_changed(t):
    y = leaf(t, 3).exp()
    y.add_(1)
    y.sum().backward()


def saved_operand_changed_through_a_view(t):
    w = leaf(t, 3)
    x = w * 1
    y = (x * x).sum()
    x[0] = 0
    y.backward()


def saved_operand_changed_through_detach(t):
    w = leaf(t, 3)
    x = w * 1
    y = (x * x).sum()
    x.detach().zero_()
    y.backward()


def output_of_unbind_in_place(t):
    a, b = (leaf(t, 2, 3) * 1).unbind()
    a.mul_(2)


def output_of_split_in_place(t):
    a, b = (leaf(t, 4) * 1).split(2)
    b.zero_()


def view_made_under_no_grad(t):
    y = leaf(t, 3) * 1
    with t.no_grad():
        v = y[0]
    v.mul_(2)


def expanded_memory(t):
    plain(t, 3, 1).expand(3, 4).add_(1)


def view_across_gaps(t):
    plain(t, 3, 4).t().view(12)


def detach_of_a_view_in_place(t):
    (leaf(t, 3) * 1)[0].detach_()


def times_itself_in_place(t):
    y = leaf(t, 3) * 1
    y.mul_(y)
    y.sum().backward()


def result_too_large_for_in_place(t):
    plain(t, 3).add_(plain(t, 2, 3))


REFUSED = [leaf_in_place, view_of_a_leaf_in_place, leaf_by_index_tensor, saved_output_changed,
           saved_operand_changed_through_a_view, saved_operand_changed_through_detach, output_of_unbind_in_place,
           output_of_split_in_place, view_made_under_no_grad, expanded_memory, times_itself_in_place, view_across_gaps,
           detach_of_a_view_in_place,
           result_too_large_for_in_place]  # fmt: skip


@pytest.mark.parametrize("program", REFUSED, ids=lambda f: f.__name__)
def test_refused(program):
    with pytest.raises(Exception) as theirs:
        program(torch)
    with pytest.raises(type(theirs.value)):
        program(lab)


def test_views_that_died_are_forgotten():
    x = lab.zeros(4, 4)
    for _ in range(1000):
        x[0]
    assert len(x._st.views) < 100


def test_a_failed_in_place_change_leaves_the_tensor_alone():
    x = lab.ones(3)
    with pytest.raises(RuntimeError):
        x.add_(lab.ones(2, 3))
    assert x.tolist() == [1, 1, 1] and x._version == 0


def test_in_place_twins_of_composed_functions_keep_the_old_value():
    for name, arguments in (
        ("clamp_", (lab.tensor(0.2), lab.tensor(0.5))),
        ("addcmul_", (lab.ones(4), lab.ones(4))),
        ("cumprod_", (0,)),
    ):
        w = lab.tensor([0.1, 0.3, 0.6, 0.9], requires_grad=True)
        y = w * w
        getattr(y, name)(*arguments)
        (y * y).sum().backward()
        v = lab.tensor([0.1, 0.3, 0.6, 0.9], requires_grad=True)
        z = getattr(v * v, name[:-1])(*arguments)
        (z * z).sum().backward()
        np.testing.assert_array_equal(w.grad.numpy(), v.grad.numpy())


def test_out_of_expanded_memory_is_refused():
    with pytest.raises(RuntimeError, match="single memory location"):
        lab.sum(lab.ones(3, 2), dim=0, out=lab.ones(1).expand(2))


def test_linspace_and_arange_give_pytorchs_bits():
    for start, end, steps in ((-1, 1, 7), (0, 1, 50), (0.1, 9.7, 123), (3, -2, 2)):
        for dtype in ("float32", "float64"):
            ours = lab.linspace(start, end, steps, dtype=getattr(lab, dtype)).numpy()
            np.testing.assert_array_equal(ours, torch.linspace(start, end, steps, dtype=getattr(torch, dtype)).numpy())
