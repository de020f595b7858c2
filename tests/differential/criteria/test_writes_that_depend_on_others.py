"""Persistence where a step writes one variable depending on another: several stores may have to be pending at once.

`x = 2; x = 1; x = 2; r = y || if (x == 2) y = 2, in one locked step`: the write of y is possible before `x = 1` reaches
memory, not between that and the last store. A walk that delays a single store does not see it.
"""

from __future__ import annotations

from hypothesis import strategies as st

from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Register, variable_address
from memfence.program.ir import Assume, Domain, Fence, Load, Op, Process, Program, SharedVar, Store
from support.sampling import sampled
from twins import criteria as twin

VALUES = Domain(0, 2)
ACCESS = st.tuples(st.sampled_from(["store", "load", "fence"]), st.integers(0, 1), st.integers(0, 2))
STORE_X = st.tuples(st.just("store"), st.just(0), st.integers(0, 2))


def straight(name: str, accesses: list[tuple[str, int, int]]) -> Process:
    """Stores, loads and fences, one after the other."""
    builder = ProcessBuilder(name, name)
    builder.register("r", VALUES)
    builder.scratch(0, VALUES)
    here = builder.location()
    for kind, variable, value in accesses:
        address = variable_address(variable)
        ops: dict[str, Op] = {"store": Store(address, Const(value)), "load": Load(0, address), "fence": Fence()}
        there = builder.location()
        builder.emit(here, there, ops[kind])
        here = there
    return builder.build(0)


def watching(name: str, expected: int, stored: int, locked: bool, more: list[tuple[str, int, int]]) -> Process:
    """`if (x == expected) y = stored` in one step, then other accesses."""
    process = straight(name, [("store", 1, stored), *more])
    builder = ProcessBuilder(name, name)
    builder.register("r", VALUES)
    scratch = builder.scratch(0, VALUES)
    for _ in process.locations:
        builder.location()
    x, y = variable_address(0), variable_address(1)
    test = Assume(Binary("==", Register(scratch), Const(expected)))
    builder.emit(0, 1, Load(scratch, x), test, Store(y, Const(stored)), locked=locked)
    for transition in process.transitions[1:]:
        builder.emit(transition.source, transition.target, *transition.ops)
    return builder.build(0)


@st.composite
def watched_programs(draw: st.DrawFn) -> Program:
    accesses = [*draw(st.lists(STORE_X, min_size=1, max_size=3)), ("load", 1, 0)]
    for access in draw(st.lists(ACCESS, max_size=2)):
        accesses.insert(draw(st.integers(0, len(accesses))), access)
    more = draw(st.lists(ACCESS, max_size=1))
    expected = draw(st.integers(0, 2))
    watcher = watching("Q", expected, draw(st.integers(1, 2)), draw(st.booleans()), more)
    start = draw(st.sampled_from([expected, expected, 0, 1, 2]))
    variables = (SharedVar("x", VALUES, (start,)), SharedVar("y", VALUES))
    return Program("watched", variables, (straight("P", accesses), watcher))


def check_persistence(program: Program) -> None:
    expected = twin.is_persistent(program)
    for reductions in (frozenset[str](), frozenset({"dead", "fuse"})):
        assert (not explore_attacks(program, AttackKind.PERSISTENCE, reductions=reductions).attacks) == expected


@sampled(quick=300, slow=4_000, program=watched_programs())
def test_persistence_is_what_its_definition_says(program: Program) -> None:
    check_persistence(program)


def test_several_pending_stores_may_be_needed() -> None:
    stores = [("store", 0, 2), ("store", 0, 1), ("store", 0, 2), ("load", 1, 0)]
    program = Program(
        "watched",
        (SharedVar("x", VALUES), SharedVar("y", VALUES)),
        (straight("P", stores), watching("Q", 2, 2, True, [("store", 0, 1)])),
    )
    assert not twin.is_persistent(program)
    decided = explore_attacks(program, AttackKind.PERSISTENCE, collect=True)
    assert decided.attacks
    assert all(decided.trace(attack).end.is_plain for attack in decided.attacks)
