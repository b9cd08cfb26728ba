"""A JupyterLab of the tests' own: loopback, a free port, a token, folders that vanish, this interpreter as kernel."""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
START_SECONDS = 60


class LabServer:
    """A running JupyterLab; `root` is the folder it serves, a copy of the repository's notebooks.

    Args:
        folder: an empty folder for the server's root, settings, runtime files and log.
        settings: JupyterLab settings put over those of binder/overrides.json.
    """

    def __init__(self, folder: Path, settings: dict | None = None):
        self.folder, self.root, self.token = folder, folder / "root", secrets.token_hex(16)
        self.log = folder / "jupyter.log"
        self._lay(settings or {})
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                self._command(),
                cwd=self.root,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._await()

    @property
    def url(self) -> str:
        """The server's address without a path."""
        return f"http://127.0.0.1:{self.port}"

    def request(self, method: str, path: str, timeout: float = 5) -> bytes:
        """Call the server's REST interface and give the body of its answer."""
        headers = {"Authorization": f"token {self.token}"}
        call = urllib.request.Request(f"{self.url}{path}", method=method, headers=headers)
        with urllib.request.urlopen(call, timeout=timeout) as answer:
            return answer.read()

    def sessions(self) -> list[dict]:
        """The notebooks that have a kernel now."""
        return json.loads(self.request("GET", "/api/sessions"))

    def close_kernels(self) -> None:
        """End every notebook's kernel."""
        for session in self.sessions():
            self.request("DELETE", f"/api/sessions/{session['id']}", timeout=20)

    def reset(self) -> None:
        """Leave to the next test no kernel, and no setting (the theme is one) that this one changed."""
        self.close_kernels()
        shutil.rmtree(self.folder / "settings", ignore_errors=True)

    def stop(self) -> None:
        """Shut down the server and its kernels; a server that hangs in its clean-up is killed after three seconds."""
        if self.process.poll() is None:
            try:
                self.close_kernels()
                self.request("POST", "/api/shutdown")
            except (OSError, urllib.error.URLError):
                self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(3)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    # ----- starting -----

    def _lay(self, settings: dict) -> None:
        notebooks = REPOSITORY / "notebooks"
        if notebooks.is_dir():
            shutil.copytree(notebooks, self.root, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
        self.root.mkdir(exist_ok=True)
        overrides = json.loads((REPOSITORY / "binder" / "overrides.json").read_text()) | settings
        self._write("app_settings/overrides.json", overrides)

    def _write(self, name: str, content: dict) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))

    def _environment(self) -> dict[str, str]:
        places = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
            "IPYTHONDIR": "ipython",
            "MPLCONFIGDIR": "matplotlib",
        }
        path = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")]))
        return os.environ | {k: str(self.folder / v) for k, v in places.items()} | {"PYTHONPATH": path}

    def _command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={self.root}",
            f"--IdentityProvider.token={self.token}",
            "--LabApp.expose_app_in_browser=True",
            "--LabApp.extension_manager=readonly",
            f"--LabApp.app_settings_dir={self.folder / 'app_settings'}",
        ]

    def _await(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                self.request("GET", "/api/status")
                return
            except (OSError, urllib.error.URLError):
                time.sleep(0.2)
        self.stop()
        raise RuntimeError(f"JupyterLab did not answer within {START_SECONDS} s:\n{self.log.read_text()[-3000:]}")
