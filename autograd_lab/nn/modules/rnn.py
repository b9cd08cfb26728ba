"""Recurrent layers and cells: RNN, LSTM, GRU."""

import math
import numbers
import warnings

import numpy as np

from ...core.tensor import Parameter, Tensor, wrap
from ...errors import shape_text
from ...ops.create import empty
from ...ops.index import index_row
from ...ops.shape import reshape
from .. import init
from ..functions.recurrent import cell, layers
from ..module import Module
from ..utils.rnn import PackedSequence

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _check_settings(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size):
    if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than "
            f"1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=4,
        )
    for name, value, kind in (("bias", bias, bool), ("batch_first", batch_first, bool), ("input_size", input_size, int),
                              ("hidden_size", hidden_size, int)):  # fmt: skip
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNNBase(Module):
    """What RNN, LSTM and GRU share: parameters of all layers and directions, checks, packed and unbatched input."""

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, device=None, dtype=None):  # fmt: skip
        super().__init__()
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        _check_settings(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        self.mode, self.input_size, self.hidden_size, self.num_layers, self.bias = mode, input_size, hidden_size, num_layers, bias
        self.batch_first, self.dropout, self.bidirectional, self.proj_size = batch_first, float(dropout), bidirectional, proj_size
        directions = 2 if bidirectional else 1
        out, gates = proj_size or hidden_size, _GATES[mode] * hidden_size
        self._all_weights = []
        for layer in range(num_layers):
            wide = input_size if layer == 0 else out * directions
            for suffix in ("", "_reverse")[:directions]:
                sizes = {"weight_ih": (gates, wide), "weight_hh": (gates, out)}
                if bias:
                    sizes.update(bias_ih=(gates,), bias_hh=(gates,))
                if proj_size:
                    sizes["weight_hr"] = (proj_size, hidden_size)
                for name, size in sizes.items():
                    setattr(self, f"{name}_l{layer}{suffix}", Parameter(empty(size, device=device, dtype=dtype)))
                self._all_weights.append([f"{name}_l{layer}{suffix}" for name in sizes])
        self.reset_parameters()

    def reset_parameters(self):
        """Draw first values anew, uniform in ±1/√hidden_size."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def flatten_parameters(self):
        """Nothing to do here: PyTorch joins the weights in memory for cuDNN."""

    @property
    def all_weights(self):
        """The parameters, one list per layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def _weights(self):
        """Per layer and direction (w_ih, w_hh, b_ih, b_hh, w_hr), None where absent."""
        found = []
        for names in self._all_weights:
            own = [getattr(self, name) for name in names]
            hr = own.pop() if self.proj_size else None
            found.append((*own, *(None,) * (4 - len(own)), hr))
        return found

    def _state_sizes(self, batch):
        lead = (self.num_layers * (2 if self.bidirectional else 1), batch)
        first = (*lead, self.proj_size or self.hidden_size)
        return (first, (*lead, self.hidden_size)) if self.mode == "LSTM" else (first,)

    def _check_input(self, x, ndim):
        weight = getattr(self, self._all_weights[0][0])
        if x._d.dtype != weight._d.dtype:
            raise ValueError(
                f"RNN input dtype ({x.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({x.dtype})"
            )
        if x._d.ndim != ndim:
            raise RuntimeError(f"input must have {ndim} dimensions, got {x._d.ndim}")
        if x._d.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {x._d.shape[-1]}"
            )

    def _states(self, hx, batch, x, alone):
        """The first states as a tuple of (layers · directions, B, size): those given, or zeros."""
        wanted = self._state_sizes(batch)
        if hx is None:
            return tuple(wrap(np.zeros(size, x._d.dtype)) for size in wanted)
        hx = (hx,) if isinstance(hx, Tensor) else tuple(hx)
        if len(hx) != len(wanted):
            raise RuntimeError(f"{self.mode}: expected {len(wanted)} hidden state(s), got {len(hx)}")
        for k, (h, size) in enumerate(zip(hx, wanted, strict=True)):
            if h._d.ndim != (2 if alone else 3):
                raise RuntimeError(
                    f"For {'unbatched 2-D' if alone else 'batched 3-D'} input, hx should also be {2 if alone else 3}-D but got "
                    f"{h._d.ndim}-D tensor"
                )
            got = (h._d.shape[0], 1, h._d.shape[1]) if alone else h._d.shape
            if got != size:
                which = f"hidden[{k}]" if self.mode == "LSTM" else "hidden"
                raise RuntimeError(f"Expected {which} size {size}, got {list(got)}")
            if h._d.dtype != x._d.dtype:
                raise RuntimeError(f"{self.mode}: Input and hidden tensors are not the same dtype, found input tensor with "
                                   f"{x.dtype} and hidden tensor with {h.dtype}")  # fmt: skip
        return tuple(h.unsqueeze(1) for h in hx) if alone else hx

    def _result(self, states):
        return tuple(states) if self.mode == "LSTM" else states[0]

    def _run(self, x, states, batch_sizes=None):
        return layers(self.mode, x, states, self._weights(), self.bidirectional, self.dropout, self.training, batch_sizes)

    def forward(self, input, hx=None):
        """The outputs of the last layer for all times, and the last state of every layer and direction."""
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        shape = input._d.shape
        if len(shape) not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {len(shape)}D tensor instead")
        alone = len(shape) == 2
        self._check_input(input, len(shape))
        if alone:
            x = input.unsqueeze(1)
        else:
            x = input.transpose(0, 1) if self.batch_first else input
        steps, batch = x._d.shape[:2]
        states = self._states(hx, batch, x, alone)
        if not steps:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        out, states = self._run(x, states)
        if alone:
            return out.squeeze(1), self._result([s.squeeze(1) for s in states])
        return out.transpose(0, 1) if self.batch_first else out, self._result(states)

    def _packed(self, packed, hx):
        self._check_input(packed.data, 2)
        sizes = [int(n) for n in packed.batch_sizes._array()]
        states = self._states(hx, sizes[0], packed.data, False)
        if hx is not None:
            states = _permuted(states, packed.sorted_indices)
        out, states = self._run(packed.data, states, sizes)
        out = PackedSequence(out, packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
        return out, self._result(_permuted(states, packed.unsorted_indices))

    def extra_repr(self):
        """Sizes, and the settings that are not the defaults."""
        text = f"{self.input_size}, {self.hidden_size}"
        for name, default in (("proj_size", 0), ("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0),
                              ("bidirectional", False)):  # fmt: skip
            value = getattr(self, name)
            if value != default:
                text += f", {name}={value}"
        return text


def _permuted(states, index):
    """States with their sequences in another order."""
    return states if index is None else tuple(index_row(s, (slice(None), index._array())) for s in states)


def _refuse_projection(kwargs):
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """Plain recurrent layers: hₜ = tanh(W_ih xₜ + b_ih + W_hh hₜ₋₁ + b_hh).

    Args:
        input_size: features of the input
        hidden_size: features of the state
        num_layers: layers, each reading the outputs of the one before
        nonlinearity: "tanh" or "relu"
        bias: learn biases
        batch_first: input and output are (batch, time, features)
        dropout: probability of dropout between the layers while training
        bidirectional: also read backwards; the outputs stand side by side

    Shape: input (T, N, input_size) or (T, input_size), state (layers · directions, N, hidden_size).

    Example::

        out, h = nn.RNN(10, 20, 2)(torch.randn(5, 3, 10))    # out (5, 3, 20), h (2, 3, 20)
    """

    def __init__(self, *args, **kwargs):
        _refuse_projection(kwargs)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__("RNN_" + nonlinearity.upper(), *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: gates i, f, o and candidate g from xₜ and hₜ₋₁; cₜ = f · cₜ₋₁ + i · g, hₜ = o · tanh cₜ.

    Args: as ``RNN``, without nonlinearity; proj_size: project hₜ to this size.

    Shape: input (T, N, input_size) or (T, input_size), states h and c (layers · directions, N, hidden_size).

    Example::

        out, (h, c) = nn.LSTM(10, 20, 2)(torch.randn(5, 3, 10))    # out (5, 3, 20), h and c (2, 3, 20)
    """

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units: hₜ = (1 − z) · n + z · hₜ₋₁ with n = tanh(W_in xₜ + b_in + r · (W_hn hₜ₋₁ + b_hn)).

    Args: as ``RNN``, without nonlinearity.

    Shape: input (T, N, input_size) or (T, input_size), state (layers · directions, N, hidden_size).

    Example::

        out, h = nn.GRU(10, 20, 2)(torch.randn(5, 3, 10))    # out (5, 3, 20), h (2, 3, 20)
    """

    def __init__(self, *args, **kwargs):
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """What the cells share: parameters, checks, unbatched input."""

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(empty(rows, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw first values anew, uniform in ±1/√hidden_size."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def _step(self, mode, input, hx, count):
        """One step from checked input; returns ``count`` new states."""
        name, shape = self._get_name(), input._d.shape
        if len(shape) not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {len(shape)}D instead")
        alone = len(shape) == 1
        x = reshape(input, (1, *shape)) if alone else input
        if shape[-1] != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {shape[-1]} expected {self.input_size}")
        batch = x._d.shape[0]
        if hx is None:
            zeros = wrap(np.zeros((batch, self.hidden_size), x._d.dtype))
            states = (zeros,) * count
        else:
            states = (hx,) if isinstance(hx, Tensor) else tuple(hx)
            for h in states:
                if h._d.ndim not in (1, 2):
                    raise ValueError(f"{name}: Expected hidden to be 1D or 2D, got {h._d.ndim}D instead")
            states = tuple(reshape(h, (1, -1)) if alone and h._d.ndim == 1 else h for h in states)
            for h in states:
                if h._d.shape != (batch, self.hidden_size):
                    raise RuntimeError(f"{name}: expected hidden of shape ({batch}, {self.hidden_size}) for input of shape "
                                       f"{shape_text(shape)}, got {shape_text(h._d.shape)}")  # fmt: skip
        new = cell(mode, x, states, (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh))
        return tuple(reshape(h, (self.hidden_size,)) for h in new) if alone else new

    def extra_repr(self):
        """Sizes, and the settings that are not the defaults."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.__dict__.get("nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    """One step of a plain recurrent layer: h′ = tanh(W_ih x + b_ih + W_hh h + b_hh).

    Args: input_size, hidden_size: features of input and state; bias: learn biases; nonlinearity: "tanh" or "relu".

    Shape: input (N, input_size) or (input_size), state (N, hidden_size) or (hidden_size).
    """

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        """The new state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step("RNN_" + self.nonlinearity.upper(), input, hx, 1)[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM: new (h, c) from x and (h, c).

    Args: input_size, hidden_size: features of input and state; bias: learn biases.

    Shape: input (N, input_size) or (input_size), h and c (N, hidden_size) or (hidden_size).
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        """The new states (h, c)."""
        return self._step("LSTM", input, hx, 2)


class GRUCell(RNNCellBase):
    """One step of a GRU: the new h from x and h.

    Args: input_size, hidden_size: features of input and state; bias: learn biases.

    Shape: input (N, input_size) or (input_size), state (N, hidden_size) or (hidden_size).
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        """The new state."""
        return self._step("GRU", input, hx, 1)[0]
