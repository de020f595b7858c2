"""States and processor time of criteria with and without symmetry: `python benchmarks/symmetry.py [NAME ...]`.

The programs are those of the persistence paper's table that have identical processes (from the corpus beside the
project) and two generated families. Every question is asked in one process, without and with symmetry in turn, three
times; the least time counts. Answers and clauses must be equal, and states never more: exit code 1 otherwise.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from family_programs import FAMILIES
from persistence import LIMITS, OTHERS_INT_BITS, PROGRAMS, rows

from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.engines.native.races import explore_races
from memfence.engines.native.sc_states import ALL_SAFE, SAFE_REDUCTIONS, encode_accesses
from memfence.models.spec import TSO
from memfence.passes.orders import for_hardware
from memfence.passes.shared_memory_form import shared_memory_form
from memfence.pipeline import load
from memfence.program.ir import Program
from memfence.program.load_options import LoadOptions

GENERATED = (("dclocking", 8, None), ("dclocking", 10, None), ("seqlock", 4, 3))
TIMES = 3
Asked = Callable[[Program, frozenset[str]], tuple[object, int]]


def _attacks(kind: AttackKind, collect: bool, program: Program, reductions: frozenset[str]) -> tuple[object, int]:
    found = explore_attacks(program, kind, collect=collect, limits=LIMITS, reductions=reductions)
    return (found.complete, [attack.clause for attack in found.attacks] if collect else bool(found.attacks)), (
        found.cost.states
    )


def _races(triangular: bool, program: Program, reductions: frozenset[str]) -> tuple[object, int]:
    found = explore_races(program, triangular=triangular, limits=LIMITS, reductions=reductions)
    return (found.complete, found.race is None), found.cost.states


QUESTIONS: dict[str, Asked] = {
    "persistent": partial(_attacks, AttackKind.PERSISTENCE, False),
    "robust": partial(_attacks, AttackKind.ROBUSTNESS_TSO, False),
    "trf": partial(_races, True),
    "drf": partial(_races, False),
    "clauses, persistent": partial(_attacks, AttackKind.PERSISTENCE, True),
    "clauses, robust": partial(_attacks, AttackKind.ROBUSTNESS_TSO, True),
}


def programs() -> Iterator[tuple[str, Program]]:
    """Those with processes that are alike."""
    for row in rows():
        program = load(PROGRAMS / f"{row.file}.txt", LoadOptions(int_bits=row.int_bits))
        yield row.name, shared_memory_form(program)
    with TemporaryDirectory() as folder:
        for family, processes, bits in GENERATED:
            path = Path(folder) / f"{family}{processes}.txt"
            path.write_text(FAMILIES[family](processes), encoding="utf-8")
            program = load(path, LoadOptions(int_bits=bits or OTHERS_INT_BITS))
            yield f"{family} ({processes})", shared_memory_form(program)


def measured(ask: Asked, program: Program) -> tuple[list[object], list[int], list[float]]:
    """Answers, states and the least processor seconds, without and with symmetry."""
    answers: list[object] = [None, None]
    states, seconds = [0, 0], [float("inf"), float("inf")]
    for _ in range(TIMES):
        for i, reductions in enumerate((SAFE_REDUCTIONS, ALL_SAFE)):
            began = time.process_time()
            answers[i], states[i] = ask(program, reductions)
            seconds[i] = min(seconds[i], time.process_time() - began)
    return answers, states, seconds


def main(wanted: list[str]) -> int:
    """Print a line for each program and question; 1 if some answer differs."""
    faulty = False
    sys.stdout.write("| program | question | states | with symmetry | fewer | CPU | with symmetry | ratio |\n")
    sys.stdout.write("|---|---|--:|--:|--:|--:|--:|--:|\n")
    for name, program in programs():
        alike = encode_accesses(for_hardware(program, TSO), ALL_SAFE).symmetric
        if not alike or (wanted and name not in wanted):
            continue
        for question, ask in QUESTIONS.items():
            answers, states, seconds = measured(ask, program)
            faulty |= answers[0] != answers[1] or states[0] < states[1]
            sys.stdout.write(
                f"| {name} | {question} | {states[0]:,} | {states[1]:,} | {states[0] / states[1]:.1f} |"
                f" {1000 * seconds[0]:.1f} ms | {1000 * seconds[1]:.1f} ms | {seconds[1] / seconds[0]:.2f} |\n"
            )
            sys.stdout.flush()
    return int(faulty)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
