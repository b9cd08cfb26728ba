"""``torch.Size``: a tuple of sizes that prints as PyTorch's does."""

import math


class Size(tuple):
    """The shape of a tensor: a tuple with ``numel()``."""

    __slots__ = ()

    def numel(self):
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    def __repr__(self):
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index):
        got = tuple.__getitem__(self, index)
        return Size(got) if isinstance(index, slice) else got

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other)))

    def __mul__(self, n):
        return Size(tuple.__mul__(self, n))

    __rmul__ = __mul__

    def __reduce__(self):
        return Size, (tuple(self),)
