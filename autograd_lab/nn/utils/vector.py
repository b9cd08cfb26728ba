"""All parameters as one vector, and back."""

from ...core.tensor import Tensor, wrap
from ...ops.join import cat_row
from ...ops.shape import reshape


def parameters_to_vector(parameters):
    """One vector of all parameters, one after another, on the tape."""
    return cat_row([reshape(p, (p._d.size,)) for p in parameters], 0)


def vector_to_parameters(vec, parameters):
    """Let the parameters take their values from parts of one vector, whose memory they then share."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    d, start = vec._array(), 0
    for p in parameters:
        n = p._d.size
        p.data = wrap(d[start : start + n].reshape(p._d.shape))
        start += n
