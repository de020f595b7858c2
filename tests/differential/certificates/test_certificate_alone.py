"""What single processes prove by themselves (Theorem 17): accepted only where it is true, by both checkers."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from memfence.api.certify import check_certified
from memfence.api.check import check
from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.refusal import Condition
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.certificates.format.container import read_chunks
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import SECTION
from memfence.certificates.writer.abridging import passed_alone
from memfence.models.spec import TSO
from memfence.pipeline import load_text
from memfence.program.expressions import At, Binary, Const, RegisterOf, conjunction
from memfence.program.ir import Forbidden, Load, Program
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from support.certificates import beginning, container, judge
from support.generators.cyclic_programs import cyclic_program
from support.generators.left_out import drawn, seen_state
from support.generators.passing_programs import passing_program


def alone(program: Program, claim: Claim, left_out: Abridgement = WHOLE) -> bytes:
    section = json.dumps({"kind": "alone"} | left_out.as_lists()).encode()
    return container([*beginning(program, claim), (SECTION, section)])


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_what_processes_never_do_by_themselves_they_never_do(model: str) -> None:
    """Judged by both checkers: accepted only what the engines say, and nothing that depends on other processes."""
    accepted = 0
    for seed in range(40):
        random, program = Random(seed), cyclic_program(seed, ordered=seed % 3 == 0)
        at = At(0, frozenset({random.randrange(len(program.processes[0].locations))}))
        bad = conjunction(at, Binary("==", RegisterOf(0, 0), Const(random.randrange(4))))
        program, claim = replace(program, properties=(Forbidden(bad, "drawn"),)), Claim(model=model)
        content = alone(program, claim)
        found = judge(content, program)
        assert found == judge(content, program, fast=True)
        if found.condition is None:
            accepted += 1
            assert check(program, model=model).answer.verdict is Verdict.HOLDS
        else:
            assert found.condition is Condition.BAD
    assert accepted > 3


def check_left_out(seed: int) -> bool:
    """Draw what is left out: what is accepted then is true, under any model. Whether something was, and was needed."""
    random, program = Random(seed), passing_program(seed, instances=seed % 4 == 0)
    program = replace(program, properties=(Forbidden(seen_state(program, random), "drawn"),))
    model = random.choice(["sc", "tso"] if program.any_number else ["sc", "tso", "pso"])
    claim = Claim(model=model, any_number=program.any_number)
    left_out = drawn(random, question_of(claim, program))
    content = alone(program, claim, left_out)
    found = judge(content, program)
    assert found == judge(content, program, fast=True)
    if found.condition is not None:
        return False
    assert check(program, model=model).answer.verdict is Verdict.HOLDS
    return any(left_out.passing)


def test_whatever_processes_pass_what_is_accepted_is_true() -> None:
    assert sum(map(check_left_out, range(2_000))) >= 30, "some of what passes something is accepted"


@pytest.mark.slow
def test_whatever_processes_pass_what_is_accepted_is_true_of_many_programs() -> None:
    assert sum(map(check_left_out, range(2_000, 20_000))) >= 250


def test_what_leaves_too_much_out_is_refused() -> None:
    """The load of 1 is what the question sees, before the register is set to 0 again."""
    program = load_text(SourceText("t.pml", "bit x; active proctype P() { bit r; do :: r = x; r = 0 :: x = 1 od }"))
    claim = Claim(model="tso", forbid=("P.r == 1",))
    (behind,) = {t.target for t in program.processes[0].transitions if any(isinstance(op, Load) for op in t.ops)}
    dead = tuple(frozenset[int]() for _ in program.processes[0].locations)
    left_out = Abridgement((frozenset({behind}),), (dead,))
    for fast in (False, True):
        assert judge(alone(program, claim), program, fast=fast).condition is Condition.BAD
        assert judge(alone(program, claim, left_out), program, fast=fast).condition is Condition.KIND


SEEN_TWICE = """forbidden ERROR
data
  c = * : [0:750]
process(1)
registers
  $a = 0 : [0:750]
  $b = 0 : [0:750]
text
  read: $a := c;
  read: $b := c;
  if $a = $b then {
    if $a != $b then { ERROR: nop }
  }
"""


def test_places_that_are_passed_are_not_counted() -> None:
    """Where both registers are set there would be 564,001 places."""
    program, claim = load_text(SourceText("t.rmm", SEEN_TWICE)), Claim(model="tso")
    left_out = next(passed_alone(question_of(claim, program), TSO))
    assert judge(alone(program, claim), program, fast=True).condition is Condition.KIND
    assert judge(alone(program, claim, left_out), program, fast=True).condition is None


def test_control_flow_has_a_certificate_that_says_nothing(tmp_path: Path) -> None:
    text = (
        "byte x, y; active proctype P() { byte a; do :: x = 1; y = 1 :: a = x; if :: a > a -> bad: skip :: else fi od }"
    )
    program = load_text(SourceText("t.pml", text))
    proof = check_certified(program, tmp_path / "p.mfc", verified=True, model="pso", forbid="P@bad")
    assert proof.verified is not None and proof.verified.is_valid
    kinds = [
        chunk.content for chunk in read_chunks(io.BytesIO((tmp_path / "p.mfc").read_bytes())) if chunk.kind == SECTION
    ]
    (details,) = map(json.loads, kinds)
    assert details.keys() <= {"kind", "passing", "dead"} and details["kind"] == "alone"
