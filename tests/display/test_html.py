"""HTML bodies and the exporter: what a page shows without a kernel."""

import base64
import json
import random
import re
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter

import autograd_lab as lab
from autograd_lab.display import html
from autograd_lab.display.document import Tape
from autograd_lab.display.exporter import StandaloneExporter, replace_views
from autograd_lab.display.recording import Stepper
from autograd_lab.display.schema import MIME, PROTOCOL
from autograd_lab.widgets import live_view

LIVE = "application/vnd.jupyter.widget-view+json"


def program():
    x = lab.tensor([1.0, 2.0], requires_grad=True)
    return (lab.tanh(x) * 3.0).sum()


def notebook(*documents):
    """What a kernel leaves in the file for each document: the live view, then the static bundle."""
    cells = []
    for document in documents:
        data, metadata = live_view(document).live_bundle()
        outputs = [
            nbformat.v4.new_output("display_data", data=data, metadata=metadata),
            nbformat.v4.new_output("display_data", data=document.static_bundle()),
        ]
        cells.append(nbformat.v4.new_code_cell("lab.tape(loss)", outputs=outputs))
    made = nbformat.v4.new_notebook(cells=cells)
    nbformat.validate(made)
    return made


def test_plain_nbconvert_shows_the_picture():
    tape = Tape.of(program())
    page, _ = HTMLExporter().from_notebook_node(notebook(tape))
    assert page.count('data-node-id="') == len(tape)
    (picture,) = re.findall(r"<svg[^>]*agl-picture[^>]*>", page)
    assert 'role="img"' in picture
    assert "live view; the picture below needs no kernel" in page
    assert "widget-view+json" not in page


def test_our_exporter_brings_script_and_data_once():
    tape, stepper = Tape.of(program()), Stepper(program())
    made = notebook(tape, stepper)
    page, _ = StandaloneExporter().from_notebook_node(made)
    assert page.count('id="agl-bundle"') == 1 and "widget-view+json" not in page
    found = re.findall(r'<script[^>]*id="agl-data-\d+"[^>]*>(.*?)</script>', page, re.S)
    views = [json.loads(text) for text in found]
    assert [view["view"] for view in views] == ["graph", "stepper"]
    assert views[1]["frames"] == json.loads(json.dumps(stepper.frames))
    assert "live view" not in page
    assert LIVE in made.cells[0].outputs[0].data, "the notebook itself is left as it was"


def test_the_exporter_is_found_by_name():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    place = project["entry-points"]["nbconvert.exporters"]["autograd_lab"]
    assert EntryPoint("autograd_lab", place, "nbconvert.exporters").load() is StandaloneExporter


@pytest.mark.parametrize(
    "data",
    ["text", {"protocol": 99}, {"protocol": PROTOCOL}, {"protocol": PROTOCOL, "encoding": "deflate"},
     *({"protocol": PROTOCOL, "encoding": "deflate", "data": text} for text in ("AAAA", "@", "eJwDAAAAAAE="))],
)  # fmt: skip
def test_data_damaged_or_of_another_version_keeps_its_picture(data):
    made = notebook(Tape.of(program()))
    made.cells[0].outputs[1].data[MIME] = data
    assert replace_views(made) == 0
    assert "agl-picture" in made.cells[0].outputs[0].data["text/html"]


@pytest.mark.parametrize("size", [1, 400])
def test_packing_is_undone_by_unpacking(size):
    data = {"view": "graph", "graph": {"title": "t", "nodes": list(range(size * 50))}}
    packed = html.pack(data)
    assert packed["encoding"] == ("json" if size == 1 else "deflate")
    assert html.unpack(json.loads(json.dumps(packed))) == data


def test_a_recording_too_large_to_save_is_thinned_and_says_so():
    noise = random.Random(0)
    blank = {"incoming": {"grid": None, "histogram": None}, "numbers": [], "sent": []}
    frames = [{**blank, "text": noise.randbytes(200).hex()} for _ in range(3000)]
    packed = html.pack({"view": "stepper", "graph": {"title": "tape"}, "frames": frames, "cursor": 7})
    data = html.unpack(packed)
    assert data["frames"] == [] and data["cursor"] == 0 and "too many steps" in data["graph"]["title"]


def test_an_untrusted_reader_gets_an_image():
    body = Tape.of(program()).static_html()
    image = re.search(r'<img class="agl-untrusted" alt="(.*?)" src="data:image/svg\+xml;base64,(.*?)">', body, re.S)
    assert image and base64.b64decode(image[2]).startswith(b"<svg") and "sum" in image[1]


def test_a_page_has_no_outside_address():
    page = Tape.of(program()).standalone()
    found = set(re.findall(r'(?:src|href)\s*=\s*"(https?://[^"]+)"', page))
    assert not found


def test_an_output_without_a_picture_keeps_the_words():
    def fails():
        raise ValueError("<no>")

    made = html.static_bundle("a < b", fails, dict)
    assert made == {"text/plain": "a < b", "text/html": "<pre>a &lt; b</pre><p>no picture: &lt;no&gt;</p>"}
    assert html.static_bundle("words", lambda: "<svg/>", fails) == {"text/plain": "words", "text/html": "<svg/>"}
