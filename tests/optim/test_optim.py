"""Optimisers: PyTorch's numbers over steps, resuming, groups, late and absent gradients, what is refused."""

import copy
import pickle

import numpy as np
import pytest
import torch

import autograd_lab as lab

SHAPES = [(3, 4), (), (1,), (130, 130), (5,)]
SETTINGS = [
    ("SGD", dict(lr=0.1)), ("SGD", dict(lr=0.1, momentum=0.9, dampening=0.3)), ("SGD", dict(lr=0.1, momentum=0.8, nesterov=True)),
    ("SGD", dict(lr=0.1, weight_decay=0.1, maximize=True)), ("Adam", dict(lr=0.02)), ("Adam", dict(lr=0.02, amsgrad=True,
                                                                                                   weight_decay=0.1)),
    ("Adam", dict(lr=0.02, betas=(0.5, 0.9), eps=1e-3, maximize=True)), ("AdamW", dict(lr=0.02)), ("AdamW", dict(weight_decay=0.3)),
]  # fmt: skip


def parameters(m, rng):
    return [m.nn.Parameter(m.tensor(np.asarray(rng.standard_normal(s), np.float32))) for s in SHAPES]


def set_grads(m, params, rng, absent=()):
    for i, p in enumerate(params):
        g = np.asarray(rng.standard_normal(SHAPES[i]), np.float32)
        p.grad = None if i in absent else m.tensor(g)


def run(m, name, settings, steps, absent=lambda step: ()):
    rng = np.random.default_rng(0)
    params = parameters(m, rng)
    optimiser = getattr(m.optim, name)(params, **settings)
    for step in range(steps):
        set_grads(m, params, rng, absent(step))
        optimiser.step()
    return params, optimiser


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_steps_are_pytorchs(name, settings):
    absent = lambda step: (0, 3) if step < 3 else ((1,) if step == 5 else ())  # noqa: E731
    for pattern in (lambda step: (), absent):
        theirs, a = run(torch, name, settings, 12, pattern)
        ours, b = run(lab, name, settings, 12, pattern)
        for p, q in zip(theirs, ours, strict=True):
            np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), rtol=2e-6, atol=1e-6)
        for key, state in a.state_dict()["state"].items():
            for field, value in state.items():
                mine = b.state_dict()["state"][key][field]
                np.testing.assert_allclose(mine.numpy(), value.numpy(), rtol=2e-5, atol=2e-6, err_msg=f"{key} {field}")


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_resuming_is_exact(name, settings):
    def full(steps, resume_at=None):
        rng = np.random.default_rng(0)
        params = parameters(lab, rng)
        optimiser = getattr(lab.optim, name)(params, **settings)
        for step in range(steps):
            if step == resume_at:
                params = [copy.deepcopy(p) for p in params]
                saved = pickle.loads(pickle.dumps(optimiser.state_dict()))
                optimiser = getattr(lab.optim, name)(params, **settings)
                optimiser.load_state_dict(saved)
            set_grads(lab, params, rng)
            optimiser.step()
        return params

    for p, q in zip(full(9), full(9, resume_at=4), strict=True):
        assert p.detach().numpy().tobytes() == q.detach().numpy().tobytes()


def test_unboxed_parameters_and_those_of_other_dtypes():
    w, v = lab.tensor(2.0, requires_grad=True), lab.tensor([1.0, 2.0], dtype=lab.float64, requires_grad=True)
    optimiser = lab.optim.SGD([w, v], lr=0.5)
    (w * w + (v * v).sum()).backward()
    optimiser.step()
    assert w.item() == 0.0 and w.dtype is lab.float32
    np.testing.assert_array_equal(v.detach().numpy(), [0.0, 0.0])


def test_a_step_is_noticed_by_a_later_backward_through_old_values():
    w = lab.tensor([2.0], requires_grad=True)
    y = (w * w).sum()
    y.backward(retain_graph=True)
    lab.optim.SGD([w], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_groups_closures_and_hooks():
    a, b = lab.ones(2, requires_grad=True), lab.ones(2, requires_grad=True)
    optimiser = lab.optim.SGD([{"params": [a]}, {"params": b, "lr": 1.0}], lr=0.1)
    calls = []
    optimiser.register_step_pre_hook(lambda opt, args, kwargs: calls.append("pre"))
    optimiser.register_step_post_hook(lambda opt, args, kwargs: calls.append("post"))

    def closure():
        optimiser.zero_grad()
        loss = (a + b).sum()
        loss.backward()
        return loss

    assert optimiser.step(closure).item() == 4.0
    assert calls == ["pre", "post"]
    np.testing.assert_allclose(a.detach().numpy(), 0.9)
    np.testing.assert_allclose(b.detach().numpy(), 0.0)
    optimiser.zero_grad(set_to_none=False)
    assert a.grad.numpy().tolist() == [0, 0]
    c = lab.ones(1, requires_grad=True)
    optimiser.add_param_group({"params": [c]})
    assert len(optimiser.param_groups) == 3 and optimiser.param_groups[2]["lr"] == 0.1
    assert repr(optimiser).startswith("SGD (\nParameter Group 0\n    dampening: 0\n")


def test_what_is_refused():
    w = lab.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="empty parameter list"):
        lab.optim.SGD([], lr=0.1)
    with pytest.raises(TypeError, match="iterable of Tensors or dicts"):
        lab.optim.SGD(w, lr=0.1)
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        lab.optim.SGD([w * 2], lr=0.1)
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        lab.optim.Adam([w], lr=-1)
    with pytest.raises(ValueError, match="more than one parameter group"):
        lab.optim.SGD([{"params": [w]}, {"params": [w]}], lr=0.1)
    with pytest.raises(ValueError, match="Nesterov"):
        lab.optim.SGD([w], lr=0.1, nesterov=True)
    with pytest.raises(ValueError, match="different number of parameter groups"):
        lab.optim.SGD([w], lr=0.1).load_state_dict({"state": {}, "param_groups": []})


def _schedules(s):
    yield "StepLR", lambda o: s.StepLR(o, 3, 0.5)
    yield "ExponentialLR", lambda o: s.ExponentialLR(o, 0.9)
    yield "CosineAnnealingLR", lambda o: s.CosineAnnealingLR(o, 7, 0.01)
    yield "LambdaLR", lambda o: s.LambdaLR(o, lambda e: 0.95**e)
    yield "OneCycleLR", lambda o: s.OneCycleLR(o, 0.5, total_steps=30)
    yield "SequentialLR", lambda o: s.SequentialLR(o, [s.LinearLR(o, 0.1), s.CosineAnnealingWarmRestarts(o, 4)], [5])


@pytest.mark.parametrize("which", range(6))
def test_schedules_are_pytorchs(which):
    out = []
    for m in (torch, lab):
        optimiser = m.optim.SGD([m.nn.Parameter(m.zeros(1))], lr=0.2, momentum=0.9)
        scheduler = list(_schedules(m.optim.lr_scheduler))[which][1](optimiser)
        rates = []
        for _ in range(25):
            rates.append(optimiser.param_groups[0]["lr"])
            optimiser.step()
            scheduler.step()
        out.append(rates)
    np.testing.assert_allclose(out[1], out[0], rtol=1e-9)


def test_stepping_the_schedule_first_warns():
    optimiser = lab.optim.SGD([lab.nn.Parameter(lab.zeros(1))], lr=0.2)
    scheduler = lab.optim.lr_scheduler.StepLR(optimiser, 3)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()
