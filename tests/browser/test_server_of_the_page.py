"""The server behind the page: who may ask, what it starts, and how it ends."""

from __future__ import annotations

import re
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
        {"Origin": "http://localhost:1"},
        {"Origin": "http://127.0.0.1:PORT"},
        {"Origin": "https://localhost:PORT"},
    ],
)
@pytest.mark.parametrize("path", ["", "_nicegui_ws/socket.io/?EIO=4&transport=polling"])
def test_the_page_answers_only_by_the_names_of_this_machine(
    headers: dict[str, str], path: str, server: tuple[str, int]
) -> None:
    port = str(urlsplit(server[0]).port)
    said = {name: value.replace("PORT", port) for name, value in headers.items()}
    asked = urllib.request.Request(server[0] + path, headers=said)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(asked, timeout=5)


@pytest.mark.parametrize("origin", ["http://elsewhere.example", "http://localhost:1", "http://127.0.0.1:PORT", "null"])
def test_another_site_gets_no_socket(origin: str, server: tuple[str, int]) -> None:
    origin = origin.replace("PORT", str(urlsplit(server[0]).port))
    assert opened_socket(server[0], origin).split()[1] == "403"


def test_the_page_itself_gets_a_socket(server: tuple[str, int]) -> None:
    assert opened_socket(server[0], f"http://{urlsplit(server[0]).netloc}").split()[1] == "101"


def without_token(address: str) -> list[str]:
    """The address of the server, with no token or a wrong one."""
    where = urlsplit(address)
    server, token = f"{where.scheme}://{where.netloc}", where.path.strip("/")
    wrong = ("", token[:-1], token + "x", token.swapcase(), "x" * len(token), f"x/{token}", f"%2f{token}")
    return [f"{server}/", *(f"{server}/{one}/" for one in wrong[1:])]


def test_nobody_without_the_link_reaches_the_page(server: tuple[str, int]) -> None:
    for address in without_token(server[0]):
        for path in ("", "?p=x", "_nicegui_ws/socket.io/?EIO=4&transport=polling", "favicon.ico"):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(address + path, timeout=5)
        assert opened_socket(address, f"http://{urlsplit(address).netloc}").split()[1] == "403"


def test_everything_that_the_page_asks_for_is_behind_the_link(server: tuple[str, int]) -> None:
    where = urlsplit(server[0])
    with urllib.request.urlopen(server[0], timeout=5) as page:
        text = page.read().decode()
    asked = re.findall(r"""(?:src|href)=["'](/[^"']+)["']|url\(["'](/[^"']+)["']\)""", text)
    paths = [one or other for one, other in asked]
    assert paths and all(path.startswith(where.path) for path in paths)
    for path in paths:
        with urllib.request.urlopen(f"{where.scheme}://{where.netloc}{path}", timeout=5) as found:
            assert found.status == 200


def test_the_link_is_another_one_at_every_start() -> None:
    from memfence.server.ui.this_machine import new_token

    tokens = {new_token() for _ in range(1000)}
    assert len(tokens) == 1000 and min(map(len, tokens)) >= 20


def opened_socket(address: str, origin: str) -> str:
    """The first line of the answer to a page of `origin` that asks for a socket."""
    where = urlsplit(address)
    lines = [
        f"GET {where.path}{SOCKET} HTTP/1.1", f"Host: {where.netloc}", f"Origin: {origin}", "Connection: Upgrade",
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
