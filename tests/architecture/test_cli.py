"""The console script: what it starts, from where, and what it says when it cannot."""

import importlib.util
import sys

import pytest

from autograd_lab import cli


def test_from_a_checkout_the_lessons_are_opened_where_they_lie(tmp_path):
    root, lesson = cli.lessons(tmp_path)
    assert lesson == root / "notebooks" / "lessons" / cli.FIRST_LESSON
    assert not list(tmp_path.iterdir())


def test_a_wheels_lessons_are_copied_once_and_never_overwritten(tmp_path, monkeypatch):
    shipped = tmp_path / "site-packages" / "autograd_lab" / "lessons"
    shipped.mkdir(parents=True)
    (shipped / cli.FIRST_LESSON).write_text("new")
    monkeypatch.setattr(cli, "PACKAGE", shipped.parent)
    root, lesson = cli.lessons(tmp_path)
    assert (root, lesson.read_text()) == (tmp_path / cli.COPY_FOLDER, "new")
    lesson.write_text("the learner's work")
    assert cli.lessons(tmp_path)[1].read_text() == "the learner's work"


def test_missing_lessons_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cli, "PACKAGE", tmp_path / "autograd_lab")
    assert cli.main([]) == 1
    assert cli.FIRST_LESSON in capsys.readouterr().err


def test_without_jupyterlab_the_cure_is_named(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert cli.main([]) == 1
    assert 'pip install "autograd-lab[lab]"' in capsys.readouterr().err


def test_port_and_browser_reach_jupyterlab(monkeypatch, tmp_path):
    monkeypatch.setattr(cli, "lessons", lambda where: (tmp_path, tmp_path / cli.FIRST_LESSON))
    started = []
    monkeypatch.setattr(cli.os, "execv", lambda program, command: started.append((program, command)))
    cli.main(["--port", "8899", "--no-browser"])
    program, command = started[0]
    assert program == sys.executable and command[1:3] == ["-m", "jupyterlab"]
    assert {"--ServerApp.port=8899", "--ServerApp.port_retries=0", "--no-browser"} <= set(command)


def test_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("autograd_lab ")
