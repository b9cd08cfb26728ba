"""LBFGS and the averages of weights: PyTorch's numbers, exact resuming, what is refused."""

import copy
import pickle

import numpy as np
import pytest
import torch

import autograd_lab as lab

SETTINGS = [
    dict(lr=0.05, max_iter=10), dict(line_search_fn="strong_wolfe"),
    dict(lr=0.3, history_size=3, max_iter=4), dict(lr=0.5, max_eval=3),
]  # fmt: skip


def rosenbrock(m, settings, dtype, steps, resume_at=None):
    start = [np.asarray([-1.2, 1.0, 0.5, 0.8], dtype), np.asarray(0.3, dtype)]
    params = [m.nn.Parameter(m.tensor(a)) for a in start]
    optimiser = m.optim.LBFGS(params, **settings)
    losses = []
    for i in range(steps):
        if i == resume_at:
            params = [copy.deepcopy(p) for p in params]
            saved = pickle.loads(pickle.dumps(optimiser.state_dict()))
            optimiser = m.optim.LBFGS(params, **settings)
            optimiser.load_state_dict(saved)
        held = optimiser, params

        def closure(held=held):
            optimiser, (x, y) = held
            optimiser.zero_grad()
            loss = (3 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum() + (y - 1) ** 2
            loss.backward()
            return loss

        losses.append(optimiser.step(closure).item())
    return losses, params, optimiser


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize(("dtype", "steps", "tolerance"), [(np.float64, 50, 1e-9), (np.float32, 2, 1e-4)])
def test_lbfgs_is_pytorchs(settings, dtype, steps, tolerance):
    theirs, p, a = rosenbrock(torch, settings, dtype, steps)
    ours, q, b = rosenbrock(lab, settings, dtype, steps)
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    for x, y in zip(p, q, strict=True):
        np.testing.assert_allclose(y.detach().numpy(), x.detach().numpy(), rtol=tolerance, atol=tolerance)
    assert set(a.state_dict()["state"][0]) == set(b.state_dict()["state"][0])


@pytest.mark.parametrize("settings", SETTINGS)
def test_resuming_lbfgs_is_exact(settings):
    straight = rosenbrock(lab, settings, np.float32, 6)
    resumed = rosenbrock(lab, settings, np.float32, 6, resume_at=2)
    assert straight[0] == resumed[0]


def test_what_lbfgs_refuses():
    p, q = (lab.tensor([1.0], requires_grad=True) for _ in range(2))
    with pytest.raises(ValueError, match="parameter groups"):
        lab.optim.LBFGS([{"params": [p]}, {"params": [q]}])
    with pytest.raises(ValueError, match="Invalid learning rate"):
        lab.optim.LBFGS([p], lr=-1)


@pytest.mark.parametrize("rule", [None, "get_ema_multi_avg_fn", "get_ema_avg_fn", "get_swa_multi_avg_fn", "get_swa_avg_fn"])
@pytest.mark.parametrize("use_buffers", [False, True])
def test_averages_and_batch_norm_are_pytorchs(rule, use_buffers):
    if use_buffers and rule == "get_swa_multi_avg_fn":
        use_buffers = False  # PyTorch fails here: it does not average the whole numbers among the buffers

    def averaged(m):
        rng = np.random.default_rng(0)
        net = m.nn.Sequential(m.nn.Linear(3, 4), m.nn.BatchNorm1d(4))
        swa, settings = m.optim.swa_utils, {}
        if rule:
            settings["multi_avg_fn" if "multi" in rule else "avg_fn"] = getattr(swa, rule)(*([0.9] if "ema" in rule else []))
        model = swa.AveragedModel(net, use_buffers=use_buffers, **settings)
        for _ in range(4):
            with m.no_grad():
                for p in net.parameters():
                    p.copy_(m.tensor(np.asarray(rng.standard_normal(tuple(p.shape)), np.float32)))
            net(m.tensor(np.asarray(rng.standard_normal((5, 3)), np.float32)))
            model.update_parameters(net)
        before = {k: v.numpy().copy() for k, v in model.state_dict().items()}
        swa.update_bn([m.tensor(np.asarray(rng.standard_normal((5, 3)), np.float32)) for _ in range(3)], model)
        return before, {k: v.numpy() for k, v in model.state_dict().items()}

    for theirs, ours in zip(averaged(torch), averaged(lab), strict=True):
        assert list(theirs) == list(ours)
        for key in theirs:
            np.testing.assert_allclose(ours[key], theirs[key], rtol=1e-5, atol=1e-6, err_msg=key)


@pytest.mark.parametrize("strategy", ["cos", "linear"])
@pytest.mark.parametrize("epochs", [0, 5])
def test_swalr_is_pytorchs(strategy, epochs):
    def rates(m):
        optimiser = m.optim.SGD([m.nn.Parameter(m.zeros(1))], lr=0.5)
        schedule = m.optim.swa_utils.SWALR(optimiser, swa_lr=0.05, anneal_epochs=epochs, anneal_strategy=strategy)
        out = []
        for _ in range(8):
            optimiser.step()
            schedule.step()
            out.append(schedule.get_last_lr()[0])
        return out

    np.testing.assert_allclose(rates(lab), rates(torch), rtol=1e-12)
