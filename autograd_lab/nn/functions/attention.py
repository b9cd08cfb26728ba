"""Attention of nn.functional."""

import math

import numpy as np

from ...errors import shape_text
from ...ops.compare import where
from ...ops.matmul import matmul
from ...ops.shape import transpose_view
from ...ops.softmax import softmax_row
from .activation import dropout
from .checks import constant, need_tensor


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):  # fmt: skip
    """softmax(query @ keyᵀ · scale + mask) @ value.

    Args: query (…, L, E), key (…, S, E), value (…, S, Ev); attn_mask: True where attending is allowed, or numbers to add;
    is_causal: position i sees positions up to i; scale: default 1/√E; enable_gqa: fewer key and value heads than query heads.
    Raises: RuntimeError for a mask together with ``is_causal`` and for shapes that do not fit.
    """
    for name, t in (("query", query), ("key", key), ("value", value)):
        need_tensor("scaled_dot_product_attention", name, t)
        if t._d.ndim < 2:
            raise RuntimeError(
                f"scaled_dot_product_attention: expected {name} with at least 2 dimensions, got {shape_text(t._d.shape)}"
            )
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if query._d.dtype != key._d.dtype or key._d.dtype != value._d.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query.dtype} key.dtype: {key.dtype} and value.dtype: {value.dtype} instead."
        )
    if enable_gqa and query._d.ndim > 2:
        times = query._d.shape[-3] // key._d.shape[-3]
        key = key.repeat_interleave(times, -3) if times != 1 else key
        value = value.repeat_interleave(query._d.shape[-3] // value._d.shape[-3], -3)
    scale = 1 / math.sqrt(query._d.shape[-1] or 1) if scale is None else scale
    n = key._d.ndim
    scores = matmul(query * scale, transpose_view(key, n - 2, n - 1))
    masked = None
    if is_causal:
        length, source = query._d.shape[-2], key._d.shape[-2]
        attn_mask = constant(np.tri(length, source, dtype=bool))
    if attn_mask is not None:
        if attn_mask._d.dtype == bool:
            scores = where(attn_mask, scores, -math.inf)
            masked = attn_mask._d
        else:
            scores = scores + attn_mask
    weights = softmax_row(scores, scores._d.ndim - 1)
    if masked is not None and not masked.any(-1).all():
        weights = where(constant(masked.any(-1, keepdims=True)), weights, 0.0)
    if dropout_p:
        weights = dropout(weights, dropout_p)
    return matmul(weights, value)


def _heads(x, count, length):
    """(L, N, E) as (N·heads, L, E/heads)."""
    return x.contiguous().view(length, x._d.shape[1] * count, -1).transpose(0, 1)


def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p,
    out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
    use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
    average_attn_weights=True, is_causal=False,
):  # fmt: skip
    """Multi-head attention over (L, N, E), (S, N, E), (S, N, E): project, attend in every head, project back.

    Returns: the output and the attention weights (None unless ``need_weights``).
    """
    from ...ops.join import cat_row
    from .convolution import linear

    alone = query._d.ndim == 2
    if alone:
        query, key, value = (t.unsqueeze(1) for t in (query, key, value))
        key_padding_mask = key_padding_mask.unsqueeze(0) if key_padding_mask is not None else None
    length, n, e = query._d.shape
    source = key._d.shape[0]
    if e != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {e}")
    if e % num_heads:
        raise AssertionError(f"embed_dim {e} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        w_q, w_k, w_v = q_proj_weight, k_proj_weight, v_proj_weight
    else:
        w_q, w_k, w_v = (in_proj_weight[i * e : (i + 1) * e] for i in range(3))
    b_q, b_k, b_v = (None,) * 3 if in_proj_bias is None else (in_proj_bias[i * e : (i + 1) * e] for i in range(3))
    q, k, v = linear(query, w_q, b_q), linear(key, w_k, b_k), linear(value, w_v, b_v)
    extra = 0
    if bias_k is not None:
        k, v = (cat_row([t, b.expand(1, n, e)], 0) for t, b in ((k, bias_k), (v, bias_v)))
        extra += 1
    q, k, v = _heads(q, num_heads, length), _heads(k, num_heads, source + extra), _heads(v, num_heads, source + extra)
    k, v = static_k if static_k is not None else k, static_v if static_v is not None else v
    if add_zero_attn:
        zeros = constant(np.zeros((n * num_heads, 1, e // num_heads), q._d.dtype))
        k, v = cat_row([k, zeros], 1), cat_row([v, zeros], 1)
        extra += 1
    mask = _additive_mask(attn_mask, key_padding_mask, n, num_heads, length, source, extra, q._d.dtype)
    scores = matmul(q * (1 / math.sqrt(e // num_heads)), transpose_view(k, 1, 2))
    if mask is not None:
        scores = scores + mask
    weights = softmax_row(scores, 2)
    if training and dropout_p:
        weights = dropout(weights, dropout_p)
    out = matmul(weights, v).transpose(0, 1).contiguous().view(length * n, e)
    out = linear(out, out_proj_weight, out_proj_bias).view(length, n, -1)
    if not need_weights:
        return (out.squeeze(1) if alone else out), None
    weights = weights.view(n, num_heads, length, -1)
    weights = weights.mean(1) if average_attn_weights else weights
    return (out.squeeze(1), weights.squeeze(0)) if alone else (out, weights)


def _additive(mask, dtype):
    """A mask as numbers to add: 0 where attending is allowed, −inf where a boolean mask says True."""
    d = mask._array()
    return np.where(d, -np.inf, 0).astype(dtype) if d.dtype == bool else d


def _additive_mask(attn_mask, key_padding_mask, n, heads, length, source, extra, dtype):
    total = None
    if attn_mask is not None:
        total = _additive(attn_mask, dtype)
        total = np.pad(total, ((0, 0),) * (total.ndim - 1) + ((0, extra),))
    if key_padding_mask is not None:
        hidden = np.pad(_additive(key_padding_mask, dtype), ((0, 0), (0, extra)))
        hidden = np.repeat(hidden[:, None, :], heads, 1).reshape(n * heads, 1, source + extra)
        total = hidden if total is None else total + hidden
    return None if total is None else constant(total.astype(dtype))


__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]
