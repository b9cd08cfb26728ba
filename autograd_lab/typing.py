"""Names for the kinds of value that pass through the library, for annotations only."""

from typing import Any, TypeAlias

Array: TypeAlias = Any
"""An array of any back end: numpy.ndarray, a NumPy scalar standing for a 0-d array, cupy.ndarray, dpnp.ndarray."""
Number: TypeAlias = bool | int | float | complex
Shape: TypeAlias = tuple[int, ...]
