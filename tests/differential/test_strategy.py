"""The attempts of `--engine auto`, one by one: what one of them decides is what the limit of the explicit engine says.

In real use most questions end with the first attempt; here each is asked alone, and all of them with next to no budget.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from cyclic_programs import cyclic_program
from memfence.engines.native.explicit import Question
from memfence.models.steps import evaluate_in
from memfence.program.expressions import At, conjunction
from memfence.program.ir import Program
from memfence.strategy import portfolio as strategy
from memfence.tasks.limits import Deadline, Limits
from memfence.tasks.options import CheckOptions
from symbolic_limit import explicit_limit

ATTEMPTS = (
    strategy._few_processes,
    strategy._small_proof,
    strategy._small_shortcut,
    strategy._side_by_side,
    strategy.search_dually,
    strategy.prove_by_shortcut,
)


def questions(program: Program, seed: int, reachable: frozenset[tuple[int, ...]]) -> list[tuple[Question, bool]]:
    """Two reachable and two unreachable location tuples, where there are any."""
    places = list(product(*(range(len(p.locations)) for p in program.processes)))
    Random(seed).shuffle(places)
    chosen = [at for at in places if at in reachable][:2] + [at for at in places if at not in reachable][:2]
    return [
        (Question(bad=conjunction(*(At(p, frozenset({at[p]})) for p in range(len(at))))), at in reachable)
        for at in chosen
    ]


def ask(decide, program: Program, model: str, question: Question, expected: bool) -> bool:
    """Whether the question was decided; if so, rightly, and with a run that ends where it should."""
    options = CheckOptions(model=model)
    decision = decide(program, question, options, Deadline(Limits(timeout_seconds=20)))
    if decision is None or not decision.is_conclusive:
        return False
    assert (decision.answer == "found") == expected, (program.name, model, decision)
    if decision.answer == "found":
        assert decision.trace.program == program
        assert decision.trace.memory_model.name == model
        assert evaluate_in(program, decision.trace.end, 0, question.bad)
    return True


def decided(decide, seeds: range) -> int:
    count = 0
    for seed in seeds:
        program = cyclic_program(seed)
        for model in ("tso", "pso"):
            limit = explicit_limit(program, model)
            for question, expected in questions(program, seed, limit.locations) if limit.is_stable else ():
                count += ask(decide, program, model, question, expected)
    return count


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda f: f.__name__.strip("_"))
def test_no_attempt_contradicts_the_limit(attempt):
    assert decided(attempt, range(60)) >= 20


def test_auto_decides_everything_even_with_next_to_no_budget(monkeypatch):
    for budget in ("SMALL_SEARCH", "SMALL_PAIR", "SMALL_PROOF", "SMALL_SC"):
        monkeypatch.setattr(strategy, budget, 5)
    seeds = range(60, 100)
    asked = decided(strategy._auto, seeds)
    assert asked == decided(strategy.search_symbolically, seeds) >= 200


@pytest.mark.slow
@pytest.mark.parametrize("start", range(100, 1100, 200))
@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda f: f.__name__.strip("_"))
def test_no_attempt_contradicts_the_limit_on_many_programs(attempt, start):
    assert decided(attempt, range(start, start + 200)) >= 60
