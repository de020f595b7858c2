"""The exit code of an answer stands, whatever still runs when the process ends: engines that are slow to end, threads
of the core, and signals that come again and again."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.interruptible import start

GENEROUS_SECONDS = 60.0

BIG = "int a, b, c, d;\n" + "".join(
    f"active proctype P{name}() {{ do :: {name} < 1000 -> {name} = {name} + 1 :: else -> {name} = 0 od }}\n"
    for name in "abcd"
)
SLOW_SHUTDOWN = """
import time
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)
slow = Slow()
"""
"""Python takes its time to shut down: a search that runs on asks for the interpreter meanwhile."""

DEAF = """
import sys
from memfence import deadline
from memfence.engines.registry import engine_named
from memfence.strategy import portfolio
explicit = type(engine_named("explicit"))
listening = explicit.answer
def deaf(self, task):
    if task.limits.cancel is None:
        return listening(self, task)
    open(sys.argv[2] + ".searching", "x").close()
    return listening(self, task.within(cancel=None, deadline=deadline.Deadline(4.0)))
explicit.answer = deaf
portfolio.SAFETY = portfolio.SAFETY[:1]
portfolio.SAFETY_AT_LAST = ("explicit", "symbolic")
deadline.Deadline.enforced.__wrapped__.__defaults__ = (0.0,)
from memfence.cli.start import run
run()
"""
"""`memfence` with two engines side by side, of which one is deaf to whoever ends it, and with no grace for it."""

SHUT_DOWN_UNDER_A_SEARCH = """
import sys, threading
import memfence
ask = lambda: memfence.check(sys.argv[1], forbid="a == 1000 && b == 1000", reduce=(), model="sc")
searching = threading.Thread(target=ask, daemon=True)
searching.start()
while searching.is_alive() and "memfence._core" not in sys.modules:
    time.sleep(0.02)
time.sleep(0.5)
sys.exit(7)
"""


@pytest.fixture
def big(tmp_path: Path) -> Path:
    path = tmp_path / "big.pml"
    path.write_text(BIG)
    return path


def deaf(path: Path, *options: str) -> subprocess.Popen[str]:
    question = ("--model", "tso", "--forbid", "a == 1000 && b == 1000", "--reduce", "none")
    command = [sys.executable, "-c", SLOW_SHUTDOWN + DEAF, "check", str(path), *question, *options]
    return start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_an_engine_that_is_slow_to_end_does_not_change_the_exit_code(big: Path) -> None:
    process = deaf(big, "--timeout", "1.5")
    output, errors = process.communicate(timeout=GENEROUS_SECONDS)
    assert (process.returncode, errors) == (4, "")
    assert "timeout 1.5 s" in output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_that_come_again_and_again_are_one_interrupt(number: signal.Signals, big: Path) -> None:
    process = deaf(big)
    marker = big.with_name("big.pml.searching")
    while not marker.exists():
        assert process.poll() is None
        time.sleep(0.02)
    for _ in range(40):
        process.send_signal(number)
        time.sleep(0.02)
    output, errors = process.communicate(timeout=GENEROUS_SECONDS)
    assert (process.returncode, output, errors) == (4, "", "UNKNOWN: interrupted\n")


def test_python_may_shut_down_under_a_search(big: Path) -> None:
    command = [sys.executable, "-c", SLOW_SHUTDOWN + SHUT_DOWN_UNDER_A_SEARCH, str(big)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=GENEROUS_SECONDS)
    assert (done.returncode, done.stdout) == (7, "")
    assert "terminate" not in done.stderr  # nanobind may still list what the search holds on to
