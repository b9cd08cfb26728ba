"""``backward`` and ``grad``: checks and seeds, then one sweep of the engine."""

import numpy as np

from ..core.tensor import Tensor, wrap
from ..errors import shape_text
from . import messages
from .engine import sweep


def seeds(tensors, gradients, create_graph):
    """The cotangents to start from, checked; ones for scalars without one."""
    return [
        seed(place, t, g, create_graph) for place, (t, g) in enumerate(zip(tensors, gradients, strict=True))
    ]


def seed(place, t, g, create_graph):
    """The cotangent of one root: an array, or a Tensor with ``create_graph``."""
    if not isinstance(t, Tensor):
        raise TypeError(f"backward(): element {place} must be a Tensor, not {type(t).__name__}")
    if t._node is None:
        raise messages.no_grad_fn(place, t)
    d = t._d
    if g is None:
        if d.size != 1:
            raise messages.not_scalar(t)
        if d.dtype.kind == "c":
            raise messages.not_real(t)
        start = d.dtype.type(1) if d.ndim == 0 else np.ones(d.shape, d.dtype)
        return wrap(start) if create_graph else start
    if not isinstance(g, Tensor):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(g).__name__}")
    start = g._d
    if start.shape != d.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{place}] has a shape of {shape_text(start.shape)} and output[{place}] has a "
            f"shape of {shape_text(d.shape)}."
        )
    if start.dtype is not d.dtype and start.dtype.kind == "c" and d.dtype.kind != "c":
        raise RuntimeError(f"grad_output[{place}] is complex but output[{place}] is {t.dtype.name}")
    return g if create_graph else start


def _tuple(value):
    return (value,) if isinstance(value, Tensor) or value is None else tuple(value)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Accumulate the gradients of ``tensors`` into ``.grad`` of the leaves they depend on.

    Args: tensors: one Tensor or several; grad_tensors: the cotangent of each (None for scalars: 1); retain_graph: keep saved
    values for another backward (default: as ``create_graph``); create_graph: record the backward itself;
    inputs: accumulate into these tensors only.
    Raises: RuntimeError for a tensor without a grad_fn, a non-scalar without gradient, a freed or modified graph.
    Example: ``(w * x).sum().backward(); w.grad``
    """
    tensors = _tuple(tensors)
    gradients = (None,) * len(tensors) if grad_tensors is None else _tuple(grad_tensors)
    if len(gradients) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(gradients)} gradients")
    retain = create_graph if retain_graph is None else retain_graph
    start = seeds(tensors, gradients, create_graph)
    if inputs is not None:
        inputs = _tuple(inputs)
        if not inputs:
            raise RuntimeError("'inputs' argument to 'backward' cannot be empty.")
        for t, g in zip(inputs, _drained(sweep(tensors, start, retain_graph=retain, create_graph=create_graph, inputs=inputs,
                                              accumulate=False, report=False)), strict=True):  # fmt: skip
            if g is not None:
                from .leaves import write_grad

                write_grad(t, g, False, create_graph)
        return
    for _ in sweep(tensors, start, retain_graph=retain, create_graph=create_graph, report=False):
        pass


def _drained(generator):
    """Run a sweep to its end and return its result."""
    while True:
        try:
            next(generator)
        except StopIteration as stop:
            return stop.value


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None, is_grads_batched=False,
    materialize_grads=False,
):  # fmt: skip
    """The gradients of ``outputs`` with respect to ``inputs``, as a tuple; ``.grad`` is left alone.

    Args: allow_unused: give None for inputs that the outputs do not depend on (default: raise); materialize_grads: give
    zeros for them; the others as in ``backward``; is_grads_batched: the first dimension of ``grad_outputs`` is a batch.
    Raises: RuntimeError for an input that does not require grad or is not part of the graph.
    Example: ``(dx,) = grad(y, x, create_graph=True)``
    """
    outputs, inputs = _tuple(outputs), _tuple(inputs)
    if is_grads_batched:
        return _batched(outputs, inputs, _tuple(grad_outputs), retain_graph, create_graph, allow_unused, materialize_grads)
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    gradients = (None,) * len(outputs) if grad_outputs is None else _tuple(grad_outputs)
    for place, t in enumerate(inputs):
        if not isinstance(t, Tensor):
            raise TypeError(f"inputs contains {type(t).__name__} at position {place}; only Tensors have gradients")
        if t._node is None:
            raise RuntimeError(
                f"One of the differentiated Tensors does not require grad (inputs[{place}], {shape_text(t._d.shape)})"
            )
    retain = create_graph if retain_graph is None else retain_graph
    found = _drained(
        sweep(outputs, seeds(outputs, gradients, create_graph), retain_graph=retain, create_graph=create_graph, inputs=inputs,
              accumulate=False, report=False)
    )  # fmt: skip
    out = []
    for place, (t, g) in enumerate(zip(inputs, found, strict=True)):
        if g is None:
            if materialize_grads:
                out.append(wrap(np.zeros(t._d.shape, t._d.dtype)))
                continue
            if not allow_unused:
                raise RuntimeError(
                    f"The differentiated Tensor at index {place} appears to not have been used in the graph (shape "
                    f"{shape_text(t._d.shape)}). Set allow_unused=True if this is the desired behavior."
                )
            out.append(None)
        else:
            out.append(g if isinstance(g, Tensor) else wrap(g))
    return tuple(out)


def _batched(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize):
    from ..ops.join import stack_row

    n = next(g for g in grad_outputs if g is not None)._d.shape[0]
    rows = [
        grad(outputs, inputs, tuple(None if g is None else g[i] for g in grad_outputs), retain_graph if i == n - 1 else True,
             create_graph, allow_unused, materialize_grads=materialize)
        for i in range(n)
    ]  # fmt: skip
    return tuple(None if parts[0] is None else stack_row(list(parts), 0) for parts in zip(*rows, strict=True))


def tensor_backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Accumulate this tensor's gradients into ``.grad`` of the leaves it depends on (see ``autograd.backward``)."""
    if inputs is not None:
        backward(self, gradient, retain_graph, create_graph, inputs)
        return
    retain = create_graph if retain_graph is None else retain_graph
    start = seed(0, self, gradient, create_graph)
    for _ in sweep((self,), (start,), retain_graph=retain, create_graph=create_graph, report=False):
        pass
