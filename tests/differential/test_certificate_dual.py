"""Certificates of the backward search: made exactly where the engines say that a claim holds, and then accepted."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest

from memfence.api.check import check
from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.refusal import Condition
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import OBJECT
from memfence.certificates.writer.chunks import NoCertificate
from memfence.certificates.writer.dual import dual_chunks
from memfence.pipeline import load_text
from memfence.program.facts.effects import has_torn_steps
from memfence.program.ir import Program
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Limits
from support.certificates import beginning, container, judge
from support.cyclic_programs import cyclic_program

FENCED = """#include "memfence.h"
byte x, y; active proctype P() { bit a; x = 1; mfence(); a = y; assert(a + x < 9) }
active proctype Q() { bit b; do :: y = 1; mfence(); b = x od }
"""


SHORT = "bit x; active proctype P() { x = 1; x = 1 } active proctype Q() { bit b; b = x; b = x }"


def certificate(program: Program, claim: Claim) -> bytes | None:
    """None: something bad can be reached."""
    try:
        chunks = list(dual_chunks(question_of(claim, program), Limits()))
    except NoCertificate as reason:
        assert "can be reached" in str(reason)
        return None
    return container([*beginning(program, claim), *chunks])


def check_seed(seed: int) -> None:
    random, program = Random(seed), cyclic_program(seed, ordered=seed % 3 == 0)
    places = [random.randrange(len(process.locations)) for process in program.processes]
    bad = " && ".join(f"P{p}@#{at}" for p, at in enumerate(places))
    verdict = check(program, forbid=bad, model="tso").answer.verdict
    content = certificate(program, Claim(model="tso", forbid=(bad,)))
    assert (content is not None) == (verdict is Verdict.HOLDS)
    if content is not None:
        assert judge(content, program).condition is None


@pytest.mark.parametrize("seed", range(24))
def test_a_certificate_is_made_and_accepted_exactly_where_the_claim_holds(seed: int) -> None:
    check_seed(seed)


@pytest.mark.slow
def test_certificates_are_made_and_accepted_exactly_where_claims_hold() -> None:
    for seed in range(24, 600):
        check_seed(seed)


@pytest.mark.parametrize("model", ["sc", "pso"])
def test_the_backward_search_is_about_tso(model: str) -> None:
    program = load_text(SourceText("t.pml", FENCED))
    content = certificate(program, Claim(model="tso", forbid=("P.a == 2",)))
    assert content is not None
    with pytest.raises(NoCertificate, match="does not know"):
        list(dual_chunks(question_of(Claim(model=model, forbid=("P.a == 2",)), program), Limits()))


@pytest.mark.parametrize("claim", [
    Claim(model="tso", forbid=("x == 2",)), Claim(model="tso", deadlock=True, forbid=("P.a == 2",)),
])  # fmt: skip
def test_what_looks_at_memory_or_at_deadlocks_is_refused(claim: Claim) -> None:
    program = load_text(SourceText("t.pml", FENCED))
    with pytest.raises(NoCertificate):
        list(dual_chunks(question_of(claim, program), Limits()))


def test_a_step_with_several_stores_is_refused() -> None:
    program = load_text(SourceText("t.pml", SHORT))
    first, *others = program.processes
    twice = replace(first.transitions[0], ops=first.transitions[0].ops * 2)
    program = replace(program, processes=(replace(first, transitions=(twice, *first.transitions[1:])), *others))
    assert has_torn_steps(program)
    with pytest.raises(NoCertificate, match="does not know"):
        list(dual_chunks(question_of(Claim(model="tso", forbid=("P@#1",)), program), Limits()))


def test_without_a_configuration_something_leads_out() -> None:
    program = load_text(SourceText("t.pml", SHORT))
    claim = Claim(model="tso", forbid=("P@#2 && Q.b == 1",))
    chunks = list(dual_chunks(question_of(claim, program), Limits()))
    listed = json.loads(chunks[1][1])["configurations"]
    assert len(chunks) == 2 and len(listed) > 3
    for n in range(0, len(listed), max(1, len(listed) // 10)):
        fewer = json.dumps({"configurations": [*listed[:n], *listed[n + 1 :]]}).encode()
        content = container([*beginning(program, claim), chunks[0], (OBJECT, fewer)])
        assert judge(content, program).condition in (Condition.BAD, Condition.CLOSED)
