"""Linear algebra against PyTorch: values and two orders of gradients where a difference quotient can't judge, and errors."""

import numpy as np
import pytest
import torch

import autograd_lab as lab

GENERATOR = np.random.default_rng(7)


def matrix(*shape, complex_=False):
    """A random matrix, fixed by the order of the tests' parameters."""
    values = GENERATOR.normal(size=shape)
    return values + 1j * GENERATOR.normal(size=shape) if complex_ else values


def positive(library, a):
    return a @ a.mH + library.eye(a.shape[-1], dtype=a.dtype)


def symmetric(library, a):
    return a + a.mH


def plain(library, a):
    return a


CASES = {
    "cholesky": (positive, lambda t, a: [t.linalg.cholesky(a)]),
    "cholesky upper": (positive, lambda t, a: [t.linalg.cholesky(a, upper=True)]),
    "eigh": (symmetric, lambda t, a: [t.linalg.eigh(a)[0], t.linalg.eigh(a)[1].abs()]),
    "eigh upper": (symmetric, lambda t, a: [t.linalg.eigh(a, "U").eigenvectors.abs()]),
    "eigvalsh": (symmetric, lambda t, a: [t.linalg.eigvalsh(a)]),
    "eig": (plain, lambda t, a: [t.linalg.eig(a)[0].abs(), t.linalg.eig(a)[1].abs()]),
    "eigvals": (plain, lambda t, a: [t.linalg.eigvals(a).abs()]),
    "svd": (plain, lambda t, a: [t.linalg.svd(a).S, t.linalg.svd(a).U.abs(), t.linalg.svd(a).Vh.abs()]),
    "qr": (plain, lambda t, a: [t.linalg.qr(a).R.abs()]),
    "lu": (plain, lambda t, a: list(t.linalg.lu(a)[1:])),
    "lu_factor": (plain, lambda t, a: [t.linalg.lu_factor(a)[0]]),
    "slogdet": (plain, lambda t, a: list(t.linalg.slogdet(a))),
    "det": (plain, lambda t, a: [t.linalg.det(a)]),
    "pinv": (plain, lambda t, a: [t.linalg.pinv(a)]),
    "matrix_exp": (plain, lambda t, a: [t.linalg.matrix_exp(a)]),
    "cond": (plain, lambda t, a: [t.linalg.cond(a), t.linalg.cond(a, -2)]),
    "lstsq": (plain, lambda t, a: [t.linalg.lstsq(a, a @ a).solution]),
    "fft": (plain, lambda t, a: [t.fft.fft2(a).abs(), t.fft.irfft(a).abs(), t.fft.hfft(a, norm="ortho") ** 2]),
}


def results(library, values, prepare, function):
    """Outputs, gradients and second-order gradients for fixed weights, as arrays."""
    weights = np.random.default_rng(3)
    leaf = library.tensor(values, requires_grad=True)
    outputs = function(library, prepare(library, leaf))
    loss = sum((y * library.tensor(weights.normal(size=tuple(y.shape)))).sum() for y in outputs)
    loss = loss.real if loss.is_complex() else loss
    (g,) = library.autograd.grad(loss, leaf, create_graph=True)
    second = (g * library.tensor(weights.normal(size=values.shape))).sum()
    (h,) = library.autograd.grad(second.real if second.is_complex() else second, leaf)
    return [*(y.detach().resolve_conj().numpy() for y in outputs), g.detach().resolve_conj().numpy(), h.resolve_conj().numpy()]


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3)], ids=["matrix", "batch"])
@pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, complex_, shape):
    values = matrix(*shape, complex_=complex_)
    for ours, theirs in zip(results(lab, values, *CASES[name]), results(torch, values, *CASES[name]), strict=True):
        scale = 1 + np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-8 * scale)


SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
ERRORS = {
    "inv of a singular matrix": lambda t: t.linalg.inv(t.tensor(SINGULAR)),
    "inv in a batch": lambda t: t.linalg.inv(t.stack([t.eye(2), t.tensor(SINGULAR)])),
    "solve": lambda t: t.linalg.solve(t.tensor(SINGULAR), t.eye(2)),
    "cholesky": lambda t: t.linalg.cholesky(-t.eye(2)),
    "svd of nan": lambda t: t.linalg.svd(t.eye(2) * float("nan")),
    "not square": lambda t: t.linalg.det(t.ones(2, 3)),
    "a vector": lambda t: t.linalg.inv(t.ones(3)),
    "whole numbers": lambda t: t.linalg.inv(t.eye(2).long()),
    "half precision": lambda t: t.linalg.inv(t.eye(2).half()),
    "shapes": lambda t: t.linalg.solve(t.eye(2), t.ones(3, 2)),
    "mode": lambda t: t.linalg.qr(t.eye(2), mode="x"),
    "fft of no points": lambda t: t.fft.fft(t.ones(3), n=0),
    "fft norm": lambda t: t.fft.fft(t.ones(3), norm="x"),
    "rfft of complex": lambda t: t.fft.rfft(t.ones(3, dtype=t.complex64)),
    "stft of real": lambda t: t.stft(t.ones(20), 8),
}


@pytest.mark.parametrize("call", ERRORS.values(), ids=ERRORS)
def test_errors(call):
    with pytest.raises(RuntimeError) as theirs:
        call(torch)
    with pytest.raises(RuntimeError) as ours:
        call(lab)
    assert isinstance(ours.value, lab.linalg.LinAlgError) == isinstance(theirs.value, torch.linalg.LinAlgError)


def test_the_derivative_of_a_determinant_exists_for_singular_matrices():
    a = lab.tensor(SINGULAR, requires_grad=True)
    lab.linalg.det(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), [[4, -2], [-2, 1]], rtol=1e-5)


def test_results_print_as_pytorchs():
    for function in (lambda t: t.linalg.eigh(t.eye(2)), lambda t: t.linalg.slogdet(t.eye(2)), lambda t: t.linalg.svd(t.eye(2))):
        assert repr(function(lab)) == repr(function(torch))


def test_info_names_the_pivot_that_is_zero():
    batch = [np.eye(2), np.array(SINGULAR)]
    for function in (lambda t, a: t.linalg.inv_ex(a).info, lambda t, a: t.linalg.cholesky_ex(-a).info):
        assert function(lab, lab.tensor(np.stack(batch))).tolist() == function(torch, torch.tensor(np.stack(batch))).tolist()
