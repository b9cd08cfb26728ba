"""``out=`` and arguments that PyTorch refuses, and the in-place twins it offers as functions."""

import pytest
import torch

import autograd_lab as lab

REFUSED = {
    "out partly over the input": lambda p, x: p.exp(x[1:], out=x[:-1]),
    "out partly over an operand": lambda p, x: p.add(x[1:], 1, out=x[:-1]),
    "gather over its input": lambda p, x: p.gather(x, 0, p.tensor([0, 1, 2, 3]), out=x),
    "gather in another dtype": lambda p, x: p.gather(x, 0, p.tensor([0, 1]), out=p.empty(2, dtype=p.float64)),
    "index_select over its input": lambda p, x: p.index_select(x, 0, p.tensor([0, 1, 2, 3]), out=x),
    "cat over its parts": lambda p, x: p.cat([x[:2], x[2:]], out=x),
    "masked_select over its input": lambda p, x: p.masked_select(x, x > 2, out=x),
    "kthvalue over its input": lambda p, x: p.kthvalue(x.view(2, 2), 2, 1, out=(x[:2], p.tensor([0, 0]))),
    "multinomial into floats": lambda p, x: p.multinomial(x, 2, out=p.empty(2)),
    "log_normal_ without spread": lambda p, x: x.log_normal_(0, 0),
    "atan2 with a number": lambda p, x: p.atan2(x, 1.0),
    "fmod of a number": lambda p, x: p.fmod(1.0, x),
    "step 0": lambda p, x: p.arange(0, 3, 0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_as_pytorch_refuses(name):
    raised = []
    for package in (lab, torch):
        with pytest.raises((RuntimeError, TypeError)) as error:
            REFUSED[name](package, package.tensor([1.0, 2.0, 3.0, 4.0]))
        raised.append(error.type)
    assert raised[0] is raised[1]


@pytest.mark.parametrize("package", [lab, torch])
def test_out_may_be_an_operand_as_a_whole(package):
    x = package.tensor([1.0, 2.0])
    assert package.add(x, x, out=x) is x and x.tolist() == [2.0, 4.0]
    row = package.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert package.exp(row[0], out=row[1]).tolist() == row[0].exp().tolist()


def test_multinomial_and_kthvalue_write_out():
    for package in (lab, torch):
        values, places = package.empty(0), package.empty(0, dtype=package.int64)
        package.kthvalue(package.tensor([3.0, 1.0, 2.0]), 2, out=(values, places))
        assert values.item() == 2.0 and places.item() == 2
        out = package.empty(2, dtype=package.int64)
        assert package.multinomial(package.ones(4), 2, out=out) is out and out.unique().numel() == 2


def test_in_place_twins_are_functions():
    x = lab.tensor([4.0, 9.0])
    assert lab.sqrt_(x) is x and x.tolist() == [2.0, 3.0]
    assert lab.clamp_(x, max=2.5) is x and x.tolist() == [2.0, 2.5]
    missing = {name for name in dir(torch) if name.endswith("_") and name[0] != "_" and hasattr(lab.Tensor, name)}
    assert not missing - set(dir(lab))
