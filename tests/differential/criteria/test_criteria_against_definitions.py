"""The criteria decided from SC exploration agree with their definitions, on every run of small random programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from memfence.engines.native.attacks import Attack, AttackKind, Attacks, explore_attacks
from memfence.engines.native.races import explore_races
from memfence.models.spec import ModelName
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Const, variable_address
from memfence.program.ir import Domain, FenceKind, Load, Program, SharedVar, Store
from memfence.program.orders import MemoryOrder
from memfence.questions import check
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.fenced import with_fences
from support.generators.criteria_programs import PLAIN, RICH, criteria_programs
from twins import criteria as twin

Reductions = frozenset[str]
ALL: Reductions = frozenset({"dead", "fuse"})
NONE: Reductions = frozenset()

QUICK = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
THOROUGH = settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))

Holds = Callable[[Program, Reductions], bool]


def no_attack(kind: AttackKind) -> Holds:
    """Undecided, which torn steps may be, is no answer at all."""

    def holds(program: Program, reductions: Reductions) -> bool:
        decided = explore_attacks(program, kind, reductions=reductions)
        assume(decided.complete or decided.attacks)
        return not decided.attacks

    return holds


def no_race(triangular: bool) -> Holds:
    return lambda program, reductions: explore_races(program, triangular=triangular, reductions=reductions).race is None


def is_state_robust(model: ModelName) -> Holds:
    """No reductions exist for it: the second argument makes no difference."""

    def holds(program: Program, _: Reductions) -> bool:
        verdict = check(program, CheckOptions(criterion="state-robust", model=model)).verdict
        assert verdict in (Verdict.HOLDS, Verdict.VIOLATED)
        return verdict is Verdict.HOLDS

    return holds


CRITERIA: dict[str, tuple[Holds, Callable[[Program], bool]]] = {
    "persistent": (no_attack(AttackKind.PERSISTENCE), twin.is_persistent),
    "robust under TSO": (no_attack(AttackKind.ROBUSTNESS_TSO), lambda program: twin.is_robust(program, "tso")),
    "robust under PSO": (no_attack(AttackKind.ROBUSTNESS_PSO), lambda program: twin.is_robust(program, "pso")),
    "free of triangular races": (no_race(True), twin.is_triangular_race_free),
    "free of data races": (no_race(False), twin.is_data_race_free),
    "state-robust under TSO": (is_state_robust("tso"), lambda program: twin.is_state_robust(program, "tso")),
    "state-robust under PSO": (is_state_robust("pso"), lambda program: twin.is_state_robust(program, "pso")),
}
ATTACKS: tuple[AttackKind, ...] = tuple(AttackKind)
EVERY_ATTACK = pytest.mark.parametrize("kind", ATTACKS)
SMALL = st.one_of(criteria_programs(PLAIN, torn_steps=False), criteria_programs(RICH))


def check_criterion(name: str, program: Program) -> None:
    holds, by_definition = CRITERIA[name]
    expected = by_definition(program)
    assert holds(program, ALL) == expected
    assert holds(program, NONE) == expected


@QUICK
@given(program=SMALL)
def test_every_criterion_holds_exactly_where_its_definition_says(program: Program) -> None:
    for name in CRITERIA:
        check_criterion(name, program)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CRITERIA))
@THOROUGH
@given(program=SMALL)
def test_a_criterion_holds_exactly_where_its_definition_says_on_many_programs(name: str, program: Program) -> None:
    check_criterion(name, program)


@settings(QUICK, max_examples=60)
@given(program=SMALL, model=st.sampled_from(["tso", "pso"]))
def test_traces_are_those_of_sc_exactly_where_happens_before_has_no_cycle(program: Program, model: str) -> None:
    assert twin.is_robust_by_traces(program, model) == twin.is_robust(program, model)  # type: ignore[arg-type]


# What fence synthesis relies on: the attacks that were collected say exactly which fences are enough.


def is_stopped(attack: Attack, fences: dict[tuple[int, int], FenceKind]) -> bool:
    mine = {transition: kind for (process, transition), kind in fences.items() if process == attack.attacker}
    return any(t in (attack.crossed if kind == "mfence" else attack.separable) for t, kind in mine.items())


def some_fences(program: Program, decided: Attacks, random: Random) -> dict[tuple[int, int], FenceKind]:
    every = [(p, t) for p, process in enumerate(program.processes) for t in range(len(process.transitions))]
    useful = sorted({(a.attacker, t) for a in decided.attacks for t in a.crossed})
    chosen = [site for site in useful if random.random() < 0.6] + random.sample(every, min(1, len(every)))
    return {site: random.choice(["mfence", "mfence", "sfence"]) for site in chosen}


def check_fences_against_attacks(program: Program, kind: AttackKind, random: Random) -> None:
    decided = explore_attacks(program, kind, collect=True, reductions=random.choice([ALL, NONE]))
    assume(not decided.torn)
    assert decided.complete
    for _ in range(8 if decided.attacks else 1):
        fences = some_fences(program, decided, random)
        expected = all(is_stopped(attack, fences) for attack in decided.attacks)
        remaining = explore_attacks(with_fences(program, fences), kind).attacks
        assert (not remaining) == expected


@settings(QUICK, max_examples=60)
@given(program=SMALL, random=st.randoms(use_true_random=False))
def test_fences_are_enough_exactly_if_they_stop_every_attack(program: Program, random: Random) -> None:
    for kind in ATTACKS:
        check_fences_against_attacks(program, kind, random)


@pytest.mark.slow
@EVERY_ATTACK
@THOROUGH
@given(program=SMALL, random=st.randoms(use_true_random=False))
def test_fences_are_enough_exactly_if_they_stop_every_attack_of_many_programs(
    kind: AttackKind, program: Program, random: Random
) -> None:
    check_fences_against_attacks(program, kind, random)


def check_attacks_are_runs(program: Program, kind: AttackKind) -> None:
    decided = explore_attacks(program, kind, collect=True)
    for attack in decided.attacks:
        trace = decided.trace(attack)
        if trace.failure is not None:
            continue
        assert trace.end.is_plain
        if kind is not AttackKind.PERSISTENCE:
            assert not twin.is_acyclic(twin.history_of(trace))


@settings(QUICK, max_examples=60)
@given(program=SMALL)
def test_every_attack_is_a_run_with_the_trace_of_no_sc_run(program: Program) -> None:
    for kind in ATTACKS:
        check_attacks_are_runs(program, kind)


@pytest.mark.slow
@EVERY_ATTACK
@THOROUGH
@given(program=SMALL)
def test_every_attack_on_many_programs_is_a_run_with_the_trace_of_no_sc_run(kind: AttackKind, program: Program) -> None:
    check_attacks_are_runs(program, kind)


@pytest.mark.parametrize("before", [(), (Store(variable_address(2), Const(1)),)], ids=["alone", "behind another store"])
def test_what_follows_a_release_store_overtakes_it_under_pso(before: tuple[Store, ...]) -> None:
    """`z = 1; y = 1 (release); x = 1` beside a reader of x, then y: the separator stands ahead of y, not behind it."""
    domain = Domain(0, 1)
    x, y = variable_address(0), variable_address(1)
    writer, reader = ProcessBuilder("P", "P"), ProcessBuilder("Q", "Q")
    for name in ("r", "s"):
        reader.register(name, domain)
    for builder in (writer, reader):
        for _ in range(3):
            builder.location()
    writer.emit(0, 1, *before, Store(y, Const(1), order=MemoryOrder.RELEASE))
    writer.emit(1, 2, Store(x, Const(1)))
    reader.emit(0, 1, Load(0, x))
    reader.emit(1, 2, Load(1, y))
    variables = tuple(SharedVar(name, domain) for name in "xyz")
    program = Program("released", variables, (writer.build(0), reader.build(0)))
    assert not twin.is_robust(program, "pso")
    check_attacks_are_runs(program, AttackKind.ROBUSTNESS_PSO)
    result = check(program, CheckOptions(model="pso", criterion="robust"))
    assert result.verdict is Verdict.VIOLATED and result.trace is not None
    assert check(program, CheckOptions(model="tso", criterion="robust")).verdict is Verdict.HOLDS


def test_a_torn_step_whose_run_has_the_order_of_an_sc_run_is_no_violation() -> None:
    """`x = 1; {x = 0; x = 1}`: who reads the 0 in between may as well have read it at the start."""
    domain = Domain(0, 1)
    x = variable_address(0)
    writer, reader = ProcessBuilder("P", "P"), ProcessBuilder("Q", "Q")
    reader.register("r", domain)
    for builder in (writer, reader):
        for _ in range(3):
            builder.location()
    writer.emit(0, 1, Store(x, Const(1)))
    writer.emit(1, 2, Store(x, Const(0)), Store(x, Const(1)))
    reader.emit(0, 1, Load(0, x))
    program = Program("torn", (SharedVar("x", domain),), (writer.build(0), reader.build(0)))
    assert twin.is_persistent(program)
    decided = explore_attacks(program, AttackKind.PERSISTENCE)
    assert decided.torn and not decided.attacks and not decided.complete
    assert check(program, CheckOptions(criterion="persistent")).verdict is Verdict.UNKNOWN
    reader.emit(1, 2, Load(0, x))  # 1, then 0: that is no SC run's order
    program = replace(program, processes=(writer.build(0), reader.build(0)))
    assert not twin.is_persistent(program)
    assert check(program, CheckOptions(criterion="persistent")).verdict is Verdict.VIOLATED
