"""What theorem 12 does not cover is refused by both checkers: each of these would prove a minimum that is none."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from differential.certificates.test_certificate_minimum_in_cpp import Verdict, both
from memfence.certificates.checker.refusal import Condition
from memfence.certificates.format.header import Claim
from memfence.certificates.format.minimum import Clause, Site, clause_as_object, site_as_list
from memfence.certificates.format.sections import OBJECT, SECTION
from memfence.models.state import Commit, DropSeparator, ProcessStep
from memfence.program.expressions import At, Binary, BufferEmpty, Const, Expr, Register, Shared, Unary, variable_address
from memfence.program.ir import (
    Assert,
    Assume,
    Domain,
    Fence,
    FenceKind,
    Forbidden,
    Load,
    Location,
    Op,
    Process,
    Program,
    RegisterVar,
    SharedVar,
    Store,
    Transition,
)

X, Y = variable_address(0), variable_address(1)
BYTE = Domain(0, 255)
MFENCE = (Fence("mfence"),)
ZERO = Binary("==", Register(0), Const(0))


def line(name: str, *steps: Sequence[Op], locked: Sequence[int] = (), committed: Sequence[int] = ()) -> Process:
    """A process that takes these steps one after the other."""
    places = tuple(Location(f"{name}{n}", committed=n in committed) for n in range(len(steps) + 1))
    moves = tuple(Transition(n, n + 1, tuple(ops), locked=n in locked) for n, ops in enumerate(steps))
    return Process(name, name, (RegisterVar("r", BYTE), RegisterVar("s", BYTE)), places, 0, moves)


def of(*processes: Process, bad: Expr | None = None, errors: tuple[int, ...] | None = None) -> Program:
    variables = (SharedVar("x", BYTE), SharedVar("y", BYTE))
    stated = () if bad is None else (Forbidden(bad, "bad"),)
    return Program("p", variables, processes, stated, error_locations=errors)


def judged(program: Program, claim: Claim, sites: Sequence[Site], clauses: Sequence[Clause]) -> Verdict:
    objects = [{"sites": [site_as_list(site) for site in sites]}, *map(clause_as_object, clauses)]
    return both(program, claim, [(SECTION, b""), *((OBJECT, json.dumps(one).encode()) for one in objects)])


def store_buffering(*, locked: bool, more: Sequence[Op] = ()) -> Program:
    """Stores, loads, and a fence behind both, which is of no use."""
    ways = [(X, Y), (Y, X)]
    return of(
        *(
            line(f"P{n}", [Store(mine, Const(1)), *more], [Load(0, other)], MFENCE, locked=[0] if locked else [])
            for n, (mine, other) in enumerate(ways)
        )
    )


FENCES = [Site("mfence", ((0, 2),), 1, True), Site("mfence", ((1, 2),), 1, True)]
CLAUSES = [
    (ProcessStep(0, 0), ProcessStep(0, 1), ProcessStep(1, 0), ProcessStep(1, 1), Commit(0)),
    (ProcessStep(1, 0), ProcessStep(1, 1), ProcessStep(0, 0), ProcessStep(0, 1), Commit(1)),
]
"""Only the store of the first, or of the second process is not locked."""


def locks(*, are_chosen: bool) -> list[Site]:
    return [Site("locked", ((p, 0),), 1, are_chosen) for p in (0, 1)]


def test_a_lock_that_the_program_has_is_no_site_that_could_be_chosen() -> None:
    """The locks are enough, and the fences of no use: without the locks, something else would be needed."""
    claim = Claim(model="tso", criterion="robust", fences=2)
    clauses = [Clause(frozenset({2 + n}), 0, steps) for n, steps in enumerate(CLAUSES)]
    sites = [*FENCES, *locks(are_chosen=False)]
    assert judged(store_buffering(locked=True), claim, sites, clauses) is Condition.KIND


def test_a_lock_that_the_program_has_is_a_chosen_site() -> None:
    """Where it is said to be one, the locks are the minimum."""
    claim = Claim(model="tso", criterion="robust", fences=2)
    clauses = [Clause(frozenset({n}), 0, steps) for n, steps in enumerate(CLAUSES)]
    assert judged(store_buffering(locked=True), claim, locks(are_chosen=True), clauses) is None
    assert judged(store_buffering(locked=False), claim, locks(are_chosen=True), clauses) is Condition.KIND


def test_a_step_that_stores_twice_may_not_be_possible_without_its_lock() -> None:
    claim = Claim(model="tso", criterion="robust", fences=2, bound=1)
    program = store_buffering(locked=True, more=[Store(X, Const(2))])
    assert (
        judged(program, claim, locks(are_chosen=True), [Clause(frozenset({0}), 0, (ProcessStep(0, 0),))])
        is Condition.KIND
    )


@pytest.mark.parametrize("kind", ["mfence", "sfence"])
def test_a_step_with_a_fence_waits_for_its_own_store_unless_it_is_locked(kind: FenceKind) -> None:
    """It never comes to its end, or not within the bound, so that nothing is needed; a lock would let it pass."""
    ops = [Store(X, Const(1)), Fence("mfence")] if kind == "mfence" else [Fence("sfence"), Store(X, Const(1))]
    program = of(line("P", ops, MFENCE, [Assert(Const(0))]))
    sites = [Site("mfence", ((0, 1),), 1, True), Site("locked", ((0, 0),), 1, False)]
    drop = (DropSeparator(0),) if kind == "sfence" else ()
    clause = Clause(frozenset({0}), 0, (ProcessStep(0, 0), *drop, ProcessStep(0, 1), ProcessStep(0, 2)))
    claim = Claim(model="tso" if kind == "mfence" else "pso", fences=1, bound=1)
    assert judged(program, claim, sites, [clause]) is Condition.KIND


LOOKS = [
    Unary("!", At(0, frozenset({1}))),
    Binary("&&", BufferEmpty(0), Unary("!", At(0, frozenset({1})))),
]


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_step_that_sees_where_processes_are_sees_fences(look: Expr) -> None:
    """Once `x` is 1, P stands behind its step, unless there is a fence, and then Q fails: none is needed."""
    wait = [Load(0, X), Assume(Binary("==", Register(0), Const(1)))]
    program = of(line("P", [Store(X, Const(1))], locked=[0]), line("Q", wait, MFENCE, [Assume(look), Assert(ZERO)]))
    sites = [Site("mfence", ((1, 1),), 1, True), Site("mfence", ((0, 0),), 1, False)]
    clause = Clause(frozenset({0}), 0, (ProcessStep(0, 0), ProcessStep(1, 0), ProcessStep(1, 1), ProcessStep(1, 2)))
    assert judged(program, Claim(model="tso", fences=1), sites, [clause]) is Condition.KIND


def test_a_committed_location_is_left_at_once_where_there_is_no_fence() -> None:
    wait = [Load(0, X), Assume(Binary("==", Register(0), Const(1))), Load(1, Y), Assert(Register(1))]
    first = line("P", [Store(X, Const(1))], [Store(Y, Const(1))], locked=[0, 1], committed=[1])
    program = of(first, line("Q", MFENCE, wait))
    sites = [Site("mfence", ((1, 0),), 1, True), Site("mfence", ((0, 0),), 1, False)]
    clause = Clause(frozenset({0}), 0, (ProcessStep(1, 0), ProcessStep(0, 0), ProcessStep(1, 1)))
    assert judged(program, Claim(model="tso", fences=1), sites, [clause]) is Condition.KIND


@pytest.mark.parametrize("criterion", ["persistent", "robust", "state-robust"])
def test_a_run_that_goes_on_after_an_error_shows_nothing(criterion: str) -> None:
    """The error comes under SC, too."""
    program = of(line("P", [Store(X, Const(1))], [Store(Y, Const(300))], MFENCE), errors=(0,))
    site = Site("mfence", ((0, 2),), 1, True)
    for steps in (
        (ProcessStep(0, 0), ProcessStep(0, 1)),
        (ProcessStep(0, 0), Commit(0), ProcessStep(0, 1)),
        (ProcessStep(0, 0), Commit(0), ProcessStep(0, 1), ProcessStep(0, 0), Commit(0)),
        (ProcessStep(0, 0), ProcessStep(0, 1), ProcessStep(0, 0), Commit(0)),
    ):
        clause = Clause(frozenset({0}), 0, steps)
        claim = Claim(model="tso", criterion=criterion, fences=1)
        assert judged(program, claim, [site], [clause]) is Condition.WITNESS


def test_separators_of_fences_are_not_pending_without_the_fences() -> None:
    """With the `sfence`, something is pending while `x` is 1 in memory; without it, nothing is."""
    bad = Binary("&&", Unary("!", BufferEmpty(0)), Binary("==", Shared(X), Const(1)))
    program = of(line("P", [Store(X, Const(1))], MFENCE), bad=bad)
    sites = [Site("mfence", ((0, 1),), 1, True), Site("sfence", ((0, 0),), 1, False)]
    clause = Clause(frozenset({0}), 0, (ProcessStep(0, 0), ProcessStep(0, 2), Commit(0)))
    assert judged(program, Claim(model="pso", fences=1), sites, [clause]) is Condition.WITNESS


def test_a_process_before_very_many_fences_is_not_looked_at() -> None:
    program = of(line("P", [Store(X, Const(1))], MFENCE), line("Q", [Store(Y, Const(1))]))
    many = [Site("mfence", ((p, 0),) * 400, 1, False) for p in (0, 1)]
    clause = Clause(frozenset({0}), 0, (ProcessStep(0, 0), ProcessStep(1, 0)))
    claim = Claim(model="tso", fences=1, forbid=("x == 0",))
    assert judged(program, claim, [Site("mfence", ((0, 1),), 1, True), *many], [clause]) is Condition.WITNESS


@pytest.mark.parametrize(("criterion", "verdict"), [("persistent", Condition.WITNESS), ("robust", None)])
def test_values_and_stores_are_different_traces(criterion: str, verdict: Verdict) -> None:
    """Q stores the value that `y` has anyway: under SC, P reads it from there, and stores come in the same order."""
    program = of(line("P", [Store(X, Const(1))], MFENCE, [Load(0, Y)]), line("Q", [Store(Y, Const(0))], [Load(0, X)]))
    site = Site("mfence", ((0, 1),), 1, True)
    steps = (
        ProcessStep(0, 0),
        ProcessStep(0, 1),
        ProcessStep(0, 2),
        ProcessStep(1, 0),
        Commit(1),
        ProcessStep(1, 1),
        Commit(0),
    )
    claim = Claim(model="tso", criterion=criterion, fences=1)
    assert judged(program, claim, [site], [Clause(frozenset({0}), 0, steps)]) is verdict


@pytest.mark.parametrize(("passed", "verdict"), [(True, None), (False, Condition.WITNESS)])
def test_a_race_is_triangular_with_an_unfenced_store_behind_it(passed: bool, verdict: Verdict) -> None:
    """P, if it has come so far, is about to read `y`, its store to `x` unfenced, while Q is about to write `y`."""
    program = of(line("P", [Store(X, Const(1))], MFENCE, [Load(0, Y)]), line("Q", [Load(0, X)], [Store(Y, Const(1))]))
    site = Site("mfence", ((0, 1),), 1, True)
    steps = (
        (ProcessStep(0, 0), ProcessStep(0, 1), ProcessStep(1, 0)) if passed else (ProcessStep(1, 0), ProcessStep(0, 0))
    )
    claim = Claim(model="tso", criterion="trf", fences=1)
    assert judged(program, claim, [site], [Clause(frozenset({0}), 0, steps)]) is verdict
    assert judged(program, claim, [site], [Clause(frozenset(), 0, steps)]) is Condition.WITNESS


def test_no_site_locks_a_step_where_races_are_asked_for() -> None:
    claim = Claim(model="tso", criterion="trf", fences=2)
    assert judged(store_buffering(locked=True), claim, locks(are_chosen=True), []) is Condition.KIND


def test_who_stands_before_a_fence_stands_elsewhere_without_it() -> None:
    """P is always at a place that its text has; before a fence that is put in, it is at none of them."""
    bad = Unary("!", At(0, frozenset({0, 1, 2})))
    program = of(line("P", [Store(X, Const(1))], MFENCE), bad=bad)
    sites = [Site("mfence", ((0, 1),), 1, True), Site("mfence", ((0, 0),), 1, False)]
    clause = Clause(frozenset({0}), 0, (ProcessStep(0, 0),))
    assert judged(program, Claim(model="tso", fences=1), sites, [clause]) is Condition.WITNESS
