"""A limit ends a search in a clean UNKNOWN with statistics and exit code 4: time, memory, Ctrl-C."""

from __future__ import annotations

import errno
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.interruptible import start

GENEROUS_SECONDS = 60.0
"""For a command that should take two: tests run on busy machines."""

NAMES = "abcdefgh"
BIG = f"int {', '.join(NAMES)};\n" + "".join(
    f"active proctype P{name}() {{ do :: {name} < 1000 -> {name} = {name} + 1 :: else -> {name} = 0 od }}\n"
    for name in NAMES
)


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """A program with more than 10^24 states under SC."""
    path = tmp_path / "big.pml"
    path.write_text(BIG)
    return path


def command(path: Path, *options: str) -> list[str]:
    question = ("--forbid", "a == 1000 && b == 1000", "--reduce", "none")
    return [sys.executable, "-m", "memfence", "check", str(path), *question, *options]


def assert_clean_unknown(code: int, output: str, errors: str, limit: str) -> None:
    assert (code, errors) == (4, "")
    assert ": UNKNOWN under " in output
    assert limit in output
    assert re.search(r"[\d,]{4,} states, [\d,]+ transitions, [\d.]+ s, \d+ MB", output), output


COUNTS = "int a; active proctype P() { do :: a++ od }"
COUNTS_ALONE = "short s; byte y; active proctype P() { do :: s++ od } active proctype Q() { y = s }"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (COUNTS, ("--forbid", "a == -1", "--model", "sc")),
        (COUNTS, ("--forbid", "a == -1", "--model", "pso")),
        (COUNTS_ALONE, ("--criterion", "robust", "--model", "pso")),
    ],
    ids=["one state a level", "one state a level, pso", "a walk as long as a counter is wide"],
)
def test_the_clock_is_looked_at_in_deep_searches(tmp_path: Path, text: str, question: tuple[str, ...]) -> None:
    path = tmp_path / "deep.pml"
    path.write_text(text)
    start = time.monotonic()
    line = [sys.executable, "-m", "memfence", "check", str(path), *question, "--timeout", "1"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=2 * GENEROUS_SECONDS, check=False)
    assert time.monotonic() - start < GENEROUS_SECONDS
    assert (done.returncode, done.stderr) == (4, "")
    assert "timeout 1 s" in done.stdout


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        (("--model", "sc", "--timeout", "2"), "timeout 2 s"),
        (("--model", "tso", "--engine", "explicit", "--buffer-bound", "2", "--timeout", "1"), "timeout 1 s"),
        (("--model", "sc", "--memory", "64"), "memory 64 MB"),
        (("--model", "sc", "--memory", "64", "--threads", "2"), "memory 64 MB"),
        pytest.param(("--model", "sc", "--memory", "300"), "memory 300 MB", marks=pytest.mark.slow),
        pytest.param(("--model", "pso", "--memory", "300", "--threads", "2"), "memory 300 MB", marks=pytest.mark.slow),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_limit_is_a_clean_unknown(big: Path, options: tuple[str, ...], limit: str) -> None:
    start = time.monotonic()
    done = subprocess.run(command(big, *options), capture_output=True, text=True, timeout=5 * GENEROUS_SECONDS)
    assert_clean_unknown(done.returncode, done.stdout, done.stderr, limit)
    if "timeout" in limit:
        assert time.monotonic() - start < GENEROUS_SECONDS


class Watched:
    """A command whose standard error is a terminal, read until something appears there."""

    def __init__(self, arguments: list[str]) -> None:
        self.terminal, theirs = pty.openpty()
        self.process = start(arguments, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        self.seen = ""

    def read_until(self, pattern: str) -> None:
        while not re.search(pattern, self.seen) and self.read_more():
            pass

    def read_more(self) -> bool:
        try:
            chunk = os.read(self.terminal, 4096).decode()
        except OSError as error:  # the other side was closed
            assert error.errno == errno.EIO
            chunk = ""
        self.seen += chunk
        return bool(chunk)

    def end(self) -> tuple[int, str]:
        """Exit code and standard output, once the terminal was closed."""
        while self.read_more():
            pass
        output, _ = self.process.communicate(timeout=GENEROUS_SECONDS)
        os.close(self.terminal)
        return self.process.returncode, output


@pytest.mark.parametrize("model", ["sc", "tso"])
def test_ctrl_c_during_a_search_is_a_clean_unknown(big: Path, model: str) -> None:
    watched = Watched(command(big, "--model", model, "--engine", "explicit", "--timeout", "50"))
    watched.read_until(r"[\d,]{5,} states")
    watched.process.send_signal(signal.SIGINT)
    code, output = watched.end()
    assert_clean_unknown(code, output, "", "interrupted")


def test_ctrl_c_while_two_engines_search_is_a_clean_unknown(big: Path) -> None:
    watched = Watched(command(big, "--model", "tso", "--engine", "auto", "--timeout", "50"))
    watched.read_until(r"[\d,]{5,} states")
    watched.process.send_signal(signal.SIGINT)
    code, output = watched.end()
    assert code == 4
    assert "UNKNOWN" in output + watched.seen
    assert "Traceback" not in output + watched.seen


def test_a_terminal_sees_progress_that_is_wiped_before_the_answer(big: Path) -> None:
    watched = Watched(command(big, "--model", "sc", "--timeout", "2"))
    code, output = watched.end()
    assert code == 4 and ": UNKNOWN under sc" in output
    lines = [line for line in watched.seen.split("\r\x1b[K") if line]
    assert lines and all(
        re.fullmatch(r"explicit: [\d,]+ states, [\d,]+/s, queue [\d,]+, [\d,]+ MB, \d+ s", line) for line in lines
    ), watched.seen
    assert watched.seen.endswith("\r\x1b[K")
