"""CTC loss, fractional pooling and normalisation across channels against PyTorch, forward and backward."""

import numpy as np
import pytest
import torch

import autograd_lab as lab


def both(call, *arrays):
    """Outputs and gradients of ``call(module, *tensors)`` in PyTorch and here."""
    found = []
    for m in (torch, lab):
        leaves = [m.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
        out = call(m, *leaves)
        (out * out).sum().backward()
        found.append([out.detach().numpy(), *(t.grad.numpy() for t in leaves if t.grad is not None)])
    return found


def same(call, *arrays, rtol=1e-9):
    for a, b in zip(*both(call, *arrays), strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(b, a, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("blank", [0, 3])
def test_ctc(reduction, blank):
    lp = np.random.default_rng(1).standard_normal((8, 4, 5))
    labels = np.array([[1, 1, 2], [4, 2, 4], [1, 2, 1], [2, 2, 2]])
    same(lambda m, x, t: m.nn.functional.ctc_loss(
        x.log_softmax(2), t, (8, 7, 5, 8), (3, 2, 0, 1), blank=blank, reduction=reduction), lp, labels)  # fmt: skip
    flat = np.array([1, 1, 2, 4, 2, 2])
    same(lambda m, x, t: m.nn.functional.ctc_loss(x, t, m.tensor([8, 7, 5, 8]), m.tensor([3, 2, 0, 1]), blank, reduction), lp, flat)


def test_ctc_of_one_sequence():
    lp = np.random.default_rng(1).standard_normal((6, 5))
    same(lambda m, x, t: m.nn.CTCLoss(reduction="none")(x.log_softmax(1), t, m.tensor(6), m.tensor(2)), lp, np.array([1, 2]))


def test_ctc_of_targets_that_do_not_fit():
    lp = lab.randn(3, 2, 4).log_softmax(2).detach().requires_grad_()
    targets = lab.tensor([[1, 1, 2], [1, 2, 3]])
    loss = lab.nn.CTCLoss(reduction="none")(lp, targets, (3, 3), (3, 3))
    assert loss[0].item() == float("inf") and loss[1].isfinite()
    lab.nn.CTCLoss(reduction="none", zero_infinity=True)(lp, targets, (3, 3), (3, 3)).sum().backward()
    assert lp.grad.isfinite().all() and (lp.grad[:, 0] == 0).all() and (lp.grad[:, 1] != 0).any()


def test_ctc_of_impossible_classes():
    lp = np.full((4, 1, 3), -np.inf)
    lp[[0, 1, 2, 3], 0, [0, 1, 0, 2]] = 0
    x = lab.tensor(lp, requires_grad=True)
    loss = lab.nn.functional.ctc_loss(x, lab.tensor([[1, 2]]), (4,), (2,), reduction="sum")
    loss.backward()
    assert loss.item() == 0 and (x.grad == 0).all()


@pytest.mark.parametrize("shape, n", [((2, 3, 7, 9), 2), ((3, 7, 9), 2), ((2, 3, 6, 7, 9), 3), ((3, 6, 7, 9), 3)])
@pytest.mark.parametrize("options", [{"output_ratio": 0.6}, {"output_size": 2}, {"output_size": 1}])
def test_fractional_pooling(shape, n, options):
    x = np.random.default_rng(1).standard_normal(shape)
    samples = np.random.default_rng(2).random((shape[0] if len(shape) == n + 2 else 1, 3, n))
    same(lambda m, t: getattr(m.nn, f"FractionalMaxPool{n}d")(2, **options, _random_samples=m.tensor(samples))(t), x)
    places = []
    for m in (torch, lab):
        pool = getattr(m.nn, f"FractionalMaxPool{n}d")(2, **options, return_indices=True, _random_samples=m.tensor(samples))
        places.append(pool(m.tensor(x))[1].numpy())
    a, b = places
    np.testing.assert_array_equal(b, a)


def test_fractional_pooling_draws_pytorchs_places():
    x = np.random.default_rng(1).standard_normal((2, 3, 9, 9)).astype(np.float32)
    outs = []
    for m in (torch, lab):
        m.manual_seed(4)
        outs.append(m.nn.FractionalMaxPool2d(3, output_ratio=0.5)(m.tensor(x)).numpy())
    np.testing.assert_array_equal(outs[1], outs[0])


@pytest.mark.parametrize("size, channels", [(2, 3), (3, 5), (5, 7), (5, 2), (4, 6)])
def test_cross_map_normalisation(size, channels):
    x = np.random.default_rng(1).standard_normal((2, channels, 2, 3))
    same(lambda m, t: m.nn.CrossMapLRN2d(size, 0.3, 0.7, 2)(t), x)


def test_bad_input_is_refused():
    with pytest.raises(RuntimeError, match="input_lengths"):
        lab.nn.CTCLoss()(lab.zeros(4, 1, 3), lab.tensor([[1]]), (5,), (1,))
    with pytest.raises(RuntimeError, match="pool size"):
        lab.nn.FractionalMaxPool2d(3, 5)(lab.zeros(1, 1, 6, 9))
    with pytest.raises(ValueError, match="ratio"):
        lab.nn.FractionalMaxPool2d(3, output_ratio=1.5)
