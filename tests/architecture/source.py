"""The package's source as data: its files, their syntax trees, and what each imports."""

import ast
import subprocess
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "autograd_lab"


def python_files(folder: Path = PACKAGE) -> list[Path]:
    """Every Python file under a folder, in order."""
    return sorted(p for p in folder.rglob("*.py") if "node_modules" not in p.parts)


def tracked_files() -> list[Path]:
    """Every text file git knows here; without git (a source archive) the Python files."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True)
    names = [REPOSITORY / name for name in listing.stdout.split("\0") if name]
    return [p for p in names if p.is_file()] or python_files(REPOSITORY)


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def module_name(path: Path) -> str:
    """`autograd_lab/core/op.py` is `autograd_lab.core.op`."""
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> list[tuple[int, str]]:
    """(line, absolute module name) of every import in a file, wherever it stands; `from m import n` also names m.n."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")
                base = ".".join(above[: len(above) - node.level + 1] + ([base] if base else []))
            found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
    return found
