"""How a tensor becomes a Python number, a list, a NumPy array or text: a base class of Tensor without state of its own."""

import numpy as np

from ..backend import dtype as dt
from ..backend.namespace import array_namespace, backend_for
from ..errors import shape_text
from .modes import modes
from .tape import LEAF


def _only_number(tensor):
    """The single value, for ``float()`` and its kin. Raises: ValueError if there is not exactly one element."""
    d = tensor._d
    if d.size != 1:
        raise ValueError(
            f"only one element tensors can be converted to Python scalars; this one has shape {shape_text(d.shape)}. "
            "Reduce it first (sum, mean) or pick one element"
        )
    return tensor.item()


class Conversions:
    """The part of Tensor that leaves the tape: ``item``, ``tolist``, ``numpy``, ``bool``, ``float``, ``repr``…"""

    __slots__ = ()

    def item(self):
        """The single value as a Python number.

        Raises: RuntimeError if there is not exactly one element.
        """
        d = self._d
        if d.size != 1:
            raise RuntimeError(
                f"a Tensor with {d.size} elements cannot be converted to Scalar; this one has shape {shape_text(d.shape)}. "
                "Reduce it first (sum, mean) or pick one element"
            )
        return d.item() if d.dtype.kind != "V" else float(d.reshape(())[()])

    def tolist(self):
        """Nested lists of Python numbers; a number for a 0-d tensor."""
        d = self._d
        return (d if d.dtype.kind != "V" else d.astype(np.float32)).tolist()

    def numpy(self, *, force=False):
        """The NumPy array behind this tensor, sharing memory.

        Raises: RuntimeError while the tensor requires grad and recording is on: the tape could not follow.
        """
        if self._node is not None and modes.now.grad and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        d = self._array()
        if array_namespace(d) is not np:
            if not force:
                raise TypeError(
                    f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy it to host memory first."
                )
            return backend_for(self.device).to_host(d)
        return d

    def __array__(self, dtype=None, copy=None):
        d = self.numpy()
        if dtype is not None and np.dtype(dtype) != d.dtype:
            return d.astype(dtype)
        return d.copy() if copy else d

    def __bool__(self):
        d = self._d
        if d.size != 1:
            if d.size == 0:
                raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
            raise RuntimeError(
                f"Boolean value of Tensor with more than one value is ambiguous; shape {shape_text(d.shape)}. "
                "Use .any() or .all(), and & | ~ instead of and, or, not"
            )
        return bool(d)

    def __float__(self):
        return float(_only_number(self))

    def __int__(self):
        return int(_only_number(self))

    def __complex__(self):
        return complex(_only_number(self))

    def __index__(self):
        if self._d.dtype.kind not in "iub" or self._d.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._d)

    def __len__(self):
        if self._d.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._d.shape[0]

    __hash__ = object.__hash__

    def __repr__(self):
        from .printing import tensor_text  # only programs that print pay for the printer

        node = self._node
        fn = self.grad_fn
        return tensor_text(
            self._array() if array_namespace(self._d) is np else backend_for(self.device).to_host(self._d),
            dtype_name=self.dtype.name,
            default_dtype_name=dt.get_default_dtype().name,
            requires_grad=node is LEAF,
            grad_fn_name=None if fn is None else fn.name(),
            device=str(self.device),
        )
