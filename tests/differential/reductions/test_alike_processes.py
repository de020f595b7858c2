"""Criteria and fences with and without symmetry: the same answers and clauses, one state an orbit, runs that replay.

The slow twin is the same search that takes all processes for different, which other tests compare with the definitions.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, settings
from hypothesis import strategies as st

from memfence import fix
from memfence.api.certify import check_certified
from memfence.engines.native.attacks import AttackKind, Attacks, AttackSearch, explore_attacks
from memfence.engines.native.races import explore_races
from memfence.engines.native.sc_states import ALL_SAFE, SAFE_REDUCTIONS, ScExploration
from memfence.engines.native.state_robustness import (
    ScStates,
    explore_non_sc_states,
    explore_sc_states,
    explore_unbounded,
    unbounded_obstacle,
)
from memfence.execution.renaming import exchanged
from memfence.execution.store_order import is_order_of_an_sc_run
from memfence.execution.trace import UnreplayableWitness
from memfence.models.replay import replay
from memfence.models.spec import SC
from memfence.passes.small_counters import has_counters
from memfence.pipeline import load_text
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Const, variable_address
from memfence.program.ir import Domain, Load, Process, Program, SharedVar, Store
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from support.generators.alike import programs_with_copies
from support.models import spec
from support.sampling import sampled

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
LIMITS = Limits(most_states=20_000)
QUICK = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
THOROUGH = settings(QUICK, max_examples=2_000)
KINDS = pytest.mark.parametrize("kind", list(AttackKind))


def storing_and_loading(name: str, stored: int, loaded: int) -> Process:
    builder = ProcessBuilder(name, name)
    builder.register("r", Domain(0, 2))
    for op in (Store(variable_address(stored), Const(1)), Load(0, variable_address(loaded))):
        builder.emit(builder.location(), len(builder.locations), op)
    builder.location()
    return builder.build(0)


def store_buffering(pairs: int) -> Program:
    """Store buffering with several processes on either side: each of them has an attack, and a fence of its own."""
    variables = tuple(SharedVar(name, Domain(0, 2)) for name in "xy")
    sides = ((storing_and_loading(f"P{n}", 0, 1), storing_and_loading(f"Q{n}", 1, 0)) for n in range(pairs))
    return Program("sb", variables, tuple(process for side in sides for process in side))


def both(program: Program, kind: AttackKind, collect: bool) -> tuple[Attacks, Attacks]:
    """Without and with symmetry; one attack is looked for whatever the text shows."""
    plain, folded = (
        explore_attacks(program, kind, collect=collect, limits=LIMITS, reductions=reductions, by_text=collect)
        for reductions in (SAFE_REDUCTIONS, ALL_SAFE)
    )
    assume(plain.saw_everything or plain.attacks)
    return plain, folded


def orbits(states: ScExploration, alike: tuple[tuple[int, ...], ...]) -> set[object]:
    """Every state that was visited, up to exchanges of processes that are alike."""
    slots = states.encoded.slots
    found: set[object] = set()
    for values in states.native.all_values():
        local = [
            (values[slots.locations[p]], tuple(values[slots.register(p, r)] for r in range(len(process.registers))))
            for p, process in enumerate(states.reduced.processes)
        ]
        owner = None if slots.lock is None else values[slots.lock] - 1
        parts = [(*part, owner == p) for p, part in enumerate(local)]
        for members in alike:
            for p, part in zip(members, sorted(parts[p] for p in members), strict=True):
                parts[p] = part
        found.add((tuple(values[: len(states.program.variables)]), tuple(parts)))
    return found


def check_answer(program: Program, kind: AttackKind) -> None:
    plain, folded = both(program, kind, collect=False)
    if not plain.torn and not folded.torn:  # else the runs that were found decide, and they may differ
        assert bool(folded.attacks) == bool(plain.attacks)
    for attack in folded.attacks:
        folded.trace(attack)
    if plain.complete and not plain.attacks and folded.complete:
        assert folded.cost.states == len(orbits(plain.states, folded.alike))


def check_clauses(program: Program, kind: AttackKind) -> None:
    plain, folded = both(program, kind, collect=True)
    if plain.torn or folded.torn:
        return
    assert [attack.clause for attack in folded.attacks] == [attack.clause for attack in plain.attacks]
    assert folded.complete == plain.complete
    for attack in folded.attacks:
        trace = folded.trace(attack)
        if kind is AttackKind.PERSISTENCE:
            assert not is_order_of_an_sc_run(trace)


def check_races(program: Program, triangular: bool) -> None:
    plain, folded = (
        explore_races(program, triangular=triangular, limits=LIMITS, reductions=reductions)
        for reductions in (SAFE_REDUCTIONS, ALL_SAFE)
    )
    assume(plain.complete or plain.race)
    assert (folded.race is None) == (plain.race is None)
    if folded.race is not None:
        end = folded.trace().end
        again = explore_races(at(program, end), triangular=False, limits=Limits(most_states=1))
        assert triangular or again.race is not None
    elif not triangular:
        assert folded.cost.states == len(orbits(plain._states, folded._states.encoded.symmetric))


def at(program: Program, state: object) -> Program:
    """The program that begins where a run has ended."""
    processes = tuple(
        replace(p, initial=where, registers=tuple(replace(r, init=(v,)) for r, v in zip(p.registers, own, strict=True)))
        for p, where, own in zip(program.processes, state.locations, state.registers, strict=True)
    )
    variables = tuple(replace(v, init=(value,)) for v, value in zip(program.variables, state.memory, strict=True))
    return replace(program, processes=processes, variables=variables)


def check_non_sc_states(program: Program, model: str) -> None:
    def of(reductions: frozenset[str]) -> tuple[ScStates, bool, bool]:
        sc = explore_sc_states(program, spec(model), LIMITS, reductions=reductions)
        assume(sc.saw_everything)
        found = explore_non_sc_states(sc, spec(model, 2), LIMITS)
        assume(found.complete or found.found)
        if found.found:
            found.trace()
        return sc, found.found, found.complete

    sc, is_stray, complete = of(frozenset())
    folded, *others = of(frozenset({"symmetry"}))
    assert others == [is_stray, complete]
    assert folded.cost.states <= sc.cost.states
    if unbounded_obstacle(program) is None:
        answers = [explore_unbounded(states, LIMITS) for states in (sc, folded)]
        assert answers[0].complete != answers[1].complete or answers[0].all_under_sc == answers[1].all_under_sc


@KINDS
@sampled(quick=100, slow=2_000, program=programs_with_copies())
@example(program=store_buffering(2))
def test_processes_that_are_alike_change_no_answer(kind: AttackKind, program: Program) -> None:
    check_answer(program, kind)


@KINDS
@sampled(quick=100, slow=2_000, program=programs_with_copies())
@example(program=store_buffering(2))
def test_processes_that_are_alike_have_the_same_clauses(kind: AttackKind, program: Program) -> None:
    check_clauses(program, kind)


@sampled(quick=100, slow=4_000, program=programs_with_copies(), triangular=st.booleans())
def test_processes_that_are_alike_race_alike(program: Program, triangular: bool) -> None:
    check_races(program, triangular)


@sampled(quick=50, slow=4_000, program=programs_with_copies(), model=st.sampled_from(["tso", "pso"]))
def test_processes_that_are_alike_reach_the_same_states(program: Program, model: str) -> None:
    check_non_sc_states(program, model)


@pytest.mark.parametrize("moving", [(0, 1), (0, 2), (0, 1, 2)])
def test_an_attack_of_few_processes_is_one_of_all_that_are_alike(moving: tuple[int, ...]) -> None:
    """0 and 2 are alike, and so are 1 and 3: whoever moves, what is found counts for all of them."""
    search = AttackSearch(store_buffering(2), AttackKind.PERSISTENCE)
    found = search.explore(collect=True, limits=LIMITS, moving=moving)
    expected = {0, 1, 2, 3} if 1 in moving else set()
    assert {attack.attacker for attack in found.attacks} == expected
    for attack in found.attacks:
        found.trace(attack)


def test_processes_that_begin_differently_are_not_alike() -> None:
    """The second copy begins behind its store: it has no attack, and must not get one."""
    one, two, *_ = store_buffering(1).processes
    late = replace(one, name="late", initial=1)
    program = replace(store_buffering(1), processes=(one, two, late))
    found = explore_attacks(program, AttackKind.PERSISTENCE, collect=True)
    assert found.alike == ()
    assert {attack.attacker for attack in found.attacks} == {0, 1}
    with pytest.raises(UnreplayableWitness):
        exchanged(found.trace(found.attacks[0]), 0, 2)


def test_the_run_to_a_state_ends_in_that_very_state() -> None:
    program = store_buffering(2)
    states = explore_attacks(program, AttackKind.PERSISTENCE, collect=True).states
    for index, values in enumerate(states.native.all_values()):
        start, steps = states.run_to(index)
        end = replay(program, SC.definition, start, steps).end
        assert list(end.locations) == [values[slot] for slot in states.encoded.slots.locations]
        assert list(end.memory) == values[: len(program.variables)]


@pytest.mark.parametrize("name", ["any_number/event_count.pml", "any_number/seqlock.pml", "any_number/litmus/sb.pml"])
@pytest.mark.parametrize("criterion", ["persistent", "robust"])
def test_symmetry_changes_no_fence(name: str, criterion: str, tmp_path: Path) -> None:
    """Three instances of each template: a fence in the text is a fence of all of them."""
    text = tmp_path / "three.pml"
    text.write_text((EXAMPLES / name).read_text().replace("[*]", "[3]"))
    plain, folded = (fix(text, criterion=criterion, reduce=reduce) for reduce in ((), ("dead", "fuse", "symmetry")))
    assert plain.verdict == folded.verdict
    assert plain.patched == folded.patched


COUNTING = """byte x, y;
active [3] proctype Reader() { byte seen; do :: seen = x; seen = y od }
active proctype Writer() { byte n; do :: n = n + 1; x = n od }
"""


@pytest.mark.parametrize("criterion", ["persistent", "robust"])
def test_certificates_of_processes_that_are_alike_are_accepted(criterion: str) -> None:
    program = load_text(SourceText("counting.pml", COUNTING))
    assert has_counters(program) and explore_attacks(program, AttackKind.PERSISTENCE).alike
    proof = check_certified(program, None, verified=True, criterion=criterion)
    assert (proof.verified is not None and proof.verified.is_valid) == (proof.result.verdict == "holds")
