"""The engines as tests see them: outcomes of loop-free programs, and what everything that answers a task says."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from memfence.engines.native.explicit import Explored, explore
from memfence.engines.registry import engines_for
from memfence.models.spec import ModelSpec
from memfence.models.steps import evaluate_in
from memfence.program.expressions import Expr, RegisterOf, Shared, variable_address
from memfence.program.ir import Program
from memfence.strategy.portfolio import decide
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.limits import Limits
from memfence.tasks.task import Safety, Task
from twins.reference_search import Outcome

LIMITS = Limits(timeout_seconds=20)


# Outcomes, by the explicit engine.


def observed(program: Program) -> Iterator[tuple[int | None, Expr]]:
    """All that an outcome tells: the registers of each process (with its number), then memory."""
    for p, process in enumerate(program.processes):
        yield from ((p, RegisterOf(p, r)) for r, register in enumerate(process.registers) if not register.transient)
    yield from ((None, Shared(variable_address(x))) for x in range(len(program.variables)))


def search_outcomes(program: Program, model: ModelSpec) -> Explored:
    values = tuple(expr for _, expr in observed(program))
    return explore(program, model, Safety(failures=False, final_values=values), limits=LIMITS)


def outcomes_seen(explored: Explored) -> set[Outcome]:
    owners = [owner for owner, _ in observed(explored.program)]
    processes = range(len(explored.program.processes))

    def part(values: tuple[int, ...], owner: int | None) -> tuple[int, ...]:
        return tuple(value for value, of in zip(values, owners, strict=True) if of == owner)

    return {(tuple(part(s.values, p) for p in processes), part(s.values, None)) for s in explored.final_states}


def outcomes_within(program: Program, model: ModelSpec) -> set[Outcome]:
    """The outcomes of all runs under a model with a bound."""
    return outcomes_seen(search_outcomes(program, model))


def outcomes_of(program: Program, model: ModelSpec) -> set[Outcome]:
    """The outcomes of all runs of a program without loops: the bound grows until no store is refused."""
    models = (model.bounded(bound) for bound in count(2, 2)) if model.has_buffers else (model,)
    return next(outcomes_seen(explored) for m in models if (explored := search_outcomes(program, m)).complete)


# Everything that answers a task.


def answers(task: Task) -> dict[str, Answer]:
    """What each registered engine without an obstacle, and the portfolio of all, decide; each run ends as it should."""
    asked = {engine.name: engine.answer(task) for engine in engines_for(task)}
    decided = {name: answer for name, answer in (*asked.items(), ("auto", decide(task))) if answer.is_conclusive}
    for name, answer in decided.items():
        if answer.verdict is Verdict.VIOLATED:
            assert answer.trace is not None, name
            if isinstance(task.goal, Safety) and task.goal.bad is not None:
                assert evaluate_in(task.program, answer.trace.end, 0, task.goal.bad), name
    return decided
