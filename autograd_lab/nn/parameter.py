"""``nn.parameter``: Parameter under PyTorch's module name, and Buffer."""

from ..core.tensor import Parameter, Tensor, wrap

__all__ = ["Buffer", "Parameter"]


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
