"""Progress appears on a terminal only, and leaves nothing behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from io import StringIO

import pytest

from memfence.cli.progress import CLEAR, ProgressLine, close_progress
from memfence.cli.terminal import coloured


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_states_rate_queue_and_memory() -> None:
    stream = Terminal()
    line = ProgressLine(stream)
    line(1_000_000, 3_000_000, 4_200, 2.0, 150.0)
    assert stream.getvalue() == f"{CLEAR}1,000,000 states, 500,000/s, queue 4,200, 150 MB, 2 s"
    line.close()
    assert stream.getvalue().endswith(CLEAR)


def test_a_phase_that_says_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memfence.cli.progress.SILENT_SECONDS", 0.01)
    stream = Terminal()
    line = ProgressLine(stream)
    line.begin()
    wait_until(lambda: "reading, 0 s" in stream.getvalue())
    line.searching("executions under rc11")
    wait_until(lambda: "executions under rc11, 0 s" in stream.getvalue())
    close_progress()
    said = stream.getvalue()
    assert said.endswith(CLEAR)
    line.close()
    assert stream.getvalue() == said


def wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(1000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it was never said")


def test_a_file_sees_nothing() -> None:
    stream = StringIO()
    line = ProgressLine(stream)
    line(1, 1, 1, 1.0, 1.0)
    line.close()
    assert stream.getvalue() == ""


def test_quiet_is_quiet_on_a_terminal_too() -> None:
    stream = Terminal()
    line = ProgressLine(stream, quiet=True)
    line(1, 1, 1, 1.0, 1.0)
    line.close()
    assert stream.getvalue() == ""


def test_colours_add_nothing_but_marks() -> None:
    import re

    text = "a.pml: VIOLATED under tso (safety): never x\n   3 │ *x=1  y=0\n"
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured(text)) == text
    assert "\x1b[1;31mVIOLATED" in coloured(text)
    assert "\x1b[1m*x=1" in coloured(text)
