"""Families of programs with a growing number of processes: how long a proof of persistence takes, by what the text
shows, by visiting every state, and by visiting every state of the flattened programs.
`python benchmarks/families.py docs/results/images/families.svg` measures, prints and draws.

Needs the corpus beside the project. Most of these programs are not persistent, and finding that out takes no time; so
each is first given a fence behind every store that some attack delays in an abstract program. What is timed is the
complete search of the result. All answers are asserted to be the same.
"""

from __future__ import annotations

import re
import sys
import time
from dataclasses import replace
from pathlib import Path

from memfence.deadline import Deadline
from memfence.engines.attacks import AttackEngine, from_every_state
from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.models.spec import TSO
from memfence.passes.flattening import distinct_processes, flatten
from memfence.pipeline import load
from memfence.program.ir import Fence, Location, Process, Program, Transition
from memfence.program.load_options import LoadOptions
from memfence.report.views.plot import Panel, Series, render_plot
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Limits
from memfence.tasks.task import Keeps, Task

FAMILIES = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "persist" / "parameterized"
STEPS = 2
LIMIT_SECONDS = 20.0
INT_BITS = {"seqlock": 3}
WAYS: dict[str, tuple[AttackEngine, int | None]] = {
    "check": (AttackEngine(), None),
    "every state": (AttackEngine(from_every_state, small_first=False), None),
    f"every state, --abstract {STEPS}": (AttackEngine(from_every_state, small_first=False), STEPS),
}


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


def measure(program: Program, engine: AttackEngine, abstract: int | None) -> tuple[Answer, float | None]:
    """The answer, and the processor time that it took; None where the limit was hit."""
    began = time.process_time()
    limits = Limits(deadline=Deadline(LIMIT_SECONDS))
    answer = engine.answer(Task(program, TSO, Keeps(Criterion.PERSISTENT, abstract), limits))
    return answer, time.process_time() - began if answer.is_conclusive else None


def main(output: Path | None) -> None:
    panels = []
    sys.stdout.write(f"| program | verdict |{''.join(f' {way}: states | CPU |' for way in WAYS)}\n")
    sys.stdout.write(f"|---|---|{'--:|--:|' * len(WAYS)}\n")
    for family in sorted(path for path in FAMILIES.iterdir() if path.is_dir()):
        lines: dict[str, list[tuple[int, float | None]]] = {way: [] for way in WAYS}
        for processes, path in members(family):
            program = fenced(load(path, LoadOptions(int_bits=INT_BITS.get(family.name))))
            measured = {way: measure(program, *how) for way, how in WAYS.items()}
            verdicts = {answer.verdict for answer, _ in measured.values()} - {Verdict.UNKNOWN}
            assert len(verdicts) == 1, path
            cells = [cell for answer, seconds in measured.values() for cell in _cells(answer, seconds)]
            for way, (_, seconds) in measured.items():
                lines[way].append((processes, seconds))
            sys.stdout.write(f"| {path.stem} | {verdicts.pop().value} | {' | '.join(cells)} |\n")
            sys.stdout.flush()
        panels.append(Panel(family.name, tuple(Series(way, tuple(line)) for way, line in lines.items())))
    if output is not None:
        title = "Proof of persistence: processor time against the number of processes"
        output.write_text(
            render_plot(title, panels, x_label="processes", limit_seconds=LIMIT_SECONDS), encoding="utf-8"
        )


def _cells(answer: Answer, seconds: float | None) -> tuple[str, str]:
    if seconds is None:
        return f"> {answer.cost.states:,}", f"> {LIMIT_SECONDS:g} s"
    return f"{answer.cost.states:,}", f"{seconds:.2f} s"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
