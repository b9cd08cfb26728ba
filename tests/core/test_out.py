"""``out=`` and arguments that PyTorch refuses, and the in-place twins it offers as functions."""

import numpy as np
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


MAKERS = {
    "zeros": lambda m, out: m.zeros(3, out=out),
    "ones": lambda m, out: m.ones((3,), out=out),
    "full": lambda m, out: m.full((3,), 2.0, out=out),
    "arange": lambda m, out: m.arange(3, out=out),
    "linspace": lambda m, out: m.linspace(0, 1, 3, out=out),
    "logspace": lambda m, out: m.logspace(0, 1, 3, out=out),
    "eye": lambda m, out: m.eye(3, out=out),
    "rand": lambda m, out: m.rand(3, out=out),
    "randn": lambda m, out: m.randn(3, out=out),
    "randint": lambda m, out: m.randint(10, (3,), out=out),
    "randperm": lambda m, out: m.randperm(3, out=out),
    "normal": lambda m, out: m.normal(0.0, 1.0, (3,), out=out),
    "bernoulli": lambda m, out: m.bernoulli(m.full((3,), 0.5), out=out),
}


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_made_goes_into_out(name):
    found = []
    for m in (lab, torch):
        m.manual_seed(1)
        out = m.full((3, 3) if name == "eye" else (3,), 9.0, dtype=m.float32)
        assert MAKERS[name](m, out) is out
        found.append(out.tolist())
    assert np.allclose(*found, rtol=1e-6)


def test_the_dtype_of_out_is_what_counts():
    assert lab.arange(3, out=lab.zeros(3, dtype=lab.float64)).dtype is lab.float64
    for m in (lab, torch):
        with pytest.raises(RuntimeError, match="does not match dtype of out"):
            m.zeros(2, dtype=m.float64, out=m.zeros(2))
        with pytest.raises((RuntimeError, ValueError), match="step must be nonzero"):
            m.arange(0, 64, 0.5, out=m.zeros(2, dtype=m.int64))
