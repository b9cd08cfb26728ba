"""``torch.backends``: switches of libraries that are not used here. They can be read and set, and change nothing."""


class _Switches:
    """A library's switches; setting one that PyTorch lacks raises AttributeError, as a misspelt one should."""

    def __init__(self, name, **switches):
        self.__dict__.update(_name=name, **switches)

    def __setattr__(self, switch, value):
        if switch not in self.__dict__:
            known = ", ".join(sorted(k for k in self.__dict__ if not k.startswith("_")))
            raise AttributeError(f"torch.backends.{self._name} has no switch {switch!r}; it has {known}")
        self.__dict__[switch] = value

    def is_available(self):
        """False: the library is not used."""
        return False

    def is_built(self):
        """False: the library is not used."""
        return False

    def version(self):
        """None: the library is not used."""
        return None

    def __repr__(self):
        return f"<torch.backends.{self._name}: not used here>"


cudnn = _Switches("cudnn", deterministic=False, benchmark=False, enabled=True, allow_tf32=True)
mps = _Switches("mps")
cuda = _Switches("cuda", matmul=_Switches("cuda.matmul", allow_tf32=False))
mkl = _Switches("mkl")

_deterministic = False


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Accepted: every op here gives the same result for the same input anyway."""
    global _deterministic
    _deterministic = bool(mode)


def are_deterministic_algorithms_enabled():
    """What ``use_deterministic_algorithms`` was last told."""
    return _deterministic


__all__ = ["are_deterministic_algorithms_enabled", "cuda", "cudnn", "mkl", "mps", "use_deterministic_algorithms"]
