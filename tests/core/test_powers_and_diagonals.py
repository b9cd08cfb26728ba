"""``vander``, ``fill_diagonal_`` and ``as_strided_``: PyTorch is the oracle."""

import pytest
import torch

import autograd_lab as lab


@pytest.mark.parametrize("options", [{}, {"N": 5}, {"N": 2}, {"increasing": True}], ids=str)
@pytest.mark.parametrize("values", [[1.0, 2.0, 0.0, -3.0], [1, 2, 3]], ids=["floats", "integers"])
def test_vander(values, options):
    found, wanted = (lib.vander(lib.tensor(values), **options) for lib in (lab, torch))
    assert found.tolist() == wanted.tolist()


def test_vander_has_a_gradient():
    """PyTorch's has none: it writes over what its own backward reads."""
    x = lab.tensor([1.0, 2.0, 0.0], requires_grad=True)
    (lab.vander(x) * lab.arange(9.0).reshape(3, 3)).sum().backward()
    assert x.grad.tolist() == [1, 16, 7]


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (7, 3), (3, 5), (3, 3, 3)], ids=str)
def test_fill_diagonal(shape, wrap):
    found, wanted = (lib.zeros(*shape).fill_diagonal_(5, wrap).tolist() for lib in (lab, torch))
    assert found == wanted


@pytest.mark.parametrize("lib", [lab, torch], ids=["lab", "torch"])
def test_fill_diagonal_cuts_the_gradient_there(lib):
    x = lib.ones(2, 2, requires_grad=True)
    y = x * 2
    y.fill_diagonal_(0.0)
    (y * y).sum().backward()
    assert x.grad.tolist() == [[0, 8], [8, 0]]


@pytest.mark.parametrize("lib", [lab, torch], ids=["lab", "torch"])
def test_as_strided_adds_up_where_elements_repeat(lib):
    x = lib.arange(6.0).requires_grad_()
    y = (x * 1).as_strided((3, 2), (1, 2), 1)
    assert y.tolist() == [[1, 3], [2, 4], [3, 5]]
    y.sum().backward()
    assert x.grad.tolist() == [0, 1, 1, 2, 1, 1]
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.as_strided((3, 3), (2, 2))
