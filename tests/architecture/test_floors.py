"""Imports go downward only, and outside packages are met only where the design lets them in."""

from tests.architecture.source import PACKAGE, REPOSITORY, imports, module_name, python_files

FLOORS = {
    8: ("__init__", "__main__", "extras", "ipython", "cli", "compat"),
    7: ("widgets", "classroom"),
    6: ("display", "profile", "doctor"),
    5: (
        *("nn", "optim", "utils", "io", "distributions", "amp", "jit", "onnx", "distributed"),
        *("linalg", "fft", "special", "func", "cuda", "xpu", "backends", "random", "masked", "signal"),
    ),
    4: ("autograd", "methods"),
    3: ("ops",),
    2: ("core",),
    1: ("backend",),
    0: ("errors", "typing", "version"),
}
FLOOR_OF = {name: floor for floor, names in FLOORS.items() for name in names}

# outside package -> the only places (relative to autograd_lab/) that may import it
ALLOWED = {
    "cupy": ("backend/",),
    "dpnp": ("backend/",),
    "numba": ("jit/codegen/",),
    "ipywidgets": ("widgets/",),
    "anywidget": ("widgets/",),
    "IPython": ("ipython.py", "display/formatters.py"),
    "torch": (),
}


def unit(module: str) -> str:
    """The part of the package a module belongs to: `autograd_lab.core.op` is in `core`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def place(path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def test_every_module_has_a_floor():
    homeless = sorted({unit(module_name(p)) for p in python_files()} - set(FLOOR_OF))
    assert not homeless, f"give these a floor in FLOORS, and in CONTRIBUTING.md: {homeless}"


def test_imports_go_downward():
    wrong = []
    for path in python_files():
        here = unit(module_name(path))
        for line, target in imports(path):
            parts = target.split(".")
            if parts[0] != "autograd_lab" or len(parts) == 1:
                continue
            there = parts[1] if parts[1] in FLOOR_OF else "__init__"
            if FLOOR_OF[there] > FLOOR_OF[here]:
                wrong.append(f"{place(path)}:{line} ({here}, floor {FLOOR_OF[here]}) imports {target}")
    assert not wrong, "\n".join(wrong)


def test_nn_and_jit_do_not_know_each_other():
    wrong = [
        f"{place(path)}:{line} imports {target}"
        for one, other in (("nn", "jit"), ("jit", "nn"))
        for path in python_files(PACKAGE / one)
        for line, target in imports(path)
        if target.startswith(f"autograd_lab.{other}")
    ]
    assert not wrong, "\n".join(wrong)


def test_outside_packages_stay_in_their_places():
    wrong = []
    for path in python_files():
        for line, target in imports(path):
            places = ALLOWED.get(target.split(".")[0])
            if places is not None and not place(path).startswith(places):
                wrong.append(f"{place(path)}:{line} imports {target}; only {places or 'nothing'} may")
    assert not wrong, "\n".join(wrong)


def test_floors_are_those_of_contributing():
    table = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("| ") and "`" in line}
    for path in sorted(PACKAGE.iterdir()):
        name = path.stem
        if name not in FLOOR_OF or name.startswith("__"):
            continue
        row = rows.get(str(FLOOR_OF[name]), "")
        assert f"`{name}" in row, f"CONTRIBUTING.md does not put {name} on floor {FLOOR_OF[name]}"
