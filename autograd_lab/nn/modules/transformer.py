"""Transformer encoder and decoder."""

import copy

import numpy as np

from ...core.tensor import wrap
from .. import functional as F  # noqa: N812 (PyTorch's name)
from .. import init
from ..module import Module
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .normalization import LayerNorm

_ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu}


def _activation(value):
    if not isinstance(value, str):
        return value
    if value not in _ACTIVATIONS:
        raise RuntimeError(f"activation should be relu/gelu, not {value}")
    return _ACTIVATIONS[value]


def _clones(module, n):
    return ModuleList([copy.deepcopy(module) for _ in range(n)])


class TransformerEncoderLayer(Module):
    """Self-attention and a small network, each with dropout, a shortcut and layer normalisation.

    Args:
        d_model: size of the inputs
        nhead: number of attention heads
        dim_feedforward: size inside the network
        dropout: probability of a zero
        activation: "relu", "gelu" or a function
        batch_first: inputs are (batch, length, size)
        norm_first: normalise before attention and network instead of after

    Shape: (length, batch, d_model), output the same.
    """

    def __init__(
        self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5, batch_first=False,
        norm_first=False, bias=True, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        how = dict(device=device, dtype=dtype)
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **how)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **how)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **how)
        self.norm_first = norm_first
        self.norm1, self.norm2 = (LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **how) for _ in range(2))
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        self.activation = _activation(activation)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """The layer's output. Args: src_mask: what a place may not see; src_key_padding_mask: places that hold nothing."""
        x = src
        if self.norm_first:
            x = x + self._attend(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._network(self.norm2(x))
        x = self.norm1(x + self._attend(x, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(x + self._network(x))

    def _attend(self, x, mask, padding, causal):
        return self.dropout1(
            self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False, is_causal=causal)[0]
        )

    def _network(self, x):
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to the encoder's output, and a small network; arguments as ``TransformerEncoderLayer``."""

    def __init__(
        self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, layer_norm_eps=1e-5, batch_first=False,
        norm_first=False, bias=True, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        how = dict(device=device, dtype=dtype)
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **how)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **how)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **how)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **how)
        self.norm_first = norm_first
        self.norm1, self.norm2, self.norm3 = (LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **how) for _ in range(3))
        self.dropout1, self.dropout2, self.dropout3 = (Dropout(dropout) for _ in range(3))
        self.activation = _activation(activation)

    def forward(
        self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
        tgt_is_causal=False, memory_is_causal=False,
    ):  # fmt: skip
        """The layer's output for a target sequence and the encoder's output ``memory``."""
        own = lambda x: self.dropout1(  # noqa: E731
            self.self_attn(x, x, x, attn_mask=tgt_mask, key_padding_mask=tgt_key_padding_mask, need_weights=False)[0]
        )
        across = lambda x: self.dropout2(  # noqa: E731
            self.multihead_attn(
                x, memory, memory, attn_mask=memory_mask, key_padding_mask=memory_key_padding_mask, need_weights=False
            )[0]
        )
        network = lambda x: self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))  # noqa: E731
        x = tgt
        for norm, part in ((self.norm1, own), (self.norm2, across), (self.norm3, network)):
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x


class TransformerEncoder(Module):
    """Several encoder layers, one after another; each begins as a copy of the given one.

    Args: encoder_layer; num_layers; norm: a last normalisation.
    """

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        """The output of the last layer."""
        x = src
        for layer in self.layers:
            x = layer(x, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(Module):
    """Several decoder layers, one after another. Args: decoder_layer; num_layers; norm: a last normalisation."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None,
        tgt_is_causal=None, memory_is_causal=False,
    ):  # fmt: skip
        """The output of the last layer."""
        x = tgt
        for layer in self.layers:
            x = layer(x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """An encoder and a decoder: the network of "Attention is all you need".

    Args: d_model, nhead, dim_feedforward, dropout, activation, batch_first, norm_first: as ``TransformerEncoderLayer``;
    num_encoder_layers, num_decoder_layers; custom_encoder, custom_decoder: modules of one's own.

    Shape: src (S, N, E), tgt (T, N, E); output (T, N, E).
    """

    def __init__(
        self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1,
        activation=F.relu, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5, batch_first=False, norm_first=False,
        bias=True, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        how = dict(device=device, dtype=dtype)
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        last = lambda: LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **how)  # noqa: E731
        self.encoder = custom_encoder or TransformerEncoder(TransformerEncoderLayer(*layer, **how), num_encoder_layers, last())
        self.decoder = custom_decoder or TransformerDecoder(TransformerDecoderLayer(*layer, **how), num_decoder_layers, last())
        for p in self.parameters():
            if p.ndim > 1:
                init.xavier_uniform_(p)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, tgt_key_padding_mask=None,
        memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None, memory_is_causal=False,
    ):  # fmt: skip
        """The decoder's output for a source and a target sequence."""
        batched = src.ndim == 3
        if batched and src.size(0 if self.batch_first else 1) != tgt.size(0 if self.batch_first else 1):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """The (sz, sz) mask that lets a place see itself and earlier ones: 0 there, −∞ elsewhere."""
        mask = np.zeros((sz, sz), np.float32 if dtype is None else dtype.numpy)
        mask[np.triu_indices(sz, 1)] = -np.inf
        return wrap(mask)
