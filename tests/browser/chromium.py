"""A headless Chromium that makes no connection of its own; tests skip with a reason where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--hide-scrollbars", "--force-color-profile=srgb",
)  # fmt: skip


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """A browser with a fresh profile, closed at the end."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("chromium and chromedriver are not installed (Debian: chromium, chromium-driver)")
    options = selenium.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={profile}", "--window-size=1440,1100"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    try:
        yield started
    finally:
        started.quit()
