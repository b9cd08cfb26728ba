"""A writer of pickle opcodes (protocol 2), byte for byte what Python's pickler writes, without looking a name up.

Python's own pickler imports every name it writes; the names in a PyTorch file live in ``torch``, which this library
never imports. So the few opcodes needed are written here, by a loop rather than by recursion.
"""

import struct
from pickle import PicklingError, encode_long
from typing import Any, NamedTuple

from .opcodes import MAX_DEPTH

_BATCH = 1_000
_CONSTANTS = {None: b"N", True: b"\x88", False: b"\x89"}


class Name(NamedTuple):
    """A global by module and name, as it shall stand in the file."""

    module: str
    name: str


class Persistent(NamedTuple):
    """A reference to data kept outside the pickle: a storage."""

    id: tuple


class Call(NamedTuple):
    """An object that its reader makes by calling ``function`` with ``arguments``, then filling in items and state."""

    function: Name
    arguments: tuple
    items: Any = None
    state: Any = None


class Encoder:
    """Writes one object.

    describe  called with each object that is not a number, text, list, dict or tuple; returns Name, Persistent or Call

    Raises: PicklingError when containers nest too deep, or from ``describe``.
    """

    def __init__(self, describe):
        self.describe = describe
        self.parts = []
        self.memo = {}
        self.kept = []

    def dump(self, root):
        """The bytes of the pickle."""
        self.parts.append(b"\x80\x02")
        running = [iter((root,))]
        while running:
            for child in running[-1]:
                steps = self.begin(child)
                if steps is not None:
                    running.append(steps)
                    break
            else:
                running.pop()
            if len(running) > MAX_DEPTH:
                raise PicklingError(f"containers are nested about {MAX_DEPTH} deep, more than load accepts")
        self.parts.append(b".")
        return b"".join(self.parts)

    def begin(self, value):
        """Write a small value and return None, or return the steps (a generator of children) that write a larger."""
        kind = type(value)
        if value is None or kind is bool:
            self.parts.append(_CONSTANTS[value])
        elif kind is int:
            self.parts.append(_integer(value))
        elif kind is float:
            self.parts.append(b"G" + struct.pack(">d", value))
        elif kind is Name:
            self._name(value)
        elif id(value) in self.memo and kind is not Persistent:
            self._get(self.memo[id(value)])
        elif kind is str:
            encoded = value.encode("utf-8", "surrogatepass")
            self.parts.append(b"X" + struct.pack("<I", len(encoded)) + encoded)
            self._remember(value)
        elif kind is tuple:
            return self._tuple(value)
        elif kind is list:
            return self._list(value)
        elif kind is dict:
            return self._dict(value)
        elif kind is Persistent:
            return self._persistent(value)
        else:
            return self._described(value, self.describe(value))
        return None

    def _remember(self, value):
        """Give the value a memo number. It is kept alive, or its id could name another object later."""
        index = len(self.memo)
        self.memo[value if type(value) is Name else id(value)] = index
        self.kept.append(value)
        self.parts.append(b"q%c" % index if index < 256 else b"r" + struct.pack("<I", index))

    def _get(self, index):
        self.parts.append(b"h%c" % index if index < 256 else b"j" + struct.pack("<I", index))

    def _name(self, name):
        if name in self.memo:
            self._get(self.memo[name])
        else:
            self.parts.append(f"c{name.module}\n{name.name}\n".encode())
            self._remember(name)

    def _tuple(self, value):
        if not value:
            self.parts.append(b")")
            return
        if len(value) > 3:
            self.parts.append(b"(")
        yield from value
        if id(value) in self.memo:  # the tuple holds itself by way of a list, and was written meanwhile
            self.parts.append(b"1" if len(value) > 3 else b"0" * len(value))
            self._get(self.memo[id(value)])
            return
        self.parts.append((b"\x85", b"\x86", b"\x87")[len(value) - 1] if len(value) <= 3 else b"t")
        self._remember(value)

    def _list(self, value):
        self.parts.append(b"]")
        self._remember(value)
        for start in range(0, len(value), _BATCH):
            batch = value[start : start + _BATCH]
            self.parts.append(b"(" if len(value) > 1 else b"")
            yield from batch
            self.parts.append(b"e" if len(value) > 1 else b"a")

    def _dict(self, value):
        self.parts.append(b"}")
        self._remember(value)
        yield from self._pairs(list(value.items()), sole=True)

    def _pairs(self, pairs, sole=False):
        """Keys and values in batches. A batch of one needs no mark; in a plain dict only where it is the sole one."""
        for start in range(0, len(pairs), _BATCH):
            batch = pairs[start : start + _BATCH]
            single = len(pairs if sole else batch) == 1
            self.parts.append(b"" if single else b"(")
            for key, item in batch:
                yield key
                yield item
            self.parts.append(b"s" if single else b"u")

    def _persistent(self, value):
        yield value.id
        self.parts.append(b"Q")

    def _described(self, value, description):
        if type(description) is not Call:
            yield description
            return
        yield description.function
        yield description.arguments
        self.parts.append(b"R")
        self._remember(value)
        if description.items:
            yield from self._pairs(list(description.items))
        if description.state:
            yield description.state
            self.parts.append(b"b")


def _integer(value):
    if 0 <= value < 256:
        return b"K%c" % value
    if 0 <= value < 65_536:
        return b"M" + struct.pack("<H", value)
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    encoded = encode_long(value)
    head = b"\x8a%c" % len(encoded) if len(encoded) < 256 else b"\x8b" + struct.pack("<i", len(encoded))
    return head + encoded
