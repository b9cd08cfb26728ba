"""The README keeps its word: its Python runs, its pictures and its commands exist."""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
PICTURE_BYTES = 200_000


def python_snippets() -> list[str]:
    """Fenced Python, and indented blocks that begin with an import."""
    fenced = re.findall(r"^```py(?:thon)?\n(.*?)^```", README, flags=re.M | re.S)
    indented = re.findall(r"(?:^\n|\A)((?:^(?: {4}.*)?\n)+)", README, flags=re.M)
    plain = ["\n".join(line[4:] for line in block.splitlines()).strip() for block in indented]
    return [*fenced, *(block for block in plain if re.match(r"(import|from) ", block))]


def test_its_python_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    snippets = python_snippets()
    assert snippets
    names: dict = {}
    for number, snippet in enumerate(snippets):
        exec(compile(snippet, f"README snippet {number}", "exec"), names)


def test_its_pictures_are_there_and_small():
    pictures = re.findall(r"!\[([^\]]+)\]\(([^)\s]+)\)", README)
    assert len(pictures) >= 2
    for words, place in pictures:
        assert words.strip()
        assert (REPOSITORY / place).stat().st_size < PICTURE_BYTES, place


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\bmake ([a-z][a-z-]+)", README))))
def test_its_make_targets_exist(target):
    assert re.search(rf"^{target}:", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), flags=re.M)
