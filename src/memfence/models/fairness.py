"""What fairness means, step by step: the executable definition behind the acceptance marks of the core.

A fair run meets each of its conditions again and again. Whether a condition is met is decided on every step: by the
state that it leaves, by what it does, and by what else was possible. Where a program can do nothing, it stands still
for ever; `step` is None then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum
from typing import NamedTuple, assert_never

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


class ProcessRunsOften(Record):
    """Strong fairness, GF enabled -> GF taken: a process that can move again and again does so again and again."""

    process: int


Condition = Recurring | BufferDrains | ProcessRuns | ProcessRunsOften


class Fairness(Enum):
    """What is assumed of processes that can move."""

    NONE = "none"
    WEAK = "weak"
    STRONG = "strong"


def fairness_among(conditions: Iterable[Condition]) -> Fairness:
    """Of processes, what the conditions of a question ask for."""
    kinds = {type(condition) for condition in conditions}
    if ProcessRunsOften in kinds:
        return Fairness.STRONG
    return Fairness.WEAK if ProcessRuns in kinds else Fairness.NONE


def memory_fairness(program: Program, model: MemoryModel) -> tuple[BufferDrains, ...]:
    """Every pending store eventually reaches memory: one condition a buffer that is ever used."""
    return tuple(
        BufferDrains(process, buffer)
        for process, buffers in enumerate(model.empty_buffers(program))
        for buffer, _ in enumerate(buffers)
        if stored_variables(program.processes[process])
    )


def process_fairness(
    program: Program, fairness: Fairness = Fairness.WEAK
) -> tuple[ProcessRuns, ...] | tuple[ProcessRunsOften, ...]:
    """No process is able to move for ever, or again and again, without moving."""
    match fairness:
        case Fairness.NONE:
            return ()
        case Fairness.WEAK:
            return tuple(ProcessRuns(process) for process, _ in enumerate(program.processes))
        case Fairness.STRONG:
            return tuple(ProcessRunsOften(process) for process, _ in enumerate(program.processes))
        case _:
            assert_never(fairness)


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
            return does_move(step, process) or not any(does_move(other, process) for other in possible)
        case ProcessRunsOften():
            raise ValueError("whether strong fairness is met, no single step tells: ask `is_met_for_ever`")
        case _:
            assert_never(condition)


class Position(NamedTuple):
    """A state of a loop that is gone round for ever, the step that is taken there, and all that are possible."""

    state: State
    step: Step | None
    possible: Collection[Step | None]


def is_met_for_ever(program: Program, condition: Condition, loop: Iterable[Position]) -> bool:
    """Whether a run that goes round the `loop` for ever meets the condition."""
    if not isinstance(condition, ProcessRunsOften):
        return any(is_met(program, condition, *position) for position in loop)
    process = condition.process
    return any(does_move(at.step, process) for at in loop) or not any(
        does_move(other, process) for at in loop for other in at.possible
    )


def is_true(program: Program, state: State, expr: Expr) -> bool:
    """Whether a predicate holds; one that cannot be evaluated (division by zero, no such element) does not."""
    try:
        return evaluate_in(program, state, 0, expr) != 0
    except EvaluationError:
        return False


def does_move(step: Step | None, process: int) -> bool:
    """Whether the step is one of the process; a commit of its stores is not."""
    match step:
        case ProcessStep():
            return step.process == process
        case Rendezvous(sender, receiver):
            return process in (sender.process, receiver.process)
        case _:
            return False
