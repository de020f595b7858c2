"""Families of programs with a growing number of processes: how long a proof of persistence takes, with and without the
flattening abstraction. `python benchmarks/families.py docs/results/images/families.svg` measures, prints and draws.

Needs the corpus beside the project. Most of these programs are not persistent, and finding that out takes no time; so
each is first given a fence behind every store that some attack delays in an abstract program. What is timed is the
complete check of the result. The answer with `--abstract 2` is asserted to be the same.
"""

from __future__ import annotations

import re
import sys
import time
from dataclasses import replace
from pathlib import Path

from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.passes.flattening import distinct_processes, flatten
from memfence.pipeline import load
from memfence.program.ir import Fence, Location, Process, Program, Transition
from memfence.program.load_options import LoadOptions
from memfence.questions import check
from memfence.report.views.plot import Panel, Series, render_plot
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult

FAMILIES = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "persist" / "parameterized"
STEPS = 2
LIMIT_SECONDS = 20.0
INT_BITS = {"seqlock": 3}
NAMES = ("without abstraction", f"--abstract {STEPS}")


def members(family: Path) -> list[tuple[int, Path]]:
    """The programs of a family with their numbers of processes."""
    found = [(int(number[1]), path) for path in family.glob("*.txt") if (number := re.search(r"(\d+)$", path.stem))]
    return sorted(found)


def fenced(program: Program) -> Program:
    """`program` with an mfence behind every store that an attack in an abstract program delays."""
    for process in distinct_processes(program):
        attacks = explore_attacks(flatten(program, process, STEPS), AttackKind.PERSISTENCE, collect=True).attacks
        delayed = {attack.walk[0] for attack in attacks}
        same = [n for n, p in enumerate(program.processes) if p.transitions == program.processes[process].transitions]
        program = replace(
            program,
            processes=tuple(_with_fences(p, delayed) if n in same else p for n, p in enumerate(program.processes)),
        )
    return program


def _with_fences(process: Process, behind: set[int]) -> Process:
    locations, transitions = list(process.locations), list(process.transitions)
    for number in sorted(behind):
        before = transitions[number]
        transitions[number] = replace(before, target=len(locations))
        transitions.append(Transition(len(locations), before.target, (Fence(),)))
        locations.append(Location(f"fence{number}"))
    return replace(process, locations=tuple(locations), transitions=tuple(transitions))


def measure(program: Program, abstract: int | None) -> tuple[CheckResult, float | None]:
    """The answer, and the processor time of the whole check; None where the limit was hit."""
    began = time.process_time()
    options = CheckOptions(criterion="persistent", abstract=abstract, timeout_seconds=LIMIT_SECONDS)
    result = check(program, options)
    return result, None if result.verdict is Verdict.UNKNOWN else time.process_time() - began


def main(output: Path | None) -> None:
    panels = []
    sys.stdout.write("| program | verdict | states | CPU | states, flattened | CPU, flattened | proved by it |\n")
    sys.stdout.write("|---|---|--:|--:|--:|--:|---|\n")
    for family in sorted(path for path in FAMILIES.iterdir() if path.is_dir()):
        lines: tuple[list[tuple[int, float | None]], ...] = ([], [])
        for processes, path in members(family):
            program = fenced(load(path, LoadOptions(int_bits=INT_BITS.get(family.name))))
            (exact, seconds), (flat, flat_seconds) = measure(program, None), measure(program, STEPS)
            assert Verdict.UNKNOWN in (exact.verdict, flat.verdict) or exact.verdict is flat.verdict, path
            lines[0].append((processes, seconds))
            lines[1].append((processes, flat_seconds))
            cells = (path.stem, flat.verdict.value, *_cells(exact, seconds), *_cells(flat, flat_seconds))
            sys.stdout.write(f"| {' | '.join(cells)} | {'yes' if 'flattened' in flat.engine else 'no'} |\n")
            sys.stdout.flush()
        series = tuple(Series(name, tuple(line)) for name, line in zip(NAMES, lines, strict=True))
        panels.append(Panel(family.name, series))
    if output is not None:
        title = "Proof of persistence: processor time against the number of processes"
        output.write_text(
            render_plot(title, panels, x_label="processes", limit_seconds=LIMIT_SECONDS), encoding="utf-8"
        )


def _cells(result: CheckResult, seconds: float | None) -> tuple[str, str]:
    if seconds is None:
        return f"> {result.stats.states:,}", f"> {LIMIT_SECONDS:g} s"
    return f"{result.stats.states:,}", f"{seconds:.2f} s"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
