"""Colours and sizes of the static pictures, the same as the live views'.

Okabe–Ito over the notebook's own theme variables: blue is forward, vermillion backward, bluish green a
parameter, yellow saved for backward, red not finite. Every colour has a twin in shape or word.
"""

from __future__ import annotations

FONT = "var(--jp-ui-font-family, system-ui, sans-serif)"
SIZE, SMALL = 13, 10.5

# Fallbacks stand where no notebook sets its variables: a saved .svg file, a code host, a printed page.
_LIGHT = {"fg": "#1a1a1a", "dim": "#5f6368", "bg": "#ffffff", "fill": "#f5f7f9", "blue": "#0072b2", "green": "#00795a",
          "yellow": "#f0e442", "red": "#c01f1f", "vermillion": "#b84c00"}  # fmt: skip
_DARK = {"fg": "#e8e8e8", "dim": "#a8adb3", "bg": "#1b1d1f", "fill": "#24282b", "blue": "#56b4e9", "green": "#2bc49a",
         "yellow": "#f0e442", "red": "#ff8a80", "vermillion": "#ff9351"}  # fmt: skip


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--agl-s-{name}:{value};" for name, value in colours.items())


def css(scope: str) -> str:
    """Style sheet for everything inside elements of class `scope`.

    Dark comes from JupyterLab's own switch where there is one, else from what the reader's system prefers.
    """
    inside = f".{scope}.{scope}"  # doubled: to win over the live views' own rules for the same elements
    dark = _variables(_DARK)
    return (
        f"{inside}{{{_variables(_LIGHT)}color:var(--agl-s-fg);font-family:{FONT}}}"
        f"@media (prefers-color-scheme:dark){{:root:not(:has([data-jp-theme-light])) {inside}{{{dark}}}}}"
        f'[data-jp-theme-light="false"] {inside}{{{dark}}}'
        f"{inside} text{{font-size:{SIZE}px;fill:var(--agl-s-fg);font-variant-numeric:tabular-nums}}"
        f"{inside} .agl-s-small{{font-size:{SMALL}px;fill:var(--agl-s-dim)}}"
        f"{inside} .agl-s-shape{{fill:var(--agl-s-fill);stroke:var(--agl-s-blue);stroke-width:1.4}}"
        f"{inside} .agl-s-parameter .agl-s-shape{{stroke:var(--agl-s-green)}}"
        f"{inside} .agl-s-inner,{inside} .agl-s-ring{{fill:none;stroke:var(--agl-s-green);stroke-width:1}}"
        f"{inside} .agl-s-ring{{stroke:var(--agl-s-fg);stroke-width:1.6}}"
        f"{inside} .agl-s-constant text{{fill:var(--agl-s-dim)}}"
        f"{inside} .agl-s-edge{{fill:none;stroke:var(--agl-s-dim);stroke-width:1.1}}"
        f"{inside} .agl-s-arrow{{fill:var(--agl-s-dim);stroke:none}}"
        f"{inside} .agl-s-back{{fill:none;stroke:var(--agl-s-vermillion);stroke-linecap:round}}"
        f"{inside} .agl-s-back-arrow{{fill:var(--agl-s-vermillion);stroke:none}}"
        f"{inside} .agl-s-current{{fill:none;stroke:var(--agl-s-vermillion);stroke-width:2;stroke-dasharray:5 3}}"
        f"{inside} .agl-s-saved{{fill:var(--agl-s-yellow);stroke:#5c5600;stroke-width:1}}"
        f"{inside} .agl-s-bad{{fill:var(--agl-s-red)}}"
        f"{inside} .agl-s-bad-word{{font-size:9px;font-weight:700;fill:var(--agl-s-bg)}}"
    )
