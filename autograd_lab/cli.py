"""The console script: `autograd-lab` opens JupyterLab on the first lesson.

It imports neither Jupyter nor the library: Jupyter runs as its own process, so that a missing extra gives a sentence
instead of a traceback. From a checkout the lessons are opened where they lie; an installed wheel brings copies, which
are laid into a folder of the learner's so that the work is never written into site-packages.
"""

import argparse
import importlib.util
import os
import shutil
import sys
from pathlib import Path
from urllib.parse import quote

from .version import __version__

FIRST_LESSON = "00_first_steps.ipynb"
COPY_FOLDER = "autograd_lab_lessons"
PACKAGE = Path(__file__).resolve().parent


def lessons(where: Path) -> tuple[Path, Path]:
    """The folder JupyterLab serves and the first lesson inside it; `where` takes copies of a wheel's lessons.

    Raises:
        FileNotFoundError: neither a checkout nor the wheel holds the first lesson.
    """
    checkout = PACKAGE.parent
    lesson = checkout / "notebooks" / "lessons" / FIRST_LESSON
    if lesson.is_file():
        return checkout, lesson
    shipped = PACKAGE / "lessons"
    if not (shipped / FIRST_LESSON).is_file():
        raise FileNotFoundError(f"the lessons are missing: looked for {FIRST_LESSON} in {lesson.parent} and {shipped}")
    folder = where / COPY_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted(shipped.glob("*.ipynb")):
        if not (folder / source.name).exists():
            shutil.copyfile(source, folder / source.name)
    return folder, folder / FIRST_LESSON


def lab_command(root: Path, lesson: Path, port: int | None, browser: bool) -> list[str]:
    """The command line that starts JupyterLab with `root` as its folder and `lesson` open."""
    address = "/lab/tree/" + quote(lesson.relative_to(root).as_posix())  # also printed when no browser is opened
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={root}", f"--LabApp.default_url={address}"]
    if port is not None:
        command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if not browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # containers; Jupyter otherwise refuses to start there
        command.append("--allow-root")
    return command


def parser() -> argparse.ArgumentParser:
    """The options of `autograd-lab`."""
    options = argparse.ArgumentParser(
        prog="autograd-lab",
        description="Open JupyterLab on the first lesson of autograd_lab.",
    )
    options.add_argument("--port", type=int, help="port to listen on (JupyterLab's own choice when left out)")
    options.add_argument("--no-browser", action="store_true", help="print the address, open no browser")
    options.add_argument("--version", action="version", version=f"autograd_lab {__version__}")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is JupyterLab's, or 1 when it could not be started."""
    chosen = parser().parse_args(arguments)
    if importlib.util.find_spec("jupyterlab") is None:
        print('JupyterLab is not installed here. Install it with: pip install "autograd-lab[lab]"', file=sys.stderr)
        return 1
    try:
        root, lesson = lessons(Path.cwd())
    except FileNotFoundError as missing:
        print(f"autograd-lab: {missing}", file=sys.stderr)
        return 1
    command = lab_command(root, lesson, chosen.port, not chosen.no_browser)
    sys.stdout.flush()
    if os.name == "nt":  # exec there starts a new process and returns to the shell at once
        import subprocess

        return subprocess.call(command)
    os.execv(command[0], command)


if __name__ == "__main__":
    sys.exit(main())
