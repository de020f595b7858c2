"""The engines as tests see them: what every registered one says, and outcomes of loop-free programs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from memfence.engines.native.explicit import Explored, explore
from memfence.engines.registry import engines_for
from memfence.models.reference_search import Outcome
from memfence.models.spec import ModelName, ModelSpec
from memfence.models.steps import evaluate_in
from memfence.program.expressions import Expr, RegisterOf, Shared, variable_address
from memfence.program.ir import Program
from memfence.strategy.portfolio import decide
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.limits import Limits
from memfence.tasks.task import Safety, Task
from support.models import spec

LIMITS = Limits(timeout_seconds=20)


def observed(program: Program) -> Iterator[tuple[int | None, Expr]]:
    """All that an outcome tells: the registers of each process (with its number), then memory."""
    for p, process in enumerate(program.processes):
        yield from ((p, RegisterOf(p, r)) for r, register in enumerate(process.registers) if not register.transient)
    yield from ((None, Shared(variable_address(x))) for x in range(len(program.variables)))


def search_outcomes(program: Program, memory: ModelSpec, *, reductions: frozenset[str] = frozenset()) -> Explored:
    values = tuple(expr for _, expr in observed(program))
    return explore(program, memory, Safety(failures=False, final_values=values), limits=LIMITS, reductions=reductions)


def outcomes_seen(explored: Explored) -> set[Outcome]:
    owners = [owner for owner, _ in observed(explored.program)]
    processes = range(len(explored.program.processes))

    def part(values: tuple[int, ...], owner: int | None) -> tuple[int, ...]:
        return tuple(value for value, of in zip(values, owners, strict=True) if of == owner)

    return {(tuple(part(s.values, p) for p in processes), part(s.values, None)) for s in explored.final_states}


def outcomes_within(program: Program, model: ModelName, bound: int) -> set[Outcome]:
    """The outcomes of runs that never have more than `bound` stores in a buffer."""
    return outcomes_seen(search_outcomes(program, spec(model, bound)))


def outcomes_of(program: Program, model: ModelName) -> set[Outcome]:
    """The outcomes of all runs of a program without loops: the bound grows until no store is refused."""
    bounds = (0,) if model == "sc" else count(2, 2)
    return next(outcomes_seen(e) for e in (search_outcomes(program, spec(model, n)) for n in bounds) if e.complete)


# Everything that answers a safety task.


def task_of(program: Program, model: ModelName, goal: Safety) -> Task:
    return Task(program, spec(model), goal, LIMITS)


def verdicts(task: Task) -> dict[str, bool]:
    """Whether each registered engine that takes the task, and `auto`, found something; those that gave up are left out.

    Every run that is shown ends where it should.
    """
    said = {engine.name: engine.answer(task) for engine in engines_for(task)} | {"auto": decide(task)}
    for answer in said.values():
        check_run(task, answer)
    return {name: answer.verdict is Verdict.VIOLATED for name, answer in said.items() if answer.is_conclusive}


def check_run(task: Task, answer: Answer) -> None:
    if answer.verdict is Verdict.VIOLATED:
        assert isinstance(task.goal, Safety) and task.goal.bad is not None
        assert answer.trace is not None
        assert evaluate_in(task.program, answer.trace.end, 0, task.goal.bad)
