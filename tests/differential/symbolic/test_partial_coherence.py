"""Buffers that forget the order of older stores: what they prove, the explicit limit does not refute; and all of PSO's
questions about random programs with loops are decided."""

from __future__ import annotations

from random import Random

import pytest

from memfence.deadline import Deadline
from memfence.engines.native.explicit import explore
from memfence.engines.partial_coherence import PartialCoherenceEngine
from memfence.models.spec import PSO, TSO, ModelSpec
from memfence.program.expressions import At, Binary, Const, Expr, RegisterOf, conjunction
from memfence.program.ir import Program
from memfence.strategy.portfolio import decide
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import Closure, Fixpoint
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import ALL_REDUCTIONS, Safety, Task
from support.generators.cyclic_programs import cyclic_program

BOUND = 4
"""What no run with so many stores pending in each buffer reaches, no run of so small a program was seen to reach."""
FEW = Limits(timeout_seconds=10, most_states=200_000)


def random_bad(program: Program, random: Random) -> Expr:
    """Where some of the processes are, and what some of their registers hold."""
    facts: list[Expr] = []
    for p, process in enumerate(program.processes):
        if random.random() < 0.8:
            facts.append(At(p, frozenset({random.randrange(len(process.locations))})))
        if len(process.registers) > 1 and random.random() < 0.6:
            facts.append(Binary("==", RegisterOf(p, 0), Const(random.randrange(3))))
    return conjunction(*facts)


def is_reached(program: Program, goal: Safety, model: ModelSpec) -> bool | None:
    """What the explicit engine says within the bound; None where its limits come first."""
    found = explore(program, model.bounded(BOUND), goal, limits=FEW, reductions=frozenset(ALL_REDUCTIONS))
    if found.finding is not None:
        return True
    return False if found.stop is Stop.NOTHING_LEFT else None


def check_proofs(seed: int, model: ModelSpec) -> bool:
    """Whether the engine proves it; a proof must stand."""
    program = cyclic_program(seed, ordered=seed % 4 == 0)
    goal = Safety(bad=random_bad(program, Random(seed)))
    task = Task(program, model, goal, Limits(timeout_seconds=20))
    engine = PartialCoherenceEngine()
    if engine.obstacle(task) is not None:
        return False
    answer = engine.answer(task)
    is_proved = answer.verdict is Verdict.HOLDS
    assert not is_proved or answer.evidence == Fixpoint(Closure.SETS)
    assert not (is_proved and is_reached(program, goal, model)), seed
    return is_proved


def is_decided(seed: int) -> bool:
    """Whether `auto` decides the question under PSO within ten seconds; programs of one process count as decided."""
    program = cyclic_program(seed)
    if len(program.processes) == 1:
        return True
    goal = Safety(bad=random_bad(program, Random(seed)))
    return decide(Task(program, PSO, goal, Limits(deadline=Deadline(10.0)))).is_conclusive


@pytest.mark.parametrize("model", [TSO, PSO], ids=["tso", "pso"])
def test_what_partial_coherence_proves_the_explicit_engine_does_not_refute(model):
    proved = [check_proofs(seed, model) for seed in range(100)]
    assert 20 < sum(proved) < 80


def test_random_questions_about_pso_are_decided():
    assert [seed for seed in range(60) if not is_decided(seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_a_thousand_proofs_stand(block):
    for seed in range(1_000 + 100 * block, 1_100 + 100 * block):
        check_proofs(seed, PSO)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(60))
def test_five_thousand_random_questions_about_pso_are_decided(block):
    assert [seed for seed in range(1_000 + 100 * block, 1_100 + 100 * block) if not is_decided(seed)] == []
