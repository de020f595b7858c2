"""Where the text shows that the known clauses are all there are, they are: exploring every state finds no other."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from memfence.engines import few_moving
from memfence.engines.attacks import AttackEngine, from_every_state
from memfence.engines.native.attacks import AttackKind, Attacks, AttackSearch, Known, explore_attacks
from memfence.models.spec import TSO
from memfence.pipeline import load_text
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, Const, Register, variable_address
from memfence.program.ir import Assign, Assume, Domain, FenceKind, Load, Op, Process, Program, SharedVar, Store
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Limits
from memfence.tasks.task import Keeps, Task
from support.fenced import with_fences
from support.generators.criteria_programs import RICH, criteria_programs
from support.sampling import sampled

QUICK = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
THOROUGH = settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
VALUES = Domain(0, 2)
VARIABLES = 4
REGISTERS = 2
ATTACKS = tuple(AttackKind)


@st.composite
def knowing_programs(draw: st.DrawFn) -> Program:
    """What the attacker knows decides: it branches on its own stores and on variables that keep their value, and
    chooses variables by register. Stores of 0 change nothing, unless something else does."""
    number = st.integers(0, REGISTERS - 1)
    value = st.sampled_from([0, 0, 1, 1, 2])

    def address() -> Address:
        if draw(st.integers(0, 2)):
            return variable_address(draw(st.integers(0, VARIABLES - 1)))
        return Address(draw(st.integers(0, VARIABLES - 3)), 3, Register(draw(number)))

    def op() -> Op:
        match draw(st.integers(0, 9)):
            case 0 | 1 | 2 | 3:
                return Store(address(), Register(draw(number)) if draw(st.integers(0, 5)) == 0 else Const(draw(value)))
            case 4 | 5 | 6 | 7:
                return Load(draw(number), address())
            case 8:
                return Assign(draw(number), Const(draw(value)))
            case _:
                relation = draw(st.sampled_from(["==", "!="]))
                return Assume(Binary(relation, Register(draw(number)), Const(draw(st.integers(0, 1)))))

    def process(name: str) -> Process:
        builder = ProcessBuilder(name, name)
        for register in range(REGISTERS):
            builder.register(f"r{register}", VALUES)
        first = here = builder.location()
        for _ in range(draw(st.integers(2, 5))):
            after = builder.location()
            builder.emit(here, after, op(), locked=draw(st.integers(0, 9)) == 0)
            if draw(st.integers(0, 5)) == 0:
                builder.emit(here, draw(st.sampled_from([first, after])), op())
            here = after
        return builder.build(first)

    variables = tuple(SharedVar(f"x{n}", VALUES) for n in range(VARIABLES))
    return Program("knowing", variables, tuple(process(f"P{n}") for n in range(draw(st.integers(2, 3)))))


SMALL = st.one_of(knowing_programs(), knowing_programs(), criteria_programs(RICH, torn_steps=False))


def look_only(program: Program, kind: AttackKind, known: list[Known]) -> tuple[Attacks, list[Known]]:
    """The clauses and the open processes of a search that sees hardly more than the text."""
    found = AttackSearch(program, kind).explore(collect=True, limits=Limits(most_states=1), known=known)
    return found, [*known, *(attack.clause for attack in found.attacks)]


def has_further_attacks(
    program: Program, kind: AttackKind, open_: frozenset[int], known: list[Known], pick: Random
) -> bool:
    """Whether a process that is not open attacks beyond the known clauses: the others delay nothing, and each clause is
    met by a fence somewhere in it."""
    fences: dict[tuple[int, int], FenceKind] = {
        (attacker, pick.choice(crossed)): "mfence" for attacker, crossed, _ in known if attacker not in open_
    }
    processes = tuple(_undelayed(p) if n in open_ else p for n, p in enumerate(program.processes))
    rest = explore_attacks(with_fences(replace(program, processes=processes), fences), kind, by_text=False)
    assume(not rest.torn)
    return bool(rest.attacks)


def _undelayed(process: Process) -> Process:
    stores = [any(isinstance(op, Store) for op in t.ops) for t in process.transitions]
    return replace(
        process,
        transitions=tuple(replace(t, locked=t.locked or s) for t, s in zip(process.transitions, stores, strict=True)),
    )


def check_what_the_text_shows(program: Program, kind: AttackKind, pick: Random) -> None:
    every = [attack.clause for attack in explore_attacks(program, kind, collect=True).attacks]
    for known in ([], [clause for clause in every if clause[1] and pick.random() < 0.7]):
        found, learnt = look_only(program, kind, known)
        met = [clause for clause in learnt if clause[1]]
        unmet = frozenset(attacker for attacker, crossed, _ in learnt if not crossed)
        assert not has_further_attacks(program, kind, found.open | unmet, met, pick)


@QUICK
@given(program=SMALL, pick=st.randoms(use_true_random=False))
def test_the_text_never_hides_an_attack(program: Program, pick: Random) -> None:
    for kind in ATTACKS:
        check_what_the_text_shows(program, kind, pick)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ATTACKS)
@THOROUGH
@given(program=SMALL, pick=st.randoms(use_true_random=False))
def test_the_text_of_many_programs_never_hides_an_attack(kind: AttackKind, program: Program, pick: Random) -> None:
    check_what_the_text_shows(program, kind, pick)


def check_the_first_attack(program: Program, kind: AttackKind) -> bool:
    """Whether the text decides; every state says the same."""
    found, every = explore_attacks(program, kind), explore_attacks(program, kind, by_text=False)
    assert bool(found.attacks) == bool(every.attacks) and found.complete == every.complete
    assert not found.by_text or found.reachable is None
    return found.by_text


@sampled(quick=150, slow=3_000, program=SMALL)
def test_the_text_never_hides_the_first_attack(program: Program) -> None:
    for kind in ATTACKS:
        check_the_first_attack(program, kind)


def check_small_searches(program: Program, criterion: Criterion, most_states: int) -> None:
    """With searches as small as these, the answer is that of a search of every state."""
    task = Task(program, TSO, Keeps(criterion))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_moving, "LARGE", most_states)
        answer = AttackEngine().answer(task)
    every = AttackEngine(from_every_state, small_first=False).answer(task)
    assume(Verdict.UNKNOWN not in (answer.verdict, every.verdict))
    assert answer.verdict is every.verdict
    assert answer.trace is None or answer.trace.program == program


PARAMETERISED = criteria_programs(RICH, torn_steps=False, counts=(3,))
TWO_CRITERIA = st.sampled_from([Criterion.PERSISTENT, Criterion.ROBUST])


@sampled(quick=100, slow=2_000, program=PARAMETERISED, criterion=TWO_CRITERIA, most_states=st.integers(1, 40))
def test_small_searches_change_no_answer(program: Program, criterion: Criterion, most_states: int) -> None:
    check_small_searches(program, criterion, most_states)


@settings(QUICK, max_examples=100)
@given(program=SMALL)
def test_few_moving_processes_attack_the_whole_program(program: Program) -> None:
    """Every run that is found so replays on the program, and is stopped where the whole search says so."""
    for kind in ATTACKS:
        search = AttackSearch(program, kind)
        every = search.explore(collect=True, limits=Limits())
        assume(every.complete)
        few = search.explore(collect=True, limits=Limits(), moving=(0, 1))
        for attack in few.attacks:
            assert few.trace(attack).program == program
            mine = set(attack.crossed)
            assert any(a.attacker == attack.attacker and a.crossed <= mine for a in every.attacks)


def test_a_claim_too_many_is_found() -> None:
    """Were one open process of each program taken for a quiet one, these checks would notice."""
    noticed = 0

    @settings(QUICK, max_examples=60)
    @given(program=SMALL, pick=st.randoms(use_true_random=False))
    def count(program: Program, pick: Random) -> None:
        nonlocal noticed
        found, learnt = look_only(program, AttackKind.ROBUSTNESS_TSO, [])
        hidden = min(found.open, default=None)
        if hidden is not None and not learnt:
            noticed += has_further_attacks(program, AttackKind.ROBUSTNESS_TSO, found.open - {hidden}, [], pick)

    count()
    assert noticed >= 5


OPEN = """
byte x, y, z;
active proctype P() {{ byte a, b; y = 1; {look} }}
active proctype Q() {{ {change} }}
"""
PERSISTENT = (
    ("a = y; if :: a == 1 -> skip :: a != 1 -> b = x fi", "x = 1"),  # it knows its own store
    ("a = z; if :: a == 0 -> skip :: a != 0 -> b = x fi", "x = 1; z = 0"),  # z keeps its value
    ("b = z", "z = 0"),  # nothing changes
)
FRAGILE = (
    ("a = y; if :: a != 1 -> skip :: a == 1 -> b = x fi", "x = 1"),
    ("a = z; if :: a == 0 -> b = x :: a != 0 -> skip fi", "x = 1; z = 0"),
    ("b = z", "z = 0; z = 1"),
)


@pytest.mark.parametrize("look, change", PERSISTENT)
def test_what_the_attacker_knows_is_enough_without_exploring(look: str, change: str) -> None:
    program = load_text(SourceText("t.pml", OPEN.format(look=look, change=change)))
    found, _ = look_only(program, AttackKind.PERSISTENCE, [])
    assert found.complete and not found.open and not found.attacks
    assert check_the_first_attack(program, AttackKind.PERSISTENCE)


@pytest.mark.parametrize("look, change", FRAGILE)
def test_what_the_attacker_does_not_know_stays_open(look: str, change: str) -> None:
    program = load_text(SourceText("t.pml", OPEN.format(look=look, change=change)))
    found, learnt = look_only(program, AttackKind.PERSISTENCE, [])
    assert found.open == {0} or learnt
    assert explore_attacks(program, AttackKind.PERSISTENCE).attacks
