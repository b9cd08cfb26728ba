"""What is overwritten keeps its place on the tape: it still requires grad, and sends back zeros whatever arrives."""

import pytest
import torch

import autograd_lab as lab

LIBRARIES = pytest.mark.parametrize("lib", [lab, torch], ids=["lab", "torch"])
WRITERS = {
    "zero_": lambda lib, y: y.zero_(),
    "fill_": lambda lib, y: y.fill_(0.0),
    "copy_": lambda lib, y: y.copy_(lib.zeros(3)),
    "copy_ of one value": lambda lib, y: y.copy_(lib.tensor(0.0)),
}


@LIBRARIES
@pytest.mark.parametrize("name", WRITERS)
def test_constants_written_over_a_result(lib, name):
    x = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    WRITERS[name](lib, y)
    assert y.requires_grad and y.tolist() == [0.0, 0.0, 0.0]
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


@LIBRARIES
@pytest.mark.parametrize("name", WRITERS)
def test_an_infinite_slope_behind_it_does_not_become_nan(lib, name):
    x = lib.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    WRITERS[name](lib, y)
    y.sqrt().sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]


@LIBRARIES
def test_a_copy_that_does_not_fit(lib):
    y = lib.ones(3, requires_grad=True) * 2
    with pytest.raises(RuntimeError):
        y.copy_(lib.ones(2))
    assert y.tolist() == [2.0, 2.0, 2.0]


@LIBRARIES
def test_the_name_of_a_write_through_a_view(lib):
    y = lib.ones(3, requires_grad=True) * 2
    y[0] = 5
    assert y.grad_fn.name().endswith("CopySlices")
    assert "grad_fn=<CopySlices>" in repr(y)


@LIBRARIES
def test_a_quotient_may_be_changed_afterwards(lib):
    a, b = lib.tensor([1.0, 2.0], requires_grad=True), lib.tensor([4.0, 5.0], requires_grad=True)
    y = a / b
    y.mul_(2)
    y.sum().backward()
    torch.testing.assert_close(torch.tensor(b.grad.tolist()), torch.tensor([-2 / 16, -4 / 25]))
