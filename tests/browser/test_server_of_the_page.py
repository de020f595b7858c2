"""The server behind the page: who may ask, what it starts, and how it ends."""

from __future__ import annotations

import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from visitor import ENDLESS, LONG, Visitor, answers, example, is_running, searches, start_server, wait_until

SOCKET = "_nicegui_ws/socket.io/?EIO=4&transport=websocket"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "elsewhere.example"},
        {"Host": "localhost.elsewhere.example"},
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
    ],
)
@pytest.mark.parametrize("path", ["", "_nicegui_ws/socket.io/?EIO=4&transport=polling"])
def test_the_page_answers_only_by_the_names_of_this_machine(
    headers: dict[str, str], path: str, server: tuple[str, int]
) -> None:
    asked = urllib.request.Request(server[0] + path, headers=headers)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(asked, timeout=5)


@pytest.mark.parametrize("origin, status", [("http://elsewhere.example", "403"), ("http://localhost:1", "101")])
def test_a_site_elsewhere_gets_no_socket(origin: str, status: str, server: tuple[str, int]) -> None:
    assert opened_socket(server[0], origin).split()[1] == status


def opened_socket(address: str, origin: str) -> str:
    """The first line of the answer to a page of `origin` that asks for a socket."""
    where = urlsplit(address)
    lines = [
        f"GET /{SOCKET} HTTP/1.1", f"Host: {where.netloc}", f"Origin: {origin}", "Connection: Upgrade",
        "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==", "", "",
    ]  # fmt: skip
    with socket.create_connection((where.hostname, where.port), timeout=10) as asking:
        asking.sendall("\r\n".join(lines).encode())
        return asking.recv(4096).decode("latin-1").split("\r\n")[0]


def test_nobody_else_on_the_network_reaches_the_page(server: tuple[str, int]) -> None:
    port = urlsplit(server[0]).port
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()][1:]
    listening = {row[1].split(":")[0] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port}
    assert listening == {"0100007F"}  # 127.0.0.1


@pytest.mark.parametrize(
    "path",
    ["etc/passwd", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "_nicegui/../../../../etc/passwd", "examples/"],
)
def test_no_address_of_the_server_is_a_file_of_this_machine(path: str, server: tuple[str, int]) -> None:
    with pytest.raises(urllib.error.HTTPError, match=r"40\d"):
        urllib.request.urlopen(server[0] + path, timeout=5)


@pytest.fixture
def another() -> Iterator[tuple[str, Any]]:
    """A server for one test, which may end it."""
    address, started = start_server()
    yield address, started
    started.kill()
    started.wait(LONG)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_is_stopped_leaves_no_process(how: int, browser: Any, another: tuple[str, Any]) -> None:
    address, started = another
    visitor = Visitor(browser, address)
    visitor.visit(*example("store_buffering.litmus"))
    visitor.click("[data-testid=simulate]")
    assert wait_until(lambda: visitor.shows("step 0 under tso"))
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    visitor.visit("endless.pml", ENDLESS)
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows(" states, "))
    running = searches(started.pid)
    assert len(running) >= 3  # a search, a simulation, and one that reads
    started.send_signal(how)
    started.wait(LONG)
    wait_until(lambda: not any(is_running(pid) for pid in running), 10)
    assert not answers(address)
    browser.close()
    browser.switch_to.window(first)
    browser.get("about:blank")
