"""A proof for any number of rounds never contradicts what executions with few rounds show."""

from __future__ import annotations

from random import Random

import pytest

from memfence.models.spec import Axioms
from memfence.program.ir import Program
from memfence.questions.any_loops import prove
from memfence.strategy.portfolio import decide
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import GoodExecutions, Task
from support.rc11_programs import random_cyclic_program


def unrolled(program: Program, rounds: int) -> Verdict:
    task = Task(program, Axioms("rc11"), GoodExecutions((), rounds), Limits(most_states=200_000, timeout_seconds=10))
    return decide(task).verdict


def compared(programs: int, seed: int) -> tuple[int, int]:
    """How many are proved, and how many are violated with few rounds."""
    rng = Random(seed)
    proved = violated = 0
    for _ in range(programs):
        program = random_cyclic_program(rng)
        proof = prove(program, "rc11", (), CheckOptions())
        seen = [unrolled(program, rounds) for rounds in (1, 2)]
        if proof is not None:
            proved += 1
            assert Verdict.VIOLATED not in seen, program
        violated += Verdict.VIOLATED in seen
    return proved, violated


def test_what_is_proved_is_not_violated_with_few_rounds():
    proved, violated = compared(60, seed=38)
    assert proved >= 5
    assert violated >= 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_so_for_many_programs(seed):
    proved, violated = compared(100, seed=500 + seed)
    assert proved >= 8
    assert violated >= 8
