"""gradcheck and gradgradcheck find wrong rules, say where, and pass right ones."""

import numpy as np
import pytest

import autograd_lab as lab
from autograd_lab.autograd import Function, GradcheckError, gradcheck, gradgradcheck


def leaf(shape, seed=0, dtype=np.float64):
    generator = np.random.default_rng(seed)
    values = generator.uniform(0.5, 1.5, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * generator.uniform(0.5, 1.5, shape)
    return lab.tensor(np.asarray(values, dtype), requires_grad=True)


def scaled_square(factor, second=None):
    """x² whose backward uses ``factor`` (2 is right); ``second`` is what the second derivative uses."""

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            slope = x * factor
            return g * slope if second is None else g * (slope.detach() + x * second - (x * second).detach())

    return Square.apply


@pytest.mark.parametrize("fast_mode", [False, True])
def test_right_rules_pass(fast_mode):
    x, w = leaf((2, 3)), leaf((3, 2), 1)
    assert gradcheck(lambda x, w: (x @ w).tanh(), (x, w), fast_mode=fast_mode)
    assert gradgradcheck(lambda x, w: (x @ w).tanh(), (x, w), fast_mode=fast_mode)
    assert gradcheck(lambda x: (x * 2, x.sum()), x, fast_mode=fast_mode)
    assert x.grad is None and w.grad is None


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_wrong_rule_is_caught(fast_mode):
    x = leaf((2, 2))
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(scaled_square(3), x, fast_mode=fast_mode)
    assert not gradcheck(scaled_square(3), x, fast_mode=fast_mode, raise_exception=False)


def test_the_report_names_output_input_element_and_both_values():
    def function(n, x):
        parts = [x[0] * 2, scaled_square(2.5)(x)]
        return parts

    x = lab.tensor([1.0, 2.0], dtype=lab.float64, requires_grad=True)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(function, (3, x))
    text = str(caught.value)
    for words in ("output 1 with respect to input 1", "numerical: 2\n", "analytical: 2.5\n", "SquareBackward",
                  "input 1 element [0] of shape [2]", "differ by 0.5", "atol=1e-05"):  # fmt: skip
        assert words in text, text


def test_a_wrong_second_derivative_is_caught():
    x = leaf((2,))
    assert gradcheck(scaled_square(2, second=3), x)
    assert gradgradcheck(scaled_square(2, second=2), x)
    with pytest.raises(GradcheckError):
        gradgradcheck(scaled_square(2, second=3), x)


def test_a_cut_tape_is_caught():
    x = leaf((2,))
    with pytest.raises(GradcheckError, match="tape cut"):
        gradcheck(lambda x: lab.tensor(x.detach().numpy() * 2), x)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_complex_inputs_and_outputs(fast_mode):
    z = leaf((2,), dtype=np.complex128)
    assert gradcheck(lambda z: z * z * (1 + 2j), z, fast_mode=fast_mode)
    assert gradgradcheck(lambda z: z * z, z, fast_mode=fast_mode)

    class Wrong(Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx, g):
            (z,) = ctx.saved_tensors
            return g * 2 * z  # should be conjugated

    with pytest.raises(GradcheckError):
        gradcheck(Wrong.apply, z, fast_mode=fast_mode)


def test_random_backward_is_caught():
    class Noisy(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            noise.append(1e-7)
            return g + len(noise) * 1e-7

    noise = []
    with pytest.raises(GradcheckError, match="not reentrant"):
        gradcheck(Noisy.apply, leaf((2,)))
    assert gradcheck(Noisy.apply, leaf((2,)), nondet_tol=1e-3)


def test_inputs_are_checked():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda x: x, lab.ones(2))
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        gradcheck(lambda x: x * 2, lab.ones(2, requires_grad=True), raise_exception=False)
    wide = lab.ones(1, dtype=lab.float64).expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match="stride 0"):
        gradcheck(lambda x: x * 2, wide)


def test_inputs_are_left_as_they_were():
    x = leaf((3,))
    before = x.tolist()
    gradcheck(lambda x: x.exp(), x)
    assert x.tolist() == before and x._version == 0


def test_a_kink_is_named():
    with pytest.raises(GradcheckError, match="kink"):
        gradcheck(lambda x: x.relu(), lab.zeros(1, dtype=lab.float64, requires_grad=True))


def test_empty_and_scalar_inputs():
    assert gradcheck(lambda x: x * 2, leaf(()))
    assert gradcheck(lambda x: x.sum(), leaf((0, 2)))
