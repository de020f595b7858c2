"""The same model through Spin: translate, generate, compile, run; with the CPU time and the wall time of each step."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from resource import RLIMIT_CPU, RUSAGE_CHILDREN, getrusage, setrlimit
from signal import SIGKILL, SIGXCPU
from tempfile import TemporaryDirectory

from memfence.program.ir import Program
from memfence.translation.promela import render_promela

DEEPEST = 2_000_000


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of one command: on the clock, and of processor time."""

    wall: float
    cpu: float
    output: str


@dataclass(frozen=True, slots=True)
class SpinRun:
    """One verification by Spin. `making` is the time that spin and the C compiler took before pan could run."""

    states: int
    transitions: int
    bytes_a_state: int
    making: Timed
    pan: Timed


def is_installed() -> bool:
    return shutil.which("spin") is not None and shutil.which("gcc") is not None


def run_spin(program: Program, *, reductions: bool, limit_seconds: int | None = None) -> SpinRun:
    """Explore all of `program` under SC: with Spin's own defaults, or with every reduction off. The limit is pan's."""
    with TemporaryDirectory() as folder:
        Path(folder, "model.pml").write_text(render_promela(program))
        generate = ["spin", "-a", *(() if reductions else ("-o1", "-o2", "-o3")), "model.pml"]
        compile_ = ["gcc", "-O2", "-w", "-DSAFETY", *(() if reductions else ("-DNOREDUCE",)), "-o", "pan", "pan.c"]
        steps = [timed(generate, folder), timed(compile_, folder)]
        pan = timed(["./pan", "-E", f"-m{DEEPEST}"], folder, limit_seconds=limit_seconds)
    making = Timed(sum(s.wall for s in steps), sum(s.cpu for s in steps), "")
    assert "errors: 0" in pan.output, pan.output
    assert "Search not completed" not in pan.output and "too small" not in pan.output, pan.output
    return SpinRun(
        _number(r"(\d+) states, stored", pan.output),
        _number(r"(\d+) transitions", pan.output),
        _number(r"State-vector (\d+) byte", pan.output),
        making,
        pan,
    )


class OverLimit(Exception):
    """The command used up the processor time that it was given."""


def timed(
    command: Sequence[str],
    folder: str | Path | None = None,
    exit_codes: Collection[int] = (0,),
    limit_seconds: int | None = None,
) -> Timed:
    """Run `command` to its end, which must be with one of `exit_codes`; OverLimit beyond `limit_seconds`."""
    before, start = getrusage(RUSAGE_CHILDREN), time.perf_counter()
    limit = None if limit_seconds is None else partial(setrlimit, RLIMIT_CPU, (limit_seconds, limit_seconds + 1))
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, preexec_fn=limit)
    wall, after = time.perf_counter() - start, getrusage(RUSAGE_CHILDREN)
    if limit is not None and done.returncode in (-SIGXCPU, -SIGKILL):
        raise OverLimit(limit_seconds)
    assert done.returncode in exit_codes, f"{' '.join(command)}:\n{done.stdout}{done.stderr}"
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Timed(wall, cpu, done.stdout + done.stderr)


def _number(pattern: str, report: str) -> int:
    found = re.search(pattern, report)
    assert found is not None, report
    return int(found.group(1))
