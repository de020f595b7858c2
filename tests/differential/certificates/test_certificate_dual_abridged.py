"""Backward searches that leave out passed locations and dead registers (Theorem 19): what is accepted is true."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from memfence.api.check import check
from memfence.certificates.checker.dual import check_dual, prepared
from memfence.certificates.checker.native_dual import DualSearch, check_dual_fast
from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.abridged import Abridgement
from memfence.certificates.format.dual import FAILED, Configurations
from memfence.certificates.format.header import Claim
from memfence.certificates.writer.abridging import passed_alone
from memfence.models.spec import TSO
from memfence.pipeline import load_text
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import TRUE, Binary, Const, Register, variable_address
from memfence.program.ir import Assert, Assign, Assume, Domain, Forbidden, Load, Op, Program, RegisterVar, SharedVar
from memfence.program.parameterised import alike
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from support.generators.cyclic_programs import cyclic_program
from support.generators.left_out import drawn, seen_state
from support.generators.passing_programs import passing_program


def check_left_out(seed: int) -> bool:
    """Draw what the places of processes leave out: whatever is accepted then is true. Whether something was."""
    random, program = Random(seed), cyclic_program(seed, ordered=seed % 3 == 0)
    sees = random.choice(["", " && P0.r0 == 1"]) if any(r.name == "r0" for r in program.processes[0].registers) else ""
    places = [random.randrange(len(process.locations)) for process in program.processes]
    bad = " && ".join(f"P{p}@#{at}" for p, at in enumerate(places)) + sees
    question = question_of(Claim(model="tso", forbid=(bad,)), program)
    left_out = drawn(random, question)
    try:
        asked = prepared(question, None, left_out)
    except Refused:
        return False
    search = DualSearch(asked, left_out)
    if search.run(lambda _: False):
        return False
    found = search.found()
    assert check_dual_fast(asked, found, left_out) == check_dual(asked, found, left_out)
    assert check(program, forbid=bad, model="tso").answer.verdict is Verdict.HOLDS
    return True


def check_passing(seed: int) -> bool:
    """As `check_left_out`, where much is passed, and may fail there; any number of threads, narrower ranges, and SC."""
    random, program = Random(seed), passing_program(seed, instances=seed % 3 == 0)
    program = replace(program, properties=(Forbidden(seen_state(program, random), "drawn"),))
    model = "sc" if seed % 5 == 0 else "tso"
    question = question_of(Claim(model=model, any_number=program.any_number), program)
    left_out = drawn(random, question)
    ranges = narrower(random, program) if random.random() < 0.3 else None
    try:
        asked = prepared(question, ranges, left_out)
    except Refused:
        return False
    search = DualSearch(asked, left_out)
    if search.run(lambda size: size > 300) is not False:
        return False
    found = search.found()
    assert check_dual_fast(asked, found, left_out) == check_dual(asked, found, left_out)
    assert check(program, model=model).answer.verdict is Verdict.HOLDS
    return any(left_out.passing)


def narrower(random: Random, program: Program) -> dict[str, Any]:
    """Ranges that end with the greatest first value, here and there."""

    def one(variable: SharedVar | RegisterVar) -> list[int]:
        return [variable.domain.lo, random.choice([max(variable.init), variable.domain.hi, variable.domain.hi])]

    registers = [list(map(one, process.registers)) for process in program.processes]
    like = [alike(program, p)[0] for p, _ in enumerate(program.processes)]
    return {"variables": list(map(one, program.variables)), "registers": [registers[p] for p in like]}


def test_whatever_is_passed_what_is_accepted_is_true() -> None:
    assert sum(map(check_passing, range(3_000))) >= 40, "some of what passes something is accepted"


@pytest.mark.slow
def test_whatever_is_passed_what_is_accepted_is_true_of_many_programs() -> None:
    assert sum(map(check_passing, range(3_000, 20_000))) >= 300


def one_load(*steps: tuple[int, int, Op], locations: int) -> Program:
    """A process that loads `x`, which is always 0, and then takes these steps."""
    builder = ProcessBuilder("P", "P")
    builder.register("r", Domain(0, 1))
    for _ in range(locations):
        builder.location()
    builder.emit(0, 1, Load(0, variable_address(0)))
    for source, target, op in steps:
        builder.emit(source, target, op)
    return Program("one load", (SharedVar("x", Domain(0, 1), (0,)),), (builder.build(0),))


def test_a_local_step_that_fails_keeps_nobody_from_another_one() -> None:
    """Behind a load of 1, which never is, one step fails and another one leads on: both are to be excluded."""
    zero, one = (Binary("==", Register(0), Const(value)) for value in (0, 1))
    program = one_load((1, 2, Assert(zero)), (1, 2, Assume(one)), (2, 3, Assume(one)), locations=4)
    question = question_of(Claim(model="tso", forbid=("P@#3",)), program)
    left_out = Abridgement((frozenset({1}),), ((frozenset(),) * 4,))
    asked = prepared(question, None, left_out)
    search = DualSearch(asked, left_out)
    assert search.run(lambda _: False) is False
    found = search.found()
    assert check_dual(asked, found, left_out) == check_dual_fast(asked, found, left_out) == len(found.all)
    failed = [
        c for c in found.all if any(control.location == FAILED for controls in c.controls for control in controls)
    ]
    fewer = tuple(c for c in found.all if c not in failed)
    assert failed and fewer
    for judged in (check_dual, check_dual_fast):
        with pytest.raises(Refused) as refused:
            judged(asked, Configurations(fewer), left_out)
        assert refused.value.condition is Condition.BAD


def test_what_the_question_sees_of_local_steps_is_not_passed() -> None:
    """Only a process that is between its load and its assignment refutes the claim."""
    program = one_load((1, 2, Assign(0, Const(0))), (2, 0, Assume(TRUE)), locations=3)
    program = replace(program, variables=(replace(program.variables[0], init=(0, 1)),))
    question = question_of(Claim(model="tso", forbid=("P.r == 1",)), program)
    with pytest.raises(Refused):
        prepared(question, None, Abridgement((frozenset({1}),), ((frozenset(),) * 3,)))
    assert check(program, forbid="P.r == 1", model="tso").answer.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("part", ["passing", "dead"])
def test_all_instances_pass_the_same(part: str) -> None:
    text = "byte x; active [*] proctype T() { byte r; do :: r = x; r = 1 - r; x = r; r = 0 od }"
    question = question_of(Claim(model="tso", any_number=("T",)), load_text(SourceText("t.pml", text)))
    most = next(passed_alone(question, TSO))
    assert any(most.passing) and any(map(any, most.dead))
    prepared(question, None, most)
    first, *others = getattr(most, part)
    nothing: Any = frozenset() if part == "passing" else tuple(frozenset() for _ in first)
    for changed in ((nothing, *others), (first, *others[:-1], nothing)):
        with pytest.raises(Refused):
            prepared(question, None, replace(most, **{part: changed}))


def test_whatever_is_left_out_of_places_what_is_accepted_is_true() -> None:
    assert sum(map(check_left_out, range(600))) >= 20, "some of what was drawn is accepted"


@pytest.mark.slow
def test_whatever_is_left_out_of_places_what_is_accepted_is_true_of_many_programs() -> None:
    assert sum(map(check_left_out, range(600, 9_000))) >= 300
