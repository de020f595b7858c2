"""Classical litmus tests by hand: which final states each model allows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memfence.axiomatic.code import Barrier, Branch, Code, End, Item, Join, Read, Thread, Write
from memfence.axiomatic.library import models_named
from memfence.engines.axiomatic.goals import Anything, Ends, Raises
from memfence.engines.axiomatic.solve import Executions, Found, Nothing
from memfence.program.expressions import (
    TRUE,
    Address,
    Binary,
    Const,
    Expr,
    Register,
    RegisterOf,
    Unary,
    conjunction,
    variable_address,
)
from memfence.program.ir import Domain, Location, Process, Program, RegisterVar, SharedVar
from memfence.program.orders import MemoryOrder

PLAIN, RELAXED, RELEASE, ACQUIRE, SEQ_CST = (
    MemoryOrder.PLAIN, MemoryOrder.RELAXED, MemoryOrder.RELEASE, MemoryOrder.ACQUIRE, MemoryOrder.SEQ_CST,
)  # fmt: skip
DOMAIN = Domain(0, 3)
X, Y = 0, 1


def write(variable: int, value: int | Expr, order: MemoryOrder = RELAXED) -> Write:
    return Write(variable_address(variable), Const(value) if isinstance(value, int) else value, order=order)


def read(slot: int, variable: int, order: MemoryOrder = RELAXED) -> Read:
    return Read(slot, variable_address(variable), order=order)


def code(*threads: list[Item]) -> Code:
    """Two variables; the registers of a thread are its slots."""
    unrolled, processes = [], []
    for number, items in enumerate(threads):
        slots = sum(isinstance(item, Read) for item in items)
        unrolled.append(Thread(f"P{number}", (*items, End(TRUE, tuple(range(slots)))), slots))
        registers = tuple(RegisterVar(f"r{n}", DOMAIN) for n in range(slots))
        processes.append(Process(f"P{number}", f"P{number}", registers, (Location("end"),), 0, ()))
    variables = tuple(SharedVar(name, DOMAIN) for name in "xy")
    return Code(Program("litmus", variables, tuple(processes)), tuple(unrolled), 0)


def store_buffering(write_order: MemoryOrder, read_order: MemoryOrder, *fence: Item) -> Code:
    return code(
        [write(X, 1, write_order), *fence, read(0, Y, read_order)],
        [write(Y, 1, write_order), *fence, read(0, X, read_order)],
    )


def message_passing(write_order: MemoryOrder, read_order: MemoryOrder) -> Code:
    return code([write(X, 1), write(Y, 1, write_order)], [read(0, Y, read_order), read(1, X)])


def load_buffering(value: int | Expr) -> Code:
    return code([read(0, X), write(Y, value)], [read(0, Y), write(X, 1)])


def independent_reads(order: MemoryOrder) -> Code:
    readers: list[list[Item]] = [[read(0, a, order), read(1, b, order)] for a, b in ((X, Y), (Y, X))]
    return code([write(X, 1)], [write(Y, 1)], *readers)


FENCE = Barrier("thread_fence", SEQ_CST)
DEPENDENT = Binary("+", Binary("-", Register(0), Register(0)), Const(1))
BOTH_ZERO = ((0, 0, 0), (1, 0, 0))
FLAG_ONLY = ((1, 0, 1), (1, 1, 0))
BOTH_ONE = ((0, 0, 1), (1, 0, 1))
OPPOSITE = ((2, 0, 1), (2, 1, 0), (3, 0, 1), (3, 1, 0))
BACKWARDS = ((1, 0, 2), (1, 1, 1))

CASES = [
    ("SB", store_buffering(RELAXED, RELAXED), BOTH_ZERO, "tso pso rc11 armv8"),
    ("SB+fences", store_buffering(RELAXED, RELAXED, FENCE), BOTH_ZERO, ""),
    ("SB+sc", store_buffering(SEQ_CST, SEQ_CST), BOTH_ZERO, ""),
    ("MP", message_passing(RELAXED, RELAXED), FLAG_ONLY, "pso rc11 armv8"),
    ("MP+rel+acq", message_passing(RELEASE, ACQUIRE), FLAG_ONLY, ""),
    ("MP+rel", message_passing(RELEASE, RELAXED), FLAG_ONLY, "rc11 armv8"),
    ("LB", load_buffering(1), BOTH_ONE, "armv8"),
    ("LB+data", code([read(0, X), write(Y, DEPENDENT)], [read(0, Y), write(X, DEPENDENT)]), BOTH_ONE, ""),
    ("IRIW", independent_reads(RELAXED), OPPOSITE, "rc11 armv8"),
    ("IRIW+acq", independent_reads(ACQUIRE), OPPOSITE, "rc11"),
    ("CoRR", code([write(X, 1), write(X, 2)], [read(0, X), read(1, X)]), BACKWARDS, ""),
]


@pytest.mark.parametrize(("name", "litmus", "registers", "allowed"), CASES, ids=[case[0] for case in CASES])
def test_models_allow_what_is_known_of_them(
    name: str, litmus: Code, registers: tuple[tuple[int, int, int], ...], allowed: str
) -> None:
    goal = Ends(conjunction(*(Binary("==", RegisterOf(p, r), Const(value)) for p, r, value in registers)))
    found = []
    for model in ("sc", "tso", "pso", "rc11", "armv8"):
        executions = Executions(litmus)
        answer = executions.find(executions.add(models_named(model)[0]), goal)
        assert isinstance(answer, Found | Nothing)
        found += [model] if isinstance(answer, Found) else []
    assert found == allowed.split()


def test_without_dependencies_more_is_allowed() -> None:
    litmus = next(litmus for name, litmus, _, _ in CASES if name == "LB+data")
    goal = Ends(conjunction(*(Binary("==", RegisterOf(p, r), Const(value)) for p, r, value in BOTH_ONE)))
    executions = Executions(litmus)
    model = executions.add(models_named("armv8")[0], dependencies=False)
    assert isinstance(executions.find(model, goal), Found)


def test_plain_accesses_race_unless_they_are_ordered() -> None:
    def flagged(write_order: MemoryOrder, read_order: MemoryOrder) -> bool:
        unordered = code([write(X, 1, PLAIN), write(Y, 1, write_order)], [read(0, Y, read_order), read(1, X, PLAIN)])
        executions = Executions(unordered)
        answer = executions.find(executions.add(models_named("rc11")[0]), Raises("data-race"))
        return isinstance(answer, Found)

    assert flagged(RELEASE, ACQUIRE)  # the reader reads the data, whatever the flag says
    assert flagged(RELAXED, RELAXED)


def test_all_executions_are_counted_once() -> None:
    executions = Executions(store_buffering(RELAXED, RELAXED))
    counts = [
        len(list(executions.all(executions.add(models_named(name)[0]), Anything()))) for name in ("sc", "tso", "rc11")
    ]
    assert counts == [3, 4, 4]


def test_tags_under_conditions_are_edits_of_the_program() -> None:
    """A fence that is there only where its literal is assumed; one solver for all questions."""
    litmus = store_buffering(RELAXED, RELAXED, FENCE)
    executions = Executions(litmus)
    first, second = executions.fresh_literal(), executions.fresh_literal()
    tso = models_named("tso")[0]

    def tags(thread: int, position: int, item: Item) -> dict[str, int]:
        return {"MFENCE": (first, second)[thread]} if isinstance(item, Barrier) else {}

    model = executions.add(tso, tags=tags)
    goal = Ends(conjunction(*(Binary("==", RegisterOf(p, r), Const(value)) for p, r, value in BOTH_ZERO)))
    answers = [
        isinstance(executions.find(model, goal, assuming=edits), Found)
        for edits in ((first, second), (first, -second), (-first, -second))
    ]
    assert answers == [False, True, True]


@pytest.mark.parametrize(("depends_on_the_way_taken", "is_allowed"), [(True, False), (False, True)])
def test_a_join_depends_only_on_the_way_that_was_taken(depends_on_the_way_taken: bool, is_allowed: bool) -> None:
    """Message passing on ARM, with an address that was computed from the flag on one of two ways."""
    seen, zero = Binary("==", Register(0), Const(1)), Binary("^", Register(0), Register(0))
    ways = [(seen, zero), (Unary("!", seen), Const(0))]
    if not depends_on_the_way_taken:
        ways = [(seen, Const(0)), (Unary("!", seen), zero)]
    reader: list[Item] = [
        read(0, Y),
        Branch(seen),
        Join(1, tuple(ways)),
        Read(2, Address(0, 2, Register(1)), order=RELAXED),
        End(TRUE, (0, 2)),
    ]
    writer = [write(X, 1), Barrier("dmb.sy"), write(Y, 1)]
    litmus = code(writer, [read(0, Y), read(1, X)])
    threads = (litmus.threads[0], Thread("P1", tuple(reader), 3))
    executions = Executions(replace(litmus, threads=threads))
    goal = Ends(conjunction(*(Binary("==", RegisterOf(1, r), Const(value)) for r, value in ((0, 1), (1, 0)))))
    answer = executions.find(executions.add(models_named("armv8")[0]), goal)
    assert isinstance(answer, Found) == is_allowed
