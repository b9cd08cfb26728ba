"""Devices by PyTorch's names: ``cpu`` (NumPy), ``cuda[:i]`` (CuPy), ``xpu[:i]`` (dpnp)."""

TYPES = {"cpu": "numpy", "cuda": "cupy", "xpu": "dpnp"}


class device:  # noqa: N801 (PyTorch's name)
    """Where a tensor's array lives: ``device("cpu")``, ``device("cuda:0")``, ``device("xpu", 1)``.

    Raises: RuntimeError for a type that is none of cpu, cuda, xpu.
    """

    __slots__ = ("type", "index")

    def __init__(self, type="cpu", index=None):
        if isinstance(type, device):
            type, index = type.type, type.index if index is None else index
        elif isinstance(type, int) and not isinstance(type, bool):
            type, index = "cuda", type
        elif ":" in type:
            type, _, number = type.partition(":")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}:{number}'; the part after the colon is a number")
            index = int(number)
        if type not in TYPES:
            raise RuntimeError(f"Expected one of cpu, cuda, xpu device type at start of device string: {type}")
        self.type, self.index = type, index

    def __repr__(self):
        return f"device(type='{self.type}'" + ("" if self.index is None else f", index={self.index}") + ")"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return device, (self.type, self.index)


CPU = device("cpu")
