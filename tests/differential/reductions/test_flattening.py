"""Flattening never proves what is not so, and a check with it gives the exact answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfence.engines import few_moving
from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.passes.flattening import distinct_processes, flatten
from memfence.pipeline import load, load_text
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Register, variable_address
from memfence.program.facts.effects import has_torn_steps
from memfence.program.ir import Assume, Domain, Load, Op, Process, Program, SharedVar, Store
from memfence.program.validate import validate
from memfence.questions import check
from memfence.source import SourceText
from memfence.synthesis.attacks import explore_all_attacks
from memfence.synthesis.options import FixOptions
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from support.generators.criteria_programs import RICH, criteria_programs
from support.sampling import sampled

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
QUICK = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
VALUES = Domain(0, 2)


@st.composite
def forwarding_programs(draw: st.DrawFn) -> Program:
    """P0 may delay its store to x0 past reads of x1 and x2. The others mostly pass on to x1 and x2 what they have read
    elsewhere: where the value, or a store to what they read, gets lost, nothing is left that changes what P0 reads."""
    variables = tuple(SharedVar(f"x{n}", VALUES) for n in range(5))
    any_of = lambda *numbers: draw(st.sampled_from([variable_address(n) for n in numbers]))  # noqa: E731
    attacked: list[Op] = [Store(any_of(0), Const(1)), Load(0, any_of(1, 1, 1, 2))]
    if draw(st.integers(0, 3)) == 0:
        attacked = [Load(0, any_of(1, 2, 3)), Assume(Binary("!=", Register(0), Const(0))), *attacked]
    late = [Load(0, any_of(0)) for _ in range(draw(st.integers(0, 3)))]
    source: list[Op] = [*late, Store(any_of(3, 4), Const(draw(st.sampled_from([1, 1, 2]))))]
    if draw(st.integers(0, 2)) == 0:
        source.append(Store(any_of(3, 4), Const(draw(st.sampled_from([0, 1])))))
    bodies = [attacked, source]
    for _ in range(draw(st.sampled_from([1, 1, 2]))):
        read, to = Load(0, any_of(3, 3, 4)), any_of(1, 1, 4, 2)
        if draw(st.booleans()):
            bodies.append([read, Store(to, Register(0))])
        else:
            guard = Assume(Binary("==", Register(0), Const(draw(st.sampled_from([0, 1, 1])))))
            bodies.append([read, guard, Store(to, draw(st.sampled_from([Register(0), Const(1)])))])
    processes = [_straight(f"P{n}", ops, locked=n > 0 and draw(st.integers(0, 3)) == 0) for n, ops in enumerate(bodies)]
    return Program("forwarding", variables, tuple(processes))


def _straight(name: str, ops: Sequence[Op], *, locked: bool = False) -> Process:
    builder = ProcessBuilder(name, name)
    builder.register("r", VALUES)
    here = first = builder.location()
    for op in ops:
        after = builder.location()
        builder.emit(here, after, op, locked=locked and isinstance(op, Store))
        here = after
    return builder.build(first)


SMALL = st.one_of(criteria_programs(RICH | {"loops"}, torn_steps=False), forwarding_programs(), forwarding_programs())

# The value that Q stores comes from R: with Q's read and R's store skipped, as the paper has it, x would stay 0.
FORWARDED = """
byte x, y, z;
active proctype P() { byte a; y = 1; a = x }
active proctype Q() { byte b; b = z; x = b }
active proctype R() { z = 1 }
"""


def proves(program: Program, steps: int) -> bool:
    """Whether the abstract programs show that the program is persistent."""
    flattened = [flatten(program, process, steps) for process in distinct_processes(program)]
    for abstract in flattened:
        validate(abstract)
    searches = (explore_attacks(abstract, AttackKind.PERSISTENCE, by_text=False) for abstract in flattened)
    return not any(found.attacks for found in searches)


def check_abstraction(program: Program, steps: int) -> None:
    if not has_torn_steps(program) and proves(program, steps):
        assert not explore_attacks(program, AttackKind.PERSISTENCE, by_text=False).attacks


def check_clauses(program: Program, steps: int, most_states: int) -> bool:
    """Whether the abstract programs show that the clauses are all there are; they are, by every state."""
    options = FixOptions(criterion="persistent", abstract=steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_moving, "LARGE", most_states)
        found = explore_all_attacks(program, Criterion.PERSISTENT, options)
    every = explore_attacks(program, AttackKind.PERSISTENCE, collect=True, by_text=False)
    assert found.complete == every.complete
    known = [attack.clause for part in found.searches for attack in part.attacks]
    for attack in every.attacks:
        assert any(who == attack.attacker and attack.crossed.issuperset(crossed) for who, crossed, _ in known)
    return bool(found.beyond)


@sampled(quick=300, slow=2_000, program=SMALL, steps=st.integers(0, 2), most_states=st.integers(1, 12))
def test_fences_found_with_an_abstraction_stop_every_attack(program: Program, steps: int, most_states: int) -> None:
    check_clauses(program, steps, most_states)


# By the text alone P may read x, since z changes; that it is never 1 takes a search. What R does, P cannot notice.
NEVER = """
byte x, y, z, w;
active proctype P() { byte a, b; do :: a = z; y = 1; if :: a == 1 -> b = x :: else -> skip fi; a = 0; b = 0 od }
active proctype Q() { do :: z = 2; x = 1; z = 0; x = 0 od }
active proctype R() { byte c; do :: c < 200 -> c = c + 1; w = c :: else -> c = 0 od }
"""


def test_fix_needs_no_state_of_the_whole_program_where_an_abstraction_is_enough() -> None:
    program = load_text(SourceText("t.pml", NEVER))
    assert check_clauses(program, 2, 50)


@sampled(quick=300, slow=5_000, program=SMALL, steps=st.integers(0, 3))
def test_an_abstraction_never_proves_what_is_not_so(program: Program, steps: int) -> None:
    check_abstraction(program, steps)


@settings(QUICK, max_examples=100)
@given(program=criteria_programs(RICH), steps=st.integers(0, 3))
def test_a_check_with_abstraction_gives_the_exact_answer(program: Program, steps: int) -> None:
    exact = check(program, CheckOptions(criterion="persistent"))
    abstract = check(program, CheckOptions(criterion="persistent", abstract=steps))
    assert abstract.verdict is exact.verdict
    assert (abstract.trace is None) == (exact.trace is None)


@pytest.mark.parametrize("steps", range(4))
def test_a_value_that_comes_from_elsewhere_is_kept(steps: int) -> None:
    program = load_text(SourceText("forwarded.pml", FORWARDED))
    assert not proves(program, steps)
    assert check(program, CheckOptions(criterion="persistent", abstract=steps)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("example, engine", [("ticket_lock", "flattened"), ("peterson", "sc attacks")])
def test_the_answer_says_whether_the_abstraction_was_enough(example: str, engine: str) -> None:
    result = check(load(EXAMPLES / f"{example}.pml"), CheckOptions(criterion="persistent", abstract=2))
    assert result.engine.endswith(engine)


def test_what_the_process_cannot_notice_is_gone() -> None:
    text = "byte x, y; active proctype P() { byte a; a = x } active proctype Q() { byte b; y = 1; y = 2; b = y; y = b }"
    abstract = flatten(load_text(SourceText("t.pml", text)), 0, 0)
    assert not any(isinstance(op, Store) for t in abstract.processes[1].transitions for op in t.ops)
    assert explore_attacks(abstract, AttackKind.PERSISTENCE).cost.states == 2
