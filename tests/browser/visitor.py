"""A visitor of `memfence ui`, and the server that is visited."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memfence.server.ui.board import packed

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "guide" / "images"
LONG = 60.0
ENDLESS = """
byte a, b, c, d, e, f;
active [4] proctype P() { do :: a++ :: b++ :: c++ :: d++ :: e++ :: f++ :: a-- :: c = b * 3 + d od }
ltl p { [] !(a == 251 && b == 17 && c == 99 && d == 200 && e == 1 && f == 7) }
"""


def start_server() -> tuple[str, subprocess.Popen[bytes]]:
    """A server that answers: the link that it prints, and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "memfence", "ui", "examples/store_buffering.litmus", "--port", str(port)]
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}  # nicegui looks
    started = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, env=outside)
    assert started.stderr is not None
    address = started.stderr.readline().decode().split()[2]
    assert address.startswith(f"http://localhost:{port}/")
    threading.Thread(target=started.stderr.read, daemon=True).start()
    wait_until(lambda: answers(address))
    return address, started


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as page:
            return bool(page.status == 200)
    except OSError:
        return False


def searches(server: int) -> list[str]:
    """The children of the server that run now: searches, simulations, and those that read texts."""
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,pid=,args="], capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in listed.split("\n") if line.strip()]
    return [pid for parent, pid, text in rows if parent == str(server) and "memfence.server.worker" in text]


def is_running(pid: str) -> bool:
    return Path(f"/proc/{pid}/exe").exists()


def wait_until(is_so: Callable[[], Any], seconds: float = LONG) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = is_so()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("waited for nothing")


def example(name: str) -> tuple[str, str]:
    return name, (ROOT / "examples" / name).read_text()


class Visitor:
    """What a visitor does, in short words."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser, self.address = browser, address

    def visit(self, name: str, text: str) -> None:
        self.browser.get("about:blank")
        self.browser.get(f"{self.address}?p={packed(name, text)}")
        assert wait_until(lambda: self.found("[data-testid=check]"))
        assert wait_until(lambda: text.strip()[:20] in self.program())

    def go(self, address: str) -> None:
        self.browser.get("about:blank")
        self.browser.get(address)
        assert wait_until(lambda: self.program().strip())

    def found(self, selector: str) -> list[Any]:
        return list(self.browser.find_elements("css selector", selector))

    def click(self, selector: str) -> None:
        def try_once() -> bool:
            try:
                self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", self.found(selector)[0])
                self.found(selector)[0].click()
                return True
            except Exception:
                return False

        wait_until(try_once)

    def button(self, text: str) -> bool:
        """Click the button with this text, if it is there; in one go, because the page is drawn again at any time."""
        find = "[...document.querySelectorAll('button')].find(one => one.innerText.includes(arguments[0]))"
        return bool(self.browser.execute_script(f"const one = {find}; one?.click(); return Boolean(one)", text))

    def shows(self, text: str) -> bool:
        return text in str(self.browser.execute_script("return document.body.innerText"))

    def program(self) -> str:
        return str(self.browser.execute_script("return document.querySelector('.cm-content')?.innerText || ''"))

    def picture(self, name: str) -> None:
        if os.environ.get("UPDATE_SCREENSHOTS"):
            time.sleep(1)
            self.browser.save_screenshot(str(IMAGES / name))

    def press(self, *keys: str) -> None:
        """Keys, wherever the keyboard leads now."""
        from selenium.webdriver import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def tab_to(self, name: str) -> None:
        """Press Tab until the thing with this name has the focus; as the page says, Esc leaves the editor."""
        from selenium.webdriver.common.keys import Keys

        for _ in range(60):
            active = self.browser.switch_to.active_element
            if name in (active.get_attribute("data-testid"), active.get_attribute("aria-label")):
                return
            if active.get_attribute("contenteditable") == "true":
                self.press(Keys.ESCAPE)
            self.press(Keys.TAB)
        raise AssertionError(f"the keyboard does not lead to {name}")

    def notices(self) -> str:
        return " ".join(one.text for one in self.found(".q-notification"))

    def overhang(self) -> int:
        """By how many pixels the page is wider than the window."""
        return int(self.browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth"))
