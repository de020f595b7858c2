"""Certificates of minimum sets of fences: written for every minimum, and accepted only where nothing cheaper works."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from differential.synthesis.test_fences_against_every_subset import Model, holds, questions, sites_of
from memfence.api.certify import certify_fix
from memfence.api.fix import fix
from memfence.api.verify import verify
from memfence.certificates.checker.minimum import cheap_choice, check_clause, variant
from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.verify import Case, _minimum
from memfence.certificates.format.container import Chunk, NotACertificate
from memfence.certificates.format.header import Claim
from memfence.certificates.format.minimum import Clause, Site, read_minimum
from memfence.certificates.format.sections import HEAD, OBJECT, Section
from memfence.certificates.writer.minimum import minimum_chunks
from memfence.models.state import ProcessStep
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.source import SourceText
from memfence.synthesis.apply_edits import with_edits
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixResult, FixVerdict
from memfence.synthesis.synthesise import fix_fences
from memfence.tasks.criterion import Criterion
from support.certificates import Chunks, chunks_of, container, judge
from support.generators.criteria_programs import PLAIN, criteria_programs
from support.generators.random_runs import random_run
from support.models import spec
from support.sampling import listed, sampled
from support.sc_traces import check_trace_of_a_run

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SETTINGS = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
CASES = [("safety", "tso"), ("safety", "pso"), ("persistent", "tso"), ("robust", "tso"), ("robust", "pso")]


def section_of(chunks: Chunks) -> Section:
    return Section("minimum", {}, (Chunk(kind, content) for kind, content in chunks[1:]))


def judged(program: Program, claim: Claim, chunks: Chunks) -> Condition | None:
    """What the checker says of the section about the minimum alone."""
    try:
        _minimum(Case(program, claim, fast=False), section_of(chunks))
    except Refused as refused:
        return refused.condition
    return None


def check_program(program: Program, criterion: str, model: Model) -> None:
    """The section is accepted, and whatever costs less fails: every such choice is tried."""
    fixed = fix_fences(program, FixOptions(model=model, criterion=Criterion(criterion), kinds=("mfence", "sfence")))
    assume(fixed.verdict is FixVerdict.FIXED)
    assert isinstance(fixed, FixResult) and fixed.bound is not None
    fenced = with_edits(fixed.program, [fixed.bound.edits[number] for number in fixed.bound.chosen])
    claim = Claim(model=model, criterion=criterion, fences=fixed.chosen.count)
    chunks = list(minimum_chunks(question_of(claim, fenced), fenced, fixed))
    assert judged(fenced, claim, chunks) is None
    for fences in (fixed.chosen.count - 1, fixed.chosen.count + 1):
        assert judged(fenced, replace(claim, fences=fences or None), chunks) is Condition.MINIMUM
    sites, clauses = read_minimum(fenced, section_of(chunks).chunks(OBJECT))
    assert list(clauses)
    for made in combinations(range(len(sites)), fixed.chosen.count - 1):
        assert not holds(variant(fenced, sites, set(made)).program, Criterion(criterion), model)
    chosen = {number for number, site in enumerate(sites) if site.is_chosen}
    assert holds(variant(fenced, sites, chosen).program, Criterion(criterion), model)


@pytest.mark.parametrize(("criterion", "model"), CASES)
@listed("examples, most_sites", [(2, 5)], [(60, 6)])
def test_a_minimum_is_certified_and_nothing_cheaper_works(
    criterion: str, model: Model, examples: int, most_sites: int
) -> None:
    @given(questions(Criterion(criterion), model))
    @settings(max_examples=examples, phases=(Phase.generate,), derandomize=True, **SETTINGS)
    def agrees(program: Program) -> None:
        assume(not holds(program, Criterion(criterion), model) and len(sites_of(program)) <= most_sites)
        check_program(program, criterion, model)

    agrees()


@sampled(
    quick=12,
    slow=1000,
    program=criteria_programs(PLAIN),
    random=st.randoms(use_true_random=False),
    model=st.sampled_from(["tso", "tso", "pso"]),
)
def test_a_run_has_the_trace_of_an_sc_run_exactly_where_the_definitions_say(
    program: Program, random: object, model: Model
) -> None:
    run = random_run(program, spec(model).definition, random, most=40)
    assume(run.failure is None and run.end.is_plain)
    check_trace_of_a_run(run, model)


@given(
    st.lists(st.frozensets(st.integers(0, 5), max_size=4), max_size=6),
    st.lists(st.integers(1, 3), min_size=6, max_size=6),
    st.integers(0, 9),
)
def test_a_choice_that_is_cheap_enough_is_found_exactly_where_there_is_one(
    clauses: list[frozenset[int]], prices: list[int], money: int
) -> None:
    every = (set(some) for size in range(7) for some in combinations(range(6), size))
    cheap = [one for one in every if sum(prices[n] for n in one) <= money and all(one & clause for clause in clauses)]
    found = cheap_choice(clauses, prices, money)
    assert (found is not None) == bool(cheap)
    assert found is None or found in cheap


SAMPLES = [
    ("dekker.pml", {}),
    ("lamport_fast.pml", {"criterion": "persistent"}),
    ("peterson.pml", {"criterion": "robust"}),
    ("peterson.pml", {"model": "pso", "minimise": "cost"}),
    ("dekker.pml", {"criterion": "state-robust"}),
    ("store_buffering.litmus", {}),
    ("store_buffering.litmus", {"criterion": "persistent"}),
    ("store_buffering.litmus", {"criterion": "robust"}),
]


@pytest.fixture(scope="module", params=SAMPLES, ids=str)
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Program]:
    """A certificate of an example with its fences, and the program that it is about."""
    name, keywords = request.param
    path = tmp_path_factory.mktemp("minimum") / "proof.mfc"
    fixed = fix(EXAMPLES / name, **keywords)
    assert isinstance(fixed, FixResult) and fixed.patched is not None
    proof = certify_fix(fixed, path, verified=True, **keywords)
    assert proof is not None and proof.not_minimum is None and proof.verified is not None and proof.verified.is_valid
    program = load_text(SourceText(str(EXAMPLES / name), fixed.patched), fixed.program.options)
    claim = verify(path, program).header.claim
    assert claim.fences == fixed.chosen.count
    assert claim.price == (fixed.chosen.cost if "minimise" in keywords else None)
    return path.read_bytes(), program


def parts(content: bytes) -> tuple[Chunks, dict[str, object], list[dict[str, object]]]:
    """All chunks up to the section about the minimum and with it, the sites, and the clauses."""
    chunks = chunks_of(content)
    at = max(n for n, (_, text) in enumerate(chunks) if text == b'{"kind": "minimum"}')
    sites, *clauses = (json.loads(text) for _, text in chunks[at + 1 :])
    return chunks[: at + 1], sites, clauses


def joined(chunks: Chunks, sites: object, clauses: list[dict[str, object]]) -> bytes:
    return container([*chunks, *((OBJECT, json.dumps(one).encode()) for one in [sites, *clauses])])


def forgeries(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Certificates that say more than they show."""
    chunks, sites, clauses = parts(content)
    listed = sites["sites"]
    assert isinstance(listed, list)
    for n, clause in enumerate(clauses):
        others = [*clauses[:n], *clauses[n + 1 :]]
        steps, numbers = clause["steps"], clause["sites"]
        assert isinstance(steps, list) and isinstance(numbers, list)
        yield "a clause is missing", joined(chunks, sites, others)
        yield "a run stops too early", joined(chunks, sites, [*others, {**clause, "steps": steps[: len(steps) // 2]}])
        for left_out in numbers:
            fewer = [number for number in numbers if number != left_out]
            yield "a clause has a site too few", joined(chunks, sites, [*others, {**clause, "sites": fewer}])
    chosen = [n for n, site in enumerate(listed) if site[3]]
    unchosen = [site if n != chosen[0] else [*site[:3], False] for n, site in enumerate(listed)]
    yield "a chosen fence counts as another site", joined(chunks, {"sites": unchosen}, clauses)
    yield "a fence is chosen twice", joined(chunks, {"sites": [*listed, listed[chosen[0]]]}, clauses)
    header = json.loads(chunks[0][1])
    header["claim"]["fences"] -= 1
    yield "the claim has a fence less", joined([(HEAD, json.dumps(header).encode()), *chunks[1:]], sites, clauses)


def test_no_forged_minimum_is_accepted(sample: tuple[bytes, Program]) -> None:
    content, program = sample
    assert judge(content, program).condition is None
    assert judge(joined(*parts(content)), program).condition is None
    for what, forged in forgeries(content):
        assert judge(forged, program).condition is not None, what


def test_a_site_without_a_fence_cannot_be_chosen() -> None:
    program = load_text(SourceText("t.pml", "byte x, y; active proctype P() { x = 1; y = 1 }"))
    with pytest.raises(Refused, match="do not prove"):
        variant(program, [Site("mfence", ((0, 0),), 1, True)], set())


def test_who_stands_before_a_fence_has_not_passed_it() -> None:
    """With the fence, `done` is never reached with `x` still 0: no run says that the fence is of no use."""
    text = '#include "memfence.h"\nbyte x; active proctype P() { x = 1; mfence(); done: x = 2 }'
    program = load_text(SourceText(str(EXAMPLES / "t.pml"), text))
    steps = {type(t.ops[0]).__name__ + str(t.source): n for n, t in enumerate(program.processes[0].transitions)}
    start = program.processes[0].initial
    (fence,) = (n for name, n in steps.items() if name.startswith("Fence"))
    question = question_of(Claim(model="tso", forbid=("P@done && x == 0",)), program)
    run = (ProcessStep(0, steps[f"Store{start}"]),)
    site = Site("mfence", ((0, fence),), 1, True)
    with pytest.raises(Refused, match="no run shows"):
        check_clause(question, "safety", [site], Clause(frozenset(), 0, run))
    assert check_clause(question, "safety", [site], Clause(frozenset({0}), 0, (*run, ProcessStep(0, fence)))) == 2


def test_a_place_that_does_not_exist_is_no_certificate() -> None:
    program = load_text(SourceText("t.pml", "byte x; active proctype P() { x = 1 }"))
    for place in ([9, 0], [0, 9], [-1, 0], [0, "1"], [0], None):
        content = json.dumps({"sites": [["mfence", [place], 1, False]]}).encode()
        with pytest.raises(NotACertificate):
            read_minimum(program, iter([content]))
