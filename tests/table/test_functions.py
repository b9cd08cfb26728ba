"""Functions written with rows, under all their names: values, shapes, dtypes and gradients are PyTorch's."""

import numpy as np
import pytest
import torch

import autograd_lab as lab

EXPRESSIONS = """
m.mm(x, y.T)  m.bmm(b, b.mT)  m.mv(x, v)  m.outer(v, v)  m.ger(v, v)  m.addmm(s, x.T, y)  m.addmv(v, s, v, beta=2)
m.addr(s, v, v)  m.baddbmm(b @ b.mT, b, b.mT)  m.addbmm(s, b.mT, b)  m.vdot(v, v)  m.kron(x, y)  m.chain_matmul(x, y.T, x)
m.tensordot(x, y, 2)  m.tensordot(b, x, ([2], [1]))  m.cross(x[:, :3], y[:, :3])  m.cdist(x, y)  m.dist(x, y, 3)
m.block_diag(x, y)  m.cartesian_prod(v, v)  m.combinations(v, 2)  m.lerp(x, y, 0.3)  m.lerp(x, y, x)
m.addcmul(x, y, y, value=2)  m.addcdiv(x, y, y + 3, value=0.5)  m.rsub(x, 2)  m.subtract(x, y)  m.divide(x, y)
m.multiply(x, y)  m.true_divide(x, y)  m.float_power(x + 3, 2)  m.ldexp(x, i)  m.clip(x, -0.5, 0.5)  m.clamp(x, max=0.2)
m.clamp_min(x, 0.1)  m.clamp_max(x, y)  m.fix(x * 3)  m.nansum(n)  m.nanmean(n, 1)  m.nanmedian(n)  m.nanquantile(n, 0.3)
m.count_nonzero(k)  m.logsumexp(x, 1)  m.aminmax(x, dim=1)  m.var_mean(x, 1)  m.std_mean(x)  m.std(x, 0, correction=0)
m.diff(x)  m.diff(x, 2, 0)  m.cov(x)  m.corrcoef(x)  m.renorm(x, 2, 0, 1.0)  m.histc(x, 5, -1, 1)  m.bincount(i)  m.mode(i)
m.msort(x)  m.argsort(x, 1)  m.unflatten(x, 1, (2, 2))  m.swapaxes(b, 0, 1)  m.swapdims(b, 1, 2)  m.movedim(b, 0, 2)
m.moveaxis(b, (0, 1), (1, 0))  m.adjoint(b)  m.tile(x, (2, 1))  m.repeat_interleave(x, 2, 1)  m.diag(v)  m.diag(s, 1)
m.diag_embed(x)  m.fliplr(x)  m.flipud(x)  m.rot90(x)  m.atleast_1d(v[0])  m.atleast_2d(v)  m.atleast_3d(x)  m.hstack([x, y])
m.vstack([x, y])  m.dstack([x, y])  m.row_stack([v, v])  m.column_stack([v, s])  m.concat([x, y])
m.split_with_sizes(x, [1, 3], 1)  m.tensor_split(x, 3, 1)  m.hsplit(x, 2)  m.vsplit(x, 3)  m.dsplit(b, 2)
m.meshgrid(v, v, indexing='ij')  m.broadcast_tensors(x, v)  m.index_select(x, 1, i)  m.index_add(x, 1, i, x[:, :4])
m.index_copy(s, 0, p, s)  m.index_fill(x, 1, i[:2], 2.0)  m.take_along_dim(x, p[None], 1)  m.masked_select(x, k)  m.nonzero(k)
m.masked_scatter(x, k, y)  m.argwhere(k)  m.gather(x, 1, p[None])  m.scatter_reduce(v, 0, i, v, 'amax')
m.select_scatter(x, v, 0, 1)  m.slice_scatter(x, y[:1], 0, 1, 2)  m.diagonal_scatter(s, v)  m.searchsorted(m.sort(v)[0], v)
m.bucketize(x, m.sort(v)[0])  m.unique_consecutive(i)  m.isclose(x, x + 1e-9)  m.allclose(x, y)  m.isin(i, i[:2])  m.isreal(x)
m.is_same_size(x, y)  m.trapezoid(x)  m.trapz(x, dx=0.5)  m.cumulative_trapezoid(x)  m.polar(x + 3, y)  m.tril_indices(3, 4)
m.triu_indices(3, 4, 1)  m.logspace(0, 1, 5)  m.ones_like(x)  m.full_like(x, 2)  m.as_tensor(2.5)  m.scalar_tensor(3)
m.conj_physical(x)  m.vander(v.detach())  m.arcsin(x / 9)  m.arccos(x / 9)  m.arctan(x)  m.arctan2(x, y)  m.arccosh(x + 9)
m.arcsinh(x)  m.arctanh(x / 9)  m.mvlgamma(x + 9, 2)  m.greater_equal(x, y)  m.less_equal(x, y)  m.not_equal(x, y)
m.inverse(s)  m.logdet(s)  m.pinverse(x)  m.matrix_power(s, 3)  m.cholesky_inverse(m.linalg.cholesky(s))
m.triangular_solve(x.T, s)  m.linalg.matrix_norm(x)  m.linalg.solve(s, x.T)  m.linalg.matrix_rank(s)
m.linalg.multi_dot([x, y.T, x])  m.linalg.vecdot(x, y)  m.linalg.vander(v)  m.linalg.cross(x[:, :3], y[:, :3])
m.linalg.tensorinv(s.reshape(2, 2, 2, 2))  m.linalg.tensorsolve(s.reshape(2, 2, 4), s[:2, :2])  m.linalg.norm(x, 1)
m.fft.ifft(x)  m.fft.fftn(x)  m.fft.ifftn(b)  m.fft.ifft2(x)  m.fft.rfftn(b)  m.fft.rfft2(x)  m.fft.irfftn(b)  m.fft.irfft2(x)
m.fft.hfftn(b)  m.fft.hfft2(x)  m.fft.ihfft(v)  m.fft.ihfftn(b)  m.fft.ihfft2(x)  m.fft.fftshift(x)  m.fft.ifftshift(x)
m.fft.fftfreq(5)  m.fft.rfftfreq(5, 0.1)  m.special.expit(x)  m.special.gammaln(x + 3)  m.special.psi(x + 3)
m.special.multigammaln(x + 9, 2)  m.special.gammainc(y.abs().detach(), x.abs())
m.special.gammaincc(y.abs().detach(), x.abs())  F.celu(x)  F.selu(x)  F.adaptive_avg_pool1d(x, 2)  F.adaptive_max_pool1d(x, 2)
F.avg_pool1d(x, 2)  F.cosine_similarity(x, y)  F.pairwise_distance(x, y)  F.pdist(x)  F.group_norm(b, 3)
F.layer_norm(x, (4,))  F.rms_norm(x, (4,))  F.bilinear(x, y, m.stack([s, s]))  F.conv1d(b, b)
F.conv_transpose1d(b, b.transpose(0, 1))  F.normalize(x)  F.one_hot(i)  F.glu(x)  F.multi_margin_loss(x, i[:3])
""".replace("  ", "\n").strip().splitlines()
EXPRESSIONS = [text for text in EXPRESSIONS if text]


def operands(library):
    """Named operands, the same in both libraries: floating ones require grad."""
    draw = np.random.default_rng(0)
    x, y, v, b = (draw.standard_normal(shape) for shape in ((3, 4), (3, 4), (4,), (2, 3, 4)))
    s = draw.standard_normal((4, 4))
    floats = {"x": x, "y": y, "v": v, "b": b, "s": s @ s.T + 4 * np.eye(4), "n": np.where(x > 1, np.nan, x)}
    found = {name: library.tensor(a, requires_grad=True) for name, a in floats.items()}
    found |= {"i": library.tensor([0, 3, 2, 2]), "p": library.tensor([2, 0, 3, 1]), "k": library.tensor(x > 0)}
    return found | {"m": library, "F": library.nn.functional}


def outcome(library, text):
    """The results' arrays, and the gradients of the operands for fixed cotangents."""
    named = operands(library)
    results = eval(text, {}, named)
    results = list(results) if isinstance(results, list | tuple) else [results]
    tensors = [r for r in results if isinstance(r, library.Tensor)]
    live = [r for r in tensors if r.requires_grad]
    if live:
        total = 0
        for r in live:
            size = library.arange(1, r.numel() + 1, dtype=library.float64).reshape(r.shape)
            total = total + ((r.real if r.is_complex() else r) * size).sum()
            if r.is_complex():
                total = total + (r.imag * size * 0.7).sum()
        total.backward()
    values = [r.resolve_conj().detach().numpy() if isinstance(r, library.Tensor) else r for r in results]
    leaves = {name: t for name, t in named.items() if isinstance(t, library.Tensor) and t.grad is not None}
    return values, {name: t.grad.numpy() for name, t in leaves.items()}


@pytest.mark.filterwarnings("ignore")  # PyTorch warns of what it will change one day
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_function_is_pytorchs(text):
    wanted, wanted_grads = outcome(torch, text)
    found, grads = outcome(lab, text)
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)
    assert {n for n, g in grads.items() if g.any()} == {n for n, g in wanted_grads.items() if g.any()}
    for name, expected in wanted_grads.items():
        if name in grads:
            np.testing.assert_allclose(grads[name], expected, rtol=1e-7, atol=1e-9, err_msg=f"gradient of {name}")
