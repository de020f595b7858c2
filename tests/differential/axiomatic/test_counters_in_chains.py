"""Counters that threads take numbers from: with what follows from atomicity, the solver finds what the oracle finds."""

from __future__ import annotations

from random import Random

import pytest

from differential.axiomatic.test_axiomatic_against_oracle import C_MODELS, check_model, title, unrolled
from memfence.axiomatic.model import AxiomaticModel
from memfence.engines.axiomatic.counters import find_counters
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Expr, Register, negate, variable_address
from memfence.program.facts.interval_arithmetic import Interval
from memfence.program.ir import Assert, Assume, Domain, Load, Op, Process, Program, Rmw, SharedVar, Store
from memfence.program.orders import MemoryOrder

VALUES = Domain(0, 7, "wrap")
NEXT, SERVING = (variable_address(n) for n in range(2))
ORDERS = (MemoryOrder.RELAXED, MemoryOrder.RELAXED, MemoryOrder.SEQ_CST)


def numbered_program(seed: int) -> Program:
    """Two or three threads take a number, compare it with another variable, and call somebody."""
    random = Random(seed)
    start = random.choice([(0,), (0,), (1,), (0, 1)])
    processes = tuple(_numbered_process(random, f"P{n}") for n in range(random.choice([2, 2, 2, 2, 3])))
    return Program(f"numbered {seed}", (SharedVar("next", VALUES, start), SharedVar("serving", VALUES)), processes)


def _numbered_process(random: Random, name: str) -> Process:
    builder = ProcessBuilder(name, name)
    here = builder.location()

    def step(*ops: Op) -> None:
        nonlocal here
        there = builder.location()
        builder.emit(here, there, *ops)
        here = there

    number, seen = (Register(builder.register(register, VALUES)) for register in ("number", "seen"))
    if random.random() < 0.2:
        step(Load(seen.index, SERVING, order=MemoryOrder.ACQUIRE))
        step(Assume(Binary("==", seen, Const(random.randint(0, 1)))))
    by = Const(random.choice([1, 1, 1, 1, 1, 2, 2, 2, 0]))
    step(Rmw(number.index, NEXT, "add", by, order=random.choice(ORDERS)))
    step(Load(seen.index, SERVING, order=random.choice([MemoryOrder.ACQUIRE, *ORDERS])))
    own: Expr = Binary("==", seen, number)
    kind = random.random()
    if kind < 0.5:
        step(Assume(own))
    elif kind < 0.7:
        step(Assert(negate(own)))
    if random.random() < 0.05:
        step(Store(NEXT, Const(1), order=MemoryOrder.RELAXED))
    value = random.choice([Binary("+", number, by), Binary("+", number, by), number, Const(0)])
    step(Store(SERVING, value, order=random.choice([MemoryOrder.RELEASE, *ORDERS])))
    return builder.build(0)


@pytest.mark.parametrize("model", C_MODELS[:5], ids=title)
def test_the_solver_finds_what_enumeration_finds_where_numbers_are_taken(model: AxiomaticModel) -> None:
    for seed in range(5):
        check_model(unrolled(numbered_program(seed)), model)


@pytest.mark.slow
@pytest.mark.parametrize("model", C_MODELS, ids=title)
def test_the_solver_finds_what_enumeration_finds_where_many_take_numbers(model: AxiomaticModel) -> None:
    for seed in range(1_000, 1_500):
        check_model(unrolled(numbered_program(seed)), model)


def test_most_of_these_programs_have_a_counter() -> None:
    """Otherwise nothing is said about chains at all."""
    assert sum(bool(find_counters(unrolled(numbered_program(seed)))) for seed in range(100)) >= 60


def test_a_counter_holds_what_all_of_its_increments_together_make() -> None:
    process = ProcessBuilder("P", "P")
    here, there, end = (process.location() for _ in range(3))
    process.emit(here, there, Rmw(process.register("a", VALUES), NEXT, "add", Const(2)))
    process.emit(there, end, Rmw(process.register("b", VALUES), NEXT, "add", Const(1)))
    program = Program("counter", (SharedVar("next", VALUES),), (process.build(0),))
    assert find_counters(unrolled(program)) == {0: Interval(0, 4)}  # nobody looks who of the two comes twice


def test_what_may_stay_as_it_is_is_no_counter() -> None:
    process = ProcessBuilder("P", "P")
    here, end = process.location(), process.location()
    process.emit(here, end, Rmw(process.register("a", VALUES), NEXT, "exchange", Const(1)))
    for start, is_counter in (((0,), True), ((1,), False), ((0, 1), False)):
        program = Program("exchange", (SharedVar("next", VALUES, start),), (process.build(0),))
        assert bool(find_counters(unrolled(program))) == is_counter
