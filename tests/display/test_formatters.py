"""Rich displays of tensors and modules."""

import subprocess
import sys

import pytest

import autograd_lab as lab
from autograd_lab import display
from autograd_lab.display import formatters, thumbs


@pytest.mark.parametrize(
    ("shape", "kind"),
    [((), "none"), ((0,), "none"), ((5,), "line"), ((3, 4), "heat"), ((1, 8, 8), "heat"), ((5, 6, 7), "histogram"),
     ((10, 1, 3, 3), "histogram"), ((2, 3, 8, 8), "heat")],
)  # fmt: skip
def test_the_thumbnail_suits_the_shape(shape, kind):
    assert thumbs.kind_of(shape) == kind


def test_a_tensor_shows_pytorchs_text_first_and_then_the_facts():
    x = lab.tensor([[0.0, float("nan")], [1.0, float("inf")]], requires_grad=True)
    body = formatters.tensor_html(x)
    assert body.index("<pre") < body.index("<svg")
    for part in ("2×2", "float32", "cpu", "16 B", "leaf that requires grad", "25 %", "NaN", "Inf", "not finite"):
        assert part in body, part


def test_the_node_is_named():
    x = lab.tensor([1.0, 2.0], requires_grad=True)
    assert "made by TanhBackward0" in formatters.tensor_html(lab.tanh(x))


@pytest.mark.parametrize(
    "tensor",
    [lab.tensor(3), lab.tensor([]), lab.tensor([True, False]), lab.tensor([1 + 2j, 3j]), lab.zeros(2, 3, 4, 5),
     lab.tensor([float("nan")] * 3), lab.ones(3, dtype=lab.bfloat16), lab.zeros(0, 3), lab.zeros(100, 1)],
    ids=lambda tensor: f"{tensor.dtype}{tuple(tensor.shape)}",
)  # fmt: skip
def test_every_tensor_has_a_display(tensor):
    assert "<pre" in formatters.tensor_html(tensor)


class Linear:
    """A module as the display needs it."""

    def __init__(self, *shapes, frozen=False, **children):
        self._parameters = {f"p{i}": lab.nn.Parameter(lab.zeros(*shape)) for i, shape in enumerate(shapes)}
        for parameter in self._parameters.values():
            parameter.requires_grad_(not frozen)
        self._modules, self.training = children, True

    def parameters(self):
        yield from self._parameters.values()
        for child in self._modules.values():
            yield from child.parameters()

    def modules(self):
        yield self
        for child in self._modules.values():
            yield from child.modules()

    def extra_repr(self):
        return "<script>in_features=3"


def test_a_module_is_a_tree_with_counts_and_marks():
    model = Linear(first=Linear((3, 4), (4,)), second=Linear((4, 2), frozen=True))
    model._modules["second"].training = False
    body = formatters.module_html(model)
    assert body.index("first") < body.index("second")
    for part in ("p0 3×4, p1 4", ">24<", "96 B", ">16<", "frozen", "train", "eval", "&lt;script&gt;in_features=3"):
        assert part in body, part
    assert "<script" not in body


def test_a_failing_display_falls_back_to_text():
    class Broken:
        def __getattr__(self, name):
            raise RuntimeError(name)

    assert formatters.safely(formatters.module_html, Broken()) is None


def test_attach_gives_repr_html_outside_ipython():
    class Mine(lab.Tensor):
        pass

    display.attach(Mine)
    assert "<pre" in Mine([1.0, 2.0])._repr_html_()


def test_documents_print_where_there_is_no_shell(capsys):
    formatters.show("the text")
    assert capsys.readouterr().out == "the text\n"


def test_displays_are_made_without_importing_ipython():
    code = (
        "import sys, autograd_lab as lab\n"
        "from autograd_lab.display.document import Tape\n"
        "from autograd_lab.display.live import record\n"
        "x = lab.tensor([1.0, 2.0], requires_grad=True)\n"
        "with record() as tape: y = lab.tanh(x)\n"
        "assert Tape.of(y)._repr_html_()\n"
        "bad = {'IPython', 'ipywidgets', 'anywidget', 'matplotlib'} & set(sys.modules)\n"
        "assert not bad, bad\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
