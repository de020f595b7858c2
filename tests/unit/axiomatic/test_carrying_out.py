"""Carrying out decisions: what is an execution of the code, what is refused, and which dependencies it has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memfence.axiomatic.candidates import candidate
from memfence.axiomatic.code import Branch, Code, Define, End, Item, Join, Read, Thread, Write
from memfence.axiomatic.execution import Decisions
from memfence.axiomatic.library import models_named
from memfence.axiomatic.replay import NotAnExecution, carry_out
from memfence.models.cat.interpreter import judge
from memfence.models.cat.relations import pairs_of
from memfence.program.expressions import Address, Binary, Const, Register, variable_address
from memfence.program.ir import BIT, Program, SharedVar
from memfence.program.orders import MemoryOrder

X, Y = variable_address(0), variable_address(1)
ONE = Const(1)


def code(*threads: tuple[Item, ...], slots: int = 2) -> Code:
    """Threads over x and y that end with their slots as registers."""
    program = Program("test", (SharedVar("x", BIT), SharedVar("y", BIT)), ())
    end = End(ONE, tuple(range(slots)))
    return Code(program, tuple(Thread(f"P{n}", (*items, end), slots) for n, items in enumerate(threads)), 1)


LOAD_BUFFERING = code((Read(0, X), Write(Y, Register(0))), (Read(0, Y), Write(X, Register(0))))
THIN_AIR = Decisions(
    (0, 0),
    {},
    {(0, 0): (1, 1), (1, 0): (0, 1)},
    {0: ((-1, 0), (1, 1)), 1: ((-1, 1), (0, 1))},
    {(0, 0): 1, (1, 0): 1},
)
"""Each thread reads what the other made of what it read."""


def test_a_value_may_come_from_itself() -> None:
    found = carry_out(LOAD_BUFFERING, THIN_AIR)
    assert found.ended
    assert found.memory == (1, 1)
    assert found.registers == ((1, 0), (1, 0))
    assert [event.value for event in found.events] == [0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "wrong",
    [
        replace(THIN_AIR, initial=(1, 0)),
        replace(THIN_AIR, initial=(0,)),
        replace(THIN_AIR, values={(0, 0): 0, (1, 0): 1}),
        replace(THIN_AIR, values={(0, 0): 1}),
        replace(THIN_AIR, read_from={(0, 0): (1, 1)}),
        replace(THIN_AIR, read_from={(0, 0): (1, 0), (1, 0): (0, 1)}),
        replace(THIN_AIR, read_from={(0, 0): (0, 1), (1, 0): (0, 1)}),
        replace(THIN_AIR, order={0: ((-1, 0),), 1: ((-1, 1), (0, 1))}),
        replace(THIN_AIR, order={0: ((1, 1), (-1, 0)), 1: ((-1, 1), (0, 1))}),
    ],
)
def test_decisions_that_do_not_fit_the_code_are_refused(wrong: Decisions) -> None:
    with pytest.raises(NotAnExecution):
        carry_out(LOAD_BUFFERING, wrong)


def test_dependencies_forbid_what_comes_out_of_thin_air() -> None:
    found = carry_out(LOAD_BUFFERING, THIN_AIR)
    for model in models_named("armv8"):
        judgement = judge(model.cat, candidate(found, model))
        assert [failure.axiom.name for failure in judgement.failed] == ["external"]
        assert len(judgement.failed[0].events) == 4
        assert judge(model.cat, candidate(found, model, dependencies=False)).is_allowed
    (rc11,) = models_named("rc11")
    assert [f.axiom.name for f in judge(rc11.cat, candidate(found, rc11)).failed] == ["no-thin-air"]


def relation(items: tuple[Item, ...], values: dict[int, int], name: str, model: str = "armv8") -> set[tuple[int, int]]:
    """Pairs of positions that a relation has where one thread runs alone; every read sees what was there first."""
    alone = code(items, slots=4)
    reads = {(0, n): (-1, item.address.base) for n, item in enumerate(items) if isinstance(item, Read)}
    writes: dict[int, list[tuple[int, int]]] = {0: [(-1, 0)], 1: [(-1, 1)]}
    for n, item in enumerate(items):
        if isinstance(item, Write):
            writes[item.address.base].append((0, n))
    order = {variable: tuple(places) for variable, places in writes.items()}
    found = carry_out(alone, Decisions((0, 0), {}, reads, order, {(0, n): value for n, value in values.items()}))
    seen = candidate(found, models_named(model)[0])
    places = [event.place[1] for event in found.events]
    return {(places[a], places[b]) for a, b in pairs_of(seen.relations[name])}


def test_data_address_and_control_are_told_apart() -> None:
    computed = (Read(0, X), Define(1, Binary("^", Register(0), Register(0))))
    by_value = (*computed, Write(Y, Register(1)))
    by_address = (*computed, Write(Address(1, 1, Register(1)), ONE))
    by_branch = (*computed, Branch(Register(1)), Write(Y, ONE))
    assert [relation(by_value, {0: 0}, name) for name in ("data", "addr", "ctrl")] == [{(0, 2)}, set(), set()]
    assert [relation(by_address, {0: 0}, name) for name in ("data", "addr", "ctrl")] == [set(), {(0, 2)}, set()]
    assert [relation(by_branch, {0: 0}, name) for name in ("data", "addr", "ctrl")] == [set(), set(), {(0, 3)}]


def test_a_joined_value_depends_on_the_way_that_was_taken() -> None:
    items = (
        Read(0, X),
        Read(1, Y),
        Join(2, ((Register(0), Register(1)), (Binary("==", Register(0), Const(0)), Const(0)))),
        Write(X, Register(2)),
    )
    assert relation(items, {0: 0, 1: 0}, "data") == set()
    other = (items[0], items[1], Join(2, ((Binary("==", Register(0), Const(0)), Register(1)),)), items[3])
    assert relation(other, {0: 0, 1: 0}, "data") == {(1, 3)}


def test_the_comparison_of_a_pair_is_a_branch_for_pairs_only() -> None:
    items = (
        Read(0, X, order=MemoryOrder.RELAXED, locked=True),
        Branch(Register(0), of_pair=True),
        Write(X, ONE, reads_by=0, locked=True),
    )
    alone = code(items)
    decisions = Decisions((0, 0), {}, {(0, 0): (-1, 0)}, {0: ((-1, 0), (0, 2)), 1: ((-1, 1),)}, {(0, 0): 0})
    found = carry_out(alone, decisions)
    for model in models_named("armv8"):
        seen = candidate(found, model)
        assert bool(list(pairs_of(seen.relations["ctrl"]))) == model.rmw_by_pair
        assert list(pairs_of(seen.relations["lxsx" if model.rmw_by_pair else "amo"])) == [(2, 3)]
        assert list(pairs_of(seen.relations["amo" if model.rmw_by_pair else "lxsx"])) == []


def test_a_write_without_its_read_is_refused() -> None:
    alone = code((Read(0, X), Write(Y, ONE, reads_by=0)))
    decisions = Decisions((0, 0), {}, {(0, 0): (-1, 0)}, {0: ((-1, 0),), 1: ((-1, 1), (0, 1))}, {(0, 0): 0})
    with pytest.raises(NotAnExecution, match="no read of its own"):
        carry_out(alone, decisions)


def test_what_its_guard_excludes_does_not_happen() -> None:
    guarded = code((Read(0, X), Write(Y, ONE, guard=Register(0))))
    decisions = Decisions((0, 0), {}, {(0, 0): (-1, 0)}, {0: ((-1, 0),), 1: ((-1, 1),)}, {(0, 0): 0})
    assert carry_out(guarded, decisions).memory == (0, 0)
    with pytest.raises(NotAnExecution):
        carry_out(guarded, replace(decisions, order={0: ((-1, 0),), 1: ((-1, 1), (0, 1))}))
