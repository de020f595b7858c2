"""`memfence ui` as a visitor meets it, in a real browser.

The screenshots of the guide are made here: `UPDATE_SCREENSHOTS=1` writes them to `docs/guide/images/`.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import chromium

from memfence.server.ui.board import packed

pytest.importorskip("nicegui", reason="the extra `ui` is not installed")

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "guide" / "images"
LONG = 60.0
ENDLESS = """
byte a, b, c, d, e, f;
active [4] proctype P() { do :: a++ :: b++ :: c++ :: d++ :: e++ :: f++ :: a-- :: c = b * 3 + d od }
ltl p { [] !(a == 251 && b == 17 && c == 99 && d == 200 && e == 1 && f == 7) }
"""


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, int]]:
    """Where the page is, and the number of its process; stopped at the end, with everything it started."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "memfence", "ui", "examples/store_buffering.litmus", "--port", str(port)]
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}  # nicegui looks
    started = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, env=outside)
    address = f"http://localhost:{port}/"
    wait_until(lambda: answers(address))
    yield address, started.pid
    running = searches(started.pid)
    started.send_signal(signal.SIGINT)
    started.wait(LONG)
    wait_until(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in running), 10)


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as page:
            return bool(page.status == 200)
    except OSError:
        return False


def searches(server: int) -> list[str]:
    """The searches that the server runs now."""
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,pid=,args="], capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in listed.split("\n") if line.strip()]
    return [pid for parent, pid, text in rows if parent == str(server) and "memfence.server.worker" in text]


def wait_until(is_so: Callable[[], Any], seconds: float = LONG) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = is_so()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("waited for nothing")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


class Visitor:
    """What a visitor does, in short words."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser, self.address = browser, address

    def visit(self, name: str, text: str) -> None:
        self.browser.get("about:blank")
        self.browser.get(f"{self.address}?p={packed(name, text)}")
        assert wait_until(lambda: self.found("[data-testid=check]"))
        assert wait_until(lambda: text.strip()[:20] in self.program())

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


@pytest.fixture
def visitor(browser: Any, server: tuple[str, int]) -> Iterator[Visitor]:
    """A visitor of the page; afterwards, nothing was asked of another machine and the console has no errors."""
    yield Visitor(browser, server[0])
    asked = browser.execute_script("return performance.getEntriesByType('resource').map(one => one.name)")
    assert [one for one in asked if not one.startswith(("http://localhost:", "data:", "blob:"))] == []
    assert [line for line in browser.get_log("browser") if line["level"] == "SEVERE"] == []


def example(name: str) -> tuple[str, str]:
    return name, (ROOT / "examples" / name).read_text()


def test_a_newcomer_goes_from_an_example_to_an_applied_fix(visitor: Visitor) -> None:
    visitor.visit(*example("peterson.pml"))
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows("VIOLATED under tso"))
    assert wait_until(lambda: visitor.found("iframe.mf-report"))
    visitor.picture("ui-check.png")
    visitor.click("[data-testid=fix]")
    assert wait_until(lambda: visitor.shows("FIXED under tso"))
    visitor.click("[data-testid=apply]")
    assert wait_until(lambda: "mfence();" in visitor.program())
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows("HOLDS under tso"))


def test_store_buffering_is_walked_to_the_relaxed_outcome_by_clicking(visitor: Visitor) -> None:
    visitor.visit(*example("store_buffering.litmus"))
    visitor.click("[data-testid=simulate]")
    for number, text in enumerate(
        ["4: MOV [x],$1", "5: MOV EAX,[y] [y=0]", "4: MOV [y],$1", "5: MOV EAX,[x] [x=0]"], 1
    ):
        assert wait_until(lambda text=text: visitor.button(text))
        assert wait_until(lambda number=number: visitor.shows(f"step {number} under tso"))
    visitor.picture("ui-simulate.png")
    for number, text in enumerate(["commit x=1", "commit y=1"], 5):
        assert wait_until(lambda text=text: visitor.button(text))
        assert wait_until(lambda number=number: visitor.shows(f"step {number} under tso"))
    assert visitor.shows("Every process has ended.")
    assert visitor.shows("the load overtook the store")


@pytest.mark.slow
def test_under_sc_nothing_waits_and_one_load_sees_the_other_store(visitor: Visitor) -> None:
    visitor.visit(*example("store_buffering.litmus"))
    assert wait_until(lambda: visitor.button("SC"))
    visitor.click("[data-testid=simulate]")
    for text in ("4: MOV [x],$1", "5: MOV EAX,[y] [y=0]", "4: MOV [y],$1", "5: MOV EAX,[x] [x=1]"):
        assert wait_until(lambda text=text: visitor.button(text))
    assert wait_until(lambda: visitor.shows("step 4 under sc"))
    assert not visitor.shows("commit")


@pytest.mark.slow
def test_a_long_search_shows_progress_and_can_be_cancelled(visitor: Visitor, server: tuple[str, int]) -> None:
    visitor.visit("endless.pml", ENDLESS)
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows(" states, "))
    took = []
    for _ in range(20):
        before = time.monotonic()
        assert answers(server[0])
        took.append(time.monotonic() - before)
    assert sorted(took)[10] < 0.15, took
    visitor.click("[data-testid=cancel]")
    assert wait_until(lambda: visitor.shows("cancelled"))
    assert wait_until(lambda: len(searches(server[1])) <= 1, 10)  # the one that reads the text may stay


@pytest.mark.slow
def test_a_search_that_nobody_watches_is_ended(visitor: Visitor, server: tuple[str, int]) -> None:
    visitor.visit("endless.pml", ENDLESS)
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows(" states, "))
    visitor.browser.get("about:blank")
    assert wait_until(lambda: searches(server[1]) == [], 30)


@pytest.mark.slow
def test_two_tabs_do_not_disturb_each_other(visitor: Visitor) -> None:
    browser = visitor.browser
    visitor.visit(*example("peterson.pml"))
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    visitor.visit(*example("ticket_lock.pml"))
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows("HOLDS under tso"))
    browser.switch_to.window(first)
    assert "wants[2]" in visitor.program()
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows("VIOLATED under tso"))
    assert not visitor.shows("HOLDS")


@pytest.mark.slow
def test_a_narrow_window_needs_no_sideways_scrolling(visitor: Visitor) -> None:
    visitor.browser.set_window_size(420, 900)
    try:
        visitor.visit(*example("store_buffering.litmus"))
        visitor.click("[data-testid=outcomes]")
        assert wait_until(lambda: visitor.found("[data-testid=outcomes-tso]"))
        wide = visitor.browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 1
    finally:
        visitor.browser.set_window_size(1440, 1100)


@pytest.mark.slow
def test_everything_can_be_reached_by_the_keyboard(visitor: Visitor) -> None:
    from selenium.webdriver.common.keys import Keys

    visitor.visit(*example("store_buffering.litmus"))
    visitor.browser.execute_script("document.querySelector('[data-testid=link]').focus()")
    seen = []
    for _ in range(60):
        active = visitor.browser.switch_to.active_element
        seen.append(active.get_attribute("data-testid"))
        if seen[-1] == "check":
            active.send_keys(Keys.ENTER)
            break
        active.send_keys(Keys.ESCAPE if active.get_attribute("contenteditable") == "true" else "")
        active.send_keys(Keys.TAB)
    assert wait_until(lambda: visitor.shows("VIOLATED under tso"))


@pytest.mark.slow
def test_outcomes_and_states_are_shown_side_by_side(visitor: Visitor) -> None:
    visitor.visit(*example("store_buffering.litmus"))
    visitor.click("[data-testid=outcomes]")
    assert wait_until(lambda: visitor.found("[data-testid=outcomes-pso]"))
    columns = {name: visitor.found(f"[data-testid=outcomes-{name}]")[0].text for name in ("sc", "tso", "pso")}
    relaxed = "P0: EAX=0; P1: EAX=0"
    assert [relaxed in columns[name] for name in ("sc", "tso", "pso")] == [False, True, True]
    visitor.picture("ui-outcomes.png")
    visitor.click("[data-testid=states]")
    assert wait_until(lambda: visitor.shows("that sc does not reach"))
    visitor.picture("ui-states.png")


@pytest.mark.slow
def test_mistakes_appear_and_files_elsewhere_are_refused(visitor: Visitor) -> None:
    visitor.visit("broken.pml", "byte x; active proctype P() { y = 1 }\n")
    assert wait_until(lambda: visitor.shows("line 1: "))
    visitor.visit("reader.c", '#include "/etc/passwd"\nint main(void) { return 0; }\n')
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows("may read files outside of the folder"))
    assert not visitor.shows("root:")


def test_the_page_answers_only_by_the_names_of_this_machine(server: tuple[str, int]) -> None:
    asked = urllib.request.Request(server[0], headers={"Host": "elsewhere.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(asked, timeout=5)
