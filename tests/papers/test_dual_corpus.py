"""The Dual-TSO engine on the RMM programs of the corpus: the verdicts of docs/results/dual.md, without their times."""

from __future__ import annotations

import pytest

from memfence import load
from memfence.engines.native.dual import explore_dual
from memfence.models.steps import evaluate_in
from memfence.questions.safety import goal_of
from memfence.tasks.evidence import BadState
from memfence.tasks.limits import Limits
from memfence.tasks.task import ALL_REDUCTIONS
from support.corpus import CORPUS, needs_corpus
from support.sampling import listed

pytestmark = needs_corpus

SAFE = (
    "memorax/clh",
    "memorax/sense_rev_bar",
    "mutex/spinlock/spinlock",
    "schedule/increase_sequence/increase_sequence",
)
BROKEN = (
    "memorax/bakery.bound2",
    "memorax/burns",
    "memorax/dekker.2",
    "memorax/dekker",
    "memorax/dijkstra",
    "memorax/lamport_fast",
    "memorax/peterson",
    "mutex/bakery3/bakery3",
    "mutex/burns/burns",
    "mutex/dekker/dekker",
    "mutex/dijkstra/dijkstra",
    "mutex/lamport3/lamport3",
    "mutex/peterson/peterson",
    "mutex/simple_dekker/simple_dekker",
    "mutex/szymanski4/szymanski4",
    "schedule/parker/parker",
    "schedule/pgsql/pgsql",
    "schedule/task_scheduling/task_scheduling",
)
ALSO_SAFE = ("mutex/dclocking/dc_locking", "nbw/seqlock/seqlock", "schedule/alternating_bit_protocol/alternating_bit")


def decide(name: str):
    folder = CORPUS if name.startswith("memorax") else CORPUS / "persist" / "single"
    program = load(folder / f"{name}.rmm")
    question = goal_of(program, program.properties)
    limits = Limits(timeout_seconds=120)
    return question, explore_dual(program, question, limits=limits, reductions=frozenset(ALL_REDUCTIONS))


@listed("name", SAFE, ALSO_SAFE)
def test_safe_programs_are_proved(name):
    _, result = decide(name)
    assert result.complete
    assert not result.found


@pytest.mark.parametrize("name", BROKEN)
def test_broken_programs_come_with_a_run_to_what_they_forbid(name):
    question, result = decide(name)
    assert result.finding == BadState()
    assert evaluate_in(result.program, result.trace().end, 0, question.bad)
