"""Complex numbers from length and angle."""

from ..core.bind import write_out
from ..core.public import public
from .complex import complex_
from .dims import need_tensor
from .elementwise import cos, sin


@public("polar", method=False)
def polar(abs, angle, *, out=None):
    """``abs · (cos angle + i sin angle)``. Raises: RuntimeError unless both are floating tensors of one dtype."""
    need_tensor(abs, "polar", 1, "abs")
    need_tensor(angle, "polar", 2, "angle")
    value = complex_(abs * cos(angle), abs * sin(angle))
    return value if out is None else write_out(out, value)
