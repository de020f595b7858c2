"""One `memfence` command in a process of its own, and what it answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from memfence.records import Record

GRACE_SECONDS = 30.0
"""A command ends by itself at its limit; beyond this it has failed."""


class CommandFailed(Exception):
    """The command did not answer: a fault of memfence, or a file that is not there."""


class Answer(Record):
    """The JSON object that a command printed, and the processor seconds of all of it, start-up included."""

    found: dict[str, Any]
    cpu_seconds: float

    @property
    def verdict(self) -> str:
        return str(self.found["verdict"])

    @property
    def seconds(self) -> float:
        """What the search itself took."""
        return float(self.found["stats"]["seconds"])

    @property
    def states(self) -> int:
        return int(self.found["stats"]["states"])

    @property
    def megabytes(self) -> float:
        return float(self.found["stats"]["peak_mb"])

    @property
    def is_decided(self) -> bool:
        return self.verdict not in ("unknown", "holds_up_to")


def ask(command: str, file: Path, *options: str, timeout_seconds: float) -> Answer:
    """Run `memfence COMMAND FILE OPTIONS --timeout S --json`."""
    line = [
        sys.executable,
        "-m",
        "memfence",
        command,
        str(file),
        *options,
        "--timeout",
        f"{timeout_seconds:g}",
        "--json",
    ]
    before = os.times()
    try:
        done = subprocess.run(
            line,
            capture_output=True,
            text=True,
            timeout=timeout_seconds + GRACE_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CommandFailed(f"{' '.join(line[2:])}: no answer {GRACE_SECONDS:g} s after its limit") from None
    after = os.times()
    if done.returncode not in (0, 1, 4):
        said = (done.stderr or done.stdout).strip()
        raise CommandFailed(f"{' '.join(line[2:])}: exit code {done.returncode}: {said}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Answer(json.loads(done.stdout), used)


def machine() -> str:
    """The machine in one line: processor, how many, memory, Python."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _lines(Path("/proc/cpuinfo")) if line.startswith("model name")),
        "unknown processor",
    )
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{model}, {os.cpu_count()} processors, {gigabytes:.0f} GiB, Python {version}, {time.strftime('%Y-%m-%d')}"


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
