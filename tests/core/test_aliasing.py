"""What has memory of its own and what does not: repeats, views that show an element twice, views of tensors without dimensions."""

import pytest
import torch

import autograd_lab as lab

BOTH = pytest.mark.parametrize("lib", [lab, torch], ids=["lab", "torch"])


@BOTH
@pytest.mark.parametrize("times", [(2, 1, 1), (1, 1), (1, 3), (2, 1)], ids=str)
def test_repeats_have_memory_of_their_own(lib, times):
    x = lib.ones(2, 3, requires_grad=True)
    y = (x * 1).repeat(*times)
    assert y.is_contiguous() and y.view(-1).shape == (y.numel(),)
    z = y.detach()
    z.reshape(-1)[0] = 5
    assert z.sum().item() == 4 + z.numel() and (x == 1).all()
    y.sum().backward()
    assert x.grad.tolist() == [[y.numel() / 6] * 3] * 2


@BOTH
def test_a_view_that_shows_elements_twice_adds_up_after_its_base_has_changed(lib):
    x = lib.ones(3, requires_grad=True)
    y = x * 2
    wide = y.expand(2, 3)
    windows = y.unfold(0, 2, 1)
    y.mul_(3)
    (g,) = lib.autograd.grad(wide.sum() + (windows * lib.tensor([[1.0, 2.0], [3.0, 4.0]])).sum(), x)
    assert g.tolist() == [6 * 3, 6 * 7, 6 * 6]


@BOTH
def test_views_of_tensors_without_dimensions(lib):
    x = lib.tensor(2.0, requires_grad=True)
    y = x * 3
    same = y.view_as(y)
    copied = same.index_fill(0, lib.tensor([0]), 7.0)
    copied.mul_(2)
    assert y.item() == 6 and copied.item() == 14
    same.copy_(lib.tensor(5.0))
    (same * y).backward()
    assert y.item() == 5 and x.grad.item() == 0


@BOTH
def test_a_change_through_a_reshaped_view_whose_gradient_comes_in_another_layout(lib):
    x = lib.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    flat = y.view(-1)
    flat.mul_(2)
    (y.transpose(0, 1) * lib.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 4, 8], [2, 6, 10]]
