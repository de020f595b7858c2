"""The compiler and the processor at hand: build a C file, run it, read what it counted."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.records import Record
from memfence.source import NOWHERE

COMPILERS = ("cc", "gcc", "clang")


class StrategyCount(Record):
    """`rounds`: instances that came to their end; `wanted`: those among them that ended as was hoped."""

    name: str
    rounds: int
    wanted: int
    seconds: float


class Counted(Record):
    """What one run under stress saw: each outcome with how often, and whether it is a wanted one."""

    strategies: tuple[StrategyCount, ...]
    outcomes: tuple[tuple[tuple[int, ...], int, bool], ...]

    @property
    def rounds(self) -> int:
        return sum(strategy.rounds for strategy in self.strategies)

    @property
    def wanted(self) -> int:
        return sum(strategy.wanted for strategy in self.strategies)

    @property
    def seconds(self) -> float:
        return sum(strategy.seconds for strategy in self.strategies)

    @property
    def best(self) -> StrategyCount:
        """The strategy that saw most in its time."""
        return max(self.strategies, key=lambda one: one.wanted / one.seconds if one.seconds else 0.0)


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def is_x86() -> bool:
    return platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")


def processor_name() -> str:
    """As the system calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def build(source: Path, program: Path) -> None:
    """Compile `source`; InputError where there is no compiler or it refuses."""
    compiler = os.environ.get("CC") or next((name for name in COMPILERS if shutil.which(name)), None)
    if compiler is None:
        raise _failed("there is no C compiler", "install gcc or clang, or name one in the environment variable CC")
    command = [*compiler.split(), "-std=gnu11", "-O2", "-pthread", "-Wall", "-Wextra", "-o", str(program), str(source)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise _failed(f"the C compiler cannot be run: {problem}", "name another one in CC") from None
    if done.returncode != 0:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[:200])
        raise _failed(f"the C compiler refuses the test: {first}", "keep it with --emit DIR to look at it")


def run(program: Path, seconds: float, seed: int, runs: int = 0, *, plain: bool = False) -> Counted:
    """Run a test that `build` made for about so many seconds, or until so many instances have ended (0: any)."""
    command = [str(program), f"{seconds:.3f}", str(seed), str(runs), *(["plain"] if plain else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60 + 20 * seconds)
    if done.returncode != 0:
        raise _failed(f"the test ended with code {done.returncode}", "keep it with --emit DIR to look at it")
    return read_counts(done.stdout)


def read_counts(text: str) -> Counted:
    strategies: list[StrategyCount] = []
    outcomes: list[tuple[tuple[int, ...], int, bool]] = []
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word == "strategy":
            name, rounds, wanted, seconds = rest.split("|")
            strategies.append(StrategyCount(name, int(rounds), int(wanted), float(seconds)))
        elif word == "outcome":
            count, is_wanted, *values = rest.split()
            outcomes.append((tuple(map(int, values)), int(count), is_wanted == "1"))
    return Counted(tuple(strategies), tuple(sorted(outcomes)))


def _failed(what: str, hint: str) -> InputError:
    return InputError([Diagnostic(Code.UNREADABLE, what, Label(NOWHERE), hint=hint)])
