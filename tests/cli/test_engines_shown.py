"""What is known while a search runs, and after it: which engine, how long, and nothing that nobody knows."""

from __future__ import annotations

import io
import os
import re
import signal
import threading
from pathlib import Path

import pytest

from memfence.cli.progress import ProgressLine
from memfence.engines.registry import engine_named
from memfence.models.spec import TSO
from memfence.strategy.side_by_side import ask_side_by_side
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Limit
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.task import Safety, Task
from support.command_line import memfence
from support.samples import store_buffering

UNBOUNDED = """\
byte x, y;
active proctype P() { do :: x = 1; x = 2; y = 1 od }
active proctype Q() { byte r; do :: r = y; r = x; assert(r < 3) od }
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_names_the_engine_and_guesses_nothing() -> None:
    terminal = Terminal()
    line = ProgressLine(terminal)
    line.searching("symbolic")
    line(1000, 2000, 500, 2.0, 64.0)
    shown = terminal.getvalue()
    assert "symbolic: 1,000 states" in shown
    assert "queue 500" in shown and not re.search(r"queue 500 \(", shown)


def test_verbose_lists_the_engines_that_were_tried(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text(UNBOUNDED)
    done = memfence("check", path, "-v")
    tried = re.findall(r"^  tried   (\w[\w ]*): (\w+), ([\d.]+) s, ([\d,]+) states", done.stdout, re.MULTILINE)
    assert len(tried) >= 2
    assert tried[0][0] == "explicit" and tried[-1][1] == "holds"
    assert "tried" not in memfence("check", path).stdout


def test_an_interrupt_of_several_engines_says_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes while all of them search: each ends with what it has, and none is asked again."""
    program = store_buffering()
    engine = engine_named("explicit")

    def slow(self: object, task: Task) -> Answer:
        stopped = threading.Event()
        assert task.limits.cancel is not None
        task.limits.cancel.when_cancelled(stopped.set)
        assert stopped.wait(20)
        return Answer(Verdict.UNKNOWN, Limit(Stop.CANCELLED, 77), "explicit", Cost(states=77))

    monkeypatch.setattr(type(engine), "answer", slow)
    alarm = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    alarm.start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # tests in the background ignore it
    try:
        answer = ask_side_by_side([("explicit", Task(program, TSO, Safety()))], lambda one: one)
    finally:
        signal.signal(signal.SIGINT, before)
    assert answer.is_interrupted and answer.cost.states == 77
