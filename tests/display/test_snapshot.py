"""Snapshots of tapes as plain data, and their text and SVG bodies."""

import json
import re
import time
import weakref
from xml.etree import ElementTree

import pytest

import autograd_lab as lab
from autograd_lab.core.tape import record_lines
from autograd_lab.display import schema, svg, text
from autograd_lab.display.document import Tape
from autograd_lab.display.names import Names
from autograd_lab.display.snapshot import snapshot, take

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\n\x07"


def small():
    x = lab.tensor([[1.0, 2.0], [3.0, 4.0]])
    w = lab.tensor([[0.5], [-0.5]], requires_grad=True)
    u = x @ w
    z = lab.tanh(u)
    loss = (z * z).sum()
    return x, w, u, z, loss


def columns_by_label(graph):
    nodes = graph["nodes"]
    return {label: row for row, label in enumerate(nodes["label"]) if label}


def test_columns_edges_and_roots():
    x, w, u, z, loss = small()
    graph = snapshot(loss, Names().update(locals()))
    nodes = graph["nodes"]
    assert {len(column) for column in nodes.values()} == {6}
    assert set(nodes) == set(schema.NodeColumns.__annotations__)
    assert nodes["kind"] == ["constant", "leaf", "op", "op", "op", "op"]
    assert nodes["op"][2:] == ["matmul", "tanh", "mul", "sum"]
    assert nodes["label"] == ["x", "w", "u", "z", "", "loss"]
    assert graph["roots"] == [nodes["id"][-1]] == [loss.grad_fn.seq]
    rows = {identity: row for row, identity in enumerate(nodes["id"])}
    edges = graph["edges"]
    arrows = [
        (rows[s], rows[t], slot) for s, t, slot in zip(edges["source"], edges["target"], edges["slot"], strict=True)
    ]
    assert arrows == [(0, 2, 0), (1, 2, 1), (2, 3, 0), (3, 4, 0), (3, 4, 1), (4, 5, 0)]
    assert all(source < target for source, target, _ in arrows)
    json.dumps(graph, allow_nan=False)


def test_values_are_known_or_null_never_zero():
    x, w, u, z, loss = small()
    nodes = snapshot(loss, Names().update(locals()))["nodes"]
    assert nodes["value"][1]["values"] == [0.5, -0.5]
    assert nodes["value"][-1]["values"][0] == pytest.approx(loss.item())
    product = nodes["op"].index("mul")
    assert nodes["value"][product] is None


def test_saved_bytes_are_known_until_they_are_freed():
    x, w, u, z, loss = small()
    before = snapshot(loss)["nodes"]
    assert before["saved_bytes"][before["op"].index("tanh")] == 8
    loss.backward()
    after = snapshot(loss)["nodes"]
    assert after["saved_bytes"][after["op"].index("tanh")] is None


def test_lines_of_the_learner():
    record_lines(True)
    try:
        w = lab.tensor(1.0, requires_grad=True)
        loss = w * 3.0
    finally:
        record_lines(False)
    line = snapshot(loss)["nodes"]["line"][-1]
    assert line["text"] == "loss = w * 3.0" and line["file"] == __file__ and line["cell"] is None


def test_parameters_are_named_by_their_path():
    class Net:
        def __init__(self):
            self.weight = lab.nn.Parameter(lab.ones(2))

        def named_parameters(self):
            return [("fc1.weight", self.weight)]

    model = Net()
    loss = (model.weight * 2.0).sum()
    nodes = snapshot(loss, Names().update({"model": model}))["nodes"]
    assert nodes["label"][0] == "fc1.weight" and nodes["kind"][0] == "parameter"


def test_a_broken_module_does_not_break_the_picture():
    class Broken:
        def named_parameters(self):
            raise RuntimeError("half built")

    loss = lab.tensor(1.0, requires_grad=True) * 2.0
    assert len(Tape(take(loss, Names().update({"model": Broken()})))) == 3


def test_a_tensor_off_the_tape_is_one_node():
    tape = Tape(take(lab.tensor([1.0, 2.0])))
    assert len(tape) == 1 and tape.graph["nodes"]["kind"] == ["constant"]
    with pytest.raises(TypeError, match="got int"):
        take([3])


def test_nothing_keeps_the_graph_alive():
    w = lab.tensor([1.0, 2.0], requires_grad=True)
    loss = lab.tanh(w).sum()
    node = weakref.ref(loss.grad_fn)
    tape = Tape.of(loss)
    del loss
    assert node() is None and len(tape) == 3


def chain(length):
    y = lab.tensor(0.5, requires_grad=True)
    for _ in range(length):
        y = -y
    return y


def test_a_long_tape_is_cut_and_says_so():
    graph = take(chain(3000), limit=1000).graph
    assert graph["truncated"] == 2000 and len(graph["nodes"]["id"]) == 1000
    assert "2,000 earlier ops left out" in text.totals(graph)
    assert "left out" in svg.draw(graph, most=50)


def test_twenty_thousand_nodes_take_under_two_seconds():
    y = chain(20_000)
    begin = time.perf_counter()
    graph = snapshot(y)
    taken = time.perf_counter() - begin
    print(f"snapshot of 20,000 nodes: {taken:.2f} s")
    assert len(graph["nodes"]["id"]) == 20_001
    assert taken < 2.0


def test_text_golden():
    x, w, u, z, loss = small()
    tape = Tape.of(loss)
    assert str(tape) == repr(tape) == "\n".join(
        [
            "tape of loss: 4 ops, 1 leaf, 24 B saved for backward",
            "loss = sum  scalar  = 0.4271",
            "└─ mul  2×1  saves 16 B",
            "   ├─ z = tanh  2×1  all −0.4621  saves 8 B",
            "   │  └─ u = matmul  2×1  all −0.5  saves 16 B",
            "   │     ├─ x  2×2  1 … 4",
            "   │     └─ w  leaf  2×1  −0.5 … 0.5",
            "   └─ z = tanh  2×1  all −0.4621  saves 8 B  (above)",
        ]
    )


def test_text_of_a_deep_tape_stays_short():
    lines = str(Tape(take(chain(5000)))).splitlines()
    assert len(lines) < 70 and max(map(len, lines)) < 200 and "more nodes" in lines[-1]


def test_svg_has_as_many_nodes_as_the_tape():
    *_, loss = small()
    tape = Tape.of(loss)
    picture = tape.svg()
    root = ElementTree.fromstring(picture)
    drawn = [element for element in root.iter() if "agl-node" in (element.get("class") or "").split()]
    assert len(drawn) == len(tape)
    assert sorted(int(e.get("data-node-id")) for e in drawn) == sorted(tape.graph["nodes"]["id"])
    assert root.get("role") == "img" and root[0].text.startswith("tape of loss")


def test_hostile_names_are_escaped_everywhere(tmp_path):
    x, w, u, z, loss = small()
    z._name = HOSTILE
    tape = Tape(take(loss, Names().update(locals()), title=HOSTILE))
    ElementTree.fromstring(tape.svg())
    for body in (tape.svg(), tape._repr_html_(), tape.standalone(), tape.static_bundle()["text/html"]):
        assert "<img src=x" not in body
        assert body.count("<script") == body.count("</script")
    assert "\x07" not in str(tape)
    assert tape.save(tmp_path / "t.dot").read_text().count("->") == 6


def test_saving_by_ending(tmp_path):
    *_, loss = small()
    tape = Tape.of(loss)
    assert tape.save(tmp_path / "t.svg").read_text().startswith("<svg")
    assert "agl-bundle" in tape.save(tmp_path / "t.html").read_text()
    assert tape.save(tmp_path / "t.txt").read_text() == f"{tape}\n"
    with pytest.raises(ValueError, match=r"\.svg, \.html, \.dot or \.txt"):
        tape.save(tmp_path / "t.png")


def test_text_stands_in_where_there_is_no_graphviz(monkeypatch, tmp_path):
    monkeypatch.setattr(svg, "_plain", lambda source: None)
    *_, loss = small()
    tape = Tape.of(loss)
    assert tape.svg() is None
    assert re.search(r"<pre>.*loss = sum", tape._repr_html_(), re.S)
    with pytest.raises(RuntimeError, match="Graphviz"):
        tape.save(tmp_path / "t.svg")
