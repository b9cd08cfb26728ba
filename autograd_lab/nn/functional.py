"""``nn.functional``: layers as functions, without state. The code stands by family in ``functions/``."""

# ruff: noqa: F401, I001 (the imports are what this module offers, by family)
from ..core.public import publish
from ..ops.elementwise import sigmoid, tanh
from .functions.activation import (
    alpha_dropout, celu, dropout, dropout1d, dropout2d, dropout3d, elu, elu_, feature_alpha_dropout, gelu, glu, gumbel_softmax,
    hardshrink, hardsigmoid, hardswish, hardtanh, hardtanh_, leaky_relu, leaky_relu_, log_softmax, logsigmoid, mish, prelu, relu,
    relu6, relu_, rrelu, selu, silu, softmax, softmin, softplus, softshrink, softsign, tanhshrink, threshold, threshold_,
)  # fmt: skip
from .functions.attention import multi_head_attention_forward, scaled_dot_product_attention
from .functions.convolution import (
    bilinear, conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d, fold, linear, pad, unfold,
)  # fmt: skip
from .functions.ctc import ctc_loss
from .functions.fractional import (
    fractional_max_pool2d, fractional_max_pool2d_with_indices, fractional_max_pool3d, fractional_max_pool3d_with_indices,
)  # fmt: skip
from .functions.linear_cross_entropy import linear_cross_entropy
from .functions.losses import (
    binary_cross_entropy, binary_cross_entropy_with_logits, cosine_embedding_loss, cross_entropy, gaussian_nll_loss,
    hinge_embedding_loss, huber_loss, kl_div, l1_loss, margin_ranking_loss, mse_loss, multi_margin_loss, multilabel_margin_loss,
    multilabel_soft_margin_loss, nll_loss, poisson_nll_loss, smooth_l1_loss, soft_margin_loss, triplet_margin_loss,
    triplet_margin_with_distance_loss,
)  # fmt: skip
from .functions.normalization import (
    batch_norm, cosine_similarity, embedding, embedding_bag, group_norm, instance_norm, layer_norm, local_response_norm, normalize,
    one_hot, pairwise_distance, pdist, rms_norm,
)  # fmt: skip
from .functions.pooling import (
    adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d,
    avg_pool1d, avg_pool2d, avg_pool3d, lp_pool1d, lp_pool2d, lp_pool3d, max_pool1d, max_pool1d_with_indices, max_pool2d,
    max_pool2d_with_indices, max_pool3d, max_pool3d_with_indices, max_unpool1d, max_unpool2d, max_unpool3d,
)  # fmt: skip
from .functions.sampling import affine_grid, grid_sample
from .functions.vision import (
    channel_shuffle, interpolate, native_channel_shuffle, pixel_shuffle, pixel_unshuffle, upsample, upsample_bilinear,
    upsample_nearest,
)  # fmt: skip

__all__ = [name for name in dir() if not name.startswith("_") and name not in ("functions", "publish")]

_ALSO_TORCH = """
    adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout avg_pool1d bilinear celu channel_shuffle conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity dropout feature_alpha_dropout group_norm layer_norm
    max_pool1d max_pool2d max_pool3d native_channel_shuffle pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu relu_
    rms_norm rrelu selu threshold
""".split()
for _name in _ALSO_TORCH:
    publish(globals()[_name], (_name,), method=_name == "prelu")
