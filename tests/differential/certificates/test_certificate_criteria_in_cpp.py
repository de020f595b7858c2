"""Both checkers judge certificates of criteria alike, right ones and wrong ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from differential.certificates.test_certificate_criteria import failing_texts, marked
from differential.criteria.test_attacks_with_answers import READS_TWICE, STORES_AFTER_A_READ, texts
from memfence.certificates.checker.criteria import require_single_stores
from memfence.certificates.checker.native_criteria import NativeTriangular
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.automata import NUMBER
from memfence.certificates.format.columns import Columns, row_of
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import ROWS, SECTION
from memfence.models.buffering import Buffering
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.source import SourceText
from support.certificates import beginning, blocks_of, container, judge
from support.generators.criteria_programs import PLAIN, RICH, criteria_programs
from support.models import spec
from support.sampling import sampled
from twins.reference_search import reachable

SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
CAPACITY = 8
EITHER = {Condition.CLOSED, Condition.FAILURE}
"""Of a set that some step leaves and some step fails in: which one is met first depends on the order of the states."""
Rows = Callable[[Program], list[bytes]]


def of_sc(program: Program) -> list[bytes]:
    columns = Columns(program, Buffering.NOWHERE, 0)
    return sorted(row_of(columns, state) for state in reachable(program, spec("sc").definition))


def of(model: str) -> Rows:
    def rows(program: Program) -> list[bytes]:
        columns = Columns(program, spec(model).buffering, CAPACITY)
        return sorted(row_of(columns, state) for state in reachable(program, spec(model).definition))

    return rows


def with_marks(program: Program) -> list[bytes]:
    columns = Columns(program, Buffering.NOWHERE, 0)
    return sorted(
        row_of(columns, state) + b"".join(mark.to_bytes(NUMBER) for mark in marks) for state, marks in marked(program)
    )


KINDS: dict[str, tuple[str, Claim, Rows]] = {
    "persistent": ("persistent", Claim(model="tso", criterion="persistent"), of_sc),
    "race-free": ("race-free", Claim(model="tso", criterion="drf"), of_sc),
    "robust, tso": ("robust", Claim(model="tso", criterion="robust"), of_sc),
    "robust, pso": ("robust", Claim(model="pso", criterion="robust"), of_sc),
    "triangular": ("triangular", Claim(model="tso", criterion="trf"), with_marks),
    "state-robust, tso": ("state-robust", Claim(model="tso", criterion="state-robust"), of("tso")),
    "state-robust, pso": ("state-robust", Claim(model="pso", criterion="state-robust"), of("pso")),
}
EVERY_KIND = pytest.mark.parametrize("name", KINDS)
PROGRAMS = criteria_programs(PLAIN, torn_steps=False) | criteria_programs(RICH, torn_steps=False)


def is_covered(name: str, program: Program) -> bool:
    """Whether the checker knows the criterion of this program; the rows of others need not exist."""
    if name.startswith("state-robust") or name == "race-free":
        return True
    try:
        require_single_stores(program)
    except Refused:
        return False
    return True


def check_same(name: str, program: Program, rows: list[bytes]) -> Condition | str | None:
    """What both checkers say."""
    kind, claim, _ = KINDS[name]
    section = (SECTION, json.dumps({"kind": kind, "capacity": CAPACITY}).encode())
    content = container([*beginning(program, claim), section, *((ROWS, block) for block in blocks_of(rows))])
    found = judge(content, program, fast=False)
    fast = judge(content, program, fast=True)
    assert fast == found or {fast.condition, found.condition} == EITHER
    return found.condition


def check_alike(name: str, program: Program, random: Random) -> None:
    """With all rows; without one; and with one more, or another one."""
    if not is_covered(name, program):
        return
    rows = KINDS[name][2](program)
    check_same(name, program, rows)
    at = random.randrange(len(rows))
    if len(rows) > 1:
        check_same(name, program, rows[:at] + rows[at + 1 :])
    changed = bytearray(rows[at])
    changed[random.randrange(len(changed))] ^= random.choice((1, 2, 3))
    check_same(name, program, sorted({*rows, bytes(changed)}))
    check_same(name, program, sorted({*rows[:at], *rows[at + 1 :], bytes(changed)}))


@EVERY_KIND
@sampled(quick=25, slow=400, program=PROGRAMS, seed=st.integers(0, 1000))
def test_both_checkers_judge_criteria_alike(name: str, program: Program, seed: int) -> None:
    check_alike(name, program, Random(seed))


@pytest.mark.parametrize("name", ["robust, tso", "robust, pso"])
@sampled(quick=25, slow=400, text=texts(), seed=st.integers(0, 1000))
def test_both_checkers_judge_attacks_with_answers_alike(name: str, text: str, seed: int) -> None:
    check_alike(name, load_text(SourceText("drawn.pml", text)), Random(seed))


@EVERY_KIND
@FEW
@given(text=failing_texts(), seed=st.integers(0, 1000))
def test_both_checkers_judge_programs_with_failing_steps_alike(name: str, text: str, seed: int) -> None:
    check_alike(name, load_text(SourceText("drawn.pml", text)), Random(seed))


TWO = "byte x, y;\nactive proctype P() {{ byte a, b; {} }}\nactive proctype Q() {{ byte c, d; {} }}\n"
BUFFERING = ("x = 1; a = y", "y = 1; c = x")
PASSING = ("x = 1; y = 1", "c = y; d = x")
REFUSED = [
    ("race-free", ("x = 1", "c = x"), Condition.RACE),
    ("race-free", ("x = 1", "mfence(); x == 1 -> skip"), Condition.RACE),
    ("triangular", ("y = 1; a = x", "x = 0"), Condition.RACE),
    ("triangular", ("y = 1; x = 1; a = x", "x = 0"), None),
    ("triangular", ("y = 1; mfence(); a = x", "x = 0"), None),
    ("triangular", ("x = x + 1", "x = 2"), Condition.RACE),
    ("robust, tso", BUFFERING, Condition.CYCLE),
    ("robust, tso", PASSING, None),
    ("robust, tso", ("x = x + 1", "x = 1"), Condition.CYCLE),
    ("robust, pso", PASSING, Condition.CYCLE),
    ("robust, pso", ("x = 1; sfence(); y = 1", "c = y; d = x"), None),
    ("robust, pso", ("x = 1; sfence(); a = y", "y = 1; mfence(); c = x"), Condition.CYCLE),
    ("robust, pso", ("x = 1; y = 1", "y == 1; assert(x == 1)"), Condition.CYCLE),
    ("robust, pso", ("x = 2; x = 1; y = 2", "c = y; atomic { if :: x == 0 -> x = 1 :: else fi }"), Condition.CYCLE),
    ("robust, tso", ("x = 1; assert(y == 2)", "y = 1; assert(x == 2)"), Condition.CYCLE),
    ("persistent", ("x = 1; assert(y == 2)", "y = 1"), Condition.ATTACK),
    ("persistent", ("x = 1; assert(x == 2)", "c = x; assert(c == 2)"), None),
    ("race-free", ("assert(x == 1)", "x = 1"), Condition.RACE),
    ("triangular", ("y = 1; assert(x == 2)", "x = 0"), Condition.RACE),
    ("state-robust, tso", BUFFERING, Condition.STRAY),
    ("state-robust, tso", PASSING, None),
    ("state-robust, pso", PASSING, Condition.STRAY),
]


@pytest.mark.parametrize(("name", "bodies", "expected"), REFUSED)
def test_small_programs_are_judged_as_they_must(name: str, bodies: tuple[str, str], expected: Condition | None) -> None:
    program = load_text(SourceText("t.pml", TWO.format(*bodies)))
    assert check_same(name, program, KINDS[name][2](program)) is expected


@pytest.mark.parametrize(
    ("text", "name"),
    [(READS_TWICE, "robust, tso"), (READS_TWICE, "robust, pso"), (STORES_AFTER_A_READ, "robust, pso")],
)
def test_an_attack_that_needs_an_answer_is_refused_by_both(text: str, name: str) -> None:
    program = load_text(SourceText("t.pml", text))
    assert check_same(name, program, of_sc(program)) is Condition.CYCLE


@SETTINGS
@given(program=PROGRAMS)
def test_the_pairs_that_are_written_down_are_those_that_are_reachable(program: Program) -> None:
    if (
        is_covered("triangular", program)
        and check_same("triangular", program, with_marks(program)) is not Condition.FAILURE
    ):
        assert NativeTriangular(program).reachable(most_bytes=1 << 30) == with_marks(program)
