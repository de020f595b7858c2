"""One server and one browser for all tests of the page."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest
from chromium import asked_for, chromium


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, int]]:
    """Where the page is, and the number of its process; stopped at the end, with everything it started."""
    pytest.importorskip("nicegui", reason="the extra `ui` is not installed")
    from visitor import LONG, is_running, searches, start_server, wait_until

    address, started = start_server()
    yield address, started.pid
    running = searches(started.pid)
    started.send_signal(signal.SIGINT)
    started.wait(LONG)
    wait_until(lambda: not any(is_running(pid) for pid in running), 10)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture
def visitor(browser: Any, server: tuple[str, int]) -> Iterator[Any]:
    """A visitor of the page; afterwards, nothing was asked of another machine and the console has no errors."""
    from visitor import Visitor

    asked_for(browser)
    yield Visitor(browser, server[0])
    local = ("http://localhost:", "ws://localhost:", "data:", "blob:", "about:")
    asked = asked_for(browser)
    assert asked
    assert [one for one in asked if not one.startswith(local)] == []
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []
