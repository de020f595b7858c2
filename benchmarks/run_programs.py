"""How fast compiled programs are explored: executions per second, with and without reduction, beside a fork for each.

    python benchmarks/run_programs.py

One run prints all numbers. The programs are in `examples/run`; the table of the Sober paper on them goes into
`docs/results/sober.md`. The numbers of executions are asserted: they depend on the programs alone.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from memfence.api.run import run
from memfence.binary.build import Sources, build_program
from memfence.questions.run_result import RunResult

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "run"
EXECUTIONS = {"fig1b": 3, "dekker": 3_183, "bakery": 4_297, "takequeue": 86}
BOUNDS = {"fig1b": (2,), "dekker": (1, 2, 3, 4, 5), "bakery": (0, 1, 2, 3), "takequeue": (0, 1, 2, 3, 4, 5)}
"""As in the paper's table."""
SECONDS = 5
FORKS = 500


def explored(name: str, **options: object) -> RunResult:
    return run(FOLDER / f"{name}.c", confirm=False, **options)


def rate(result: RunResult) -> str:
    """Executions per processor second, those that only learn what is shared included in the time."""
    return f"{result.counts.executions / result.counts.cpu_seconds:,.0f}"


def fork_rate(program: Path) -> float:
    """The program as it is, a process for each execution."""
    began = time.perf_counter()
    for _ in range(FORKS):
        process = os.fork()
        if process == 0:
            os.execv(program, [str(program)])
        os.waitpid(process, 0)
    return FORKS / (time.perf_counter() - began)


def print_rates() -> None:
    print("| program | executions | with reduction [1/s] | without [1/s] | a process each [1/s] |")
    print("|---|---:|---:|---:|---:|")
    for name, expected in EXECUTIONS.items():
        for macros in ((), ("FENCED",)):
            reduced = explored(name, macros=macros)
            assert reduced.counts.executions == expected and reduced.is_complete
            assert (reduced.counts.borderline == 0) == (macros == ("FENCED",))
            plain = explored(name, macros=macros, reduce=False, timeout_seconds=SECONDS)
            with tempfile.TemporaryDirectory() as folder:
                program = build_program(Sources(files=(str(FOLDER / f"{name}.c"),), macros=macros), Path(folder))
                forked = fork_rate(program)
            shown = f"{name}{' fenced' if macros else ''}"
            print(f"| {shown} | {expected:,} | {rate(reduced)} | {rate(plain)} | {forked:,.0f} |", flush=True)


def print_table() -> None:
    print("\n| program | preemptions | interleavings | borderline | time [s] |")
    print("|---|---:|---:|---:|---:|")
    for name, bounds in BOUNDS.items():
        for bound in (*bounds, None):
            print_row(name, bound, ())
    for name, bounds in BOUNDS.items():
        print_row(name, bounds[-1], ("FENCED",))


def print_row(name: str, bound: int | None, macros: tuple[str, ...]) -> None:
    counts = explored(name, macros=macros, preemptions=bound).counts
    shown = f"{name}{' fenced' if macros else ''}"
    bounded = "any" if bound is None else str(bound)
    print(f"| {shown} | {bounded} | {counts.executions:,} | {counts.borderline:,} | {counts.seconds:.4f} |", flush=True)


if __name__ == "__main__":
    print_rates()
    print_table()
