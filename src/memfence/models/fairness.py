"""What fairness means, step by step: the executable definition behind the acceptance marks of the core.

A fair run meets each of its conditions again and again. Whether a condition is met is decided on every step: by the
state that it leaves, by what it does, and by what else was possible. Where a program can do nothing, it stands still
for ever; `step` is None then.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import assert_never

from memfence.models.state import Commit, DropSeparator, Failure, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import MemoryModel, error_state, evaluate_in, successors
from memfence.program.expressions import EvaluationError, Expr
from memfence.program.facts.effects import stored_variables
from memfence.program.ir import Program
from memfence.records import Record


class Recurring(Record):
    """`condition` holds again and again: met by the steps that leave a state where it holds."""

    condition: Expr


class BufferDrains(Record):
    """The pending stores of one FIFO reach memory: a step that takes one out, or that starts with none pending.

    A buffer is first in, first out, so none is delayed for ever then. `buffer` is its number among the process's:
    0 under TSO. (Barnat, Brim and Havel state this by variable, as formula V: for one FIFO it comes to the same.)
    """

    process: int
    buffer: int = 0


class ProcessRuns(Record):
    """Weak fairness, GF(!enabled || taken): a step of the process, or one that starts where it has none."""

    process: int


Condition = Recurring | BufferDrains | ProcessRuns


def memory_fairness(program: Program, model: MemoryModel) -> tuple[BufferDrains, ...]:
    """Every pending store eventually reaches memory: one condition a buffer that is ever used."""
    return tuple(
        BufferDrains(process, buffer)
        for process, buffers in enumerate(model.empty_buffers(program))
        for buffer, _ in enumerate(buffers)
        if stored_variables(program.processes[process])
    )


def process_fairness(program: Program) -> tuple[ProcessRuns, ...]:
    """No process is able to move for ever without moving."""
    return tuple(ProcessRuns(process) for process, _ in enumerate(program.processes))


def steps_of_runs(program: Program, model: MemoryModel, state: State) -> list[tuple[Step | None, State]]:
    """How an infinite run can go on from `state`.

    A failing step ends a run, or leads to the language's error state (DVE). Where nothing else is possible the program
    stands still.
    """
    found: list[tuple[Step | None, State]] = []
    for step, after in successors(program, model, state):
        if isinstance(after, Failure):
            error = None if after.is_assertion else error_state(program, model)
            if error is None:
                continue
            after = error
        found.append((step, after))
    return found or [(None, state)]


def is_met(
    program: Program, condition: Condition, state: State, step: Step | None, possible: Collection[Step | None]
) -> bool:
    """Whether `step`, taken in `state` where the steps in `possible` were, meets the condition."""
    match condition:
        case Recurring(expr):
            return is_true(program, state, expr)
        case BufferDrains(process, buffer):
            drains = step == Commit(process, buffer) or step == DropSeparator(process)
            return drains or not state.buffers[process][buffer]
        case ProcessRuns(process):
            return _moves(step, process) or not any(_moves(other, process) for other in possible)
        case _:
            assert_never(condition)


def is_true(program: Program, state: State, expr: Expr) -> bool:
    """Whether a predicate holds; one that cannot be evaluated (division by zero, no such element) does not."""
    try:
        return evaluate_in(program, state, 0, expr) != 0
    except EvaluationError:
        return False


def _moves(step: Step | None, process: int) -> bool:
    match step:
        case ProcessStep():
            return step.process == process
        case Rendezvous(sender, receiver):
            return process in (sender.process, receiver.process)
        case _:
            return False
