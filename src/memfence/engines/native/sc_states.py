"""What attacks and races share: one exploration of the SC-reachable states, and the run to each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from memfence import _core
from memfence.engines.native.encode import Encoded, encode
from memfence.engines.native.explicit import RowColumn, RowOrder, decode_step, sorted_rows
from memfence.engines.native.unreduce import original_steps
from memfence.execution.renaming import rename_state, rename_step
from memfence.models.spec import SC, ModelSpec
from memfence.models.state import State, Step
from memfence.passes.reductions import reduce
from memfence.passes.symmetry import common_classes, symmetry_classes
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Program
from memfence.records import Record

SAFE_REDUCTIONS = frozenset({"dead", "fuse"})
"""Those of the program that keep every access an event of its own."""
ALL_SAFE = SAFE_REDUCTIONS | {"symmetry"}
"""With that of the search (docs/theory/criteria.md, "Processes that are alike")."""


class ScRuns(Protocol):
    """States of an exploration, by number, wherever they are kept."""

    @property
    def encoded(self) -> Encoded: ...

    def run_to(self, index: int) -> tuple[State, tuple[Step, ...]]:
        """Start and steps of an SC run of the loaded program to a state."""
        ...


class ScExploration(Record):
    """The states that were visited, by number; of those that exchanging processes makes equal, one."""

    program: Program
    encoded: Encoded
    native: _core.Exploration

    @property
    def model(self) -> ModelSpec:
        return SC

    @property
    def reduced(self) -> Program:
        """The program that was searched: what it consists of has the same numbers as in `program`."""
        return self.encoded.program

    def rows(self, columns: Sequence[RowColumn], order: RowOrder, rows_in_a_block: int) -> Iterator[bytes]:
        return sorted_rows(self.native, columns, order, rows_in_a_block)

    def run_to(self, index: int) -> tuple[State, tuple[Step, ...]]:
        """Start and steps of an SC run of the loaded program to a state."""
        return sc_run(self.program, self.encoded, *self.native.path(index, []))


def sc_run(
    program: Program, encoded: Encoded, start: int, path: Sequence[tuple[int, int, int]], who: Sequence[int]
) -> tuple[State, tuple[Step, ...]]:
    """Start and steps of the SC run of `program` that native steps from an initial state stand for.

    The search may have exchanged processes on its way: `who` stands where in the end. Who is exchanged begins alike, so
    that the same run with the names that they have in the end begins in an initial state, too, and ends in the very
    state that was found.
    """
    steps = [decode_step(encoded, SC, step) for step in path]
    begin, whole = original_steps(program, encoded.program, SC.definition, start, steps)
    names = [who.index(process) for process in range(len(who))]
    return rename_state(begin, names), tuple(rename_step(step, names) for step in whole)


def encode_accesses(program: Program, reductions: frozenset[str]) -> Encoded:
    """The machine in which every access of the loaded program is a step of its own."""
    observed = observed_by(program, (), accesses=True, fences=False)
    reduced = reduce(program, observed, reductions & SAFE_REDUCTIONS, model=SC)
    alike: tuple[tuple[int, ...], ...] = ()
    if "symmetry" in reductions:  # what is found is told about the loaded program: they must be alike there, too
        both = [symmetry_classes(p, observed, same_start=True) for p in (program, reduced)]
        alike = common_classes(*both)
    return encode(reduced, loaded=program, symmetric=alike)
