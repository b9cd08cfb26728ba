"""Multi-head attention as a module."""

from ...core.tensor import Parameter
from ...ops.create import empty
from .. import functional as F  # noqa: N812 (PyTorch's name)
from .. import init
from ..module import Module
from .linear import Linear


class NonDynamicallyQuantizableLinear(Linear):
    """The output projection of attention: a ``Linear`` under the name that PyTorch prints."""


class MultiheadAttention(Module):
    """Attention in several heads: every query looks at all keys and takes a weighted mean of the values.

    head = softmax(Q Kᵀ / √(E/heads)) V for each head's part of the projected inputs; the heads are joined and projected.

    Args:
        embed_dim: E, the size of queries and outputs
        num_heads: number of heads, which divides E
        dropout: probability of dropping an attention weight while training
        bias: projections have a bias
        add_bias_kv, add_zero_attn: one more learned, or zero, key and value
        kdim, vdim: sizes of keys and values (default E)
        batch_first: inputs are (batch, length, size) instead of (length, batch, size)

    Shape: query (L, N, E), key (S, N, kdim), value (S, N, vdim); output (L, N, E) and weights (N, L, S).
    """

    def __init__(
        self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None,
        batch_first=False, device=None, dtype=None,
    ):  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        how = dict(device=device, dtype=dtype)
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(empty(3 * embed_dim, embed_dim, **how))
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = Parameter(empty(embed_dim, embed_dim, **how))
            self.k_proj_weight = Parameter(empty(embed_dim, self.kdim, **how))
            self.v_proj_weight = Parameter(empty(embed_dim, self.vdim, **how))
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", Parameter(empty(3 * embed_dim, **how)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, **how)
        for name in ("bias_k", "bias_v"):
            self.register_parameter(name, Parameter(empty(1, 1, embed_dim, **how)) if add_bias_kv else None)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            weight = getattr(self, name)
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True,
        is_causal=False,
    ):  # fmt: skip
        """The output, and the attention weights (None unless ``need_weights``).

        Args: key_padding_mask: (N, S), True hides a key; attn_mask: (L, S) or (N·heads, L, S), True hides, numbers are added.
        """
        turned = self.batch_first and query.ndim == 3
        if turned:
            query, key, value = (t.transpose(0, 1) for t in (query, key, value))
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training, key_padding_mask,
            need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight,
            average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return (out.transpose(0, 1) if turned else out), weights
