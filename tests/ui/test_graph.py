"""The graph of a tape in a real notebook: every node has its mark, and what is said of it is what the kernel knows."""

from playwright.sync_api import expect

from tests.ui import harness, views
from tests.ui.views import NETWORK, in_kernel, marks, press

TAPE = "tape = lab.tape(loss)\ntape"
GROWING = """
import time
grown = lab.tensor(1.0, requires_grad=True)
with lab.record() as recorded:
    for _ in range(80):
        grown = lab.tanh(grown * 2)
        time.sleep(0.05)
"""
# Whatever a learner's text says, it is shown as text.
HOSTILE = """
import autograd_lab as lab
evil = lab.tensor(2.0, requires_grad=True)
evil._name = "<img src=x onerror=\\"window.harmed=1\\">"
made = evil * 3  # <script>window.harmed = 2</script> <img src=x onerror="window.harmed=3">
lab.tape(made, title="<b id=harm onmouseover='window.harmed=4'>title</b>")
"""


def test_every_node_of_the_tape_has_its_mark(page, lab):
    views.start(page, lab, "graph.ipynb", NETWORK, TAPE)
    graph = views.view(page, 1, "graph")
    ids = in_kernel(page, "tape.graph['nodes']['id']")
    assert len(ids) == in_kernel(page, "len(tape)")
    expect(marks(graph)).to_have_count(len(ids))
    assert {int(mark.get_attribute("data-node-id")) for mark in marks(graph).all()} == set(ids)
    edges = in_kernel(page, "len(tape.graph['edges']['source'])")
    expect(graph.locator(".agl-edge")).to_have_count(edges)


def test_a_node_tells_its_formula_value_and_line(page, lab):
    views.start(page, lab, "node.ipynb", NETWORK, TAPE)
    graph = views.view(page, 1, "graph")
    node = in_kernel(page, "tape.graph['nodes']['id'][tape.graph['nodes']['label'].index('z')]")
    mark = graph.locator(f".agl-svg [data-node-id='{node}']")
    mark.hover()
    hover = graph.locator(".agl-hover")
    expect(hover).to_contain_text("TanhBackward0")
    expect(hover.locator("math")).to_be_visible()
    mark.click()
    panel = graph.locator(".agl-panel")
    for words in ("TanhBackward0", "3×2", "float32", "cell [1], line 6", "z = lab.tanh(x @ w + b)"):
        expect(panel).to_contain_text(words)
    expect(panel.locator("rect[data-flat]")).to_have_count(6)
    mark.click()
    expect(panel).to_be_hidden()


def test_searching_zooming_and_turning(page, lab):
    views.start(page, lab, "search.ipynb", NETWORK, TAPE)
    graph = views.view(page, 1, "graph")
    graph.locator("[data-action='search']").fill("TanhBackward0")
    expect(graph.locator(".agl-found")).to_have_count(1)
    graph.locator("[data-action='search']").fill("")
    expect(graph.locator(".agl-found")).to_have_count(0)
    world = graph.locator(".agl-world")
    seen = [world.get_attribute("style")]
    for action in ("zoom-in", "zoom-in", "turn"):
        press(graph, action)
        expect(world).not_to_have_attribute("style", seen[-1] or "")
        seen.append(world.get_attribute("style"))


def test_the_graph_grows_while_the_cell_runs(page, lab):
    path = harness.write_notebook(lab, "growing.ipynb", "import autograd_lab as lab", GROWING)
    harness.open_notebook(page, lab, path)
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells'); undefined")
    graph = page.locator(".agl[data-view='graph']")
    seen = []
    graph.wait_for()
    while not seen or seen[-1] < 160:
        page.wait_for_function(
            "least => document.querySelectorAll('.agl[data-view=graph] [data-node-id]').length > least",
            arg=seen[-1] if seen else 0,
        )
        seen.append(marks(graph).count())
    harness.run_all(page)
    assert len(seen) > 3, "the graph came all at once"
    expect(marks(graph)).to_have_count(in_kernel(page, "len(recorded)"))


def test_hostile_text_is_text(page, lab):
    views.start(page, lab, "hostile.ipynb", HOSTILE)
    graph = views.view(page, 0, "graph")
    expect(graph.locator(".agl-heading")).to_have_text("<b id=harm onmouseover='window.harmed=4'>title</b>")
    said = ""
    for mark in marks(graph).all():
        mark.click()
        panel = graph.locator(".agl-panel")
        expect(panel).to_be_visible()
        said += panel.inner_text()
        press(graph, "close")
    assert "<script>window.harmed = 2</script>" in said
    expect(graph.locator(".agl-svg")).to_contain_text("<img src=x")
    graph.page.locator(".agl-fold input").check()
    expect(page.locator(".agl-static svg")).to_be_visible()
    assert page.locator(".agl-output img[src='x'], .agl img, #harm").count() == 0
    assert page.evaluate("window.harmed") is None


def test_a_long_tape_is_drawn_and_answers(page, lab):
    source = """
import autograd_lab as lab
x = lab.tensor(0.5, requires_grad=True)
y = x
for _ in range(3000):
    y = lab.tanh(y)
tape = lab.tape(y)
tape
"""
    views.start(page, lab, "long.ipynb", source)
    graph = views.view(page, 0, "graph")
    expect(graph.locator(".agl-bar")).to_contain_text("3,001 nodes")
    last = in_kernel(page, "tape.graph['roots'][0]")
    views.choose(graph, last)
    expect(graph.locator(".agl-panel")).to_contain_text("TanhBackward0")
