"""Bad input: PyTorch's error types; texts that name operands, shapes, dtypes and the cure."""

import numpy as np
import pytest
import torch

import autograd_lab as lab
from autograd_lab.core.op import ROWS
from autograd_lab.core.tape import record_lines

LIBRARIES = pytest.mark.parametrize("lib", [lab, torch], ids=["lab", "torch"])


def leaf(values, dtype=None):
    return lab.tensor(values, dtype=dtype, requires_grad=True)


def raises(error, *words):
    """Expect an error of exactly this type whose text holds all these words."""
    return Expected(error, words)


class Expected:
    """A context manager like ``pytest.raises`` for several pieces of text."""

    def __init__(self, error, words):
        self.error, self.words = error, words

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        assert kind is self.error, f"expected {self.error.__name__}, got {kind and kind.__name__}: {value}"
        missing = [w for w in self.words if w not in str(value)]
        assert not missing, f"{missing} not in: {value}"
        return True


# ----- wrong shapes -----


def test_shapes_that_do_not_broadcast():
    with raises(RuntimeError, "add", "size of tensor a (3)", "tensor b (4)", "dimension 1", "[2, 3]", "[2, 4]", "unsqueeze"):
        lab.ones(2, 3) + leaf(np.ones((2, 4), np.float32))


def test_matrices_that_do_not_fit():
    with raises(RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)", "3", "4", "Transpose"):
        lab.ones(2, 3) @ leaf(np.ones((4, 5), np.float32))


def test_matrices_of_two_dtypes():
    with raises(RuntimeError, "matmul", "float32", "float64", "[2, 2]", ".double()"):
        lab.ones(2, 2) @ lab.ones(2, 2, dtype=lab.float64)


def test_a_numpy_array_as_operand():
    with raises(TypeError, "operand 2", "NumPy array", "[2]", "from_numpy"):
        lab.add(lab.ones(2), np.ones(2))
    with raises(TypeError, "add", "operand 2", "str"):
        lab.add(lab.ones(2), "two")


@LIBRARIES
def test_both_raise_the_same_types(lib):
    a, b = lib.ones(2, 3), lib.ones(2, 4)
    for call in (lambda: a + b, lambda: a @ b, lambda: a.reshape(5), lambda: a.expand(3, 3), lambda: a.view(7)):
        with pytest.raises(RuntimeError):
            call()
    for call in (lambda: a.sum(3), lambda: a[5], lambda: a.transpose(0, 4)):
        with pytest.raises(IndexError):
            call()


# ----- devices -----


def test_a_device_that_is_not_there():
    for call in (lambda: lab.ones(2, device="cuda"), lambda: lab.ones(2).to("cuda")):
        with pytest.raises((RuntimeError, AssertionError)) as caught:
            call()
        text = str(caught.value)
        assert "cuda" in text and "CuPy" in text and "pip install" in text, text


def test_operands_on_two_devices(monkeypatch):
    """A stand-in array class plays the array of another device."""
    from autograd_lab.backend import namespace
    from autograd_lab.core import bind, tensor

    class Elsewhere(np.ndarray):
        pass

    other = type(np)("elsewhere")
    far = lab.ones(2)
    far._d = far._d.view(Elsewhere)
    monkeypatch.setattr(bind, "array_namespace", lambda a: other if type(a) is Elsewhere else namespace.array_namespace(a))
    monkeypatch.setattr(
        tensor, "device_of", lambda a: lab.device("cuda", 0) if type(a) is Elsewhere else namespace.device_of(a)
    )
    with raises(RuntimeError, "Expected all tensors to be on the same device", "cpu", "cuda:0", "operand 2", "[2]", ".to(device)"):
        bind.apply(ROWS["add"], (lab.ones(2), far), ())


# ----- integers -----


@LIBRARIES
@pytest.mark.parametrize("dtype", ["int64", "bool", "uint8"])
def test_integers_cannot_require_grad(lib, dtype):
    with pytest.raises(RuntimeError, match="(?i)only Tensors of floating point and complex dtype can require gradients"):
        lib.tensor([1, 2], dtype=getattr(lib, dtype), requires_grad=True)
    with pytest.raises(RuntimeError, match="(?i)only Tensors of floating point"):
        lib.ones(2, dtype=getattr(lib, dtype)).requires_grad_()


def test_integers_are_told_the_cure():
    with raises(RuntimeError, "int64", "[3]", ".float()"):
        lab.tensor([1, 2, 3]).requires_grad = True


# ----- backward -----


def test_backward_twice():
    y = leaf([1.0]).exp().sum()
    y.backward()
    with raises(RuntimeError, "second time", "ExpBackward0", "retain_graph=True", "detach()", "record_lines"):
        y.backward()


def test_backward_of_several_elements():
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs", "[2, 3]", "loss.sum()", "gradient"):
        (leaf(np.ones((2, 3), np.float32)) * 2).backward()


def test_backward_off_the_tape():
    with raises(RuntimeError, "element 0 of tensors does not require grad", "not have a grad_fn", "[]", "float32", "detach()"):
        lab.ones(2).sum().backward()


def test_backward_seed_of_another_shape():
    with raises(RuntimeError, "Mismatch in shape", "[3]", "[2]"):
        (leaf([1.0, 2.0]) * 1).backward(lab.ones(3))


def test_numbers_and_arrays_of_tensors_on_the_tape():
    with raises(RuntimeError, "Can't call numpy() on Tensor that requires grad", "detach().numpy()"):
        (leaf([1.0]) * 2).numpy()
    with raises(RuntimeError, "2 elements", "[2]"):
        leaf([1.0, 2.0]).item()
    with raises(RuntimeError, "ambiguous", "[2]", ".any()"):
        bool(lab.ones(2))


# ----- in-place -----


@LIBRARIES
def test_in_place_on_a_leaf(lib):
    x = lib.ones(2, requires_grad=True)
    for change in (lambda: x.add_(1), lambda: x.mul_(2), lambda: x.__setitem__(0, 5.0), lambda: x.__iadd__(1)):
        with pytest.raises(RuntimeError, match="a (view of a )?leaf Variable that requires grad is being used in an in-place"):
            change()
    assert x.tolist() == [1, 1]
    with lib.no_grad():
        x.add_(1)
    assert x.tolist() == [2, 2] and x.requires_grad


def test_in_place_on_a_leaf_tells_the_cure():
    with raises(RuntimeError, "add_", "[2]", "no_grad()", "w = w + "):
        leaf([1.0, 2.0]).add_(1)


@LIBRARIES
def test_saved_values_changed_in_place(lib):
    x = lib.ones(2, requires_grad=True)
    for op, change in (
        (lambda h: h.exp(), lambda h, y: y.add_(1)),
        (lambda h: h * h, lambda h, y: h.add_(1)),
        (lambda h: h.sin(), lambda h, y: h[0].mul_(0)),
        (lambda h: h.log(), lambda h, y: h.detach().mul_(2)),
    ):
        h = x * 2
        y = op(h)
        change(h, y)
        with pytest.raises(RuntimeError, match="needed for gradient computation has been modified by an inplace operation"):
            y.sum().backward()


@LIBRARIES
def test_changes_that_no_rule_minds(lib):
    x = lib.ones(2, requires_grad=True)
    h = x * 2
    y = h + 1
    h.mul_(3)
    y.add_(1)
    (y + h).sum().backward()
    assert x.grad.tolist() == [8, 8]
    a, b = x * 2, (x * 2).detach()
    z = a * b
    a.add_(5)
    z.sum().backward()
    assert x.grad.tolist() == [12, 12]


def test_the_modified_error_names_operand_shape_versions_and_lines():
    record_lines()
    try:
        x = leaf([1.0, 2.0])
        h = x * 2
        y = h.sin()  # saved here
        h.mul_(3)  # changed here
    finally:
        record_lines(False)
    with raises(
        RuntimeError, "operand 1 of SinBackward0", "[2]", "version 1; expected version 0", "mul_", "y = h.sin()", "h.mul_(3)",
        "clone()", "step()",
    ):  # fmt: skip
        y.sum().backward()


@LIBRARIES
def test_in_place_on_outputs_of_split_and_on_no_grad_views(lib):
    x = lib.ones(4, requires_grad=True)
    a, b = (x * 2).split(2)
    with pytest.raises(RuntimeError, match="multiple views|is a view and is being modified inplace"):
        a.add_(1)
    h = x * 2
    with lib.no_grad():
        v = h[:2]
    with pytest.raises(RuntimeError, match="no_grad mode"):
        v.add_(1)


@LIBRARIES
def test_in_place_must_keep_shape_and_dtype(lib):
    with pytest.raises(RuntimeError, match=r"output with shape .* doesn't match the broadcast shape"):
        lib.ones(2).add_(lib.ones(3, 2))
    with pytest.raises(RuntimeError, match="can't be cast to the desired output type"):
        lib.ones(2, dtype=lib.int64).add_(0.5)


@LIBRARIES
def test_assigned_gradients_are_checked(lib):
    x = lib.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        x.grad = lib.ones(3)
    with pytest.raises(RuntimeError):
        x.grad = lib.ones(2, dtype=lib.float64)
    with pytest.raises(TypeError):
        x.grad = 3
    x.grad = lib.ones(2)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [3, 3]


@LIBRARIES
def test_none_beside_a_tensor(lib):
    x = lib.ones(2)
    assert (x == None) is False and (x != None) is True and x not in [None]  # noqa: E711
    for operation in ("x + None", "None * x", "x - None", "x < None", "x / None", "lib.add(x, None)"):
        with pytest.raises(TypeError, match="None"):
            eval(operation, {"x": x, "lib": lib})


@LIBRARIES
@pytest.mark.parametrize("convert", [float, int, complex])
def test_many_values_as_one_python_number(lib, convert):
    with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
        convert(lib.ones(2))


@LIBRARIES
@pytest.mark.parametrize("name", ["remainder", "fmod", "floor_divide"])
@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8"])
def test_whole_numbers_divided_by_zero(lib, name, dtype):
    x = lib.tensor([1, 2, 3], dtype=getattr(lib, dtype))
    for other in (0, lib.tensor([1, 0, 2])):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            getattr(lib, name)(x, other)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        lib.remainder(7, x - x)


def test_a_tape_of_something_else():
    for thing in (None, lab.nn.Linear(1, 1), 3.0, "loss"):
        with pytest.raises(TypeError, match="a tape belongs to a tensor"):
            lab.tape(thing)


@LIBRARIES
def test_backward_from_a_complex_number(lib):
    z = lib.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    with pytest.raises(RuntimeError, match="only for real scalar outputs but got torch.complex64"):
        (z * z).sum().backward()
    (z * z).sum().backward(lib.tensor(1 + 0j))
    assert z.grad.tolist() == [2 - 4j, 6 + 2j]
