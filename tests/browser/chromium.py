"""A headless Chromium that knows no machine but this one; tests skip with a reason where there is none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
    "--hide-scrollbars", "--force-color-profile=srgb", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
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
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(profile / "downloads")})
    started = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    try:
        yield started
    finally:
        started.quit()


def asked_for(browser: Any) -> list[str]:
    """Every address that the browser asked for since the last call: pages, frames, scripts, sockets."""
    events = [json.loads(line["message"])["message"] for line in browser.get_log("performance")]
    http = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    return http + [e["params"]["url"] for e in events if e["method"] == "Network.webSocketCreated"]
