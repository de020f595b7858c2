"""What attacks and races share: one exploration of the SC-reachable states, and the run to each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from memfence import _core
from memfence.engines.native.encode import Encoded, encode
from memfence.engines.native.explicit import RowColumn, decode_step, sorted_rows
from memfence.engines.native.unreduce import original_steps
from memfence.models.spec import SC, ModelSpec
from memfence.models.state import State, Step
from memfence.passes.reductions import reduce
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Program
from memfence.records import Record

SAFE_REDUCTIONS = frozenset({"dead", "fuse"})
"""Those that keep every access an event of its own."""


class ScRuns(Protocol):
    """States of an exploration, by number, wherever they are kept."""

    @property
    def encoded(self) -> Encoded: ...

    def run_to(self, index: int) -> tuple[State, tuple[Step, ...]]:
        """Start and steps of an SC run of the loaded program to a state."""
        ...


class ScExploration(Record):
    """The states that were visited, by number."""

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

    def rows(self, columns: Sequence[RowColumn], rows_in_a_block: int) -> Iterator[bytes]:
        return sorted_rows(self.native, columns, rows_in_a_block)

    def run_to(self, index: int) -> tuple[State, tuple[Step, ...]]:
        """Start and steps of an SC run of the loaded program to a state."""
        start, path, _ = self.native.path(index, [])
        return sc_run(self.program, self.encoded, start, path)


def sc_run(
    program: Program, encoded: Encoded, start: int, path: Sequence[tuple[int, int, int]]
) -> tuple[State, tuple[Step, ...]]:
    """Start and steps of the SC run of `program` that native steps from an initial state stand for."""
    steps = [decode_step(encoded, SC, step) for step in path]
    return original_steps(program, encoded.program, SC.definition, start, steps)


def encode_accesses(program: Program, reductions: frozenset[str]) -> Encoded:
    """The machine in which every access of the loaded program is a step of its own."""
    observed = observed_by(program, (), accesses=True, fences=False)
    return encode(reduce(program, observed, reductions & SAFE_REDUCTIONS, model=SC), loaded=program)
