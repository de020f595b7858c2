"""A symbolic search that does not stop at errors: how many there are, which no command tells."""

from __future__ import annotations

from pathlib import Path

from memfence.engines.native.symbolic import SymbolicResult, explore_symbolic
from memfence.models.spec import TSO
from memfence.models.state import State
from memfence.models.steps import evaluate_in
from memfence.pipeline import load
from memfence.program.ir import Program
from memfence.questions.safety import goal_of
from memfence.records import Record
from memfence.tasks.limits import Limits
from memfence.tasks.task import Safety
from paper_tables.command import CommandFailed


class PastErrors(Record):
    """Symbolic states: those in which the property fails, all that are kept, all that were expanded."""

    errors: int
    stored: int
    visited: int
    depth: int
    seconds: float


def explored_past_errors(path: Path, timeout_seconds: float) -> PastErrors:
    """Search all of `path` under TSO with unbounded buffers, and count where its property fails."""
    program = load(path)
    bad = goal_of(program, program.properties).bad
    assert bad is not None, "the programs of the table state what is an error"
    everything = Safety(failures=False, final_values=(bad,))  # so that what `bad` looks at is kept, and nothing stops
    limits = Limits(timeout_seconds=timeout_seconds)
    found = explore_symbolic(program, TSO, everything, limits=limits, reductions=frozenset({"order"}), keeps_rows=True)
    if not found.complete:
        raise CommandFailed(f"{path}: the symbolic search did not end within {timeout_seconds:g} s")
    errors = sum(evaluate_in(program, state, 0, bad) != 0 for state in _states(program, found))
    counted = found.statistics
    return PastErrors(errors, counted.stored, counted.states, counted.depth, found.cost.seconds)


def _states(program: Program, found: SymbolicResult) -> list[State]:
    """The control parts: what is in the buffers is no part of them."""
    slots, empty = found.encoded.slots, TSO.definition.empty_buffers(program)
    return [
        State(
            tuple(row[slot] for slot in slots.locations),
            tuple(
                tuple(row[slots.register(p, r)] for r in range(len(process.registers)))
                for p, process in enumerate(program.processes)
            ),
            tuple(row[: slots.variables]),
            empty,
        )
        for row in found.symbolic_states().rows
    ]
