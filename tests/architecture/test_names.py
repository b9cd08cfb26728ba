"""Names are PyTorch's: what it lacks stands in ``extras.py`` alone, so that a learner's program runs there too."""

import pytest
import torch

import autograd_lab as lab
from autograd_lab.core.public import METHODS, NAMESPACES
from autograd_lab.extras import NAMES

OF_SOME_BUILDS = {"UInt16Tensor", "UInt32Tensor", "UInt64Tensor"}
"""Old type names that PyTorch has for its other dtypes."""
BEHIND_METHODS = {"fill", "rsub", "combinations"}
"""Functions of PyTorch's that are methods here as well: of the first two it has the in-place twin and the operator."""


def theirs(space):
    """PyTorch's module of this name."""
    found = torch
    for part in space.split(".") if space != "torch" else ():
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("space", sorted(NAMESPACES))
def test_functions_have_names_of_pytorchs(space):
    assert sorted(set(NAMESPACES[space]) - set(dir(theirs(space))) - OF_SOME_BUILDS) == []


def test_methods_have_names_of_pytorchs():
    assert sorted(set(METHODS) - set(dir(torch.Tensor)) - BEHIND_METHODS) == []


@pytest.mark.parametrize("module", ["nn", "nn.functional", "nn.utils", "optim", "optim.lr_scheduler", "utils.data", "special"])
def test_modules_offer_names_of_pytorchs(module):
    ours = lab
    for part in module.split("."):
        ours = getattr(ours, part)
    hooks = {name for name in ours.__all__ if name.startswith("register_module_")}  # PyTorch keeps them in nn.modules.module
    assert sorted(set(ours.__all__) - set(dir(theirs(module))) - hooks) == []


def test_extras_shadow_nothing():
    assert not set(NAMES) & set(dir(torch))
