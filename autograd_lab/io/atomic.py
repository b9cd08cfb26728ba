"""Writing a file so that a crash never leaves half of it under its name."""

import os
import stat
from contextlib import contextmanager


@contextmanager
def replacing(path):
    """A new file that takes the place of ``path`` when the block ends well, with the old one's permissions."""
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):  # a folder (an error) or a device, which must not be replaced
        with open(path, "wb") as file:
            yield file
        return
    temporary = os.path.join(folder, f".{os.path.basename(path)[:200]}.{os.urandom(6).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            yield file
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
