"""`autograd-lab` as a learner starts it: JupyterLab answers on the chosen port and prints the lesson's address."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from urllib.error import URLError

import pytest

from autograd_lab.cli import FIRST_LESSON
from tests.ui.server import REPOSITORY


@pytest.fixture
def console(tmp_path):
    """(port, process, log) of a started `autograd-lab --no-browser`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    names = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime"}
    places = {name: str(tmp_path / folder) for name, folder in names.items()}
    log = tmp_path / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "autograd_lab", "--no-browser", "--port", str(port)],
            cwd=REPOSITORY,
            env=os.environ | places,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    yield port, process, log
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_the_console_script_serves_the_first_lesson(console, wait_until):
    port, process, log = console

    def address():
        assert process.poll() is None, log.read_text()
        found = re.search(rf"http://127\.0\.0\.1:{port}\S*{FIRST_LESSON}\?token=\w+", log.read_text())
        return found and found[0]

    def answer():
        try:
            with urllib.request.urlopen(wait_until(address), timeout=5) as page:
                return page.status
        except URLError:
            return None

    assert wait_until(answer) == 200
