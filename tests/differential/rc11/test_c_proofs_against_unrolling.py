"""C with loops: a proof for any number of rounds never contradicts what executions with few rounds show."""

from __future__ import annotations

from random import Random

import pytest

from memfence import pipeline
from memfence.models.spec import Axioms
from memfence.program.ir import NoDeadlock, Program
from memfence.questions.any_loops import prove
from memfence.source import SourceText
from memfence.strategy.portfolio import decide
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import GoodExecutions, Task
from support.c_compiler import needs_clang
from support.rc11_c_programs import CProgram

pytestmark = [needs_clang, pytest.mark.slow]


def unrolled(program: Program, rounds: int) -> Verdict:
    limits = Limits(most_states=300_000, timeout_seconds=5)
    return decide(Task(program, Axioms("rc11"), GoodExecutions((), rounds), limits)).verdict


@pytest.mark.parametrize("seed", range(5))
def test_what_is_proved_of_c_does_not_fail_with_few_rounds(seed: int) -> None:
    """Checks and races; threads that wait for ever are looked for by rounds, whether there is a proof or not."""
    rng = Random(seed)
    proved = violated = 0
    for number in range(30):
        program = pipeline.load_text(SourceText(f"random{number}.c", text := CProgram(rng).text))
        assert all(isinstance(prop, NoDeadlock) for prop in program.properties)
        proof = prove(program, "rc11", (), CheckOptions(timeout_seconds=30))
        seen = [unrolled(program, rounds) for rounds in (1, 2)]
        proved += proof is not None
        violated += Verdict.VIOLATED in seen
        assert proof is None or Verdict.VIOLATED not in seen, text
    assert proved >= 3
    assert violated >= 3
