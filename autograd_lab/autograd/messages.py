"""Errors of the backward pass, worded for the learner: what, where, and the usual cure."""

from ..core.tape import where_text
from ..errors import shape_text


def _lines_hint(where):
    return "" if where else " (call autograd_lab.record_lines() before the forward pass to see the line)"


def freed(node):
    """The error for a second backward through a graph whose saved values were let go."""
    place = where_text(node.where)
    at = f"\n{node.name()} was recorded at {place}" if place else f"\nThe node is {node.name()}{_lines_hint(place)}"
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
        "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad()." + at + "\n"
        "Usual cure: run the forward pass again before each backward; if a tensor is carried from one iteration to the next, "
        "cut it there with h = h.detach(). Only if you really need two backward passes over one graph, "
        "specify retain_graph=True the first time."
    )


def modified(node, operand, storage, expected):
    """The error for a saved value that was changed in place before backward could read it."""
    shape = node.saved[operand]._d.shape if operand is not None else node.shape
    what = f"operand {operand + 1} of {node.name()}" if operand is not None else f"output 0 of {node.name()}"
    last = storage.last
    by = f" by {last[0]}" if last else ""
    changed = where_text(last[1]) if last else ""
    saved_at = where_text(node.where)
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[tensor of shape {shape_text(shape)}], which is {what}, is at version {storage.version}; expected version {expected} "
        f"instead. It was changed{by}"
        + (f" at {changed}" if changed else "")
        + (f"; it was saved at {saved_at}" if saved_at else _lines_hint(saved_at))
        + ".\nUsual cure: write x = x + y instead of x += y, clone() before changing, or change it after backward(). "
        "An optimiser's step() changes parameters in place: call it after every backward() that needs them."
    )


def no_grad_fn(position, tensor):
    """The error for backward from a tensor that is not on any tape."""
    name = f" ({tensor._name})" if tensor._name else ""
    return RuntimeError(
        f"element {position} of tensors does not require grad and does not have a grad_fn{name}: shape "
        f"{shape_text(tensor._d.shape)}, {tensor.dtype.name}. Nothing it was computed from requires grad, or the tape was cut on "
        "the way by item(), float(), numpy(), detach(), tensor(...), an integer cast, argmax or a no_grad block."
    )


def not_real(tensor):
    """The error for ``backward()`` without a gradient from a complex number."""
    return RuntimeError(
        f"grad can be implicitly created only for real scalar outputs but got {tensor.dtype}. "
        "Make it real (z.real, z.abs()), or pass the seed: z.backward(gradient) with a complex gradient of the same shape"
    )


def not_scalar(tensor):
    """The error for ``backward()`` without a gradient from a tensor of several elements."""
    return RuntimeError(
        f"grad can be implicitly created only for scalar outputs; this tensor has shape {shape_text(tensor._d.shape)}. "
        "Reduce it (loss.sum() or loss.mean()), or pass the seed: y.backward(gradient) with a gradient of the same shape"
    )
