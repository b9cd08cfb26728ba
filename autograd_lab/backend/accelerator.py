"""What the CuPy and dpnp back ends share: finding the library without importing it, and saying what is missing."""

import importlib
import importlib.util

from . import device as dev


class Accelerator:
    """A back end whose library is optional.

    module   the library's module name       type    PyTorch's device type
    library  its name in sentences           extras  which extras of autograd_lab install it
    needs    what the machine must have      count   how many devices the imported module finds
    index    which device holds an array
    """

    def __init__(self, module, type, library, extras, needs, count, index):
        self.name, self.type, self.library, self.extras, self.needs = module, type, library, extras, needs
        self._count, self._index = count, index

    def module(self):
        """The library, imported now."""
        return importlib.import_module(self.name)

    def device_count(self):
        """How many devices the library finds; 0 when it is not installed or its driver does not answer."""
        if importlib.util.find_spec(self.name) is None:
            return 0
        try:
            return self._count(self.module())
        except Exception:
            return 0

    def is_available(self):
        """Whether the library is installed and finds at least one device."""
        return self.device_count() > 0

    def require(self):
        """Return when the back end works. Raises: RuntimeError that says what is missing and how to get it."""
        if importlib.util.find_spec(self.name) is None:
            first, *others = self.extras
            or_else = f" (or {' or '.join(others)} in place of {first})" if others else ""
            raise RuntimeError(
                f"device '{self.type}' needs {self.library}, which is not installed: pip install 'autograd_lab[{first}]'"
                f"{or_else}, and {self.needs}. The same program runs on device='cpu'."
            )
        if not self.is_available():
            raise RuntimeError(
                f"{self.library} is installed but finds no device: it needs {self.needs}. "
                "The same program runs on device='cpu'."
            )

    def to_device(self, array, device):
        """Copy an array to this device."""
        return self.module().asarray(array)

    def to_host(self, array):
        """Copy an array of this device to a NumPy array."""
        return self.module().asnumpy(array)

    def device_of(self, array):
        """The device that holds this array."""
        return dev.device(self.type, self._index(array))
