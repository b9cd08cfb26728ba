"""Every view in light, dark and high contrast: screenshots to look at, and nothing for axe-core to find."""

from tests.ui import harness, views
from tests.ui.views import NETWORK, press

CELLS = [
    NETWORK,
    "lab.tape(loss)",
    "lab.step(loss)",
    """
broken = lab.tensor([0.0, 1.0, 2.0], requires_grad=True)
root = (lab.sqrt(broken - broken) * broken).sum()
lab.step(root)
""",
    "lab.compare_devices(lab.exp, lab.rand, sizes=(8, 64, 512, 4096), min_time=0.002)",
    """
view = lab.TrainingView(total_steps=60)
for step in view.track(range(60)):
    view.log(loss=2.3 * 0.95**step + 0.1 * (step % 3), lr=0.01)
""",
]
KINDS = {1: "graph", 2: "stepper", 3: "stepper", 4: "timings", 5: "training"}


def test_views_in_every_theme(page, lab):
    views.start(page, lab, "themes.ipynb", *CELLS)
    node = views.in_kernel(page, "z.grad_fn.seq")
    found = []
    for theme in harness.THEMES:
        harness.set_theme(page, theme)
        short = theme.removeprefix("JupyterLab ").lower().replace(" ", "-")
        for cell, kind in KINDS.items():
            view = views.view(page, cell, kind)
            if kind == "stepper" and view.get_attribute("data-cursor") == "0":
                for done in range(3):
                    views.expect_cursor(view, done)
                    press(view, "step")
            if kind == "graph" and theme == harness.THEMES[0]:
                views.choose(view, node)
            harness.screenshot(view, f"{kind}-{cell}-{short}")
            selector = f".jp-Cell[data-windowed-list-index='{cell}'] .agl"
            found += [f"{kind} in cell {cell}, {short}: {line}" for line in harness.run_axe(page, selector)]
    assert not found, "\n".join(found)


def test_a_narrow_window_stacks_the_panel(page, lab):
    views.start(page, lab, "narrow.ipynb", NETWORK, "lab.step(loss)")
    page.set_viewport_size({"width": 640, "height": 900})
    stepper = views.view(page, 1, "stepper")
    press(stepper, "step")
    canvas, panel = (stepper.locator(name).bounding_box() for name in (".agl-canvas", ".agl-panel"))
    assert panel["y"] >= canvas["y"] + canvas["height"] - 1
    harness.screenshot(stepper, "stepper-narrow")


def test_reduced_motion_is_respected(page, lab):
    page.emulate_media(reduced_motion="reduce")
    views.start(page, lab, "still.ipynb", NETWORK, "lab.step(loss)")
    stepper = views.view(page, 1, "stepper")
    press(stepper, "step")
    moving = stepper.evaluate(
        """el => el.getAnimations({ subtree: true }).flatMap(a => a.effect.getKeyframes())
            .filter(frame => 'transform' in frame || 'd' in frame).length"""
    )
    assert moving == 0
