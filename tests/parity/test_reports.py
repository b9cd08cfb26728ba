"""What users reported of small autograd libraries (C), and of PyTorch's formulas and CuPy (E): each report a test with its number.

Numbers in the tests are the reports' own. Not here, or another way:

- E30, E41, E44, E46, E48 compare a GPU with the CPU. Here the CPU's result is compared with what the report expects; the same on
  a GPU is the devices' tests' affair.
- E13, E14: the reports ask for other gradients at infinities than PyTorch's NaN; here they are PyTorch's (see DIFFERENCES.md,
  "Conventions at kinks and ties").
- E26 and E27 are about traced and scripted functions, which this library has not: the eager gradients are checked, the loop's
  against a recurrent layer.
- E36, E37: PyTorch's names have no ``nanargmin``; the same question is put to ``argmin`` of ``nan_to_num``, and to ``out=``.
- E39 needs 16 GB: the index type is checked.
- C12 uses 4 MB an array instead of 100.
- C33: a node's edges are a tuple that recording writes once; no public way makes a node its own ancestor.
- C37's gradient at a maximum that is NaN is PyTorch's: the NaN gets it all.
- E47: PyTorch's ``nan_to_num`` takes a number only; ``where`` takes an array.
- E48: PyTorch refuses the mean of whole numbers without ``dtype=``.
"""

import gc
import math
import tracemalloc
import warnings

import numpy as np
import pytest

import autograd_lab as lab

INF, NAN = math.inf, math.nan


def grads(function, *values, seed=None, dtype=lab.float64):
    """The value and the gradients of a function's sum, or for a seed."""
    leaves = [lab.tensor(v, dtype=dtype, requires_grad=True) for v in values]
    y = function(*leaves)
    y.backward(lab.ones_like(y) if seed is None else lab.tensor(seed, dtype=dtype))
    return y.detach(), *(leaf.grad for leaf in leaves)


def near(found, expected, rtol=1e-6):
    np.testing.assert_allclose(found.numpy(), np.array(expected, float), rtol=rtol, atol=1e-12)
    assert found.numpy().shape == np.shape(expected)


# Report, function, inputs, gradients.
GRADIENTS = [
    ("C01", lambda x: x.expand(4, 3).sum(), [[1.0, 1, 1]], [[4, 4, 4]]),
    ("C01", lambda x: lab.broadcast_to(x, (2, 5)).sum(), [[[1.0], [1.0]]], [[[5], [5]]]),
    ("C02", lambda x: x.tanh(), [[-1.0, 0.0, 0.5, 1.0, 2.0]], [(1 - np.tanh([-1.0, 0.0, 0.5, 1.0, 2.0]) ** 2).tolist()]),
    ("C04", lambda x: x.norm() ** 2, [[0.0, 0.0]], [[0, 0]]),
    ("C04", lambda x: lab.linalg.norm(x, dim=-1).square().sum(), [[[0.0, 0], [3, 4]]], [[[0, 0], [6, 8]]]),
    ("C05", lambda x: lab.exp(-(x.norm() ** 2)), [[[0.0], [0.0]]], [[[0], [0]]]),
    ("C05", lambda x: lab.exp(-(x**2).sum()), [[[0.0], [0.0]]], [[[0], [0]]]),
    ("C09", lambda x: x.prod(), [[0.0, 3.0]], [[3, 0]]),
    ("C09", lambda x: x.prod(), [[0.0, 0.0, 5.0]], [[0, 0, 0]]),
    ("C09", lambda x: x.prod(), [[0.0]], [[1]]),
    ("C09", lambda x: x.prod(1).sum(), [[[0.0, 3], [2, 5]]], [[[3, 0], [5, 2]]]),
    ("C22", lambda a, b: lab.einsum("k,nk->", a, b), [[1.0, 1], np.ones((3, 2)).tolist()], [[3, 3], np.ones((3, 2)).tolist()]),
    ("C29", lambda a, b: ((a + b) + a * b) + (a + b) * (a * b), [2.0, 3.0], [25, 19]),
    ("C34", lambda a, b: a**b, [2.0, 3.0], [12, 8 * math.log(2)]),
    ("C34", lambda a, b: lab.pow(a, b).sum(), [[2.0, 4.0], 0.5], [[0.25 * 2**0.5, 0.25], 2**0.5 * math.log(2) + 2 * math.log(4)]),
    ("C37", lambda x: lab.nan_to_num(x.max()), [[1.0, NAN, 3.0]], [[0, 0, 0]]),
    ("C41", lambda x: x.max(), [[2.0, 2.0, 1.0]], [[0.5, 0.5, 0]]),
    ("C41", lambda x: x.amax(), [[2.0, 2.0, 1.0]], [[0.5, 0.5, 0]]),
    ("C41", lambda x: x.max(0).values, [[2.0, 2.0, 1.0]], [[1, 0, 0]]),
    ("C44", lambda x: x.norm(), [[0.0, 0.0]], [[0, 0]]),
    ("C46", lambda a: lab.where(a == 0, 0.0, lab.atan2(a, a)).sum(), [[3.0, 0.0, -5.0]], [[0, 0, 0]]),
    ("C48", lambda x: lab.relu(x), [[0.0, 1e-45, -1e-45]], [[0, 1, 0]]),
    ("C48", lambda x: lab.where(x > 0, x, 0.0), [[0.0, 1e-45]], [[0, 1]]),
    ("C48", lambda x: lab.maximum(x, lab.zeros_like(x)), [[0.0, 1e-45]], [[0.5, 1]]),
    ("C48", lambda x: x.clamp(min=0), [[0.0, 1e-45]], [[1, 1]]),
    ("C51", lambda x: lab.nn.functional.logsigmoid(x), [0.0], [0.5]),
    ("C51", lambda x: lab.sigmoid(x).log(), [[0.0, 0.0]], [[0.5, 0.5]]),
    ("C61", lambda a, b: (a * b).sum(), [np.ones((2, 1, 4, 8)).tolist(), np.ones((2, 1, 4, 1)).tolist()],
     [np.ones((2, 1, 4, 8)).tolist(), np.full((2, 1, 4, 1), 8.0).tolist()]),
    ("C62", lambda a: (a * lab.ones(5, 4, dtype=lab.float64)).sum(), [[3.0]], [[20]]),
    ("E01", lambda x: x.prod(0), [[0.0]], [[1]]),
    ("E01", lambda x: x.prod(0).sum(), [[[0.0, 2], [3, 4]]], [[[3, 4], [0, 2]]]),
    ("E04", lambda x: lab.sigmoid(x), [[45.0, -45.0]], [[2.862518580549394e-20] * 2]),
    ("E09", lambda b: (lab.tensor([0.0, 2.0], dtype=lab.float64) ** b).sum(), [[1.0, 1.0]], [[0, 2 * math.log(2)]]),
    ("E13", lambda a, b, c: lab.logaddexp(lab.logaddexp(a, b), c), [-INF, -INF, 2.0], [NAN, NAN, 1]),
    ("E14", lambda a, b: lab.logaddexp(a, b), [3.0, INF], [0, 1]),
    ("E14", lambda x: lab.logsumexp(x, 0), [[3.0, INF]], [[0, NAN]]),
    ("E17", lambda a, b: lab.atan2(a, b), [0.0, 0.0], [0, 0]),
    ("E25", lambda x: (x.permute(-1, -2) * lab.arange(6.0).reshape(3, 2)).sum(), [np.ones((2, 3)).tolist()],
     [[[0, 2, 4], [1, 3, 5]]]),
    ("E26", lambda z: (z.exp() - 0) + (z.exp() - lab.zeros(10)).sum(), [1.0], [11 * math.e]),
    ("E33", lambda x: (-x).sum_to_size(1), [[1.0, 2, 3]], [[-1, -1, -1]]),
    ("E44", lambda x: x[[0, 0, 2]].sum(), [[1.0, 2, 3]], [[2, 0, 1]]),
    ("E44", lambda x: x[lab.tensor([[0, 0], [2, 0]])].sum(), [[1.0, 2, 3]], [[3, 0, 1]]),
]  # fmt: skip


@pytest.mark.parametrize("report, function, values, expected", GRADIENTS, ids=[f"{r[0]}-{i}" for i, r in enumerate(GRADIENTS)])
def test_gradient(report, function, values, expected):
    _, *found = grads(function, *values)
    for g, wanted in zip(found, expected, strict=True):
        near(g, wanted)


def test_C02_a_gradient_of_many_values_asks_for_a_seed():
    with pytest.raises(RuntimeError, match="scalar"):
        lab.ones(5, requires_grad=True).tanh().backward()


@pytest.mark.parametrize("square", [lambda x: x**2, lambda x: x * x, lambda x: x.square(), lambda x: x.pow(2.0)])
def test_C10_four_derivatives(square):
    x = lab.tensor(0.0, dtype=lab.float64, requires_grad=True)
    y, found = lab.exp(-square(x)), []
    for _ in range(4):
        (y,) = lab.autograd.grad(y, x, create_graph=True)
        found.append(y.item())
    assert found == pytest.approx([0, -2, 0, 12])


def test_C12_tapes_go_by_reference_counting_alone():
    x = lab.ones(1_000_000, requires_grad=True)
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        for i in range(30):
            lab.autograd.grad(((x * 2).tanh() * x).sum(), x)
            if i == 9:
                before = tracemalloc.get_traced_memory()[0]
        assert tracemalloc.get_traced_memory()[0] - before < 4_000_000
    finally:
        tracemalloc.stop()
        gc.enable()


@pytest.mark.parametrize("place", [(slice(2), slice(2)), ([0, 1],), (slice(1, 3), slice(2, 4))], ids=str)
def test_C14_a_tracked_block_written_into_zeros(place):
    a = lab.ones(2, 4 if len(place) == 1 else 2, requires_grad=True)
    b = lab.zeros(4, 4)
    b[place] = a
    b.sum().backward()
    assert (a.grad == 1).all() and b.sum().item() == a.numel()


def test_C17_a_matrix_of_tracked_scalars():
    t = lab.arange(4.0, dtype=lab.float64).requires_grad_()
    m = lab.stack([lab.stack([t[0], t[1]]), lab.stack([t[2], t[3]])])
    rows = [lab.autograd.grad(e, t, retain_graph=True)[0].tolist() for e in m.reshape(4)]
    assert m.dtype == lab.float64 and rows == np.eye(4).tolist()


@pytest.mark.parametrize(
    "f", [lambda x: (x**2).sum().real, lambda x: x.mean() * 2.0, lambda x: x * np.float64(2), lambda x: x.std()]
)
def test_C21_float32_stays_float32(f):
    x = lab.tensor([1.0, 2.0], requires_grad=True)
    y = f(x)
    assert y.dtype == lab.float32
    y.sum().backward()
    assert x.grad.dtype == lab.float32


def test_C24_a_view_taken_after_backward_of_the_gradient():
    base = lab.arange(4.0).requires_grad_()
    (base**2).sum().backward()
    assert base.grad[-2:].tolist() == [4, 6]


def test_C28_the_diagonal_by_einsum():
    _, g = grads(lambda x: lab.einsum("ii->i", x), np.ones((3, 3)).tolist(), seed=[1.0, 2, 3])
    near(g, np.diag([1, 2, 3]).tolist())


def test_C32_fifty_thousand_operations():
    leaves = [lab.ones((), requires_grad=True) for _ in range(50_000)]
    total = leaves[0]
    for leaf in leaves[1:]:
        total = total + leaf
    total.backward()
    assert all(leaf.grad.item() == 1 for leaf in leaves) and repr(total).startswith("tensor(50000.")
    del total


def test_C35_a_negative_base_with_a_fixed_exponent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grads(lambda x: x**2, -2.0)[1].item() == -4
        assert grads(lambda x: x**3.0, [-2.0, 0.0])[1].tolist() == [12, 0]


def test_C36_the_maximum_of_very_many_equal_halves():
    x = lab.ones(70_000, dtype=lab.float16, requires_grad=True)
    x.max().backward()
    assert x.grad.double().sum().item() == pytest.approx(1, rel=0.01) and x.grad[0].item() == pytest.approx(1.43e-5, rel=0.01)


def test_C37_max_sees_nan():
    assert math.isnan(lab.tensor([1.0, NAN, 3.0]).max().item()) and lab.tensor([1.0, NAN, 3.0]).argmax().item() == 1


@pytest.mark.parametrize("dtype", ["int64", "int8", "bool"])
def test_C39_C50_whole_numbers_need_no_gradient(dtype):
    with pytest.raises(RuntimeError, match="floating point"):
        lab.tensor([1, 2, 3], dtype=getattr(lab, dtype), requires_grad=True)
    with pytest.raises(RuntimeError, match="floating point"):
        lab.tensor([1, 2, 3], dtype=getattr(lab, dtype)).requires_grad_()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_C40_the_first_gradient_has_the_tensors_dtype(dtype):
    x = lab.ones(3, dtype=getattr(lab, dtype), requires_grad=True)
    x.sum().backward()
    assert x.grad.dtype == x.dtype


def test_C58_einsum_with_batch_axes():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(1, 1, 5, 3)), rng.normal(size=(1, 1, 3, 2))
    seed = rng.normal(size=(1, 1, 5, 2))
    ours = grads(lambda a, b: lab.einsum("bnij,bnjc->bnic", a, b), a, b, seed=seed)
    for found, wanted in zip(ours, grads(lambda a, b: a @ b, a, b, seed=seed), strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-6)


def test_E08_clamp_with_tensor_bounds():
    _, a, low, high = grads(lambda a, lo, hi: a.clamp(lo, hi), [-2.0, -1, 0, 1, 2], [-1.0] * 5, [1.0] * 5)
    assert a.tolist()[::2] == [0, 1, 0] and low.tolist()[::2] == [1, 0, 0] and high.tolist()[::2] == [0, 0, 1]
    assert (a + low + high).tolist() == [1] * 5


def test_E13_E14_values():
    minus = lab.tensor(-INF)
    assert lab.logaddexp(lab.logaddexp(minus, minus), lab.tensor(2.0)).item() == 2
    assert lab.logaddexp(lab.tensor(3.0), lab.tensor(INF)).item() == INF


def test_E16_the_variance_of_one_element():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y, g = grads(lambda x: x.var(), [[1.0]])
    assert math.isnan(y.item()) and g.shape == (1, 1) and math.isnan(g.item())


def test_E19_renormalised_to_nothing():
    _, g = grads(lambda x: lab.renorm(x, 2, 0, 0.0), [[0.1, 0.0], [0.0, 0.0]])
    near(g, [[0, 0], [0, 0]])


def test_E21_distances_of_equal_points():
    points = [[1.0, 2], [1, 2], [4, 6]]
    _, g = grads(lambda x: lab.nn.functional.pdist(x).sum(), points)
    near(g, [[-0.6, -0.8], [-0.6, -0.8], [1.2, 1.6]])
    _, a, b = grads(lambda a, b: lab.cdist(a, b).sum(), points[:1], points)
    near(a, [[-0.6, -0.8]])
    near(b, [[0, 0], [0, 0], [0.6, 0.8]])


def test_E27_E28_loops_and_recurrent_layers_agree():
    lab.manual_seed(0)
    for kind, act in (("tanh", lab.tanh), ("relu", lab.relu)):
        layer = lab.nn.RNN(3, 4, nonlinearity=kind, dtype=lab.float64)
        x = lab.randn(10, 1, 3, dtype=lab.float64, requires_grad=True)
        (by_layer,) = lab.autograd.grad(layer(x)[0].sum(), x)
        h, total = lab.zeros(1, 4, dtype=lab.float64), 0.0
        for row in x:
            h = act(row @ layer.weight_ih_l0.T + layer.bias_ih_l0 + h @ layer.weight_hh_l0.T + layer.bias_hh_l0)
            total = total + h.sum()
        (by_loop,) = lab.autograd.grad(total, x)
        np.testing.assert_allclose(by_layer.numpy(), by_loop.numpy(), rtol=1e-6, atol=1e-9)


def test_E28_a_relu_cell_has_the_gradient_of_differences():
    lab.manual_seed(1)
    cell = lab.nn.RNNCell(3, 4, nonlinearity="relu", dtype=lab.float64)
    x, h = (lab.randn(2, n, dtype=lab.float64, requires_grad=True) for n in (3, 4))
    assert lab.autograd.gradcheck(cell, (x, h))


def test_E30_the_norm_of_zeros():
    y, g = grads(lambda x: x.norm(), np.zeros((5, 5)).tolist())
    assert y.item() == 0 and (g == 0).all()


@pytest.mark.parametrize("ignored", [-100, 1])
def test_E31_ignored_rows_poison_nothing(ignored):
    loss = lab.nn.CrossEntropyLoss(ignore_index=ignored)
    labels = lab.tensor([ignored, 1 if ignored != 1 else 0])
    _, g = grads(lambda x: loss(x, labels), [[-INF, -INF], [1.0, 2.0]])
    near(g, [[0, 0], [0.268941, -0.268941] if ignored != 1 else [-0.731059, 0.731059]], rtol=1e-5)


def test_E36_E37_argmin_with_out_and_beside_nan():
    out = lab.zeros(1, dtype=lab.int64)
    assert lab.argmin(lab.tensor([[0.0]]), 1).tolist() == [0]
    lab.min(lab.tensor([[0.0]]), 1, out=(lab.zeros(1), out))
    assert out.tolist() == [0]
    x = lab.tensor([[1.0, NAN, 3.0], [NAN, 5.0, 2.0]])
    assert lab.nan_to_num(x, nan=-INF).argmax(1).tolist() == [2, 1]


def test_E39_places_are_long_integers():
    assert lab.arange(5).argmax().dtype == lab.int64 and lab.arange(5.0).argsort().dtype == lab.int64


@pytest.mark.parametrize("shape", [(69, 64, 2, 947), (68, 64, 2, 9)], ids=str)
def test_E41_sums_along_an_inner_axis(shape):
    x = np.random.default_rng(0).random(shape, np.float32)
    assert np.abs(lab.tensor(x).sum(2).numpy() - x.sum(2)).max() < 1e-6


def test_E46_reductions_are_tensors():
    parts = [lab.tensor([1, 4]).sum(), lab.tensor([1.0]).max(), lab.tensor([2.0, 4]).mean()]
    assert all(type(p) is lab.Tensor and p.shape == () for p in parts)
    assert lab.tensor(parts).tolist() == [5, 1, 3] and lab.stack([p.double() for p in parts]).shape == (3,)


def test_E47_nan_replaced_by_an_array():
    x = lab.tensor([NAN, 1.0])
    assert lab.where(x.isnan(), lab.tensor([7.0, 8.0]), x).tolist() == [7, 1]


def test_E48_the_mean_of_whole_numbers():
    x = lab.tensor([1, 2])
    assert x.mean(dtype=lab.float32).item() == 1.5 and x.tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="dtype"):
        x.mean()
