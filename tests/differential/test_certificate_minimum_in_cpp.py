"""Minimum sets of fences: the judge in C++ says what the judge in Python says, of good certificates and of bad ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from differential.test_certificate_minimum import Chunks, parts, section_of
from differential.test_fences_against_every_subset import Model, holds, questions, sites_of
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
from memfence.models.spec import ModelSpec
from memfence.models.state import Commit, DropSeparator, Run, Step
from memfence.models.steps import starts, take
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.pipeline import load_text
from memfence.program.expressions import At, Binary, BufferEmpty, Const, Expr, RegisterOf, Shared, variable_address
from memfence.program.ir import Fence, Final, Program
from memfence.source import SourceText
from memfence.synthesis.apply_edits import with_edits
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixResult, FixVerdict
from memfence.synthesis.synthesise import fix_fences
from memfence.tasks.criterion import Criterion
from support.criteria_programs import PLAIN, criteria_programs
from support.generators import EVERYTHING, Shape, programs
from support.models import spec
from support.random_runs import random_run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
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
    """None: accepted. Any other exception is a fault of the judge."""
    try:
        judge()
    except Refused as refused:
        return refused.condition
    except NotACertificate:
        return "not a certificate"
    return None


# Any clause, of any sites, with any run.


def drawn_sites(program: Program, random: Random) -> list[Site]:
    """Most of them as a certificate may have them, some not."""
    sites, taken = list[Site](), set[tuple[int, int]]()
    for p, process in enumerate(program.processes):
        for t, step in enumerate(process.transitions):
            is_fence = bool(step.ops) and all(isinstance(op, Fence) for op in step.ops)
            kind = random.choice(("mfence", "sfence", "locked"))
            is_chosen = (is_fence and kind != "locked") or (kind == "locked" and step.locked)
            if random.random() < 0.02:
                is_chosen = not is_chosen
            if random.random() < 0.5 and ((p, t) not in taken or not (is_chosen or kind == "locked")):
                sites.append(Site(kind, ((p, t),), random.randint(1, 3), is_chosen))
                taken.add((p, t))
    random.shuffle(sites)
    return sites


def drawn_run(program: Program, model: ModelSpec, random: Random) -> tuple[int, list[Step]]:
    """A run that is often drained at the end, and sometimes is none."""
    run = random_run(program, model.definition, random, most=random.choice((4, 12, 30)))
    steps, state = [taken.step for taken in run.steps], run.end
    if run.failure is None and random.random() < 0.8:
        for p, _ in enumerate(program.processes):
            while (found := next(iter(model.definition.background(program, state, p)), None)) is not None:
                if take(program, model.definition, state, found[0]) is None:
                    break
                steps.append(found[0])
                state = found[1]
    first = list(starts(program, model.definition)).index(run.start)
    if random.random() < 0.15:
        others = [
            Run(0, 0),
            Run(1, 2),
            Commit(0),
            Commit(0, 1),
            Commit(7),
            DropSeparator(0),
            Run(-1, 0),
            Run(0, 1 << 70),
        ]
        at = random.randrange(len(steps) + 1)
        steps[at : at + random.randint(0, 1)] = random.choice([[], [random.choice(others)]])
    return (first if random.random() < 0.97 else first + random.choice((1, 2, 1 << 40))), steps


def drawn_question(program: Program, model: ModelSpec, random: Random) -> Question:
    """Something about one or two parts of a state, deadlocks, and final states."""

    def look() -> Expr:
        p = random.randrange(len(program.processes))
        process = program.processes[p]
        kept = [r for r, register in enumerate(process.registers) if not register.transient]
        leaves: list[Expr] = [
            At(p, frozenset(random.sample(range(len(process.locations)), 2)))
            if len(process.locations) > 1
            else Const(1),
            BufferEmpty(p),
            Binary(
                "==", Shared(variable_address(random.randrange(len(program.variables)))), Const(random.randint(0, 1))
            ),
            Binary("==", RegisterOf(p, random.choice(kept)), Const(random.randint(0, 1))),
            Binary("==", Binary("/", Const(1), RegisterOf(p, random.choice(kept))), Const(1)),
        ]
        return random.choice(leaves)

    question = question_of(Claim(model=model.name), program)
    finals = [Final(random.choice(("exists", "not exists", "forall")), look(), "f", (("o", Const(0)),)) for _ in "ab"]
    return replace(
        question,
        model=model,
        bad=random.choice((None, look(), Binary(random.choice(("&&", "||")), look(), look()))),
        deadlock=random.random() < 0.5,
        finals=tuple(finals[: random.choice((0, 1, 1, 2))]),
    )


def same_verdict(question: Question, criterion: str, sites: Sequence[Site], clause: Clause) -> Verdict:
    native = NativeMinimum(question, criterion, sites, most_bytes=MOST_BYTES)
    slow = verdict_of(lambda: check_clause(question, criterion, sites, clause))
    fast = verdict_of(lambda: native.check_clause(clause))
    assert (fast is None) == (slow is None), (criterion, slow, fast)
    return slow


def check_clauses(examples: int, useful: float) -> None:
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


def test_both_judges_say_the_same_of_any_clause() -> None:
    check_clauses(300, 0.0)


@pytest.mark.slow
def test_both_judges_say_the_same_of_many_clauses() -> None:
    check_clauses(2000, 0.001)


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
    """The same from both judges of the section alone."""
    slow = verdict_of(lambda: _minimum(Case(program, claim, fast=False), section_of(chunks)))
    fast = verdict_of(lambda: _minimum(Case(program, claim, fast=True), section_of(chunks)))
    assert (fast is None) == (slow is None), (slow, fast, [json.loads(content) for _, content in chunks[1:]])
    return slow


def a_site_is_another(random: Random, sites: list[Any], clauses: list[Any]) -> None:
    site = random.choice(sites)
    way = random.randrange(6)
    if way == 0:
        site[0] = random.choice(("mfence", "sfence", "locked", "lock"))
    elif way == 1 and site[1]:
        place = random.choice(site[1])
        place[random.randrange(2)] += random.choice((-1, 1))
    elif way == 2:
        site[1] = site[1][1:] if random.random() < 0.5 else [*site[1], *random.choice(sites)[1]]
    elif way == 3:
        site[2] = random.choice((1, 2, 10, 1 << 61, 1 << 80, 0))
    elif way == 4:
        site[3] = not site[3]
    else:
        other = random.choice(sites)
        site[3], other[3] = other[3], site[3]


def sites_are_others(random: Random, sites: list[Any], clauses: list[Any]) -> None:
    at = random.randrange(len(sites))
    random.choice([lambda: sites.pop(at), lambda: sites.append(deepcopy(sites[at])), lambda: random.shuffle(sites)])()


def a_clause_is_another(random: Random, sites: list[Any], clauses: list[Any]) -> None:
    numbers = random.choice(clauses)["sites"]
    if numbers and random.random() < 0.6:
        numbers.pop(random.randrange(len(numbers)))
    else:
        numbers.append(random.randrange(len(sites) + 1))


def clauses_are_others(random: Random, sites: list[Any], clauses: list[Any]) -> None:
    at = random.randrange(len(clauses))
    random.choice([lambda: clauses.pop(at), lambda: clauses.append(deepcopy(clauses[at]))])()


def a_run_is_another(random: Random, sites: list[Any], clauses: list[Any]) -> None:
    clause = random.choice(clauses)
    steps = clause["steps"]
    if not steps or random.random() < 0.1:
        clause["start"] = random.choice((0, 1, 5, 1 << 63, 1 << 64, 1 << 80, -1))
        return
    at = random.randrange(len(steps))
    match random.randrange(7):
        case 0:
            del steps[at]
        case 1:
            del steps[at:]
        case 2:
            steps.insert(at, deepcopy(random.choice(steps)))
        case 3:
            other = random.randrange(len(steps))
            steps[at], steps[other] = steps[other], steps[at]
        case 4:
            steps[at][random.randrange(1, len(steps[at]))] += random.choice((-1, 1, 1 << 31, 1 << 64))
        case 5:
            steps[at] = random.choice(
                (["commit", 0, 0], ["drop", 0], ["commit", 1, 0], ["meet", 0, 0, 1, 0], ["run", 0])
            )
        case _:
            steps[at + 1 :] = []
            steps[at:] = random.sample(steps[at:], len(steps[at:]))


MUTATIONS = [a_site_is_another, sites_are_others, a_clause_is_another, clauses_are_others, a_run_is_another]


def check_mutants(program: Program, claim: Claim, chunks: Chunks, count: int) -> int:
    """How many mutations both judges accept; the certificate itself they do."""
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
def test_both_judges_say_the_same_of_certificates_of_examples(
    name: str, keywords: dict[str, Any], tmp_path: Path
) -> None:
    assert check_example(name, keywords, tmp_path, 60)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "keywords"), ALL, ids=str)
def test_both_judges_say_the_same_of_certificates_of_all_examples(
    name: str, keywords: dict[str, Any], tmp_path: Path
) -> None:
    check_example(name, keywords, tmp_path, 120)


def check_random(criterion: str, model: Model, examples: int, count: int) -> None:
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


CASES = [("safety", "tso"), ("safety", "pso"), ("persistent", "tso"), ("robust", "tso"), ("robust", "pso")]


@pytest.mark.parametrize(("criterion", "model"), CASES)
def test_both_judges_say_the_same_of_certificates_of_random_programs(criterion: str, model: Model) -> None:
    check_random(criterion, model, 2, 40)


@pytest.mark.slow
@pytest.mark.parametrize(("criterion", "model"), CASES)
def test_both_judges_say_the_same_of_certificates_of_many_random_programs(criterion: str, model: Model) -> None:
    check_random(criterion, model, 60, 100)


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
