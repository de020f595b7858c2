"""A saved schedule under gdb."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from memfence.running.process import layout_text
from memfence.running.schedule_file import SavedSchedule, replay_options

FAILURE = "memfence_failure"
"""The runtime calls it when the program fails: the caller's frames are the program's."""


def run_in_gdb(gdb: str, program: Path, arguments: Sequence[str], saved: SavedSchedule) -> int:
    """Run the schedule again with the terminal as it is, and stop at the failure. Returns gdb's exit status."""
    asked = ";".join(f"{name}={value}" for name, value in replay_options(saved).items())
    settings = {
        "MEMFENCE_RUN": f"output=1;hang=1e9;{asked}",
        "MEMFENCE_LAYOUT": layout_text(saved.layout),
    }
    commands = [f"set environment {name} {value}" for name, value in settings.items()]
    commands += ["set breakpoint pending on", "handle SIGSEGV SIGALRM nostop noprint pass", f"break {FAILURE}", "run"]
    words = [part for command in commands for part in ("-ex", command)]
    return subprocess.run([gdb, "-q", *words, "--args", str(program), *arguments], check=False).returncode
