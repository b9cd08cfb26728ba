"""The table "Conventions at kinks and ties" of DIFFERENCES.md is true, of this library and of PyTorch."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

import autograd_lab as lab

FILE = Path(__file__).parents[2] / "DIFFERENCES.md"
NUMBERS = {"inf": math.inf, "nan": math.nan}


def rows():
    """(expression, inputs, value, gradients or None) of each row."""
    section = FILE.read_text().partition("## Conventions at kinks and ties")[2].partition("\n## ")[0]
    for line in section.splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            inputs, value, gradients = ([eval(part.strip(" `"), NUMBERS) for part in cell.split(";")] for cell in
                                        (*cells[1:3], cells[3] if cells[3] != "none" else "None"))  # fmt: skip
            yield cells[0].strip("`"), inputs, value[0], None if cells[3] == "none" else gradients


ROWS = list(rows())
LIBRARIES = pytest.mark.parametrize("library", [lab, torch], ids=["autograd_lab", "torch"])


def at(library, expression, inputs):
    """Value and gradients of an expression in a, b and c."""
    leaves = [library.tensor(x, dtype=library.float64, requires_grad=True) for x in inputs]
    names = {name: getattr(library, name) for name in dir(library) if not name.startswith("_")}
    y = eval(expression, names | NUMBERS | {"functional": library.nn.functional} | dict(zip("abc", leaves, strict=False)))
    if not y.requires_grad:
        return y.tolist(), None
    y.sum().backward()
    return y.tolist(), [leaf.grad.tolist() for leaf in leaves]


def test_the_table_is_there():
    assert len(ROWS) > 50


@pytest.mark.filterwarnings("ignore")
@LIBRARIES
@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]} at {row[1]}" for row in ROWS])
def test_row(library, row):
    expression, inputs, value, gradients = row
    found_value, found = at(library, expression, inputs)
    np.testing.assert_array_equal(found_value, value)
    assert (found is None) == (gradients is None)
    for g, wanted in zip(found or [], gradients or [], strict=True):
        np.testing.assert_allclose(g, wanted, rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "expression, inputs, ours, theirs",
    [
        ("amax(a, 0)", [[1.0, math.nan, 3.0]], [0, 1, 0], [math.nan] * 3),
        ("renorm(a, 2, 0, 0.0)", [[[0.1, 0.0], [0.0, 0.0]]], [[0, 0], [0, 0]], [[0, 0], [1, 1]]),
    ],
)
def test_two_that_differ(expression, inputs, ours, theirs):
    """They are named below the table."""
    for library, wanted in ((lab, ours), (torch, theirs)):
        np.testing.assert_array_equal(at(library, expression, inputs)[1][0], wanted)
