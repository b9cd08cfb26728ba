"""The house rules a program can check: lengths, docstrings, no unfinished business, nothing of one machine."""

import ast
import re

import pytest

from tests.architecture.source import PACKAGE, REPOSITORY, python_files, tracked_files, tree

FILE_LINES, FUNCTION_LINES = 450, 80
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK"]) + r")\b")
OF_ONE_MACHINE = re.compile(r"(?<![\w.~/])/(work|home|Users|root)/\w")


def name(path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def sources() -> list:
    """Hand-written Python and TypeScript."""
    found = [p for p in tracked_files() if p.suffix in (".py", ".ts") and not p.name.endswith(".gen.ts")]
    return [p for p in found if "static" not in p.parts]


def test_files_are_short():
    counts = {name(p): p.read_text(encoding="utf-8").count("\n") for p in sources()}
    long = {n: lines for n, lines in counts.items() if lines > FILE_LINES}
    assert not long, f"over {FILE_LINES} lines, make it a folder: {long}"


def test_functions_are_short():
    long = [
        f"{name(path)}:{node.lineno} {node.name} ({node.end_lineno - node.lineno + 1} lines)"
        for path in sources()
        if path.suffix == ".py"
        for node in ast.walk(tree(path))
        if isinstance(node, FUNCTIONS) and node.end_lineno - node.lineno >= FUNCTION_LINES
    ]
    assert not long, "\n".join(long)


def test_public_definitions_have_docstrings():
    bare = [name(path) for path in python_files() if tree(path).body and not ast.get_docstring(tree(path))]
    for path in python_files():
        for node in tree(path).body:
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and not node.name.startswith("_"):
                if not ast.get_docstring(node):
                    bare.append(f"{name(path)}:{node.lineno} {node.name}")
    assert not bare, "\n".join(bare)


@pytest.mark.parametrize("pattern", [UNFINISHED, OF_ONE_MACHINE], ids=["unfinished", "of one machine"])
def test_no_file_holds(pattern):
    texts = [p for p in tracked_files() if p.suffix in (".py", ".ts", ".md", ".toml", ".css", ".ipynb", ".mjs")]
    found = [
        f"{name(path)}:{number} {match[0]}"
        for path in texts
        if "static" not in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for match in [pattern.search(line)]
        if match
    ]
    assert not found, "\n".join(found)


def test_the_lock_file_names_no_download_address():
    lock = REPOSITORY / "widgets" / "package-lock.json"
    assert '"resolved": "http' not in lock.read_text(encoding="utf-8")


def test_the_package_ships_its_bundle():
    bundle = PACKAGE / "widgets" / "static" / "tape.js"
    assert bundle.is_file() and bundle.stat().st_size < 150_000
