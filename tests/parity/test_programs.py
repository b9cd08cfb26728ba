"""Random programs of 20 steps, with views and changes in place: values, gradients and refusals are PyTorch's, in float64.

150 programs in the ordinary run; ``make fuzz`` runs 2,000 (see README.md beside this file). Five differences are let be:

- Rules here save less, so that a gradient is there which PyTorch refuses after a change in place (``y.tanh_().relu_()``). It has to
  be what PyTorch gives when it keeps copies of what changes, or a difference quotient: PyTorch keeps no copy when the change comes
  through a view.
- The rule of ``a / b`` saves the quotient: changing that in place is refused here, and is not in PyTorch.
- Writing into an expanded tensor is refused here; PyTorch lets ``copy_``, ``zero_`` and ``fill_`` do it.
- ``copy_`` takes a source with more dimensions when the first ones are 1; programs do not ask for it.
- PyTorch refuses to read an output of ``split`` after its base has changed, and to write a tensor into memory it shares. Both
  work here. The program ends there: from then on the two libraries' tensors are not the same.
"""

import os
import re

import numpy as np
import pytest
import torch

import autograd_lab as lab
from tests.parity.programs import TABLES, make, run, weights

COUNT = int(os.environ.get("AUTOGRAD_LAB_PROGRAMS", 150))
FIRST = int(os.environ.get("AUTOGRAD_LAB_FIRST_PROGRAM", 0))
PIECE = 50
REFUSED_HERE = re.compile("more than one element of the written-to tensor|which is output 0 of DivBackward0")
REFUSED_THERE = re.compile("its base or another view of its base has been modified|refer.? to a single memory location")


def same(ours, theirs):
    """What a step or an end came to: a refusal, or a list of arrays and Nones."""
    if isinstance(ours, str) or isinstance(theirs, str):
        return isinstance(ours, str) and isinstance(theirs, str)
    if len(ours) != len(theirs):
        return False
    for a, b in zip(ours, theirs, strict=True):
        if a is None or b is None:
            if a is not b and (b if a is None else a).any():
                return False
        elif a.shape != b.shape or a.dtype != b.dtype or not np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True):
            return False
    return True


def wanted(ours, theirs):
    """Whether this is one of the differences that are let be."""
    if isinstance(ours, str):
        return isinstance(theirs, list) and REFUSED_HERE.search(ours)
    return isinstance(theirs, str) and REFUSED_THERE.search(theirs)


def kept_ends(program):
    """PyTorch's gradients when it keeps copies of what changes in place, instead of refusing."""
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        return run(torch, program)[1]


def close_to_quotients(program, end, gradients):
    """Whether gradients are those of difference quotients; programs that detach have none."""
    leaves, steps = program
    if any(name == "detach" for _, name, _, _ in steps):
        return False

    def loss(place, i, by):
        moved = [a.copy() for a in leaves]
        moved[place].reshape(-1)[i] += by
        value = run(lab, (moved, steps))[2][end]
        return (value * weights(value)).sum()

    for place, g in enumerate(gradients):
        found = np.zeros(leaves[place].size) if g is None else g.reshape(-1)
        quotients = [(loss(place, i, 1e-6) - loss(place, i, -1e-6)) / 2e-6 for i in range(found.size)]
        if not np.allclose(found, quotients, rtol=1e-4, atol=1e-5):
            return False
    return True


def first_difference(seed):
    """Where the program goes another way here, in words; None where it does not; "cut" where it ends at a wanted difference."""
    program = make(seed)
    (ours, our_ends, _), (theirs, their_ends, _) = run(lab, program), run(torch, program)
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if wanted(a, b):
            return "cut"
        if not same(a, b):
            if isinstance(a, list) and isinstance(b, list):
                a, b = next(([x, y] for x, y in zip(a, b, strict=False) if not same([x], [y])), (len(a), len(b)))
            kind, name, places, arguments = program[1][i]
            return f"program {seed}, step {i} {kind} {name!r} {places} {arguments}: {a}; PyTorch {b}"
    if len(our_ends) != len(their_ends):
        return f"program {seed}: {len(our_ends)} tensors need a gradient, PyTorch {len(their_ends)}"
    kept = None
    for i, (a, b) in enumerate(zip(our_ends, their_ends, strict=True)):
        if isinstance(b, str) and isinstance(a, list) and not wanted(a, b):
            kept = kept or kept_ends(program)
            b = a if same(a, kept[i]) or close_to_quotients(program, i, a) else kept[i]
        if not same(a, b) and not wanted(a, b):
            return f"program {seed}, end {i}: gradients {a}; PyTorch {b}"
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, PIECE))
def test_programs(first):
    seeds = range(first, min(first + PIECE, FIRST + COUNT))
    found = [first_difference(seed) for seed in seeds]
    wrong = [text for text in found if text not in (None, "cut")]
    assert not wrong, f"{len(wrong)} of {len(seeds)} programs differ:\n" + "\n".join(wrong[:5])
    assert found.count("cut") < 0.3 * len(seeds)


@pytest.mark.filterwarnings("ignore")
def test_programs_do_what_they_are_for():
    """Most steps run, every kind of step does, and gradients are mostly there: else the comparison says little."""
    steps, ran, ends, refused = 0, set(), 0, 0
    for seed in range(60):
        program = make(seed)
        trace, found, _ = run(torch, program)
        steps += sum(isinstance(outcome, list) for outcome in trace)
        ran |= {step[:2] for step, outcome in zip(program[1], trace, strict=True) if isinstance(outcome, list)}
        ends += len(found)
        refused += sum(isinstance(outcome, str) for outcome in found)
    assert steps > 0.7 * 60 * 20 and len(ran) > 0.9 * sum(map(len, TABLES.values()))
    assert ends > 400 and refused < 0.2 * ends
