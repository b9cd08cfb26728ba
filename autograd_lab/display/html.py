"""HTML bodies: the static picture of a cell's output, and the standalone document that steps offline.

Static: the picture is visible without scripts; where a live view stands in the same output area it is folded
under one line, by style sheet alone. A reader that does not trust the notebook strips inline SVG and style
sheets; for it the same picture stands there once more as an image.

Standalone: inline script (the widget's own bundle) and inline data. A page with a Content-Security-Policy
needs `script-src 'unsafe-inline' blob:`.
"""

from __future__ import annotations

import base64
import itertools
import json
import zlib
from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from .schema import MIME, PROTOCOL

IMAGE_LIMIT = 60_000
PLAIN_LIMIT = 20_000
PACKED_LIMIT = 250_000
_BUNDLE = Path(__file__).parent.parent / "widgets" / "static"
_LIVE = ".jp-OutputArea:has(.agl[data-view])"
_numbers = itertools.count(1)

_FOLD_CSS = (
    ".agl-fold,.agl-untrusted{display:none}"
    f"{_LIVE} .agl-fold{{display:block;font-size:11px;opacity:.8;cursor:pointer}}"
    f"{_LIVE} .agl-static{{display:none}}"
    f"{_LIVE} .agl-output:has(.agl-fold input:checked) .agl-static{{display:block}}"
    # without a kernel the widget manager waits for ever where the live view would stand: an output without an element
    ".jp-OutputArea-child:not(:has(.jp-OutputArea-output>*)):has(+.jp-OutputArea-child .agl-output){display:none}"
    ".agl-static{overflow-x:auto}.agl-static pre{font-size:12px;line-height:1.35}"
)


@cache
def bundle(name: str) -> str:
    """Text of a built front-end file (tape.js, tape.css), read once; empty when it was not built."""
    path = _BUNDLE / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def static(svg: str | None, text: str, extra: str = "") -> str:
    """A cell output's HTML: picture (or text where there is none), folded while a live view is shown.

    Args:
        svg: the picture.
        text: the plain text body, the picture's twin for readers without it.
        extra: more HTML below the picture, escaped already.
    """
    # Size 0 hides the words that a reader who strips SVG elements, but not their text, would leave standing.
    picture = f'<div style="font-size:0px">{svg}</div>' if svg is not None else f"<pre>{escape(text)}</pre>"
    again = ""
    if svg is not None and len(svg) < IMAGE_LIMIT:
        data = base64.b64encode(svg.encode()).decode()
        again = f'<img class="agl-untrusted" alt="{escape(text)}" src="data:image/svg+xml;base64,{data}">'
    return (
        f'<div class="agl-output"><style>{_FOLD_CSS}</style>'
        '<label class="agl-fold"><input type="checkbox"> static picture</label>'
        f'<div class="agl-static">{picture}{extra}</div>{again}</div>'
    )


def static_bundle(words: str, picture: Callable[[], str], data: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A cell's static output: text, picture, and the view's data for the exporter; never an error.

    Args:
        words: the plain text body.
        picture: makes the HTML (`static`).
        data: makes what `mount` is given (`schema.MountData`).
    """
    made: dict[str, Any] = {"text/plain": words}
    try:
        made["text/html"] = picture()
        made[MIME] = pack(data())
    except Exception as error:
        made.setdefault("text/html", f"<pre>{escape(words)}</pre><p>no picture: {escape(str(error))}</p>")
    return made


def to_json(data: Any) -> str:
    """JSON that may stand inside a script element."""
    return json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def pack(data: dict[str, Any]) -> dict[str, Any]:
    """View data for the saved notebook: plain when small, else deflated; thinned when it is still too large.

    Thinning drops histograms and numbers of frames first, then the frames, and says so in `title`.
    """
    for thin in (lambda d: d, _without_details, _without_frames):
        made = thin(data)
        text = json.dumps(made, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        if len(text) <= PLAIN_LIMIT:
            return {"protocol": PROTOCOL, "encoding": "json", "data": made}
        packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
        if len(packed) <= PACKED_LIMIT:
            break
    return {"protocol": PROTOCOL, "encoding": "deflate", "data": packed}


def unpack(packed: dict[str, Any]) -> dict[str, Any]:
    """View data from a saved notebook.

    Raises:
        ValueError: for a protocol or encoding this version does not know, or data that is damaged.
    """
    protocol = packed.get("protocol") if isinstance(packed, dict) else None
    if protocol != PROTOCOL:
        raise ValueError(f"view data of protocol {protocol}, this version reads {PROTOCOL}")
    encoding, data = packed.get("encoding"), packed.get("data")
    if encoding == "json":
        return data
    if encoding != "deflate":
        raise ValueError(f"view data in unknown encoding {encoding!r}")
    try:
        return json.loads(zlib.decompress(base64.b64decode(data)))
    except (TypeError, ValueError, zlib.error) as error:
        raise ValueError(f"damaged view data: {error}") from None


def _thin(summary: dict[str, Any]) -> dict[str, Any]:
    return {**summary, "histogram": None, "grid": None}


def _without_details(data: dict[str, Any]) -> dict[str, Any]:
    frames = [
        {
            **frame,
            "incoming": _thin(frame["incoming"]),
            "numbers": frame["numbers"][:1],
            "sent": [{**one, "grad": _thin(one["grad"]), "total": _thin(one["total"])} for one in frame["sent"]],
        }
        for frame in data.get("frames", ())
    ]
    return {**data, **({"frames": frames} if "frames" in data else {})}


def _without_frames(data: dict[str, Any]) -> dict[str, Any]:
    if "frames" not in data:
        return data
    title = data["graph"]["title"] + " (too many steps to save in a notebook)"
    return {**data, "graph": {**data["graph"], "title": title}, "frames": [], "cursor": 0}


def script_bundle() -> str:
    """The front end as an inert script element; a page needs it once."""
    code = bundle("tape.js").replace("</script", "<\\/script")
    return f'<style>{bundle("tape.css")}</style><script type="text/plain" id="agl-bundle">{code}</script>'


def fragment(data: dict[str, Any], fallback: str, with_bundle: bool = True) -> str:
    """One view that works without a kernel and without a network.

    Args:
        data: what `mount` is given (`schema.MountData`).
        fallback: HTML shown until, or unless, the script runs.
        with_bundle: include the front end; once per page is enough.
    """
    number = next(_numbers)
    return (
        f"{script_bundle() if with_bundle else ''}"
        f'<div class="agl-standalone" id="agl-view-{number}"><div class="agl-fallback">{fallback}</div></div>'
        f'<script type="application/json" id="agl-data-{number}">{to_json(data)}</script>'
        '<script type="module">'
        'const b=document.getElementById("agl-bundle");'
        'b.dataset.url??=URL.createObjectURL(new Blob([b.textContent],{type:"text/javascript"}));'
        "const{mount}=await import(b.dataset.url);"
        f'const el=document.getElementById("agl-view-{number}");'
        f'const data=JSON.parse(document.getElementById("agl-data-{number}").textContent);'
        'const stage=document.createElement("div");el.append(stage);mount(stage,data);'
        'el.querySelector(".agl-fallback").remove();'
        "</script>"
    )


def document(data: dict[str, Any], fallback: str, title: str) -> str:
    """A whole HTML page with one view."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title></head><body>{fragment(data, fallback)}</body></html>"
    )
