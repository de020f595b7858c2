"""The engines as tests see them: outcomes of loop-free programs, and a list of everything that answers a safety task.

`ENGINES` has the interface of the registry that is to come: `name`, `obstacle(task)`, `answer(task)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from memfence.engines.native.dual import unsupported
from memfence.engines.native.explicit import Bounded, Explored, Question, explore
from memfence.engines.unreachable import is_out_of_reach
from memfence.execution.trace import Trace
from memfence.models import ModelName
from memfence.models.reference_search import Outcome
from memfence.program.expressions import Expr, RegisterOf, Shared, variable_address
from memfence.program.ir import Program
from memfence.strategy import portfolio
from memfence.strategy.portfolio import Decision
from memfence.tasks.limits import Deadline, Limits
from memfence.tasks.options import CheckOptions

LIMITS = Limits(timeout_seconds=20)


# Outcomes, by the explicit engine.


def observed(program: Program) -> Iterator[tuple[int | None, Expr]]:
    """All that an outcome tells: the registers of each process (with its number), then memory."""
    for p, process in enumerate(program.processes):
        yield from ((p, RegisterOf(p, r)) for r, register in enumerate(process.registers) if not register.transient)
    yield from ((None, Shared(variable_address(x))) for x in range(len(program.variables)))


def search_outcomes(program: Program, memory: Bounded, *, reductions: frozenset[str] = frozenset()) -> Explored:
    values = tuple(expr for _, expr in observed(program))
    return explore(program, memory, Question(failures=False, final_values=values), limits=LIMITS, reductions=reductions)


def outcomes_seen(explored: Explored) -> set[Outcome]:
    owners = [owner for owner, _ in observed(explored.program)]
    processes = range(len(explored.program.processes))

    def part(values: tuple[int, ...], owner: int | None) -> tuple[int, ...]:
        return tuple(value for value, of in zip(values, owners, strict=True) if of == owner)

    return {(tuple(part(s.values, p) for p in processes), part(s.values, None)) for s in explored.final_states}


def outcomes_within(program: Program, model: ModelName, bound: int) -> set[Outcome]:
    """The outcomes of runs that never have more than `bound` stores in a buffer."""
    return outcomes_seen(search_outcomes(program, Bounded(model, bound)))


def outcomes_of(program: Program, model: ModelName) -> set[Outcome]:
    """The outcomes of all runs of a program without loops: the bound grows until no store is refused."""
    bounds = (0,) if model == "sc" else count(2, 2)
    return next(outcomes_seen(e) for e in (search_outcomes(program, Bounded(model, n)) for n in bounds) if e.complete)


# Everything that answers a safety task.


@dataclass(frozen=True, slots=True)
class Task:
    """Is there a run of `program` under `model` to what `question` asks for?"""

    program: Program
    model: ModelName
    question: Question


@dataclass(frozen=True, slots=True)
class Answer:
    """`found` is None where the engine gave up."""

    found: bool | None
    trace: Trace | None = None


class Engine(Protocol):
    """`obstacle` says why the engine does not take the task; None: it does."""

    @property
    def name(self) -> str: ...

    def obstacle(self, task: Task) -> str | None: ...

    def answer(self, task: Task) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Adapted:
    """One way to decide, of `strategy.portfolio`, as an engine."""

    name: str
    decide: Callable[[Program, Question, CheckOptions, Deadline], Decision | None]
    refuse: Callable[[Task], str | None] = lambda task: None

    def obstacle(self, task: Task) -> str | None:
        return self.refuse(task)

    def answer(self, task: Task) -> Answer:
        decided = self.decide(task.program, task.question, CheckOptions(model=task.model), Deadline(LIMITS))
        if decided is None or not decided.is_conclusive:
            return Answer(None)
        return Answer(decided.answer == "found", decided.trace)


def _needs_buffers(task: Task) -> str | None:
    return "it is about store buffers" if task.model == "sc" else None


def _needs_tso(task: Task) -> str | None:
    return unsupported(task.program, task.question) if task.model == "tso" else "it is about TSO only"


def _needs_dead_locations(task: Task) -> str | None:
    return None if is_out_of_reach(task.program, task.question) else "control may come there"


def _decide(program: Program, question: Question, options: CheckOptions, deadline: Deadline) -> Decision:
    return portfolio.decide(program, question, options, deadline.limits)


ENGINES: tuple[Engine, ...] = (
    Adapted("auto", _decide),
    Adapted("explicit", portfolio.grow_bounds, _needs_buffers),
    Adapted("symbolic", portfolio.search_symbolically, _needs_buffers),
    Adapted("dual", portfolio.search_dually, _needs_tso),
    Adapted("shortcut by SC", portfolio.prove_by_shortcut, _needs_buffers),
    Adapted("control flow", portfolio.by_control_flow, _needs_dead_locations),
)
