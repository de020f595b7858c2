"""States and seconds of proofs under RC11 for any number of rounds, beside the plain search of SC states.

    python benchmarks/rc11_proofs.py [--states N] FILE.c ...

Without files: the programs of `tests/conformance/any_loops`. One row per program; at the end the geometric mean of the
quotients of states, over the programs that were proved.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from math import prod
from pathlib import Path

from memfence import pipeline
from memfence.axiomatic.synchronised import synchronised
from memfence.axiomatic.unrolling.refusal import NotUnrolled
from memfence.diagnostics import InputError
from memfence.engines.native.explicit import Explored, explore
from memfence.engines.rc11.engine import watched
from memfence.engines.rc11.monitored import RACE
from memfence.engines.rc11.single_events import with_single_events
from memfence.models.spec import SC
from memfence.program.ir import Program
from memfence.records import Record
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import ALL_REDUCTIONS, Safety

OWN = Path(__file__).resolve().parents[1] / "tests" / "conformance" / "any_loops"
HEAD = "| program | robust | SC states | with the monitor | quotient | bits | s, SC | s, with the monitor |"


class Row(Record):
    """One program; without `watched`, `why` it was not searched."""

    name: str
    plain: Explored | None = None
    watched: Explored | None = None
    seconds: tuple[float, float] = (0.0, 0.0)
    why: str = ""

    @property
    def quotient(self) -> float:
        assert self.plain is not None and self.watched is not None
        return self.watched.cost.states / self.plain.cost.states

    @property
    def is_robust(self) -> bool:
        found = self.watched
        return found is not None and found.finding is None and found.stop is Stop.NOTHING_LEFT

    def text(self) -> str:
        if self.plain is None or self.watched is None:
            return f"| {self.name} | {self.why} | | | | | | |"
        return (
            f"| {self.name} | {self.verdict} | {self.plain.cost.states:,} | {self.watched.cost.states:,} "
            f"| {self.quotient:.1f} | {self.watched.cost.state_bits} | {self.seconds[0]:.2f} | {self.seconds[1]:.2f} |"
        )

    @property
    def verdict(self) -> str:
        assert self.watched is not None
        if self.is_robust:
            return "yes"
        if self.watched.finding is None:
            return "limit"
        failure = self.watched.trace().failure
        return "race" if failure is not None and failure.reason == RACE else "alarm"


def measured(path: Path, most_states: int) -> Row:
    """Both searches of one program."""
    try:
        program = pipeline.load(path)
        seconds, plain = timed(with_single_events(synchronised(program)), most_states)
        more, found = timed(watched(program), most_states)
    except (InputError, NotUnrolled) as refused:
        return Row(path.name, why=type(refused).__name__)
    return Row(path.name, plain, found, (seconds, more))


def timed(program: Program, most_states: int) -> tuple[float, Explored]:
    start = time.perf_counter()
    limits = Limits(most_states=most_states)
    found = explore(program, SC, Safety(), limits=limits, reductions=frozenset(ALL_REDUCTIONS))
    return time.perf_counter() - start, found


def rows(paths: list[Path], most_states: int) -> Iterator[Row]:
    print(HEAD)
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for path in paths:
        row = measured(path, most_states)
        print(row.text(), flush=True)
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--states", type=int, default=3_000_000, help="of one search, at most")
    asked = parser.parse_args()
    found = list(rows(asked.files or sorted(OWN.glob("*.c")), asked.states))
    quotients = [row.quotient for row in found if row.is_robust]
    if quotients:
        mean = prod(quotients) ** (1 / len(quotients))
        print(f"\n{len(quotients)} of {len(found)} robust; geometric mean of the quotients {mean:.2f}")


if __name__ == "__main__":
    main()
