"""The whole library in under a second: add, matmul, backward, one step of SGD by hand, one repr. Run this first."""

import autograd_lab as lab


def test_add():
    assert (lab.tensor([1.0, 2.0]) + 1).tolist() == [2, 3]


def test_matmul():
    assert (lab.tensor([[1.0, 2.0], [3.0, 4.0]]) @ lab.tensor([1.0, 1.0])).tolist() == [3, 7]


def test_backward():
    x = lab.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4, 6]


def test_one_step_of_sgd():
    w, x, target = lab.tensor([0.0, 0.0], requires_grad=True), lab.tensor([1.0, 2.0]), lab.tensor(5.0)
    losses = []
    for _ in range(2):
        loss = (w @ x - target) ** 2
        losses.append(loss.item())
        w.grad = None
        loss.backward()
        with lab.no_grad():
            w -= 0.05 * w.grad
    assert losses[0] == 25 and losses[1] < 25


def test_repr():
    assert repr(lab.tensor([1.0, 2.5], requires_grad=True) * 2) == "tensor([2., 5.], grad_fn=<MulBackward0>)"
