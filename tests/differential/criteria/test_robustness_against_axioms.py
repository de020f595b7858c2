"""Trace-robustness, which the engine decides from SC runs and attacks, is what the axioms say: no new execution."""

from __future__ import annotations

from collections import Counter

import pytest

from memfence.engines.registry import engine_named
from memfence.models.spec import SPECS
from memfence.program.ir import Program
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.task import Keeps, Task
from support.engines import LIMITS
from support.generators.cycles import cycles
from support.generators.racing_programs import racing_program
from twins import axiomatic

RELAXED = ("tso", "pso")


def check_robustness(program: Program) -> Counter[tuple[str, bool]]:
    """What the engine says about each model."""
    said: Counter[tuple[str, bool]] = Counter()
    for model in RELAXED:
        answer = engine_named("sc attacks").answer(Task(program, SPECS[model], Keeps(Criterion.ROBUST), LIMITS))
        assert answer.verdict in (Verdict.HOLDS, Verdict.VIOLATED), program.name
        holds = answer.verdict is Verdict.HOLDS
        assert holds == axiomatic.is_robust(program, model), f"{program.name} under {model}"
        said[model, holds] += 1
    return said


@pytest.mark.parametrize("size", [3, 4, 5])
def test_a_cycle_is_robust_exactly_if_the_model_keeps_all_its_executions(size: int) -> None:
    for cycle in cycles(size):
        said = check_robustness(cycle.program())
        assert all(not said[model, True] for model in RELAXED if cycle.is_allowed(model)), cycle.name


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_a_long_cycle_is_robust_exactly_if_the_model_keeps_all_its_executions(part: int) -> None:
    for cycle in list(cycles(6))[part::4]:
        assert check_robustness(cycle.program())


def never_blocks(program: Program) -> bool:
    """The axioms know complete executions only: a compare and swap that waits may hide what came before it."""
    return not any(
        transition.locked and len(transition.ops) > 2 for p in program.processes for transition in p.transitions
    )


def test_racing_programs_are_robust_exactly_if_the_model_keeps_all_their_executions() -> None:
    programs = [program for program in map(racing_program, range(150)) if never_blocks(program)]
    said = sum((check_robustness(program) for program in programs), Counter[tuple[str, bool]]())
    assert min(said[model, holds] for model in RELAXED for holds in (True, False)) >= 20
