"""The same weights give the same losses as PyTorch, step by step; first weights, masks and texts agree too."""

import numpy as np
import pytest
import torch

import autograd_lab as lab


def mlp(m):
    nn = m.nn
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))


def cnn(m):
    nn = m.nn
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3, stride=2),
        nn.Tanh(),
        nn.Flatten(), nn.Linear(8, 4),
    )  # fmt: skip


def copied(model):
    return {k: lab.tensor(v.numpy()) for k, v in model.state_dict().items()}


def losses(m, model, optimiser, batches):
    loss_fn = m.nn.CrossEntropyLoss()
    out = []
    for x, y in batches:
        optimiser.zero_grad()
        loss = loss_fn(model(m.tensor(x)), m.tensor(y))
        loss.backward()
        optimiser.step()
        out.append(loss.item())
    return out


OPTIMISERS = {
    "sgd": lambda m, p: m.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=1e-3, nesterov=True),
    "adam": lambda m, p: m.optim.Adam(p, lr=0.01),
    "adamw": lambda m, p: m.optim.AdamW(p, lr=0.01, amsgrad=True),
}


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize(("build", "shape"), [(mlp, (32, 6)), (cnn, (16, 1, 7, 7))])
def test_fifty_steps_as_pytorch(build, shape, name):
    rng = np.random.default_rng(0)
    batches = [(rng.standard_normal(shape).astype(np.float32), rng.integers(0, 4, shape[0])) for _ in range(50)]
    theirs, ours = build(torch), build(lab)
    ours.load_state_dict(copied(theirs))
    a = losses(torch, theirs, OPTIMISERS[name](torch, theirs.parameters()), batches)
    b = losses(lab, ours, OPTIMISERS[name](lab, ours.parameters()), batches)
    np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-5)
    for key, value in theirs.state_dict().items():
        np.testing.assert_allclose(ours.state_dict()[key].numpy(), value.numpy(), rtol=1e-3, atol=1e-4, err_msg=key)


LAYERS = [
    "Linear(5, 3)", "Linear(5, 3, bias=False)", "Bilinear(3, 4, 5)", "Conv1d(2, 3, 3)", "Conv2d(2, 4, (3, 2), groups=2)",
    "ConvTranspose2d(3, 4, 3)", "Embedding(7, 3)", "Embedding(7, 3, padding_idx=2)", "BatchNorm2d(3)", "LayerNorm((2, 3))",
    "PReLU(3)", "GroupNorm(2, 4)",
]  # fmt: skip


@pytest.mark.parametrize("text", LAYERS)
def test_first_weights_are_pytorchs(text):
    torch.manual_seed(3)
    lab.manual_seed(3)
    theirs, ours = eval("torch.nn." + text), eval("lab.nn." + text)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for key, value in theirs.state_dict().items():
        np.testing.assert_array_equal(ours.state_dict()[key].numpy(), value.numpy(), err_msg=key)


@pytest.mark.parametrize("name", ["uniform_", "normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_",
                                  "orthogonal_", "trunc_normal_", "ones_", "zeros_", "eye_"])  # fmt: skip
def test_initialisers_give_pytorchs_numbers(name):
    torch.manual_seed(7)
    lab.manual_seed(7)
    a = getattr(torch.nn.init, name)(torch.empty(6, 5)).numpy()
    b = getattr(lab.nn.init, name)(lab.empty(6, 5)).numpy()
    np.testing.assert_allclose(b, a, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("p", [0.0, 0.3, 0.5, 1.0])
def test_dropout_masks_are_pytorchs(p):
    x = np.ones((5, 7), np.float32)
    torch.manual_seed(1)
    lab.manual_seed(1)
    a = torch.nn.Dropout(p)(torch.tensor(x))
    b = lab.nn.Dropout(p)(lab.tensor(x))
    np.testing.assert_array_equal(b.numpy(), a.numpy())
    np.testing.assert_array_equal(lab.nn.Dropout(p).eval()(lab.tensor(x)).numpy(), x)


def test_printing_is_pytorchs():
    class Net:
        @staticmethod
        def of(m):
            nn = m.nn
            return nn.Sequential(
                nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.ReLU()]),
                nn.ModuleDict({"a": nn.Tanh(), "b": nn.Sequential(nn.Dropout(0.1))}), nn.Identity(), nn.Softmax(dim=1), nn.ELU(),
                nn.AdaptiveAvgPool2d((2, None)), nn.ParameterList([m.zeros(2)]),
            )  # fmt: skip

    assert repr(Net.of(lab)) == repr(Net.of(torch))


def test_printing_of_parameters_and_distances_is_pytorchs():
    def made(m):
        entries = {"b": m.zeros(2, 3), "a": m.nn.Parameter(m.zeros(2).double()), "c": 3}
        return [m.nn.ParameterDict(entries), m.nn.ParameterDict(list(entries.items())), m.nn.TripletMarginWithDistanceLoss()]

    assert list(map(repr, made(lab))) == list(map(repr, made(torch)))


def test_classifier_losses_agree_in_every_form():
    rng = np.random.default_rng(1)
    x, t = rng.standard_normal((6, 5, 3)), rng.integers(0, 5, (6, 3))
    t[0] = -100
    w = rng.random(5)
    for reduction in ("mean", "sum", "none"):
        for smoothing in (0.0, 0.2):
            for weight in (None, w):
                args = dict(reduction=reduction, label_smoothing=smoothing)
                a = torch.nn.functional.cross_entropy(
                    torch.tensor(x), torch.tensor(t), None if weight is None else torch.tensor(weight), **args
                )
                b = lab.nn.functional.cross_entropy(
                    lab.tensor(x), lab.tensor(t), None if weight is None else lab.tensor(weight), **args
                )
                np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-12)


def test_a_far_truncated_normal_is_pytorchs():
    torch.manual_seed(7)
    lab.manual_seed(7)
    a = torch.nn.init.trunc_normal_(torch.empty(40, 5), 0.0, 1.0, 1.5, 2.5).numpy()
    b = lab.nn.init.trunc_normal_(lab.empty(40, 5), 0.0, 1.0, 1.5, 2.5).numpy()
    np.testing.assert_allclose(b, a, rtol=1e-6)
