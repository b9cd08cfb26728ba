"""Per-thread modes: gradient recording, the current interpreter, and who watches recording.

``modes.now`` is one record per thread (PyTorch's modes are thread-local too; a ContextVar would be lost between
notebook cells). The hot path reads it once per op.
"""

import functools
import inspect
import threading
import weakref

_default_watch = None
_count_lock = threading.Lock()
_of_all_threads: weakref.WeakSet = weakref.WeakSet()

MODULE_CALLS: dict = {}
"""What calls of modules must heed: hooks of all modules by table, and under "watch" how many watch recording.

Empty while there is neither: one test per call.
"""


class Modes:
    """One thread's modes.

    grad       record ops on the tape
    top        the innermost interpreter (tracing, vmap, …), or None: run eagerly
    watch      called as watch(node, operands, output) for every recorded node, or None
    observers  the observers behind ``watch`` and the engine's call points
    inference  inside inference_mode
    module     the module at work, scope its ``scope.Scope``, paths those of modules inside the callers, looked up so far;
               all three are None unless somebody watches
    """

    __slots__ = ("grad", "top", "watch", "observers", "inference", "module", "scope", "paths", "__weakref__")

    def __init__(self):
        self.grad = True
        self.top = None
        self.watch = _default_watch
        self.observers = ()
        self.inference = False
        self.module = self.scope = self.paths = None
        _of_all_threads.add(self)


class _PerThread(threading.local):
    def __init__(self):
        self.now = Modes()


modes = _PerThread()


def count_watcher(by):
    """Note that one more (+1) or one less (-1) watches recording, in any thread."""
    with _count_lock:
        count = MODULE_CALLS.pop("watch", 0) + by
        if count:
            MODULE_CALLS["watch"] = count


def set_default_watch(watch):
    """What every thread's ``watch`` is when no observer is installed (the line recorder in IPython, else None)."""
    global _default_watch
    count_watcher((watch is not None) - (_default_watch is not None))
    _default_watch = watch
    for now in list(_of_all_threads):
        if not now.observers:
            now.watch = watch


def default_watch():
    """The process-wide watch function, or None."""
    return _default_watch


class _Switch:
    """A context manager that sets grad mode (and inference), usable as a decorator of functions and generators."""

    _grad = True
    _inference: bool | None = None

    def __enter__(self):
        now = modes.now
        self._stack = [*getattr(self, "_stack", ()), (now.grad, now.inference)]
        now.grad = self._grad
        if self._inference is not None:
            now.inference = self._inference
        return self

    def __exit__(self, *exc):
        now = modes.now
        now.grad, now.inference = self._stack.pop()

    def _clone(self):
        return type(self)()

    def __call__(self, function):
        if inspect.isclass(function):
            raise TypeError(f"{type(self).__name__} decorates functions, not the class {function.__name__}")
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self._clone():
                return function(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            generator = function(*args, **kwargs)
            send, value = generator.send, None
            while True:
                try:
                    with self._clone():
                        got = send(value)
                except StopIteration as stop:
                    return stop.value
                try:
                    value = yield got
                    send = generator.send
                except GeneratorExit:
                    with self._clone():
                        generator.close()
                    raise
                except BaseException as error:
                    send, value = generator.throw, error

        return wrapped


class no_grad(_Switch):  # noqa: N801 (PyTorch's name)
    """Switch recording off: ops run, no tape is kept. Context manager and decorator.

    Example: ``with no_grad(): w -= lr * w.grad``
    """

    _grad = False

    def __new__(cls, function=None):
        made = super().__new__(cls)
        return made if function is None else made(function)


class enable_grad(_Switch):  # noqa: N801 (PyTorch's name)
    """Switch recording on again inside ``no_grad``. Context manager and decorator."""

    _grad = True

    def __new__(cls, function=None):
        made = super().__new__(cls)
        return made if function is None else made(function)


class set_grad_enabled(_Switch):  # noqa: N801 (PyTorch's name)
    """Set recording on or off at once; as a context manager the former setting returns at the end."""

    def __init__(self, mode):
        self._grad = bool(mode)
        now = modes.now
        self._before = (now.grad, now.inference)
        now.grad = self._grad

    def __enter__(self):
        self._stack = [*getattr(self, "_stack", ()), self._before]
        modes.now.grad = self._grad
        return self

    def _clone(self):
        return type(self)(self._grad)

    def __call__(self, function):
        modes.now.grad = self._before[0]
        return super().__call__(function)


class inference_mode(_Switch):  # noqa: N801 (PyTorch's name)
    """``no_grad`` for code that never trains: results can never be recorded later. Context manager and decorator."""

    _grad = False
    _inference = True

    def __new__(cls, mode=True):
        made = super().__new__(cls)
        if callable(mode):
            return made(mode)
        return made

    def __init__(self, mode=True):
        self._mode = mode
        if not callable(mode):
            self._grad, self._inference = (False, True) if mode else (True, False)

    def _clone(self):
        return type(self)(self._mode if not callable(self._mode) else True)


def is_grad_enabled():
    """Whether ops on tensors that require grad are recorded in this thread."""
    return modes.now.grad


def is_inference_mode_enabled():
    """Whether this thread is inside ``inference_mode``."""
    return modes.now.inference
