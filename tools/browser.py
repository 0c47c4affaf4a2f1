"""The browser of the page's tests: find one, or fetch one with `python tools/browser.py`, which never fails."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 240
"""Seconds that an attempt to fetch one may take."""


def find() -> str | None:
    """The path of a Chromium: the one that ORDINATE_BROWSER names, the system's, or Playwright's own."""
    named = os.environ.get("ORDINATE_BROWSER")
    if named:
        return named if Path(named).exists() else None
    for name in NAMES:
        if found := shutil.which(name):
            return found
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def options() -> list[str]:
    """What Chromium needs in a container: the administrator cannot have its sandbox."""
    return ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []


def fetch() -> str | None:
    """Find a browser, or try to install one: as a package of the system, or from Playwright."""
    attempts = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        attempts.insert(0, ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"])
    for attempt in attempts:
        if path := find():
            return path
        try:
            subprocess.run(attempt, capture_output=True, timeout=PATIENCE, check=False)
        except (OSError, subprocess.SubprocessError):
            continue
    return find()


if __name__ == "__main__":
    print(f"browser: {fetch() or 'none could be had, the tests in a browser are skipped'}")
