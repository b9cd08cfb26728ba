"""Grad mode: context managers, decorators, generators, threads. PyTorch is the oracle."""

import threading

import pytest
import torch

import autograd_lab as lab

LIBRARIES = pytest.mark.parametrize("lib", [lab, torch], ids=["lab", "torch"])


def records(lib):
    """Whether an op on a leaf is recorded right now."""
    recorded = (lib.ones(2, requires_grad=True) * 2).requires_grad
    assert recorded == lib.is_grad_enabled()
    return recorded


@LIBRARIES
def test_nested_context_managers(lib):
    seen = [records(lib)]
    with lib.no_grad():
        seen.append(records(lib))
        with lib.enable_grad():
            seen.append(records(lib))
            with lib.set_grad_enabled(False):
                seen.append(records(lib))
            seen.append(records(lib))
        seen.append(records(lib))
    seen.append(records(lib))
    assert seen == [True, False, True, False, True, False, True]


@LIBRARIES
def test_the_mode_returns_after_an_exception(lib):
    with pytest.raises(ValueError), lib.no_grad():
        raise ValueError
    assert records(lib)


def test_one_object_may_be_entered_again():
    """NB: in PyTorch this leaves recording off."""
    quiet = lab.no_grad()
    with quiet:
        with quiet:
            assert not records(lab)
        assert not records(lab)
    assert records(lab)


@LIBRARIES
def test_set_grad_enabled_acts_at_once(lib):
    try:
        lib.set_grad_enabled(False)
        assert not records(lib)
    finally:
        lib.set_grad_enabled(True)
    assert records(lib)


@LIBRARIES
def test_decorators(lib):
    @lib.no_grad()
    def quiet(n):
        """Doc."""
        return records(lib) if n == 0 else quiet(n - 1)

    @lib.no_grad
    def bare():
        return records(lib)

    @lib.enable_grad()
    def loud():
        return records(lib)

    @lib.set_grad_enabled(False)
    def off():
        return records(lib)

    assert records(lib) and quiet.__doc__ == "Doc." and quiet.__name__ == "quiet"
    assert not quiet(0) and not quiet(3) and not bare() and not off()
    with lib.no_grad():
        assert loud() and not records(lib)
    assert records(lib)


@LIBRARIES
def test_decorated_methods_keep_self(lib):
    class Model:
        @lib.no_grad()
        def predict(self, x):
            return self, x, records(lib)

    model = Model()
    assert model.predict(3) == (model, 3, False)


@LIBRARIES
def test_generators_do_not_leak_their_mode(lib):
    @lib.no_grad()
    def quiet():
        got = yield records(lib)
        try:
            yield got, records(lib)
        except KeyError:
            yield "caught", records(lib)
        return records(lib)

    generator = quiet()
    assert next(generator) is False and records(lib)
    assert generator.send(5) == (5, False) and records(lib)
    assert generator.throw(KeyError()) == ("caught", False) and records(lib)
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value is False and records(lib)


@LIBRARIES
def test_a_closed_generator_cleans_up_in_its_mode(lib):
    seen = []

    @lib.no_grad()
    def quiet():
        try:
            yield 1
        finally:
            seen.append(lib.is_grad_enabled())

    generator = quiet()
    next(generator)
    generator.close()
    assert seen == [False] and records(lib)


@LIBRARIES
def test_a_with_block_in_a_plain_generator_leaks_as_in_pytorch(lib):
    def leaky():
        with lib.no_grad():
            yield

    generator = leaky()
    next(generator)
    leaked = lib.is_grad_enabled()
    generator.close()
    assert leaked is False and records(lib)


@LIBRARIES
def test_threads_have_their_own_mode(lib):
    seen = {}
    inside, leave = threading.Event(), threading.Event()

    def other():
        seen["fresh"] = records(lib)
        with lib.no_grad():
            inside.set()
            leave.wait(5)
            seen["inside"] = records(lib)

    with lib.no_grad():
        thread = threading.Thread(target=other)
        thread.start()
        inside.wait(5)
        with lib.enable_grad():
            seen["main"] = records(lib)
        leave.set()
        thread.join()
    assert seen == {"fresh": True, "main": True, "inside": False} and records(lib)


@LIBRARIES
def test_inference_mode(lib):
    with lib.inference_mode():
        assert not records(lib) and lib.is_inference_mode_enabled()
    assert not lib.is_inference_mode_enabled() and records(lib)

    @lib.inference_mode()
    def quiet():
        return lib.is_inference_mode_enabled()

    assert quiet() and records(lib)


@LIBRARIES
def test_detach_and_data_share_memory_off_the_tape(lib):
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    d = x.detach()
    assert not d.requires_grad and d.is_leaf
    d[0] = 5.0
    assert x.tolist() == [5, 2] and x._version == 1
    x.data[1] = 7.0
    assert x.tolist() == [5, 7] and x._version == 1


@LIBRARIES
def test_requires_grad_flag(lib):
    x = lib.ones(2)
    assert x.requires_grad_() is x and x.requires_grad and x.is_leaf and x.grad_fn is None
    y = x * 2
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad = False
    x.requires_grad_(False)
    assert not x.requires_grad
