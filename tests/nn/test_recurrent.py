"""Recurrent layers and packed sequences against PyTorch: first values, outputs, states, gradients to second order."""

import numpy as np
import pytest
import torch

import autograd_lab as lab

LAYERS = [
    "RNN(3, 4)", "RNN(3, 4, 2, 'relu', bidirectional=True)", "LSTM(3, 4)", "LSTM(3, 4, 2, bidirectional=True, batch_first=True)",
    "LSTM(3, 4, 2, bias=False)", "LSTM(3, 4, 2, proj_size=2, bidirectional=True)", "GRU(3, 4, 2, bidirectional=True)",
    "GRU(3, 4, bias=False, batch_first=True)",
]  # fmt: skip


def pair(text):
    """The module in PyTorch and here, in float64 with the same first values."""
    torch.manual_seed(5)
    lab.manual_seed(5)
    theirs, ours = eval("torch.nn." + text), eval("lab.nn." + text)
    assert list(ours.state_dict()) == list(theirs.state_dict()) and repr(ours) == repr(theirs)
    for key, value in theirs.state_dict().items():
        np.testing.assert_array_equal(ours.state_dict()[key].numpy(), value.numpy())
    return theirs.double(), ours.double()


def flat(value):
    return [value] if hasattr(value, "numpy") else [v for part in value for v in flat(part)]


def numbers(m, module, inputs, call):
    """Outputs, gradients of their squares, and gradients of the gradients' squares."""
    leaves = [m.tensor(a, requires_grad=True) for a in inputs]
    outputs = flat(call(module, leaves))
    wrt = [*leaves, *module.parameters()]
    grad = torch.autograd.grad if m is torch else lab.autograd.grad
    first = grad(sum((o * o).sum() for o in outputs), wrt, create_graph=True, allow_unused=True)
    kept = [g for g in first if g is not None]
    second = grad(sum((g * g).sum() for g in kept), wrt, allow_unused=True)
    return [None if v is None else v.detach().numpy() for v in (*outputs, *first, *second)]


def compare(text, inputs, call):
    theirs, ours = pair(text)
    for a, b in zip(numbers(torch, theirs, inputs, call), numbers(lab, ours, inputs, call), strict=True):
        np.testing.assert_allclose(0 if b is None else b, 0 if a is None else a, rtol=1e-9, atol=1e-11)


def states(text, batch, unbatched=False):
    """First states of the right sizes for a layer."""
    m = eval("torch.nn." + text)
    lead = m.num_layers * (2 if m.bidirectional else 1)
    rng = np.random.default_rng(2)
    sizes = [(lead, batch, m.proj_size or m.hidden_size)] + [(lead, batch, m.hidden_size)] * (m.mode == "LSTM")
    made = [rng.standard_normal(s) for s in sizes]
    return [s[:, 0] for s in made] if unbatched else made


def given(hx):
    return tuple(hx) if len(hx) > 1 else hx[0] if hx else None


@pytest.mark.parametrize("with_state", [False, True], ids=["zeros", "state"])
@pytest.mark.parametrize("text", LAYERS)
def test_layers(text, with_state):
    x = np.random.default_rng(1).standard_normal((5, 2, 3))
    batch = 5 if "batch_first" in text else 2
    hx = states(text, batch) if with_state else []
    compare(text, [x, *hx], lambda m, leaves: m(leaves[0], given(leaves[1:])))


@pytest.mark.parametrize("text", LAYERS)
def test_unbatched(text):
    x = np.random.default_rng(1).standard_normal((5, 3))
    compare(text, [x, *states(text, 1, True)], lambda m, leaves: m(leaves[0], given(leaves[1:])))


@pytest.mark.parametrize("lengths", [[5, 5, 3, 1], [2, 5, 1, 3]], ids=["sorted", "unsorted"])
@pytest.mark.parametrize("text", LAYERS)
def test_packed(text, lengths):
    x = np.random.default_rng(1).standard_normal((4, 5, 3) if "batch_first" in text else (5, 4, 3))
    first = "batch_first" in text

    def call(module, leaves):
        rnn = (lab if isinstance(module, lab.nn.Module) else torch).nn.utils.rnn
        packed = rnn.pack_padded_sequence(leaves[0], lengths, first, enforce_sorted=lengths[0] == 5)
        out, h = module(packed, given(leaves[1:]))
        padded, found = rnn.pad_packed_sequence(out, first, padding_value=0.5, total_length=6)
        assert found.tolist() == lengths
        return padded, h

    compare(text, [x, *states(text, 4)], call)


@pytest.mark.parametrize("text", ["RNNCell(3, 4)", "RNNCell(3, 4, False, 'relu')", "LSTMCell(3, 4)", "GRUCell(3, 4)"])
def test_cells(text):
    rng = np.random.default_rng(1)
    hx = [rng.standard_normal((2, 4)) for _ in range(2 if "LSTM" in text else 1)]
    compare(text, [rng.standard_normal((2, 3)), *hx], lambda m, leaves: m(leaves[0], given(leaves[1:])))
    compare(text, [rng.standard_normal(3), *(h[0] for h in hx)], lambda m, leaves: m(leaves[0], given(leaves[1:])))
    compare(text, [rng.standard_normal((2, 3))], lambda m, leaves: m(leaves[0]))


def test_dropout_between_layers_is_pytorchs():
    x = np.random.default_rng(1).standard_normal((5, 2, 3)).astype(np.float32)
    outs = []
    for m in (torch, lab):
        m.manual_seed(3)
        layer = m.nn.GRU(3, 4, 3, dropout=0.5)
        outs.append(layer(m.tensor(x))[0].detach().numpy())
    np.testing.assert_allclose(outs[1], outs[0], rtol=1e-5, atol=1e-6)


def test_padding_and_packing_lists():
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal((n, 2)) for n in (2, 4, 1)]
    for options in ({}, {"batch_first": True, "padding_value": 7.0}, {"padding_side": "left"}):
        a = torch.nn.utils.rnn.pad_sequence([torch.tensor(x) for x in arrays], **options)
        b = lab.nn.utils.rnn.pad_sequence([lab.tensor(x) for x in arrays], **options)
        np.testing.assert_array_equal(b.numpy(), a.numpy())
    a = torch.nn.utils.rnn.pack_sequence([torch.tensor(x) for x in arrays], enforce_sorted=False)
    b = lab.nn.utils.rnn.pack_sequence([lab.tensor(x) for x in arrays], enforce_sorted=False)
    for theirs, ours in zip(a, b, strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    for x, back in zip(arrays, lab.nn.utils.rnn.unpack_sequence(b), strict=True):
        np.testing.assert_array_equal(back.numpy(), x)


def test_bad_input_is_refused():
    layer = lab.nn.LSTM(3, 4)
    with pytest.raises(RuntimeError, match="input_size"):
        layer(lab.zeros(5, 2, 4))
    with pytest.raises(RuntimeError, match=r"hidden\[0\]"):
        layer(lab.zeros(5, 2, 3), (lab.zeros(1, 3, 4), lab.zeros(1, 2, 4)))
    with pytest.raises(ValueError, match="proj_size"):
        lab.nn.GRU(3, 4, proj_size=2)
    with pytest.raises(RuntimeError, match="sorted"):
        lab.nn.utils.rnn.pack_padded_sequence(lab.zeros(5, 2, 3), [2, 5])
