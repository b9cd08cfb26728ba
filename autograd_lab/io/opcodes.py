"""A reader of pickle opcodes that runs no code: data and an allow-list of names, nothing else.

Pickle is a small stack language. Two of its instructions are the dangerous ones: GLOBAL looks a Python name up, REDUCE
calls it. Here GLOBAL only finds entries of a table handed in by the caller, and REDUCE only calls what that table marks
as callable. Everything else builds lists, dicts, numbers and text, with bounds on depth and memory.
"""

import io
import pickletools
from collections import Counter, OrderedDict
from itertools import chain
from pickle import UnpicklingError

MAX_DEPTH = 1_000
MAX_COLLISIONS = 64
MAX_KEY_PARTS = 4_096
CONTAINERS = (list, tuple, dict, OrderedDict, Counter, set, frozenset)

_LEAVES = frozenset({str, bytes, bool, int, float, complex, type(None)})
_PLAIN_KEYS = frozenset({str, bytes, bool, float, type(None)})
_LITERALS = (
    "BININT BININT1 BININT2 LONG1 LONG4 BINFLOAT BINUNICODE SHORT_BINUNICODE BINUNICODE8 "
    "BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8"
).split()


class Constructor:
    """A name of the allow-list that REDUCE may call: ``make`` gets the arguments read from the file and checks them."""

    __slots__ = ("name", "make")

    def __init__(self, name, make):
        self.name, self.make = name, make


class Internal:
    """Base of values that only exist while reading (a storage, a storage type); none may end in the result."""

    __slots__ = ()


class Reader:
    """Reads one pickle.

    data        the bytes of the pickle
    names       (module, name) -> a value, or a Constructor; any other name is refused
    persistent  called with the persistent id (a tuple) of a storage
    refuse      called with a dotted name that is not allowed; returns the error to raise

    ``load()`` returns the object; ``end`` is then the position after it. Raises: UnpicklingError for anything that is
    not allowed or not well formed.
    """

    def __init__(self, data, names, persistent, refuse):
        self.names, self.persistent, self.refuse = names, persistent, refuse
        self.file = io.BytesIO(data)
        self.stack, self.marks, self.memo = [], [], {}
        self.count = self.end = 0
        self.outside = None
        self.collisions = Counter()

    def load(self):
        """The object that the pickle describes."""
        file, code = self.file, b""
        try:
            while (code := file.read(1)) != b".":
                self.count += 1
                read_argument, handler = _OPCODES.get(code) or _refused(code)
                handler(self, None if read_argument is None else read_argument(file))
            if self.marks or len(self.stack) != 1:
                raise UnpicklingError("the pickle ends with its stack out of order")
        except UnpicklingError:
            raise
        except (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            if error is self.outside:
                raise
            raise UnpicklingError(f"the pickle is damaged near byte {file.tell()}, opcode {code!r}: {error}") from error
        self.end = file.tell()
        check_result(self.stack[0])
        return self.stack[0]

    def items(self):
        """The stack's items above the last mark, which they leave."""
        above, self.stack = self.stack, self.marks.pop()
        return above

    def key(self, container, key):
        """Check a dict key or set item: quick to hash, and no flood of keys with one hash.

        A tuple's hash recurses and is computed afresh each time, so a few bytes could keep it busy for years; and the
        hashes of numbers are easy to make equal, which turns a dict into a slow list.
        """
        kind = type(key)
        if kind in _PLAIN_KEYS or (kind is int and -(1 << 61) < key < 1 << 61):
            return
        parts, seen = [key], 0
        while parts:
            part = parts.pop()
            seen += 1
            if seen > MAX_KEY_PARTS:
                raise UnpicklingError("a dict key or set item is a tuple of more parts than any real file has")
            if isinstance(part, tuple | frozenset):
                parts.extend(part)
        slot = (id(container), hash(key))
        self.collisions[slot] += 1
        if self.collisions[slot] > MAX_COLLISIONS:
            raise UnpicklingError("many keys of one dict or set have the same hash, made to stall the reader")

    def put(self, index):
        """Remember the top of the stack under a memo number; picklers count from zero, so it can't be large."""
        if index > self.count:
            raise UnpicklingError(f"memo number {index} in a pickle of {self.count} opcodes so far")
        self.memo[index] = self.stack[-1]

    def fill(self, pairs):
        """Put ``[key, value, key, value…]`` into the dict on top of the stack."""
        target = self.stack[-1]
        if type(target) not in (dict, OrderedDict, Counter):
            raise UnpicklingError(f"can only set items of a dict, but the file sets them of a {type(target).__name__}")
        if len(pairs) % 2:
            raise UnpicklingError("a dict in the pickle has a key without a value")
        for i in range(0, len(pairs), 2):
            self.key(target, pairs[i])
            target[pairs[i]] = pairs[i + 1]

    def extend(self, values):
        """Append to the list on top of the stack."""
        if type(self.stack[-1]) is not list:
            raise UnpicklingError(f"can only append to a list, not to a {type(self.stack[-1]).__name__}")
        self.stack[-1].extend(values)

    def fill_set(self, values, target):
        """Add checked items to a set."""
        for value in values:
            self.key(target, value)
            target.add(value)
        return target


def check_result(root):
    """Walk the finished object once: bounded depth, and nothing that exists only while reading.

    Raises: UnpicklingError.
    """
    stack, seen = [(root, 0)], set()
    while stack:
        value, depth = stack.pop()
        if isinstance(value, Constructor | Internal):
            name = getattr(value, "name", type(value).__name__)
            raise UnpicklingError(f"the file holds a bare {name}, not a value; save tensors instead")
        if type(value) not in CONTAINERS or id(value) in seen:
            continue
        if depth > MAX_DEPTH:
            raise UnpicklingError(f"containers are nested more than {MAX_DEPTH} deep")
        seen.add(id(value))
        if isinstance(value, dict):
            inner = chain(value, value.values(), getattr(value, "__dict__", {}).values())
        else:
            inner = value
        stack.extend((item, depth + 1) for item in inner if type(item) not in _LEAVES)


def _refused(code):
    if not code:
        raise UnpicklingError("the pickle is cut short: it has no end")
    known = pickletools.code2op.get(code.decode("latin-1"))
    raise UnpicklingError(f"the opcode {known.name if known else code} is not used by torch.save and is refused")


def _protocol(reader, version):
    if not 2 <= version <= 5:
        raise UnpicklingError(f"unsupported pickle protocol: {version}; torch.save writes 2, and 3 to 5 on request")


def _global(reader, _):
    module, name = reader.file.readline(), reader.file.readline()
    if not name.endswith(b"\n"):
        raise UnpicklingError("the pickle is cut short inside a name")
    _look_up(reader, module[:-1].decode(), name[:-1].decode())


def _stack_global(reader, _):
    name, module = reader.stack.pop(), reader.stack.pop()
    if type(name) is not str or type(module) is not str:
        raise UnpicklingError("a name in the pickle is not text")
    _look_up(reader, module, name)


def _look_up(reader, module, name):
    try:
        reader.stack.append(reader.names[module, name])
    except KeyError:
        raise reader.refuse(f"{module}.{name}") from None


def _reduce(reader, _):
    arguments, function = reader.stack.pop(), reader.stack.pop()
    if type(function) is not Constructor or type(arguments) is not tuple:
        raise UnpicklingError(f"the file calls a {type(function).__name__}; only torch's rebuild functions are called")
    reader.stack.append(function.make(reader, *arguments))


def _build(reader, _):
    """State after construction. Only the ``_metadata`` that a state_dict carries, and other plain attributes of it."""
    state, target = reader.stack.pop(), reader.stack[-1]
    if type(target) is not OrderedDict or type(state) is not dict:
        raise UnpicklingError(f"the file sets the state of a {type(target).__name__}; only an OrderedDict has one here")
    for name, value in state.items():
        if type(name) is not str or hasattr(OrderedDict, name):
            raise UnpicklingError(f"the file overwrites the attribute {name!r} of an OrderedDict")
        setattr(target, name, value)


def _mark(reader, _):
    if len(reader.marks) >= 2 * MAX_DEPTH:
        raise UnpicklingError(f"containers are nested more than {MAX_DEPTH} deep")
    reader.marks.append(reader.stack)
    reader.stack = []


def _tuple(size):
    def handler(reader, _):
        items = tuple(reader.stack[-size:])
        if len(items) < size:
            raise UnpicklingError("a tuple needs more items than the pickle has given")
        reader.stack[-size:] = [items]

    return handler


def _push(make):
    """A handler that pushes what ``make(reader)`` returns; the reader's stack is read after ``make`` has run."""

    def handler(reader, _):
        value = make(reader)
        reader.stack.append(value)

    return handler


def _constant(value):
    return lambda reader, _: reader.stack.append(value)


def _dict(reader, _):
    pairs = reader.items()
    reader.stack.append({})
    reader.fill(pairs)


def _set_item(reader, _):
    value, key = reader.stack.pop(), reader.stack.pop()
    reader.fill([key, value])


def _add_items(reader, _):
    values = reader.items()
    if type(reader.stack[-1]) is not set:
        raise UnpicklingError(f"can only add to a set, but the file adds to a {type(reader.stack[-1]).__name__}")
    reader.fill_set(values, reader.stack[-1])


def _frozen_set(reader):
    values = reader.items()
    return frozenset(reader.fill_set(values, set()))


def _persistent(reader, _):
    identity = reader.stack.pop()
    try:
        reader.stack.append(reader.persistent(identity))
    except Exception as error:  # perhaps from a map_location function: not to be mistaken for a damaged file
        reader.outside = error
        raise


def _get(reader, index):
    if index not in reader.memo:
        raise UnpicklingError(f"memo number {index} is used before it is set")
    reader.stack.append(reader.memo[index])


def _text(reader, argument):
    """Python 2's byte strings, which torch reads as text."""
    reader.stack.append(argument.encode("latin-1").decode("utf-8"))


_HANDLERS = {
    "PROTO": _protocol,
    "FRAME": lambda reader, _: None,
    "GLOBAL": _global,
    "STACK_GLOBAL": _stack_global,
    "REDUCE": _reduce,
    "BUILD": _build,
    "BINPERSID": _persistent,
    "MARK": _mark,
    "POP": lambda reader, _: reader.stack.pop() if reader.stack else reader.items(),
    "POP_MARK": lambda reader, _: reader.items(),
    "DUP": lambda reader, _: reader.stack.append(reader.stack[-1]),
    "EMPTY_TUPLE": _push(lambda reader: ()),
    "EMPTY_LIST": _push(lambda reader: []),
    "EMPTY_DICT": _push(lambda reader: {}),
    "EMPTY_SET": _push(lambda reader: set()),
    "TUPLE": _push(lambda reader: tuple(reader.items())),
    "LIST": _push(lambda reader: reader.items()),
    "FROZENSET": _push(_frozen_set),
    "DICT": _dict,
    "TUPLE1": _tuple(1),
    "TUPLE2": _tuple(2),
    "TUPLE3": _tuple(3),
    "APPEND": lambda reader, _: reader.extend([reader.stack.pop()]),
    "APPENDS": lambda reader, _: reader.extend(reader.items()),
    "SETITEM": _set_item,
    "SETITEMS": lambda reader, _: reader.fill(reader.items()),
    "ADDITEMS": _add_items,
    "BINPUT": lambda reader, index: reader.put(index),
    "LONG_BINPUT": lambda reader, index: reader.put(index),
    "MEMOIZE": lambda reader, _: reader.put(len(reader.memo)),
    "BINGET": _get,
    "LONG_BINGET": _get,
    "SHORT_BINSTRING": _text,
    "BINSTRING": _text,
    "NONE": _constant(None),
    "NEWTRUE": _constant(True),
    "NEWFALSE": _constant(False),
    **dict.fromkeys(_LITERALS, lambda reader, argument: reader.stack.append(argument)),
}
_OPCODES = {
    op.code.encode("latin-1"): (op.arg.reader if op.arg and op.name != "GLOBAL" else None, _HANDLERS[op.name])
    for op in pickletools.opcodes
    if op.name in _HANDLERS
}
