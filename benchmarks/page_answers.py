"""How soon does `memfence ui` answer while searches run?

    python benchmarks/page_answers.py [--searches N] [--requests N]

Needs the extra `ui`, selenium, chromium and chromedriver. Each search runs in a tab of its own; the page allows four
at a time. In milliseconds: the whole page, asked for anew; a button, from the press to what it changes in the browser
(the way of every small request: over the socket, to the page's process and back); a step of a simulation, which a
process of its own takes. The page is asked for a quarter as often: the server keeps pages that nobody looks at for a
while.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "browser")]

from chromium import chromium  # noqa: E402
from visitor import ENDLESS, Visitor, answers, example, searches, start_server, wait_until  # noqa: E402

PRESSED = """
const done = arguments[arguments.length - 1];
history.replaceState(null, '', '/?n=' + performance.now());
const start = performance.now();
document.querySelector('[data-testid=link]').click();
const look = () => location.search.startsWith('?p=') ? done(performance.now() - start) : setTimeout(look, 1);
look();
"""
STEPPED = """
const [text, done] = arguments;
const start = performance.now();
[...document.querySelectorAll('[data-testid=simulator] button')].find(one => one.innerText.includes(text)).click();
const step = () => document.querySelector('[data-testid=simulator]').innerText.match(/step (\\d+)/)?.[1];
const look = () => step() === (text === 'Undo' ? '0' : '1') ? done(performance.now() - start) : setTimeout(look, 1);
look();
"""


def line(name: str, milliseconds: list[float]) -> str:
    ordered = sorted(milliseconds)
    late = ordered[int(len(ordered) * 0.99)]
    over = sum(one > 150 for one in ordered)
    return f"{name:<10} {statistics.median(ordered):>8.1f} {late:>8.1f} {ordered[-1]:>8.1f} {over:>5} of {len(ordered)}"


def asked_anew(address: str) -> float:
    start = time.perf_counter()
    assert answers(address)
    return 1000 * (time.perf_counter() - start)


def measure(browser: Any, address: str, server: int, running: int, requests: int) -> None:
    visitor = Visitor(browser, address)
    browser.set_script_timeout(60)
    for _ in range(running):
        visitor.visit("endless.pml", ENDLESS)
        visitor.click("[data-testid=check]")
        wait_until(lambda: visitor.shows(" states, "))
        browser.switch_to.new_window("tab")
    visitor.visit(*example("store_buffering.litmus"))
    visitor.click("[data-testid=simulate]")
    wait_until(lambda: visitor.shows("step 0"))
    load = os.getloadavg()[0]
    print(f"{len(searches(server))} children of the server, {os.cpu_count()} processors, load {load:.1f}")
    print(f"{'':<10} {'median':>8} {'99 %':>8} {'worst':>8} {'over 150 ms':>12}")
    print(line("page", [asked_anew(address) for _ in range(requests // 4)]))
    print(line("button", [browser.execute_async_script(PRESSED) for _ in range(requests)]))
    steps = ["MOV [x]", "Undo"] * (requests // 2)
    print(line("step", [browser.execute_async_script(STEPPED, text) for text in steps]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", type=int, default=1)
    parser.add_argument("--requests", type=int, default=300)
    options = parser.parse_args()
    address, server = start_server()
    try:
        with tempfile.TemporaryDirectory() as profile, chromium(Path(profile)) as browser:
            measure(browser, address, server.pid, options.searches, options.requests)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
