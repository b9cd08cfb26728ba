"""Public functions for triangles, diagonals, and elements in another order."""

from ..core.bind import write_out
from ..core.public import public
from .dims import need_tensor, one_dim, sizes, some_dims
from .layout import _reshaped, movedim
from .reductions import sum_
from .shape import clone
from .triangles import diag_matrix_row, diagonal_view, flip_row, roll_row, tril_row, triu_row


def _triangle(name, row):
    def triangle(input, diagonal=0, *, out=None):
        need_tensor(input, name)
        if input._d.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions, got shape {list(input._d.shape)}")
        value = row(input, diagonal)
        return value if out is None else write_out(out, value)

    triangle.__name__ = triangle.__qualname__ = name
    side = "above" if name == "tril" else "below"
    triangle.__doc__ = f"The matrix with 0 {side} a diagonal (0 the main one, positive ones above it)."
    return public(name, inplace=True)(triangle)


tril = _triangle("tril", tril_row)
triu = _triangle("triu", triu_row)


@public("diagonal")
def diagonal(input, offset=0, dim1=0, dim2=1):
    """A view of a diagonal of two dimensions, which becomes the last one."""
    ndim = input._d.ndim
    a, b = one_dim(dim1, ndim), one_dim(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return diagonal_view(input, offset, a, b)


@public("diag")
def diag(input, diagonal=0, *, out=None):
    """A vector on the diagonal of a matrix of zeros; of a matrix, its diagonal. Raises: RuntimeError for other ranks."""
    need_tensor(input, "diag")
    if input._d.ndim == 1:
        value = diag_matrix_row(input, diagonal)
    elif input._d.ndim == 2:
        value = clone(diagonal_view(input, diagonal, 0, 1))
    else:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input._d.ndim}D")
    return value if out is None else write_out(out, value)


@public("diag_embed")
def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """The last dimension on the diagonals of matrices of zeros."""
    ndim = input._d.ndim + 1
    a, b = one_dim(dim1, ndim), one_dim(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return movedim(diag_matrix_row(input, offset), (-2, -1), (a, b))


@public("trace")
def trace(input):
    """The sum of a matrix's diagonal. Raises: RuntimeError unless 2-d."""
    if input._d.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input._d.ndim}")
    return sum_(diagonal_view(input, 0, 0, 1))


@public("flip")
def flip(input, *places, dims=None):
    """The order of elements reversed along ``dims`` (a copy)."""
    dims = sizes(places if dims is None else (dims,), "dims")
    return flip_row(input, some_dims(dims, input._d.ndim) or ())


@public("fliplr")
def fliplr(input):
    """``flip`` along dimension 1. Raises: RuntimeError below 2 dimensions."""
    if input._d.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, 1)


@public("flipud")
def flipud(input):
    """``flip`` along dimension 0. Raises: RuntimeError for a 0-d tensor."""
    if not input._d.ndim:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, 0)


@public("roll")
def roll(input, shifts, dims=None):
    """Elements moved ``shifts`` places along ``dims``, those that fall off coming in at the other end."""
    shifts = sizes((shifts,) if isinstance(shifts, int) else tuple(shifts), "shifts")
    if dims is None or dims == ():
        if len(shifts) != 1:
            raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:0")
        return _reshaped(roll_row(_reshaped(input, (input._d.size,)), shifts, (0,)), input._d.shape)
    dims = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(dims) != len(shifts):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    return roll_row(input, shifts, tuple(one_dim(d, input._d.ndim) for d in dims))
