"""A saved schedule under gdb."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from memfence.binary.process import REPLAY_VARIABLE, Options, Replay, options_text, replay_file

FAILURE = "memfence_failure"
"""The runtime calls it when the program fails: the caller's frames are the program's."""


def run_in_gdb(gdb: str, program: Path, arguments: Sequence[str], options: Options, replay: Replay) -> int:
    """Run the schedule again with the terminal as it is, and stop at the failure. Returns gdb's exit status."""
    with replay_file(replay) as schedule:
        assert schedule is not None
        asked = options_text({"output": True, "hang": 1e9, **options})
        settings = {"MEMFENCE_RUN": asked, REPLAY_VARIABLE: str(schedule)}
        commands = [f"set environment {name} {value}" for name, value in settings.items()]
        commands += ["set breakpoint pending on", "handle SIGSEGV SIGALRM nostop noprint pass"]
        commands += [f"break {FAILURE}", "run"]
        words = [part for command in commands for part in ("-ex", command)]
        command = [gdb, "-q", *words, "--args", str(program), *arguments]
        return subprocess.run(command, pass_fds=(schedule,), check=False).returncode
