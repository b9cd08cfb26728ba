"""``gradcheck`` and ``gradgradcheck``: compare what backward computes with small differences of the function itself.

A complex number counts as two real ones: the cotangent v of an output stands for Re(conj(v) · output), and the gradient of
an input z = x + iy is d/dx + i d/dy of that, as everywhere in PyTorch.
"""

import warnings

import numpy as np

from ..core.tensor import Tensor, wrap
from ..errors import shape_text
from .api import grad


class GradcheckError(RuntimeError):
    """Raised by ``gradcheck`` and ``gradgradcheck``; the text names output, input, element and both values."""


def gradcheck(
    func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
    check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False,
    check_backward_ad=True, fast_mode=False, masked=None,
):  # fmt: skip
    """Compare the gradients of ``func(*inputs)`` with central differences.

    Args: func: takes Tensors, returns a Tensor or a tuple of them; inputs: Tensors, those that require grad are checked and
    should be float64 or complex128; eps: the step of the differences; atol, rtol: what may differ; raise_exception: False
    returns False instead; nondet_tol: how far two backward runs may differ; fast_mode: one random projection in place of
    every element; check_undefined_grad: also check that outputs without a gradient are passed over.
    Returns: True, or False. Raises: GradcheckError, ValueError if no input requires grad.
    Example: ``gradcheck(lambda x: (x * x).sum(), tensor([1.0, 2.0], dtype=float64, requires_grad=True))``
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    try:
        checked = _checked_inputs(inputs)
        outputs = _outputs(func, inputs)
        for place, output in enumerate(outputs):
            compare = _compare_fast if fast_mode else _compare_full
            compare(func, inputs, checked, outputs, place, (eps, atol, rtol))
            _check_repeatable(func, inputs, checked, place, nondet_tol)
            if check_grad_dtypes:
                _check_dtypes(output, inputs, checked)
        if check_undefined_grad and len(outputs) > 1:
            _check_undefined(func, inputs, checked, atol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False, raise_exception=True,
    nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_fwd_over_rev=False,
    check_rev_over_rev=True, fast_mode=False, masked=None,
):  # fmt: skip
    """Compare second derivatives: ``gradcheck`` of the gradient of ``func`` with respect to inputs and cotangents.

    Args: grad_outputs: the cotangents (default: random ones, always the same); the others as in ``gradcheck``.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    checked = _checked_inputs(inputs)
    outputs = _outputs(func, inputs)
    if grad_outputs is None:
        generator = np.random.default_rng(0)
        cotangents = tuple(wrap(_random(o._d, generator, not gen_non_contig_grad_outputs)).requires_grad_() for o in outputs)
    else:
        cotangents = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)
    n = len(cotangents)

    def gradient(*args):
        given, seeds = args[:-n], args[-n:]
        wanted = [given[i] for i in checked]
        live = [(o, v) for o, v in zip(_outputs(func, given), seeds, strict=True) if o.requires_grad]
        found = grad([o for o, _ in live], wanted, [v for _, v in live], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradient, (*inputs, *cotangents), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=False, check_grad_dtypes=check_grad_dtypes, fast_mode=fast_mode,
    )  # fmt: skip


# ----- inputs and outputs -----


def _checked_inputs(inputs):
    """Places of the inputs to check."""
    found = [i for i, t in enumerate(inputs) if isinstance(t, Tensor) and t.requires_grad]
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True."
        )
    for i in found:
        t = inputs[i]
        if t._d.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex ({t.dtype.name}). "
                "This check will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=3,
            )
        if t._d.size and any(s == 0 and n > 1 for s, n in zip(t._array().strides, t._d.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be "
                "able to compute the numerical gradients correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
    return found


def _outputs(func, inputs):
    """The differentiable outputs of one run."""
    result = func(*inputs)
    outputs = result if isinstance(result, tuple | list) else (result,)
    return tuple(o for o in outputs if isinstance(o, Tensor) and o._d.dtype.kind in "fcV")


def _values(func, inputs, place):
    """A copy of one output's values (recorded, since ``func`` may differentiate inside)."""
    return np.array(_outputs(func, inputs)[place]._d)


def _random(array, generator, contiguous=True):
    values = generator.uniform(0.5, 1.5, array.shape) * generator.choice([-1.0, 1.0], array.shape)
    if array.dtype.kind == "c":
        values = values + 1j * generator.uniform(-1, 1, array.shape)
    values = np.asarray(values).astype(array.dtype)
    return values if contiguous or values.ndim < 2 else values.T.copy().T


# ----- the two sides -----


def _pullback(output, inputs, checked, v):
    """What backward gives for a cotangent ``v`` of one output: one array per checked input."""
    wanted = [inputs[i] for i in checked]
    if not output.requires_grad:
        return [np.zeros_like(t._d) for t in wanted]
    found = grad(output, wanted, wrap(v), retain_graph=True, allow_unused=True)
    return [np.zeros_like(t._d) if g is None else g._array() for g, t in zip(found, wanted, strict=True)]


def _moved(func, inputs, i, change, place):
    """The output when the array of input ``i`` is changed by ``change``; the array is put back after."""
    array = inputs[i]._array()
    before = array.copy()
    writeable = array.flags.writeable
    array.flags.writeable = True
    try:
        change(array)
        return _values(func, inputs, place)
    finally:
        array[...] = before
        array.flags.writeable = writeable


def _slope(func, inputs, i, place, direction, eps):
    """Central difference of one output along ``direction`` (an array, or (index, unit) for one element) of input ``i``."""

    def by(step):
        def change(array):
            if isinstance(direction, tuple):
                index, unit = direction
                array[index] += step * unit
            else:
                array += step * direction

        return change

    return (_moved(func, inputs, i, by(eps), place) - _moved(func, inputs, i, by(-eps), place)) / (2 * eps)


def _compare_full(func, inputs, checked, outputs, place, how):
    """Every element of one output against every element of every checked input."""
    eps, atol, rtol = how
    output = outputs[place]
    units = (1.0, 1j) if output._d.dtype.kind == "c" else (1.0,)
    rows = {}  # (output index, unit) -> analytic gradients
    for index in np.ndindex(output._d.shape):
        for unit in units:
            v = np.zeros(output._d.shape, output._d.dtype)
            v[index] = unit
            rows[index, unit] = _pullback(output, inputs, checked, v)
    for number, i in enumerate(checked):
        array = inputs[i]._array()
        steps = (1.0, 1j) if array.dtype.kind == "c" else (1.0,)
        for element in np.ndindex(array.shape):
            numeric = [_slope(func, inputs, i, place, (element, step), eps) for step in steps]
            for (index, unit), analytic in rows.items():
                parts = [float(np.real(np.conj(unit) * slope[index])) for slope in numeric]
                expected = complex(*parts) if len(parts) == 2 else parts[0]
                found = analytic[number][element]
                if not _close(found, expected, atol, rtol):
                    raise _mismatch(place, i, index, element, found, expected, output, inputs[i], how)


def _compare_fast(func, inputs, checked, outputs, place, how):
    """One random cotangent and one random direction per checked input."""
    eps, atol, rtol = how
    output, generator = outputs[place], np.random.default_rng(0)
    v = _random(output._d, generator)
    found = _pullback(output, inputs, checked, v)
    for i, g in zip(checked, found, strict=True):
        u = _random(inputs[i]._array(), generator)
        expected = float(np.real(np.sum(np.conj(v) * _slope(func, inputs, i, place, u, eps))))
        analytic = float(np.real(np.sum(np.conj(g) * u)))
        if not _close(analytic, expected, atol * max(1, u.size) ** 0.5, rtol):
            raise GradcheckError(
                f"Jacobian mismatch for output {place} with respect to input {i} (fast mode, along a random direction):\n"
                f"numerical: {expected:.10g}\nanalytical: {analytic:.10g}\nRun gradcheck with fast_mode=False to see which element."
            )


def _close(found, expected, atol, rtol):
    return bool(np.isclose(found, expected, rtol=rtol, atol=atol, equal_nan=True))


def _number(value):
    return f"{value:.10g}" if not np.iscomplexobj(value) else f"{value.real:.10g}{value.imag:+.10g}j"


def _mismatch(place, i, index, element, found, expected, output, tensor, how):
    eps, atol, rtol = how
    where = lambda t, at: f"{list(at)} of shape {shape_text(t._d.shape)}" if at else "the only element"  # noqa: E731
    node = f" ({output.grad_fn.name()})" if output.grad_fn is not None else ""
    text = (
        f"Jacobian mismatch for output {place} with respect to input {i},\n"
        f"numerical: {_number(expected)}\nanalytical: {_number(found)}\n"
        f"at output {place}{node} element {where(output, index)}, input {i} element {where(tensor, element)}: they differ by "
        f"{abs(found - expected):.3g}, allowed are atol={atol:g} + rtol={rtol:g} · |numerical|."
    )
    if not output.requires_grad:
        text += f"\nOutput {place} does not require grad, so its gradient is 0: was the tape cut inside the function?"
    elif tensor._d.dtype not in (np.float64, np.complex128):
        text += f"\nInput {i} is {tensor.dtype.name}: differences with eps={eps:g} need float64 inputs."
    else:
        text += "\nEither a backward rule is wrong, or the function has a kink or a jump within eps of this input."
    return GradcheckError(text)


# ----- further checks -----


def _check_repeatable(func, inputs, checked, place, tolerance):
    generator = np.random.default_rng(1)
    output = _outputs(func, inputs)[place]
    if not output.requires_grad:
        return
    v = _random(output._d, generator)
    first, second = (_pullback(output, inputs, checked, v) for _ in range(2))
    for i, a, b in zip(checked, first, second, strict=True):
        off = float(np.max(np.abs(a - b), initial=0.0))
        if off > tolerance:
            raise GradcheckError(
                f"Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
                f"values: the gradient of input {i} for output {place} differs by {off:.3g}, allowed is nondet_tol={tolerance:g}."
            )


def _check_dtypes(output, inputs, checked):
    if not output.requires_grad:
        return
    wanted = [inputs[i] for i in checked]
    found = grad(output, wanted, wrap(np.ones(output._d.shape, output._d.dtype)), retain_graph=True, allow_unused=True)
    for i, t, g in zip(checked, wanted, found, strict=True):
        if g is not None and g._d.dtype != t._d.dtype:
            raise GradcheckError(f"the gradient of input {i} is {g.dtype.name}, the input is {t.dtype.name}")


def _check_undefined(func, inputs, checked, atol):
    """The gradients of all outputs together are the sum of those of each alone."""
    outputs = [o for o in _outputs(func, inputs) if o.requires_grad]
    if not outputs:
        return
    generator = np.random.default_rng(2)
    seeds = [_random(o._d, generator) for o in outputs]
    wanted = [inputs[i] for i in checked]
    together = grad(outputs, wanted, [wrap(v) for v in seeds], retain_graph=True, allow_unused=True)
    alone = [_pullback(o, inputs, checked, v) for o, v in zip(outputs, seeds, strict=True)]
    for number, (i, g) in enumerate(zip(checked, together, strict=True)):
        total = sum(parts[number] for parts in alone)
        if not np.allclose(0 if g is None else g._d, total, atol=atol, rtol=1e-6):
            raise GradcheckError(
                f"Expected backward to handle undefined output grads: the gradient of input {i} from all outputs is not the sum of "
                "those from each output alone"
            )


__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
