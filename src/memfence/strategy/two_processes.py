"""Runs in which only two processes move: many errors of programs with more need no others, and are found at once so.

A process that stays at its start is no restriction on what the others may do, so such a run is a run of the program.
That none is found says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from memfence.engines.native.explicit import Bounded, Explored, Question, explore
from memfence.engines.native.symbolic import UnboundedModel
from memfence.execution.trace import Trace
from memfence.passes.shared_memory_form import other_communication
from memfence.program.ir import Program
from memfence.tasks.limits import Cost, Deadline, Stop

BOUNDS = (1, 2, 4)
MOST_PAIRS = 28


def explore_pairs(
    program: Program,
    model: UnboundedModel,
    question: Question,
    *,
    deadline: Deadline,
    most_states: int,
    reductions: frozenset[str] = frozenset(),
) -> tuple[Explored | None, Cost]:
    """The first search of two processes that finds what `question` asks for, or is cancelled, and the cost of all.

    Each search may visit `most_states`.
    """
    cost = Cost()
    if not _is_about_reachability(program, question):
        return None, cost
    for bound in BOUNDS:
        for pair in _pairs(program):
            alone = _only(program, pair)
            limits = deadline.remaining(most_states=most_states)
            found = explore(alone, Bounded(model, bound), question, limits=limits, reductions=reductions)
            cost += found.cost
            if found.finding is not None or found.stop is Stop.CANCELLED:
                return found, cost
            if found.stop not in (Stop.NOTHING_LEFT, Stop.STATES):
                return None, cost
    return None, cost


def in_whole(program: Program, found: Explored) -> Trace:
    """The run of `found` as one of the program that the pair was taken from."""
    trace = found.trace()
    start = replace(trace.start, buffers=trace.memory_model.empty_buffers(program))
    return Trace(program, trace.memory_model, start, [taken.step for taken in trace.steps])


def _pairs(program: Program) -> Iterator[tuple[int, int]]:
    for number, pair in enumerate(combinations(range(len(program.processes)), 2)):
        if number == MOST_PAIRS:
            return
        yield pair


def _only(program: Program, moving: tuple[int, ...]) -> Program:
    processes = tuple(p if n in moving else replace(p, transitions=()) for n, p in enumerate(program.processes))
    return replace(program, processes=processes)


def _is_about_reachability(program: Program, question: Question) -> bool:
    """A process that does not move looks as if it had halted, so deadlocks and final states are another matter."""
    others = len(program.processes) > 2 and other_communication(program) is None
    return others and not question.deadlock and not question.final_values
