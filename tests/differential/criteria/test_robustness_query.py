"""Robustness as a question about SC (`passes.robustness_query`) against the search for attacks in `core/attacks`."""

from __future__ import annotations

import pytest
from hypothesis import reject
from hypothesis import strategies as st

from memfence.api.check import check
from memfence.diagnostics import InputError
from memfence.engines.native.explicit import explore
from memfence.models.spec import SC
from memfence.passes.robustness_query import Unsupported, robustness_query
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.program.parameterised import instances_of, resized, with_any_number
from memfence.questions.criteria import check_criterion
from memfence.source import SourceText
from memfence.strategy.portfolio import ask
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import ALL_REDUCTIONS, Safety, Task
from support.generators.criteria_programs import criteria_programs
from support.generators.cyclic_programs import cyclic_program
from support.sampling import sampled

LIMITS = Limits(timeout_seconds=60, most_states=1_000_000)


def is_robust_by_query(program: Program, *, is_reduced: bool) -> bool | None:
    """The answer under SC; None where the query does not know some step."""
    try:
        query = robustness_query(program)
    except Unsupported:
        return None
    reductions = frozenset(ALL_REDUCTIONS) if is_reduced else frozenset()
    found = explore(query, SC, Safety(failures=True), limits=LIMITS, reductions=reductions)
    assert found.finding is not None or found.stop is Stop.NOTHING_LEFT
    return found.finding is None


def is_robust(program: Program) -> bool:
    answer = check_criterion(program, Criterion.ROBUST, CheckOptions(timeout_seconds=60)).verdict
    assert answer in (Verdict.HOLDS, Verdict.VIOLATED)
    return answer is Verdict.HOLDS


def check_agreement(program: Program, *, is_reduced: bool = False) -> None:
    assert is_robust_by_query(program, is_reduced=is_reduced) in (None, is_robust(program))


@sampled(quick=120, slow=3_000, program=criteria_programs(torn_steps=False), is_reduced=st.booleans())
def test_the_query_fails_under_sc_iff_the_program_is_not_robust(program, is_reduced):
    check_agreement(program, is_reduced=is_reduced)


@pytest.mark.parametrize("block", range(3))
def test_the_query_agrees_on_programs_with_loops(block):
    for seed in range(20 * block, 20 * block + 20):
        check_agreement(cyclic_program(seed, ordered=seed % 2 == 1))


@st.composite
def instances(draw: st.DrawFn) -> Program:
    """Any number of some processes of a random program, which has at least one of the others."""
    program = draw(criteria_programs(torn_steps=False))
    templates = sorted({process.template for process in program.processes})
    chosen = draw(st.lists(st.sampled_from(templates), min_size=1, max_size=2, unique=True))
    try:
        return with_any_number(program, chosen)
    except InputError:
        reject()


def check_law(program: Program, most: int) -> bool | None:
    """The answer for any number, held against that for 1 to `most` threads; None where there is none."""
    try:
        query = robustness_query(program)
    except Unsupported:
        return None
    answer = ask("any number", Task(query, SC, Safety(), Limits(timeout_seconds=20), frozenset(ALL_REDUCTIONS)))
    if answer.verdict is Verdict.HOLDS:
        for threads in range(1, most + 1):
            assert is_robust(resized(program, dict.fromkeys(program.any_number, threads)).program)
    elif answer.verdict is Verdict.VIOLATED:
        found = {t: len(instances_of(answer.trace.program, t)) for t in program.any_number}
        assert not is_robust(resized(program, found).program)
    return answer.verdict is Verdict.HOLDS


@sampled(quick=40, slow=1_500, program=instances(), most=st.just(3), given_slowly={"most": st.just(4)})
def test_what_is_robust_for_any_number_is_robust_for_few(program, most):
    check_law(program, most)


ATTACKED_BY_THREE = """
byte x, y, z;
active [*] proctype T() {
    byte a;
    if :: x = 1; a = y :: y = 1; z = 1 :: z == 1; a = x fi
}
"""
"""Who delays `x = 1` and reads `y` needs one thread that writes it, and another one that then reads `x`."""


def test_an_attack_may_need_three_threads():
    program = load_text(SourceText("three.pml", ATTACKED_BY_THREE))
    assert [is_robust(resized(program, {"T": n}).program) for n in (1, 2, 3)] == [True, True, False]
    assert check_law(program, most=3) is False
    result = check(program, criterion="robust")
    assert (result.verdict, result.evidence.threads) == ("violated", (("T", 3),))
