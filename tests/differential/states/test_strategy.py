"""Every engine that claims a safety task, and each way to ask several: they decide what the explicit limit says.

In real use most questions end with the first attempt; here each engine is asked alone, and the portfolio with next to
no budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from memfence.engines.registry import engine_named
from memfence.models.spec import PSO, TSO
from memfence.models.steps import evaluate_in
from memfence.program.expressions import At, conjunction
from memfence.program.ir import Program
from memfence.strategy import portfolio
from memfence.strategy.side_by_side import ask_side_by_side
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.limits import Limits
from memfence.tasks.task import Safety, Task
from support.generators.cyclic_programs import cyclic_program
from support.samples import Sample, ends, register_is
from support.symbolic_limit import explicit_limit

Ask = Callable[[Task], Answer]
ENGINES = ("two processes", "dual", "symbolic", "implied")


def side_by_side(task: Task) -> Answer:
    return ask_side_by_side([(name, task) for name in portfolio.SAFETY_AT_LAST], lambda answer: answer)


ASKED: dict[str, Ask] = {name: (lambda task, name=name: portfolio.ask(name, task)) for name in ENGINES}
ASKED["side by side"] = side_by_side


def goals(program: Program, seed: int, reachable: frozenset[tuple[int, ...]]) -> list[tuple[Safety, bool]]:
    """Two reachable and two unreachable location tuples, where there are any."""
    places = list(product(*(range(len(p.locations)) for p in program.processes)))
    Random(seed).shuffle(places)
    chosen = [at for at in places if at in reachable][:2] + [at for at in places if at not in reachable][:2]
    return [
        (Safety(bad=conjunction(*(At(p, frozenset({at[p]})) for p in range(len(at))))), at in reachable)
        for at in chosen
    ]


def is_decided(ask: Ask, task: Task, expected: bool) -> bool:
    """Whether the task was decided; if so, rightly, and with a run that ends where it should."""
    answer = ask(task)
    if not answer.is_conclusive:
        return False
    assert (answer.verdict is Verdict.VIOLATED) == expected, (task.program.name, task.model.name, answer)
    if answer.verdict is Verdict.VIOLATED:
        assert isinstance(task.goal, Safety) and task.goal.bad is not None
        assert answer.trace is not None
        assert answer.trace.program == task.program
        assert answer.trace.memory_model.name == task.model.name
        assert evaluate_in(task.program, answer.trace.end, 0, task.goal.bad)
    return True


def decided(ask: Ask, seeds: range) -> int:
    count = 0
    for seed in seeds:
        program = cyclic_program(seed)
        for model in (TSO, PSO):
            limit = explicit_limit(program, model)
            for goal, expected in goals(program, seed, limit.locations) if limit.is_stable else ():
                count += is_decided(ask, Task(program, model, goal, Limits(timeout_seconds=20)), expected)
    return count


@pytest.mark.parametrize("name", ASKED)
def test_no_engine_contradicts_the_limit(name: str) -> None:
    assert decided(ASKED[name], range(60)) >= 20


def test_auto_decides_everything_even_with_next_to_no_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    small = tuple(replace(attempt, most_states=5) for attempt in portfolio.SAFETY)
    monkeypatch.setattr(portfolio, "SAFETY", small)
    monkeypatch.setattr(portfolio, "SMALL", small[0])
    seeds = range(60, 100)
    asked = decided(portfolio.decide, seeds)
    assert asked == decided(engine_named("symbolic").answer, seeds) >= 200


def test_a_run_that_needs_larger_buffers_is_no_answer_about_smaller_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "SMALL", replace(portfolio.SMALL, most_states=5))
    sample = Sample("two pending stores", "x y z").process("P0", "x := 1", "y := 1", "r := z")
    program = sample.process("P1", "z := 1", "mfence", "r := x", "s := y").build()
    ended = (ends(program, 0), ends(program, 1))
    all_are_0 = conjunction(*ended, register_is(0, 0, 0), register_is(1, 0, 0), register_is(1, 1, 0))
    tasks = [Task(program, TSO.bounded(k), Safety(bad=all_are_0), Limits(timeout_seconds=20)) for k in (1, 2)]
    assert [portfolio.decide(task).verdict for task in tasks] == [Verdict.HOLDS_UP_TO, Verdict.VIOLATED]


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100, 1100, 200))
@pytest.mark.parametrize("name", ASKED)
def test_no_engine_contradicts_the_limit_on_many_programs(name: str, start: int) -> None:
    assert decided(ASKED[name], range(start, start + 200)) >= 60
