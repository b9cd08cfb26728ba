"""``nn.parameter``: Parameter under PyTorch's module name, Buffer, and the two that wait for their shape."""

from ..core.tensor import Parameter, Tensor, wrap
from ..ops.create import empty

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]


class Buffer(Tensor):
    """A tensor that a Module registers as a buffer when it is assigned: saved and moved with it, not trained.

    Args: data: the tensor; persistent: whether ``state_dict`` holds it.
    Example: ``self.mean = nn.Buffer(torch.zeros(3))``
    """

    def __new__(cls, data=None, *, persistent=True):
        t = wrap(Tensor()._d if data is None else data._array(), cls)
        t._st = None if data is None else data._st
        t.persistent = persistent
        return t


class _Uninitialized:
    """What waits for its shape: it can be moved and cast, and becomes ordinary by ``materialize``."""

    _is_uninitialized = True
    _becomes = Tensor

    def materialize(self, shape, device=None, dtype=None):
        """Take a shape; the values are whatever the memory holds."""
        self.data = empty(
            tuple(shape), device=self.device if device is None else device, dtype=self.dtype if dtype is None else dtype
        )
        self.__class__ = self._becomes

    @property
    def shape(self):
        """There is none yet. Raises: RuntimeError."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when "
            "trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before "
            "accessing their attributes."
        )

    def detach(self):
        """Itself."""
        return self

    def __repr__(self):
        return f"<{type(self).__name__}>"


class UninitializedParameter(_Uninitialized, Parameter):
    """A Parameter whose shape is not known yet; lazy modules give it one on their first call."""

    _becomes = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return Parameter.__new__(cls, empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer whose shape is not known yet."""

    def __new__(cls, requires_grad=False, device=None, dtype=None):
        return wrap(empty(0, device=device, dtype=dtype)._array(), cls)


def is_lazy(tensor):
    """Whether a parameter or buffer waits for its shape."""
    return isinstance(tensor, _Uninitialized)
