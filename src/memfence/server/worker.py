"""The child process: requests on standard input; lines of progress and an answer to each on standard output.

It never outlives who asked: when standard input ends, it ends itself and whatever it started (compilers).
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from queue import Queue
from typing import Any

from memfence.deadline import Deadline
from memfence.reading import confine

SPARE_MEGABYTES = 768
"""What Python, the core and a compiler need beside the states of a search."""
PROGRESS_SECONDS = 0.2
SOON = ("diagnose", "walk")
"""Somebody waits for these while typing and clicking; everything else is a search."""
NICER = 5
"""Editors and pages go first: they answer while every processor searches."""


def run() -> None:
    """Answer what comes on standard input, one request after the other, until it ends."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever is printed by mistake must not be taken for an answer
    lines: Queue[bytes] = Queue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    request = json.loads(lines.get())
    _limit(request)
    if request["is_confined"]:
        confine(Path.cwd())
    from memfence.server.answers import answer

    next_report = [Deadline(0.0)]

    def progress(states: int, transitions: int, queue: int, seconds: float, megabytes: float) -> None:
        if next_report[0].passed:
            next_report[0] = Deadline(PROGRESS_SECONDS)
            _say(output, {"progress": {"states": states, "seconds": round(seconds, 1), "megabytes": round(megabytes)}})

    while True:
        _say(output, {"answer": answer(request, progress)})
        request = json.loads(lines.get())


def _say(output: Any, value: dict[str, Any]) -> None:
    output.write(json.dumps(value) + "\n")
    output.flush()


def _limit(request: dict[str, Any]) -> None:
    """The kernel's limits, behind those that searches keep by themselves."""
    if request["verb"] not in SOON:
        _give_way()
    try:
        import resource
    except ImportError:  # not on every system; who asked has a clock, too
        return
    most = (int(request["memory_megabytes"]) + SPARE_MEGABYTES) * 1_000_000
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    seconds = int(request["timeout_seconds"]) * 4 + 60
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _give_way() -> None:
    """Let who asks go first. Linux weighs whole sessions, and every child is one: it has a number of its own there."""
    if hasattr(os, "nice"):
        os.nice(NICER)
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICER))


def _listen(lines: Queue[bytes]) -> None:
    """Hand on what is asked; end everything with who asks."""
    while line := sys.stdin.buffer.readline():
        lines.put(line)
    if hasattr(os, "killpg") and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    run()
