"""The checker of ranks in C++ says what the Python one says, and the core finds ranks exactly where there are some."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from differential.certificates.test_certificate_ranks import FORMULAS, atom
from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.ranks import Pair, Product, product_of
from memfence.certificates.checker.refusal import Refused
from memfence.certificates.checker.verify import verify
from memfence.certificates.format.columns import Columns, planes, row_of
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import Claim
from memfence.certificates.format.ranks import NUMBER
from memfence.certificates.format.sections import OBJECT, ROWS, SECTION
from memfence.certificates.writer.chunks import NoCertificate
from memfence.certificates.writer.native_ranks import Ranked
from memfence.certificates.writer.ranks import ranks_in_python
from memfence.certificates.writer.rows import capacity_of
from memfence.models.spec import ModelSpec
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from support.certificates import beginning, blocks_of, container
from support.generators.cyclic_programs import cyclic_program
from twins.reference_search import breadth_first

SPEC = """process Spec { state s, t; init s; accept t;
trans s -> s { }, s -> t { guard GUARD; }, t -> t { guard AGAIN; }; }
system async property Spec;
"""
ERRORS = """byte a[2], n; process P { state p, q, err; init p;
trans p -> q { effect a[n] = 1, n = n + 1; }, q -> p { guard n < 4; }; }
process Q { state u; init u; trans u -> u { guard a[n % 2] == 1; effect a[n % 2] = 0; }; }
"""
MEETING = """byte x; channel c;
process P { state a, b; init a; trans a -> b { sync c!1; effect x = 1; }, b -> a { guard x == 0; }; }
process Q { byte v; state d, e; init d;
trans d -> d { }, d -> e { sync c?v; }, e -> d { guard x == 1; effect x = 0; }; }
"""
FAILS = """bit x, y; active proctype P() { do :: x == 0 -> x = 1 :: x == 1 -> x = 0; assert(y == 0) od }
active proctype Q() { do :: y = 1 :: y = 0 od }
"""
DELAYED = "bit x, y; active proctype P() { x = 1; do :: y = 1 :: y = 0 od }"
"""Under PSO, x reaches memory because its own buffer drains, however often that of y does."""
Ranks = tuple[list[int], list[bytes]]
"""The mark of each rank, and rows of ranked pairs."""
HOW_MANY = 12
"""Mutations of the ranks of each question."""


@dataclass(frozen=True)
class Question:
    """A program, and a claim with one temporal property, true or not."""

    program: Program
    claim: Claim

    def product(self) -> tuple[Product, ModelSpec, int]:
        question = question_of(self.claim, self.program)
        product = product_of(question, self.claim, question.temporal[0], self.program)
        return product, question.model, capacity_of(self.program, question.model)

    def certificate(self, marks: list[int], rows: list[bytes]) -> bytes:
        details = {"kind": "ranks", "property": 0, "capacity": self.product()[2]}
        chunks = [(SECTION, json.dumps(details).encode()), (OBJECT, json.dumps({"marks": marks}).encode())]
        return container([*beginning(self.program, self.claim), *chunks, *((ROWS, b) for b in blocks_of(rows))])


def random_question(seed: int) -> Question:
    random = Random(seed)
    program = cyclic_program(seed, ordered=seed % 3 == 0)
    formula = random.choice(FORMULAS).format(a=atom(random, program), b=atom(random, program))
    model = random.choice(["sc", "tso", "pso"])
    bound = None if model == "sc" else random.choice([1, 2])
    each = model == "tso" and random.random() < 0.3
    return Question(
        program, Claim(model=model, bound=bound, per_variable=each, ltl=formula, fair=random.random() < 0.5)
    )


def text_questions() -> Iterator[Question]:
    """What random programs have not: run-time errors after which runs go on, rendezvous, assertions that fail."""
    for text, guards in ((ERRORS, ("n == 9", "n == 2", "P.err")), (MEETING, ("x == 2", "x == 1", "Q.e"))):
        for guard in guards:
            spec = SPEC.replace("GUARD", guard).replace("AGAIN", f"not ({guard})")
            program = load_text(SourceText("t.dve", text + spec))
            assert program.error_locations is not None
            for model, bound in (("sc", None), ("tso", 2), ("pso", 1)):
                for fair in (False, True):
                    yield Question(program, Claim(model=model, bound=bound, fair=fair))
    delayed = load_text(SourceText("t.pml", DELAYED))
    yield from (Question(delayed, Claim(model=model, bound=1, ltl="<> (x == 1)")) for model in ("tso", "pso"))
    program = load_text(SourceText("t.pml", FAILS))
    for formula in ("[] <> (x == 0)", "[] (x == 1 -> <> (x == 0))", "<> (x == 2)"):
        for fair in (False, True):
            claim = Claim(model="tso", bound=1, ltl=formula, fair=fair)
            yield Question(program, claim)
            # Only run-time errors lead to the error state: no failing assertion does.
            yield from (Question(replace(program, error_locations=(at, 0)), claim) for at in range(5))


def judged(content: bytes, program: Program, *, fast: bool) -> tuple[Any, ...]:
    """Everything that a checker says."""
    try:
        return ("valid", verify(io.BytesIO(content), program, fast=fast).states)
    except Refused as refused:
        return (refused.condition, refused.detail, refused.state, refused.step, refused.after)
    except NotACertificate:
        return ("not a certificate",)


def assert_judges_agree(question: Question, content: bytes) -> bool:
    """Whether both accept."""
    slow = judged(content, question.program, fast=False)
    fast = judged(content, question.program, fast=True)
    assert fast == slow, question.claim
    return slow[0] == "valid"


def found_by_the_core(question: Question) -> Ranks | None:
    product, model, capacity = question.product()
    try:
        ranked = Ranked(product, model, capacity, Limits())
    except NoCertificate:
        return None
    return ranked.marks, rows_of(question, ranked.blocks())


def found_in_python(question: Question) -> Ranks | None:
    product, model, capacity = question.product()
    try:
        marks, blocks = ranks_in_python(product, Columns(product.program, model.buffering, capacity), Limits())
    except NoCertificate:
        return None
    return marks, rows_of(question, blocks)


def rows_of(question: Question, blocks: Iterator[bytes]) -> list[bytes]:
    product, model, capacity = question.product()
    width = Columns(product.program, model.buffering, capacity).width + 2 * NUMBER
    return [row for block in blocks for row in planes(block, width)]


def made_up(question: Question, random: Random) -> Ranks:
    """Every reachable pair with some rank."""
    product, model, capacity = question.product()
    columns = Columns(product.program, model.buffering, capacity)

    def after(pair: Pair) -> Iterator[Pair]:
        return (target for _, target, _ in product.moves(pair))

    ranks, marks = random.choice([1, 2, 4]), product.marks
    rows = sorted(
        row_of(columns, state) + node.to_bytes(NUMBER) + random.randrange(ranks).to_bytes(NUMBER)
        for state, node in breadth_first(product.starts(), after)
    )
    return [random.randrange(marks) for _ in range(ranks)], rows


def mutated(marks: list[int], rows: list[bytes], random: Random) -> Ranks:
    """A rank, a node or a value changed, a row dropped or doubled, a mark changed, a rank too many."""
    marks, rows = list(marks), list(rows)
    at = random.randrange(len(rows))
    match random.randrange(7):
        case 0:
            rank = min(len(marks), max(0, int.from_bytes(rows[at][-NUMBER:]) + random.choice([-1, 1])))
            rows[at] = rows[at][:-NUMBER] + rank.to_bytes(NUMBER)
        case 1:
            del rows[at]
        case 2:
            changed = bytearray(rows[at])
            changed[random.randrange(len(changed))] ^= random.choice([1, 2, 255])
            rows = sorted({*rows[:at], *rows[at + 1 :], bytes(changed)})
        case 3:
            mark = random.randrange(len(marks))
            marks[mark] = marks[mark] + random.choice([-1, 1])
        case 4:
            rows.insert(at, rows[at])
        case 5:
            rows = [row[:-NUMBER] + bytes(NUMBER) for row in rows]
        case _:
            marks = [*marks, 1 << 70]
    return marks, rows


def compare(question: Question, seed: int) -> tuple[bool, int]:
    """Whether the core found ranks, and how many of the mutations were refused."""
    random, found, slowly = Random(seed), found_by_the_core(question), found_in_python(question)
    assert (found is None) == (slowly is None), question.claim
    for ranks in (found, slowly):
        assert ranks is None or assert_judges_agree(question, question.certificate(*ranks)), question.claim
    marks, rows = found or made_up(question, random)
    assert rows, "there is an initial state"
    mutants = [mutated(marks, rows, random) for _ in range(HOW_MANY)] + [made_up(question, random)]
    return found is not None, sum(not assert_judges_agree(question, question.certificate(*one)) for one in mutants)


def test_both_judges_agree_on_ranks_of_random_programs() -> None:
    found = [compare(random_question(seed), seed) for seed in range(60)]
    assert 15 <= sum(exists for exists, _ in found) <= 45, "some formulas hold, some do not"
    assert sum(refused for _, refused in found) > 300


@pytest.mark.slow
def test_both_judges_agree_on_ranks_of_many_random_programs() -> None:
    assert sum(refused for _, refused in (compare(random_question(seed), seed) for seed in range(1000, 2500))) > 8000


def test_both_judges_agree_where_runs_fail_or_processes_meet() -> None:
    found = [compare(question, seed) for seed, question in enumerate(text_questions())]
    assert {exists for exists, _ in found} == {True, False}


def test_what_does_not_fit_into_memory_is_not_judged() -> None:
    question = next(one for one in map(random_question, range(60)) if found_by_the_core(one) is not None)
    found = found_by_the_core(question)
    assert found is not None
    for fast in (False, True):
        with pytest.raises(MemoryError):
            verify(io.BytesIO(question.certificate(*found)), question.program, fast=fast, most_bytes=10)
