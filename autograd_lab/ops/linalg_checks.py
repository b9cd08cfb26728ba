"""What the linear algebra modules share: the error, checks of operands, transposes, matrices one by one."""

import numpy as np

from ..backend import dtype as dt
from ..core.bind import write_out
from ..core.public import public
from ..core.tensor import Tensor, wrap
from .complex import conj
from .dims import need_tensor, scalar_name
from .shape import reshape, transpose_view


class LinAlgError(RuntimeError):
    """A matrix for which the computation has no result: singular, or not positive-definite."""


def offered(*names, torch=(), method=False):
    """Decorator: offer a function in ``linalg`` under ``names``, and in ``torch`` under the names of ``torch``."""

    def register(function):
        public(*names, method=False, namespace="linalg")(function)
        if torch:
            public(*torch, method=method)(function)
        return function

    return register


def dtype_of(x):
    """The NumPy dtype of an array or Tensor."""
    return x._d.dtype if isinstance(x, Tensor) else x.dtype


def like(array, x):
    """A constant as ``x`` is: an array or a Tensor."""
    return wrap(array) if isinstance(x, Tensor) else array


def swap(x):
    """The transposes of a batch of matrices."""
    return transpose_view(x, x.ndim - 2, x.ndim - 1)


def adjoint(x):
    """The conjugate transposes of a batch of matrices."""
    return conj(swap(x)) if dtype_of(x).kind == "c" else swap(x)


def as_row(x):
    """Vectors as matrices of one row."""
    return reshape(x, (*x.shape[:-1], 1, x.shape[-1]))


def as_column(x):
    """Vectors as matrices of one column."""
    return reshape(x, (*x.shape, 1))


def as_matrix(x):
    """Numbers as matrices of one element."""
    return reshape(x, (*x.shape, 1, 1))


def given(value, out):
    """The value, or ``out`` with the value written into it."""
    return value if out is None else write_out(out, value)


def given_all(kind, values, out):
    """A result tuple, written into the tensors of ``out`` where given."""
    return kind(values if out is None else [write_out(o, v) for o, v in zip(out, values, strict=True)])


def need_matrix(A, name, position=1, argument="A"):
    """Raise unless ``A`` is a tensor of floating or complex matrices in single or double precision."""
    need_tensor(A, name, position, argument)
    if A.dtype.category < dt.CATEGORY_FLOAT:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {scalar_name(A.dtype)}; convert with .float()"
        )
    if A.dtype.itemsize < 4:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {scalar_name(A.dtype)}; convert with .float()")
    if A._d.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions, got shape {list(A._d.shape)}")


def need_square(A, name, argument="A"):
    """Raise unless ``A`` is a tensor of square matrices."""
    need_matrix(A, name, argument=argument)
    rows, columns = A._d.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"{name}: {argument} must be batches of square matrices, but they are {rows} by {columns} matrices")


def need_same_dtype(A, B, name):
    """Raise unless both have one dtype."""
    if A._d.dtype != B._d.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {scalar_name(A.dtype)} and B of type "
            f"{scalar_name(B.dtype)} instead"
        )


def each(function, *arrays):
    """Results of ``function`` for the matrices of broadcast batches one by one: a stack per result of the function."""
    batch = np.broadcast_shapes(*(a.shape[:-2] for a in arrays))
    flat = [np.broadcast_to(a, batch + a.shape[-2:]).reshape(-1, *a.shape[-2:]) for a in arrays]
    found = [function(*matrices) for matrices in zip(*flat, strict=True)]
    return tuple(np.stack(part).reshape(batch + np.shape(part[0])) for part in zip(*found, strict=True))


def converged(function, *args, name="linalg.svd"):
    """What an iterative routine of NumPy gives. Raises: LinAlgError where it does not converge."""
    try:
        return function(*args)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            f"{name}: The algorithm failed to converge because the input matrix contained non-finite values."
        ) from None


def failure(name, infos, text):
    """The LinAlgError for the first matrix of a batch whose LAPACK info is not 0; ``{}`` in ``text`` is that info."""
    place = int(np.flatnonzero(infos)[0]) if np.any(infos) else 0
    batch = f"(Batch element {place}): " if np.ndim(infos) else ""
    return LinAlgError(f"{name}: {batch}{text.format(int(np.ravel(infos)[place]))}")


def random_matrices(shape, seed=0, shift=0.0):
    """Matrices for samples; ``shift`` is added to the diagonal."""
    values = np.random.default_rng(seed).uniform(-1, 1, shape)
    return values + shift * np.eye(shape[-2], shape[-1])


def complex_matrices(shape, shift=0.0):
    """Complex matrices for samples."""
    return random_matrices(shape, 0, shift) + 1j * random_matrices(shape, 1)
