"""Minimum sets of fences: the checker in C++ says what the one in Python says, of good certificates and of bad ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from differential.certificates.test_certificate_minimum import parts, section_of
from differential.synthesis.test_fences_against_every_subset import Model, holds, questions, sites_of
from memfence import _core
from memfence.api.certify import certify_fix
from memfence.api.fix import fix
from memfence.api.verify import verify
from memfence.certificates.checker.minimum import cheap_choice, check_clause, variant
from memfence.certificates.checker.native import NotForTheFastChecker
from memfence.certificates.checker.native_minimum import NativeMinimum
from memfence.certificates.checker.question import Question, question_of
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.verify import Case, _minimum
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import Claim
from memfence.certificates.format.minimum import Clause, Site
from memfence.certificates.format.sections import OBJECT
from memfence.certificates.writer.minimum import minimum_chunks
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.source import SourceText
from memfence.synthesis.apply_edits import with_edits
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixResult, FixVerdict
from memfence.synthesis.synthesise import fix_fences
from memfence.tasks.criterion import Criterion
from support.certificates import Chunks
from support.generators.criteria_programs import PLAIN, criteria_programs
from support.generators.drawn_clauses import drawn_question, drawn_run, drawn_sites
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import spec
from support.mutated_minima import MUTATIONS
from support.sampling import listed

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SETTINGS = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
CRITERIA = ("safety", "persistent", "robust", "state-robust", "trf", "drf")
MEMORIES = (
    spec("tso"), spec("tso"), spec("pso"), spec("pso"), spec("sc"), spec("tso", 1), spec("tso", 2), spec("pso", 1),
    spec("pso", 2), spec("tso", 1, per_variable=True), spec("tso", 2, per_variable=True),
)  # fmt: skip
SHAPES = (
    Shape(
        processes=(2, 3), statements=(2, 4), features=frozenset({"fences", "sfences", "locked", "branches", "waits"})
    ),
    Shape(processes=(1, 3), features=EVERYTHING | {"assertions", "errors", "regions"}),
)
MOST_BYTES = 1 << 30
Verdict = Condition | str | None


def verdict_of(judge: Callable[[], object]) -> Verdict:
    """None: accepted. Any other exception is a fault of the checker."""
    try:
        judge()
    except Refused as refused:
        return refused.condition
    except NotACertificate:
        return "not a certificate"
    return None


# Any clause, of any sites, with any run.


def same_verdict(question: Question, criterion: str, sites: Sequence[Site], clause: Clause) -> Verdict:
    native = NativeMinimum(question, criterion, sites, most_bytes=MOST_BYTES)
    slow = verdict_of(lambda: check_clause(question, criterion, sites, clause))
    fast = verdict_of(lambda: native.check_clause(clause))
    assert (fast is None) == (slow is None), (criterion, slow, fast)
    return slow


@listed("examples, useful", [(300, 0.0)], [(2000, 0.001)])
def test_both_checkers_say_the_same_of_any_clause(examples: int, useful: float) -> None:
    """`useful`: the share of clauses that is accepted, at least."""
    accepted = dict.fromkeys(CRITERIA, 0)

    @given(st.one_of(criteria_programs(PLAIN), *map(programs, SHAPES)), st.integers(0, 1 << 32))
    @settings(max_examples=examples, phases=(Phase.generate,), derandomize=True, **SETTINGS)
    def agrees(drawn: Program, seed: int) -> None:
        random, program = Random(seed), fuse_lock_regions(drawn)
        model = random.choice(MEMORIES)
        sites, question = drawn_sites(program, random), drawn_question(program, model, random)
        numbers = frozenset(n for n, _ in enumerate(sites) if random.random() < 0.5)
        try:
            fenced = variant(program, sites, set(range(len(sites))) - numbers).program
        except Refused:
            fenced = program
        run = drawn_run(fenced, model, random)
        under_sc = drawn_run(fenced, spec("sc"), random)
        for criterion in CRITERIA:
            start, steps = under_sc if criterion == "trf" else run
            found = same_verdict(question, criterion, sites, Clause(numbers, start, tuple(steps)))
            accepted[criterion] += found is None

    agrees()
    assert accepted["drf"] == 0
    assert all(accepted[one] >= examples * useful for one in CRITERIA[:5]), accepted


# Certificates of `fix`, and mutations of them.

FEW = [
    ("dekker.pml", {}),
    ("lamport_fast.pml", {"criterion": "persistent"}),
    ("peterson.pml", {"criterion": "robust", "model": "pso"}),
    ("peterson.pml", {"model": "pso", "minimise": "cost"}),
    ("dekker.pml", {"criterion": "state-robust"}),
    ("store_buffering.litmus", {}),
    ("criteria/robust_not_persistent.pml", {"criterion": "persistent"}),
    ("c/qemu_bottom_half.c", {}),
    ("dekker.pml", {"criterion": "trf"}),
]
ALL = [
    (str(path.relative_to(EXAMPLES)), {"criterion": criterion, "model": model, "timeout_seconds": 20})
    for pattern in ("*.pml", "*.litmus", "criteria/*.pml", "sober/*.pml", "algorithms/*.pml", "c/*.c")
    for path in sorted(EXAMPLES.glob(pattern))
    for criterion in ("safety", "persistent", "robust", "state-robust", "trf")
    for model in ("tso", "pso")
    if not (criterion in ("persistent", "trf") and model == "pso")
    and not (path.suffix == ".c" and criterion != "safety")
]


def both(program: Program, claim: Claim, chunks: Chunks) -> Verdict:
    """The same from both checkers of the section alone."""
    slow = verdict_of(lambda: _minimum(Case(program, claim, fast=False), section_of(chunks)))
    fast = verdict_of(lambda: _minimum(Case(program, claim, fast=True), section_of(chunks)))
    assert (fast is None) == (slow is None), (slow, fast, [json.loads(content) for _, content in chunks[1:]])
    return slow


def check_mutants(program: Program, claim: Claim, chunks: Chunks, count: int) -> int:
    """How many mutations both checkers accept; the certificate itself they do."""
    assert both(program, claim, chunks) is None
    random, accepted = Random(count), 0
    listed, *runs = (json.loads(content) for _, content in chunks[1:])
    for number in range(count):
        sites, clauses = deepcopy(listed["sites"]), deepcopy(runs)
        for _ in range(random.choice((1, 1, 2))):
            if sites and clauses:
                MUTATIONS[number % len(MUTATIONS)](random, sites, clauses)
        mutant = [chunks[0], *((OBJECT, json.dumps(one).encode()) for one in ({"sites": sites}, *clauses))]
        try:
            accepted += both(program, claim, mutant) is None
        except NotForTheFastChecker:
            assert "1152921504606846976" in json.dumps(sites) or max(_numbers([sites, clauses])) >= 1 << 61
    return accepted


def _numbers(found: Any) -> list[int]:
    if isinstance(found, dict):
        return _numbers(list(found.values()))
    return (
        [n for one in found for n in _numbers(one)]
        if isinstance(found, list)
        else [found]
        if type(found) is int
        else [0]
    )


def check_example(name: str, keywords: dict[str, Any], folder: Path, count: int) -> bool:
    """False: there is no certificate of a minimum."""
    path = folder / "proof.mfc"
    fixed = fix(EXAMPLES / name, **keywords)
    if not isinstance(fixed, FixResult) or fixed.patched is None:
        return False
    proof = certify_fix(fixed, path, verified=False, **keywords)
    if proof is None or proof.written is None or proof.not_minimum is not None:
        return False
    program = load_text(SourceText(str(EXAMPLES / name), fixed.patched), fixed.program.options)
    found = verify(path, program, checker="native")
    assert found.is_valid and found.checked is not None and found.checked.checker == "native"
    chunks, sites, clauses = parts(path.read_bytes())
    lists = [(OBJECT, json.dumps(one).encode()) for one in (sites, *clauses)]
    check_mutants(program, found.header.claim, [chunks[-1], *lists], count)
    return True


@pytest.mark.parametrize(("name", "keywords"), FEW, ids=str)
def test_both_checkers_say_the_same_of_certificates_of_examples(
    name: str, keywords: dict[str, Any], tmp_path: Path
) -> None:
    assert check_example(name, keywords, tmp_path, 60)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "keywords"), ALL, ids=str)
def test_both_checkers_say_the_same_of_certificates_of_all_examples(
    name: str, keywords: dict[str, Any], tmp_path: Path
) -> None:
    check_example(name, keywords, tmp_path, 120)


CASES = [("safety", "tso"), ("safety", "pso"), ("persistent", "tso"), ("robust", "tso"), ("robust", "pso")]


@pytest.mark.parametrize(("criterion", "model"), CASES)
@listed("examples, count", [(2, 40)], [(60, 100)])
def test_both_checkers_say_the_same_of_certificates_of_random_programs(
    criterion: str, model: Model, examples: int, count: int
) -> None:
    @given(questions(Criterion(criterion), model))
    @settings(max_examples=examples, phases=(Phase.generate,), derandomize=True, **SETTINGS)
    def agrees(program: Program) -> None:
        assume(not holds(program, Criterion(criterion), model) and len(sites_of(program)) <= 6)
        kinds = ("mfence", "sfence", "locked") if len(program.processes) % 2 else ("mfence", "sfence")
        fixed = fix_fences(program, FixOptions(model=model, criterion=Criterion(criterion), kinds=kinds))
        assume(fixed.verdict is FixVerdict.FIXED)
        assert isinstance(fixed, FixResult) and fixed.bound is not None
        fenced = with_edits(fixed.program, [fixed.bound.edits[number] for number in fixed.bound.chosen])
        claim = Claim(model=model, criterion=criterion, fences=fixed.chosen.count)
        check_mutants(fenced, claim, list(minimum_chunks(question_of(claim, fenced), fenced, fixed)), count)

    agrees()


# The search for a cheaper choice.

MET, TOO_MANY = 0, 2


@given(
    st.lists(st.frozensets(st.integers(0, 6), max_size=4), max_size=7),
    st.lists(st.integers(1, 3), min_size=7, max_size=7),
    st.integers(-1, 10),
)
def test_both_searches_for_a_cheaper_choice_agree(clauses: list[frozenset[int]], prices: list[int], money: int) -> None:
    found = _core.check_fence_bound([sorted(one) for one in clauses], prices, money)
    assert found != TOO_MANY
    assert (found == MET) == (cheap_choice(clauses, prices, money) is None)


def test_a_search_for_a_cheaper_choice_ends() -> None:
    """Three of 90 sites in each of 300 clauses: nobody sees what they cost without trying. The other one is deep."""
    random = Random(0)
    triples = [sorted(random.sample(range(90), 3)) for _ in range(300)]
    assert _core.check_fence_bound(triples, [1] * 90, 39) == TOO_MANY
    assert _core.check_fence_bound([[n] for n in range(3000)], [1] * 3000, 2999) == MET
