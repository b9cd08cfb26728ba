"""torch.cuda, torch.xpu and torch.backends as a program without a GPU meets them."""

import pytest
import torch

import autograd_lab as lab
from autograd_lab.backend import cupy


@pytest.fixture
def nothing(monkeypatch):
    monkeypatch.setattr(cupy._backend, "_count", lambda module: 0)
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)


def test_questions_have_answers(nothing):
    assert not lab.cuda.is_available() and not lab.xpu.is_available()
    assert lab.cuda.device_count() == lab.cuda.memory_allocated() == lab.cuda.memory_reserved() == 0
    lab.cuda.empty_cache()
    device = lab.device("cuda" if lab.cuda.is_available() else "cpu")
    assert lab.ones(2).to(device).device == device
    lab.manual_seed(3)
    before = lab.rand(2)
    lab.manual_seed(3)
    lab.cuda.manual_seed_all(3)
    assert lab.equal(lab.rand(2), before)


@pytest.mark.parametrize("name", ["synchronize", "current_device", "get_device_name"])
def test_what_needs_a_device_says_what_is_missing(name, nothing):
    with pytest.raises(RuntimeError, match=r"needs CuPy, which is not installed: pip install 'autograd_lab\[cuda12\]'"):
        getattr(lab.cuda, name)()


def test_switches_can_be_set_and_misspelt_ones_cannot():
    for library in (lab, torch):
        before = library.backends.cudnn.deterministic
        library.backends.cudnn.deterministic = True
        assert library.backends.cudnn.deterministic
        library.backends.cudnn.deterministic = before
        library.use_deterministic_algorithms(True)
        assert library.are_deterministic_algorithms_enabled()
        library.use_deterministic_algorithms(False)
    assert not lab.backends.mps.is_available()
    with pytest.raises(AttributeError, match="determinstic"):
        lab.backends.cudnn.determinstic = True
