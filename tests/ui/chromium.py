"""Find a Chrome or Chromium: `python -m tests.ui.chromium` prints its path, or fails where there is none."""

import os
import shutil
import sys
from pathlib import Path

NAMES = ("google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome")


def find_chromium() -> str | None:
    """The browser to test with: $CHROMIUM, then the PATH, then the one Playwright installed; None without any."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        own = driver.chromium.executable_path
    return own if Path(own).exists() else None


if __name__ == "__main__":
    path = find_chromium()
    if path is None:
        sys.exit("no Chrome or Chromium was found")
    print(path)
