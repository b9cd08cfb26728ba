"""Layers, one by one: outputs, input gradients and parameter gradients are PyTorch's."""

import numpy as np
import pytest
import torch

import autograd_lab as lab

N, NC, NCL, NCHW, NCDHW = (4,), (4, 6), (3, 4, 9), (2, 4, 8, 7), (2, 2, 5, 6, 4)
LAYERS = [
    *((f"{name}()", NC) for name in (
        "Sigmoid", "LogSigmoid", "ReLU", "ReLU6", "LeakyReLU", "ELU", "CELU", "SELU", "SiLU", "Mish", "Hardswish", "Hardsigmoid",
        "Hardtanh", "Hardshrink", "Softshrink", "Tanhshrink", "Softsign", "Softplus", "GELU", "PReLU", "Identity", "Tanh", "GLU",
    )),
    ("LeakyReLU(0.3)", NC), ("ELU(0.7)", NC), ("GELU('tanh')", NC), ("Softplus(2.0, 0.5)", NC), ("Threshold(0.1, 20.0)", NC),
    ("PReLU(4)", NCHW), ("Softmax(1)", NC), ("Softmin(1)", NC), ("LogSoftmax(0)", NC), ("Softmax2d()", NCHW),
    ("Linear(6, 3)", NC), ("Unflatten(1, (2, 3))", NC), ("Flatten()", NCHW),
    ("Conv1d(4, 6, 3, stride=2, padding=1, groups=2)", NCL), ("Conv1d(4, 2, 3, padding='same', padding_mode='circular')", NCL),
    ("Conv2d(4, 3, (3, 2), padding=1, dilation=2)", NCHW), ("Conv2d(4, 4, 3, padding=1, padding_mode='reflect')", NCHW),
    ("Conv3d(2, 3, 2, stride=2)", NCDHW),
    ("ConvTranspose1d(4, 2, 3, stride=2, output_padding=1)", NCL), ("ConvTranspose2d(4, 6, 3, padding=1, groups=2)", NCHW),
    ("ConvTranspose3d(2, 3, 2)", NCDHW),
    ("MaxPool1d(3, 2, 1)", NCL), ("MaxPool2d(2, ceil_mode=True)", NCHW), ("MaxPool3d(2)", NCDHW),
    ("AvgPool1d(3, 2, 1)", NCL), ("AvgPool2d(3, 2, 1, count_include_pad=False)", NCHW), ("AvgPool3d(2)", NCDHW),
    ("AdaptiveAvgPool1d(4)", NCL), ("AdaptiveAvgPool2d((3, None))", NCHW), ("AdaptiveAvgPool3d(2)", NCDHW),
    ("AdaptiveMaxPool1d(4)", NCL), ("AdaptiveMaxPool2d((3, 2))", NCHW), ("AdaptiveMaxPool3d(2)", NCDHW),
    ("LPPool1d(2, 3)", NCL), ("LPPool2d(2, 2)", NCHW), ("LPPool3d(2, 2)", NCDHW),
    ("BatchNorm1d(6)", NC), ("BatchNorm1d(4)", NCL), ("BatchNorm2d(4)", NCHW), ("BatchNorm3d(2)", NCDHW),
    ("BatchNorm2d(4, affine=False, track_running_stats=False)", NCHW), ("BatchNorm2d(4, momentum=None)", NCHW),
    ("InstanceNorm1d(4)", NCL), ("InstanceNorm2d(4, affine=True, track_running_stats=True)", NCHW), ("InstanceNorm3d(2)", NCDHW),
    ("LayerNorm((8, 7))", NCHW), ("LayerNorm(6, bias=False)", NC), ("RMSNorm(6)", NC), ("GroupNorm(2, 4)", NCHW),
    ("LocalResponseNorm(3)", NCHW), ("Fold((4, 5), 2)", (2, 8, 12)), ("Unfold(2, stride=2)", NCHW),
    ("ConstantPad1d((1, 2), 3.0)", NCL), ("ZeroPad2d(1)", NCHW), ("ReflectionPad2d((1, 2, 0, 1))", NCHW),
    ("ReplicationPad1d(2)", NCL), ("ReplicationPad3d(1)", NCDHW), ("CircularPad2d((1, 0, 2, 1))", NCHW),
]  # fmt: skip
LOOSER = {"Hardsigmoid()": 1e-7}
"""Layers where PyTorch itself is less exact: its sixth is a float32."""


def values(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def signs(shape):
    return np.where(values(shape, 2) > 0, 1, -1)


X, Z, P = values(NC), values(NC, 1), 0.05 + 0.9 * np.random.default_rng(3).random(NC)
CLASSES, BITS = np.array([0, 5, 2, 2]), (values(NC, 4) > 0).astype(float)
SEVERAL = [
    ("Bilinear(6, 6, 3)", X, Z), ("CosineSimilarity()", X, Z), ("PairwiseDistance()", X, Z),
    ("Embedding(7, 3, padding_idx=2)", CLASSES), ("EmbeddingBag(7, 3)", np.array([[0, 5], [2, 2]])),
    ("EmbeddingBag(7, 3, mode='max')", np.array([[0, 5], [2, 6]])),
    ("L1Loss()", X, Z), ("MSELoss(reduction='sum')", X, Z), ("HuberLoss()", X, Z), ("SmoothL1Loss(beta=0.5)", X, Z),
    ("NLLLoss()", X, CLASSES), ("NLLLoss(ignore_index=2, reduction='none')", X, CLASSES),
    ("CrossEntropyLoss(label_smoothing=0.1)", X, CLASSES), ("CrossEntropyLoss()", X, P),
    ("BCELoss()", P, BITS), ("BCEWithLogitsLoss(reduction='sum')", X, BITS), ("KLDivLoss(reduction='batchmean')", X, P),
    ("KLDivLoss(reduction='sum', log_target=True)", X, Z), ("PoissonNLLLoss(full=True)", X, P), ("GaussianNLLLoss()", X, Z, P),
    ("HingeEmbeddingLoss()", X, signs(NC)), ("CosineEmbeddingLoss(0.2)", X, Z, signs(N)),
    ("MarginRankingLoss(0.1)", X, Z, signs(NC)), ("SoftMarginLoss()", X, signs(NC)), ("MultiMarginLoss()", X, CLASSES),
    ("MultiLabelMarginLoss()", X, np.array([[1, 3, -1, 0, 0, 0], [0, -1, 1, 2, 3, 4], [5, 4, 3, -1, 0, 0], [2, -1, 0, 0, 0, 0]])),
    ("MultiLabelSoftMarginLoss()", X, BITS), ("TripletMarginLoss(swap=True)", X, Z, P),
    ("MaxUnpool1d(2)", values((2, 3, 2)), np.array([[[0, 3], [1, 2], [0, 2]]] * 2)),
    ("MaxUnpool2d(2)", values((1, 1, 2, 1)), np.array([[[[1], [5]]]])),
    ("MaxUnpool3d(2)", values((1, 1, 1, 1, 2)), np.array([[[[[3, 9]]]]])),
]  # fmt: skip


def pair(text):
    """The layer here and PyTorch's, in float64, with the same state."""
    theirs, ours = eval(f"torch.nn.{text}").double(), eval(f"lab.nn.{text}").double()
    ours.load_state_dict({key: lab.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    return theirs, ours


def outcome(library, layer, arrays):
    """Output, gradients and state after one pass forward and back in training, then the output in evaluation."""
    inputs = [library.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    y = layer(*inputs)
    (y * library.tensor(values(tuple(y.shape), 9))).sum().backward()
    found = {"output": y, **{f"gradient of input {i}": x.grad for i, x in enumerate(inputs) if x.requires_grad}}
    found |= {f"gradient of {name}": p.grad for name, p in layer.named_parameters()}
    found |= {f"state {name}": b for name, b in layer.named_buffers()}
    layer.eval()
    found["output in evaluation"] = layer(*inputs)
    return {what: t.detach().numpy() for what, t in found.items()}


def assert_same(text, arrays):
    theirs, ours = pair(text)
    assert repr(ours) == repr(theirs)
    wanted, found = outcome(torch, theirs, arrays), outcome(lab, ours, arrays)
    assert list(found) == list(wanted)
    for what, expected in wanted.items():
        np.testing.assert_allclose(found[what], expected, rtol=LOOSER.get(text, 1e-9), atol=1e-10, err_msg=what)


@pytest.mark.parametrize("text, shape", LAYERS, ids=[text for text, _ in LAYERS])
def test_a_layer_is_pytorchs(text, shape):
    assert_same(text, [values(shape)])


@pytest.mark.parametrize("text, arrays", [(text, arrays) for text, *arrays in SEVERAL], ids=[text for text, *_ in SEVERAL])
def test_a_layer_of_numbers_and_targets_is_pytorchs(text, arrays):
    assert_same(text, arrays)


@pytest.mark.parametrize(
    "text, shape",
    [("Dropout1d(0.4)", NCL), ("Dropout2d(0.4)", NCHW), ("Dropout3d(0.4)", NCDHW), ("AlphaDropout(0.4)", NC),
     ("FeatureAlphaDropout(0.4)", NCDHW)],
)  # fmt: skip
def test_what_a_layer_drops_is_what_pytorchs_drops(text, shape):
    x = values(shape).astype(np.float32)
    torch.manual_seed(5)
    lab.manual_seed(5)
    wanted, found = eval(f"torch.nn.{text}")(torch.tensor(x)), eval(f"lab.nn.{text}")(lab.tensor(x))
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(eval(f"lab.nn.{text}").eval()(lab.tensor(x)).numpy(), x)
