"""Certificates of the backward search: made exactly where the engines say that a claim holds, and then accepted."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from memfence.api.certify import check_certified
from memfence.api.check import check
from memfence.api.verify import verify
from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.refusal import Condition
from memfence.certificates.format.container import read_chunks
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import HEAD, OBJECT
from memfence.certificates.writer.certify import certify
from memfence.certificates.writer.chunks import NoCertificate
from memfence.certificates.writer.dual import dual_chunks
from memfence.pipeline import load, load_text
from memfence.program.facts.effects import has_torn_steps
from memfence.program.ir import Forbidden, Program
from memfence.program.load_options import COptions, LoadOptions
from memfence.reports.verification import verify_text
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Limits
from support.certificates import beginning, container, judge
from support.crowd_programs import bad_state, crowd_program
from support.cyclic_programs import cyclic_program

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
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


def check_crowd(seed: int) -> None:
    program = crowd_program(seed)
    bad = Forbidden(bad_state(program, Random(seed)), "drawn")
    program = replace(program, properties=(bad,))
    verdict = check(program, model="tso").answer.verdict
    try:
        content = certificate(program, Claim(model="tso", any_number=program.any_number))
    except AssertionError:  # there are too many configurations
        return
    assert (content is not None) == (verdict is Verdict.HOLDS)
    if content is not None:
        assert judge(content, program).condition is None
        assert judge(content, replace(program, any_number=())).condition is Condition.PROGRAM


@pytest.mark.parametrize("seed", [*range(8), 29, 37, 61])
def test_certificates_for_any_number_of_threads_agree_with_the_engine(seed: int) -> None:
    check_crowd(seed)


@pytest.mark.slow
def test_certificates_for_any_number_of_threads_agree_with_the_engine_on_many_programs() -> None:
    for seed in range(300):
        check_crowd(seed)


@pytest.mark.parametrize("name", ["test_and_set", "event_count"])
def test_examples_for_any_number_of_threads_carry_certificates(name: str, tmp_path: Path) -> None:
    source, path = EXAMPLES / "any_number" / f"{name}.pml", tmp_path / "proof.mfc"
    proof = check_certified(source, path, verified=True)
    assert proof.written is not None and proof.verified is not None and proof.verified.is_valid
    assert "for any number of" in verify_text(verify(path, source)).splitlines()[0]


def test_an_invariant_of_a_few_threads_says_nothing_about_any_number(tmp_path: Path) -> None:
    """The lock fails with five threads; the program as it is read has three."""
    options = LoadOptions(c=COptions(macros=("UNLIMITED",)))
    program = load(EXAMPLES / "any_number" / "ticket_lock.pml", options)
    few = replace(program, any_number=())
    certify(few, Claim(model="tso", bound=1), tmp_path / "few.mfc", Limits())
    content = (tmp_path / "few.mfc").read_bytes()
    assert judge(content, few, fast=True).condition is None
    assert judge(content, program, fast=True).condition is Condition.PROGRAM
    chunks = [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO(content))]
    header = json.loads(chunks[0][1])
    header["claim"]["any_number"] = ["Thread"]
    forged = container([(HEAD, json.dumps(header).encode()), *chunks[1:]])
    assert judge(forged, program, fast=True).condition is Condition.KIND


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
