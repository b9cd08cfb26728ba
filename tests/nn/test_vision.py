"""Resizing and shuffling of images against PyTorch, forward and backward."""

import numpy as np
import pytest
import torch

import autograd_lab as lab

FORMS = [
    *((mode, shape, {"size": size}) for mode in ("nearest", "nearest-exact", "area")
      for shape, size in (((2, 3, 7), 4), ((2, 3, 4, 5), (7, 3)), ((1, 2, 3, 4, 2), (5, 8, 1)), ((1, 1, 97), 211))),
    *((mode, shape, {"size": size, "align_corners": align}) for align in (None, False, True)
      for mode, shape, size in (("linear", (2, 3, 7), 11), ("linear", (2, 3, 7), 1), ("bilinear", (2, 3, 4, 5), (7, 3)),
                                ("bicubic", (2, 3, 4, 5), (9, 3)), ("bicubic", (1, 1, 1, 2), (3, 3)),
                                ("trilinear", (1, 2, 3, 4, 2), (5, 2, 4)))),
    *((mode, (2, 3, 5, 6), {"scale_factor": f, "recompute_scale_factor": r}) for r in (None, True)
      for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area") for f in (2, 1.7, (0.6, 2.3))),
    *((mode, (2, 3, 9, 8), {"size": size, "antialias": True}) for mode in ("bilinear", "bicubic") for size in ((4, 3), (12, 5), 1)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("mode, shape, options", FORMS)
def test_interpolate(mode, shape, options, dtype):
    x = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    tol = 1e-10 if dtype == "float64" else 2e-5
    found = []
    for m in (torch, lab):
        t = m.tensor(x, requires_grad=True)
        y = m.nn.functional.interpolate(t, mode=mode, **options)
        (y * y).sum().backward()
        found.append((y.detach().numpy(), t.grad.numpy()))
    for a, b in zip(*found, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=tol, atol=tol)


@pytest.mark.parametrize("name, shape, argument", [
    ("pixel_shuffle", (2, 12, 2, 3), 2), ("pixel_shuffle", (9, 2, 3), 3), ("pixel_unshuffle", (2, 3, 4, 6), 2),
    ("channel_shuffle", (2, 6, 2, 3), 3),
])  # fmt: skip
def test_shuffles(name, shape, argument):
    x = np.random.default_rng(1).standard_normal(shape)
    a = getattr(torch.nn.functional, name)(torch.tensor(x), argument)
    b = getattr(lab.nn.functional, name)(lab.tensor(x), argument)
    np.testing.assert_array_equal(b.numpy(), a.numpy())


def test_bad_input_is_refused():
    resize, x = lab.nn.functional.interpolate, lab.zeros(1, 2, 3, 4)
    for options, error in (
        ({}, ValueError), ({"size": 3, "scale_factor": 2}, ValueError), ({"size": (2, 3, 4)}, ValueError),
        ({"size": 2.5}, TypeError), ({"size": 3, "align_corners": True}, ValueError),
        ({"size": 3, "mode": "trilinear"}, NotImplementedError),
        ({"size": 0}, RuntimeError), ({"size": 3, "antialias": True}, ValueError),
    ):  # fmt: skip
        with pytest.raises(error):
            resize(x, **options)
    with pytest.raises(RuntimeError, match="divisible"):
        lab.nn.functional.pixel_shuffle(x, 2)
