"""The other optimisers: PyTorch's numbers over 50 steps, in both dtypes; state names; exact resuming."""

import copy
import pickle

import numpy as np
import pytest
import torch

import autograd_lab as lab

SHAPES = [(3, 4), (), (5,), (6, 2)]
SETTINGS = [
    ("Adamax", dict(lr=0.02)), ("Adamax", dict(weight_decay=0.1, maximize=True)), ("NAdam", dict(lr=0.02)),
    ("NAdam", dict(weight_decay=0.1, decoupled_weight_decay=True, momentum_decay=0.01)), ("NAdam", dict(weight_decay=0.1)),
    ("RAdam", dict(lr=0.02)), ("RAdam", dict(weight_decay=0.1, decoupled_weight_decay=True, betas=(0.5, 0.9))),
    ("Adagrad", dict(lr=0.1)), ("Adagrad", dict(lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.5)),
    ("Adadelta", dict()), ("Adadelta", dict(rho=0.7, weight_decay=0.1, maximize=True)), ("RMSprop", dict()),
    ("RMSprop", dict(momentum=0.9, weight_decay=0.1)), ("RMSprop", dict(centered=True, momentum=0.5, eps=1e-3)),
    ("Rprop", dict()), ("Rprop", dict(etas=(0.4, 1.5), step_sizes=(1e-3, 0.1), maximize=True)), ("ASGD", dict(lr=0.1)),
    ("ASGD", dict(lr=0.1, t0=10, weight_decay=0.1, lambd=0.01)), ("Adafactor", dict(lr=0.1)),
    ("Adafactor", dict(weight_decay=0.1, d=1.5, eps=(1e-6, 1e-2), maximize=True)), ("Muon", dict(lr=0.02)),
    ("Muon", dict(nesterov=False, adjust_lr_fn="match_rms_adamw")),
]  # fmt: skip


def shapes(name):
    return SHAPES[::3] if name == "Muon" else SHAPES


def steps(m, name, settings, number, dtype, resume_at=None):
    rng = np.random.default_rng(0)
    draw = lambda s: m.tensor(np.asarray(rng.standard_normal(s), dtype))  # noqa: E731
    params = [m.nn.Parameter(draw(s)) for s in shapes(name)]
    optimiser = getattr(m.optim, name)(params, **settings)
    for i in range(number):
        if i == resume_at:
            params = [copy.deepcopy(p) for p in params]
            saved = pickle.loads(pickle.dumps(optimiser.state_dict()))
            optimiser = getattr(m.optim, name)(params, **settings)
            optimiser.load_state_dict(saved)
        for p, s in zip(params, shapes(name), strict=True):
            p.grad = draw(s)
        optimiser.step()
    return params, optimiser


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 1e-5)])
def test_fifty_steps_are_pytorchs(name, settings, dtype, tolerance):
    if name == "Muon":
        tolerance = 2e-3  # its products are rounded to eight bits, in an order of sums that PyTorch does not promise
    theirs, a = steps(torch, name, settings, 50, dtype)
    ours, b = steps(lab, name, settings, 50, dtype)
    for p, q in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), rtol=tolerance, atol=tolerance)
    mine = b.state_dict()
    assert set(mine["param_groups"][0]) == set(a.state_dict()["param_groups"][0])
    for key, state in a.state_dict()["state"].items():
        assert set(state) == set(mine["state"][key])
        for field, value in state.items():
            np.testing.assert_allclose(mine["state"][key][field].numpy(), value.numpy(), rtol=tolerance * 10, atol=tolerance)


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_resuming_is_exact(name, settings, dtype):
    straight, _ = steps(lab, name, settings, 20, dtype)
    resumed, _ = steps(lab, name, settings, 20, dtype, resume_at=7)
    for p, q in zip(straight, resumed, strict=True):
        assert p.detach().numpy().tobytes() == q.detach().numpy().tobytes()


@pytest.mark.parametrize("name", ["Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD"])
def test_what_is_refused(name):
    p = lab.tensor([1.0], requires_grad=True)
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        getattr(lab.optim, name)([p], lr=-1)
    with pytest.raises(NotImplementedError, match="differentiable=True is not supported"):
        getattr(lab.optim, name)([p], differentiable=True)
