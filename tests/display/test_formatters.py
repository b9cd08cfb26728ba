"""Rich displays of tensors and modules."""

import re
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


class Block(lab.nn.Module):
    """A nested model, one of whose layers is used twice."""

    def __init__(self):
        super().__init__()
        self.body = lab.nn.Sequential(lab.nn.Linear(3, 4), lab.nn.Tanh(), lab.nn.Linear(4, 2, bias=False))
        self.again = self.body[0]

    def extra_repr(self):
        return "<script>width=4"


def rows(body):
    """The words of every row of a module's table."""
    return [" ".join(re.sub("<[^>]*>", " ", row).split()) for row in re.findall("<tr>.*?</tr>", body)]


def test_a_module_is_a_tree_with_counts_and_marks():
    model = Block()
    model.body[0].requires_grad_(False)
    model.body[1].eval()
    body = model._repr_html_()
    assert rows(body) == [
        "module its own parameters bytes",
        "Block &lt;script&gt;width=4 train 24 96 B",
        "body: Sequential 24 96 B",
        "0: Linear in_features=3, out_features=4, bias=True frozen weight 4×3, bias 4 16 64 B",
        "1: Tanh eval – –",
        "2: Linear in_features=4, out_features=2, bias=False weight 2×4 8 32 B",
        "again: Linear in_features=3, out_features=4, bias=True frozen weight 4×3, bias 4 16 64 B",
    ]
    assert "<script" not in body
    depths = [int(depth) for depth in re.findall(r"padding-left:(\d+)px", body)]
    assert depths == [8, 26, 44, 44, 44, 26]


def test_the_mode_of_the_whole_model_stands_at_its_root():
    model = lab.nn.Sequential(lab.nn.Linear(2, 2), lab.nn.ReLU()).eval()
    first, *rest = rows(model._repr_html_())[1:]
    assert first.startswith("Sequential eval") and not any("eval" in row or "train" in row for row in rest)


def test_a_large_model_is_cut_and_says_so():
    model = lab.nn.Sequential(*(lab.nn.ReLU() for _ in range(500)))
    body = model._repr_html_()
    assert len(rows(body)) == 1 + formatters.MODULE_ROWS and "301 more modules" in body


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
