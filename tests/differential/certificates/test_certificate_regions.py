"""Steps that write by what they read elsewhere, and regions that hold the bus: both checkers against the definitions.

The checkers get all states of SC. What they accept has to be persistent, or robust, run by run; what they refuse
is not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from differential.certificates.test_certificate_criteria import check_states_without_attacks
from differential.certificates.test_certificate_criteria_in_cpp import KINDS, check_same, of_sc, with_marks
from memfence.api.certify import certify_fix, check_certified
from memfence.api.fix import fix
from memfence.certificates.checker.refusal import Condition
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import ROWS, SECTION
from memfence.engines.native.races import explore_races
from memfence.models.spec import ModelName
from memfence.passes.shared_memory_form import shared_memory_form
from memfence.pipeline import load, load_text
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Const, variable_address
from memfence.program.ir import Domain, Lock, Program, SharedVar, Store, Unlock
from memfence.questions.criteria import check_criterion
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions
from support.certificates import beginning, blocks_of, container, judge
from support.generators.random_runs import random_run
from support.generators.region_programs import endless_program, guarded_program, region_program
from support.models import spec
from support.sampling import listed
from support.sc_traces import check_trace_of_a_run
from twins import criteria as twin

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Make = Callable[[int], Program]


def unbalanced_program(seed: int) -> Program:
    return region_program(seed, unbalanced=True)


DRAWN: dict[str, Make] = {"guarded": guarded_program, "regions": region_program, "unbalanced": unbalanced_program}
EVERY_SHAPE = pytest.mark.parametrize("shape", DRAWN)
DEFINITIONS: dict[str, Callable[[Program], bool]] = {
    "persistent": twin.is_persistent,
    "robust, tso": lambda program: twin.is_robust(program, "tso"),
    "robust, pso": lambda program: twin.is_robust(program, "pso"),
}


def check_as_defined(program: Program) -> None:
    rows = of_sc(program)
    for name, definition in DEFINITIONS.items():
        assert (check_same(name, program, rows) is None) == definition(program), name


@EVERY_SHAPE
def test_both_checkers_judge_as_the_definitions_do(shape: str) -> None:
    for seed in range(130):
        check_as_defined(DRAWN[shape](seed))


@pytest.mark.slow
@EVERY_SHAPE
@pytest.mark.parametrize("start", range(1_000, 5_000, 1_000))
def test_both_checkers_judge_many_programs_as_the_definitions_do(shape: str, start: int) -> None:
    for seed in range(start, start + 1_000):
        check_as_defined(DRAWN[shape](seed))


def check_races(program: Program) -> None:
    """The engine sees regions as one event, too."""
    form = shared_memory_form(program)
    triangular = explore_races(form, triangular=True, limits=Limits()).race is None
    assert (check_same("triangular", program, with_marks(program)) is None) == triangular
    racing = check_same("race-free", program, of_sc(program)) is not None
    assert racing == (explore_races(form, triangular=False, limits=Limits()).race is not None)


@pytest.mark.parametrize("shape", ["guarded", "regions"])
@listed("seeds", [range(200, 260)], [range(6_000, 7_500)], ids=str)
def test_both_checkers_judge_races_as_the_engine_does(shape: str, seeds: range) -> None:
    for seed in seeds:
        check_races(DRAWN[shape](seed))


def check_as_the_engine_does(program: Program) -> None:
    rows = of_sc(program)
    asked: list[tuple[str, str, ModelName]] = [
        ("persistent", "persistent", "tso"),
        ("robust, tso", "robust", "tso"),
        ("robust, pso", "robust", "pso"),
    ]
    for name, criterion, model in asked:
        verdict = check_criterion(program, criterion, CheckOptions(model=model)).verdict  # type: ignore[arg-type]
        assert (check_same(name, program, rows) is None) == (verdict is Verdict.HOLDS), name


def failing_program(seed: int) -> Program:
    return region_program(seed, failing=True)


# The definitions cannot go through all runs of endless loops, and take a step that fails inside a region, as the models
# do, for one that never releases the bus; the criteria take it for an event that fails.
BESIDE = pytest.mark.parametrize("make", [endless_program, failing_program])


@BESIDE
def test_endless_loops_and_failing_steps_in_regions_are_judged_as_the_engine_does(make: Make) -> None:
    for seed in range(60):
        check_as_the_engine_does(make(seed))


@pytest.mark.slow
@BESIDE
@pytest.mark.parametrize("start", range(1_000, 4_000, 1_000))
def test_many_endless_loops_and_failing_steps_are_judged_as_the_engine_does(make: Make, start: int) -> None:
    for seed in range(start, start + 1_000):
        check_as_the_engine_does(make(seed))


@EVERY_SHAPE
@pytest.mark.parametrize("name", ["persistent", "robust, tso", "robust, pso", "race-free", "triangular"])
def test_both_checkers_judge_sets_that_are_not_closed_alike(shape: str, name: str) -> None:
    random = Random(name)
    for seed in range(300, 320):
        program = DRAWN[shape](seed)
        rows = KINDS[name][2](program)
        if len(rows) > 1:
            del rows[random.randrange(len(rows))]
            check_same(name, program, rows)


def test_programs_with_regions_that_hold_have_certificates() -> None:
    """What the engine says is written down, and both checkers accept it."""
    written = 0
    for seed in range(400, 430):
        for criterion in ("persistent", "robust"):
            proof = check_certified(region_program(seed), None, verified=True, criterion=criterion)
            assert proof.verified is None or proof.verified.is_valid
            written += proof.verified is not None
    assert written > 25


TWO = "byte x, y, z;\nactive proctype P() {{ byte a, b; {} }}\nactive proctype Q() {{ byte c, d; {} }}\n"
WATCHES = "atomic {{ x == {} -> y = 1 }}"
LOOP = "lock(); do :: x > 0 -> x = x - 1 :: else -> break od; y = 1; unlock()"
READS_X = "lock(); do :: c < 1 -> c = c + 1; d = x :: else -> break od; y = 1; unlock()"
PUTS_BACK = "lock(); do :: c < 2 -> y = 1 - y; c = c + 1 :: else -> break od; unlock()"
SMALL = [
    # The write of y is possible before x = 1 reaches memory, not between that and x = 2.
    ("persistent", ("x = 1; x = 2; a = y", WATCHES.format(0)), Condition.ATTACK),
    ("persistent", ("x = 1; mfence(); x = 2; a = y", WATCHES.format(0)), None),
    ("persistent", ("x = 1; mfence(); a = y", WATCHES.format(1)), None),
    # A region with a loop is one event: with y, it has read x.
    ("persistent", ("x = 1; a = y", LOOP), Condition.ATTACK),
    ("robust, tso", ("x = 1; a = y", LOOP), Condition.CYCLE),
    ("robust, tso", ("z = 1; a = y", LOOP), None),
    ("robust, tso", ("x = 1; lock(); a = y; unlock()", LOOP), None),
    ("persistent", ("x = 1; lock(); a = y; unlock()", LOOP), None),
    # What is read inside and before the write, in one event: x is accessed before y changes.
    ("robust, tso", ("x = 1; a = y", READS_X), Condition.CYCLE),
    # A value that a region changes and puts back is changed for nobody.
    ("persistent", ("x = 1; a = y", PUTS_BACK), None),
    # Whoever never releases the bus does nothing that others could see.
    ("persistent", ("x = 1; a = y", "lock(); y = 1; do :: true od; unlock()"), None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "bodies", "expected"), SMALL)
def test_small_programs_are_judged_as_they_must(name: str, bodies: tuple[str, str], expected: Condition | None) -> None:
    program = load_text(SourceText("t.pml", TWO.format(*bodies)))
    assert check_same(name, program, of_sc(program)) is expected


def test_what_is_seen_while_the_bus_is_held_is_not_implied() -> None:
    """Under TSO, and not under SC, Q can be done while P, inside, has read what was there before: nothing drains."""
    region = "lock(); a = z; do :: a == 5 -> skip :: else -> break od; inside: skip; unlock()"
    program = load_text(SourceText("t.pml", TWO.format(region, "z = 1; done: skip; skip")))
    claim = Claim(model="tso", forbid=("P@inside && P.a == 0 && Q@done",))
    assert check_same("persistent", program, of_sc(program)) is None
    section = (SECTION, json.dumps({"kind": "implied", "capacity": 0}).encode())
    content = container([*beginning(program, claim), section, *((ROWS, one) for one in blocks_of(of_sc(program)))])
    assert judge(content, program).condition is judge(content, program, fast=True).condition is Condition.KIND


def test_a_store_behind_the_release_of_the_bus_is_refused() -> None:
    """It is pending while the bus is free: no event that is over at once."""
    builder = ProcessBuilder("P", "P")
    first, second, last = (builder.location() for _ in range(3))
    builder.emit(first, second, Lock())
    builder.emit(second, last, Unlock(), Store(variable_address(0), Const(1)))
    program = Program("late", (SharedVar("x", Domain(0, 1)),), (builder.build(0),))
    for name in ("persistent", "robust, tso", "race-free"):
        assert check_same(name, program, of_sc(program)) is Condition.KIND


@pytest.mark.parametrize("criterion", ["persistent", "robust"])
def test_the_work_stealing_queue_with_its_fences_has_certificates(criterion: str, tmp_path: Path) -> None:
    fixed = fix(load(EXAMPLES / "chase_lev.pml"), criterion=criterion)
    proof = certify_fix(fixed, tmp_path / "proof.mfc", verified=True, criterion=criterion)
    assert proof is not None and proof.written is not None
    assert proof.verified is not None and proof.verified.is_valid


@EVERY_SHAPE
@pytest.mark.parametrize("model", ["tso", "pso"])
def test_a_run_has_the_trace_of_an_sc_run_exactly_where_the_definitions_say(shape: str, model: ModelName) -> None:
    random = Random(shape)
    for seed in range(500, 560):
        run = random_run(DRAWN[shape](seed), spec(model).definition, random, most=40)
        if run.end.is_plain:
            check_trace_of_a_run(run, model)


@pytest.mark.parametrize("model", ["tso", "pso"])
@pytest.mark.parametrize("make", [guarded_program, region_program, unbalanced_program, failing_program])
def test_a_program_without_attacks_is_state_robust(make: Make, model: ModelName) -> None:
    """Theorem 20, also of states in which somebody holds the bus."""
    for seed in range(600, 720):
        check_states_without_attacks(model, make(seed))
