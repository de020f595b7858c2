"""Random programs with all of C's orders, for what decides robustness against RC11.

Calibrated on planted mistakes (`test_monitor_against_graphs.py`): some need programs with many seq_cst accesses, others
such with few.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from memfence.program.expressions import Binary, Const, Register, negate, variable_address
from memfence.program.ir import (
    Assert,
    Assume,
    Domain,
    Fence,
    Load,
    Location,
    Op,
    Process,
    Program,
    RegisterVar,
    Rmw,
    SharedVar,
    Store,
    Transition,
)
from memfence.program.orders import MemoryOrder

PLAIN, RELAXED, ACQUIRE = MemoryOrder.PLAIN, MemoryOrder.RELAXED, MemoryOrder.ACQUIRE
RELEASE, ACQ_REL, SEQ_CST = MemoryOrder.RELEASE, MemoryOrder.ACQ_REL, MemoryOrder.SEQ_CST
LOADS = (RELAXED, ACQUIRE, SEQ_CST)
STORES = (RELAXED, RELEASE, SEQ_CST)
UPDATES = (RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST)
FENCES = (ACQUIRE, RELEASE, ACQ_REL, SEQ_CST)
VALUES = Domain(0, 15, "wrap")
MIXES = (
    [4, 4, 1, 1, 1, 1],
    [4, 4, 0, 1, 0, 1],
    [3, 3, 2, 2, 2, 2],
    [4, 4, 1, 0, 1, 2],
    [2, 3, 1, 1, 1, 4],
    [4, 5, 0, 0, 0, 0],
    [4, 4, 0, 4, 0, 0],
)
"""Of reads, writes, updates, fences, compare-exchanges and awaits."""


class Taste:
    """What one program is like."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.variables = rng.choice([2, 2, 2, 3])
        self.seq_cst = rng.choice([0, 1, 1, 4, 8])
        self.plain = rng.choice([0] * 5 + [0.2])
        self.mix = rng.choice(MIXES)

    def order(self, orders: tuple[MemoryOrder, ...]) -> MemoryOrder:
        if orders in (LOADS, STORES) and self.rng.random() < self.plain:
            return PLAIN
        weights = [self.seq_cst or 0.01 if order is SEQ_CST else 2 for order in orders]
        return self.rng.choices(orders, weights)[0]

    def ops(self, register: int) -> tuple[Op, ...]:
        """One event, with what the thread waits for."""
        rng = self.rng
        address = variable_address(rng.randrange(self.variables))
        value = Const(rng.choice([1, 1, 2]))
        match rng.choices("RWUFCA", self.mix)[0]:
            case "R":
                return (Load(register, address, order=self.order(LOADS)),)
            case "W":
                return (Store(address, value, order=self.order(STORES)),)
            case "U":
                return (Rmw(register, address, rng.choice(("exchange", "add")), value, order=self.order(UPDATES)),)
            case "F":
                return (Fence("thread_fence", self.order(FENCES)),)
            case "C":
                expected = Const(rng.choice([0, 0, 1, 2]))
                failing = rng.choice(LOADS)
                update = Rmw(register, address, "compare_exchange", value, expected, self.order(UPDATES), failing)
                is_await = rng.random() < 0.5
                return (update, Assume(Binary("==", Register(register), expected))) if is_await else (update,)
        wanted = Binary(rng.choice(("==", "==", "!=")), Register(register), Const(rng.choice([0, 1, 1, 2])))
        return Load(register, address, order=self.order(LOADS)), Assume(wanted)


def random_program(rng: Random) -> Program:
    """Two or three threads of a few events, without loops; some events happen on one branch only."""
    taste, threads = Taste(rng), rng.choice([2, 2, 3])
    processes = []
    for number in range(threads):
        length = rng.randint(2, 4 if threads == 2 else 3)
        steps: list[Transition] = []
        for n in range(length):
            ops = taste.ops(n)
            if n and rng.random() < 0.15:
                test = Binary("==", Register(rng.randrange(n)), Const(rng.choice([0, 1])))
                steps.append(Transition(n, n + 1, (Assume(negate(test)),)))
                ops = (Assume(test), *ops)
            steps.append(Transition(n, n + 1, ops))
        processes.append(_process(number, length, steps))
    return _program(taste.variables, processes)


def random_cyclic_program(rng: Random) -> Program:
    """The same with loops: threads that start again, that wait in loops, and that check what they have read."""
    taste = Taste(rng)
    processes = []
    for number in range(2):
        length = rng.randint(2, 4)
        steps: list[Transition] = []
        for n in range(length):
            ops = tuple(op for op in taste.ops(n) if not isinstance(op, Assume))
            steps.append(Transition(n, n + 1, ops))
            reads = isinstance(ops[0], Load | Rmw)
            if reads and rng.random() < 0.5:  # a loop around it
                middle = length + 2 + n
                test = Binary("==", Register(n), Const(rng.choice([0, 1, 1, 2])))
                steps[-1] = Transition(n, middle, ops)
                steps += [Transition(middle, n, (Assume(negate(test)),)), Transition(middle, n + 1, (Assume(test),))]
        checked = [op for step in steps for op in step.ops if isinstance(op, Load | Rmw)]
        if checked:
            read = rng.choice(checked).register
            assert read is not None
            claim = Binary(rng.choice(("!=", "==", "!=")), Register(read), Const(rng.choice([0, 1, 2])))
            steps.append(Transition(length, length + 1, (Assert(claim),)))
        if rng.random() < 0.6:
            steps.append(Transition(length + 1 if checked else length, 0, ()))
        processes.append(_process(number, 2 * length + 2, steps))
    return _program(taste.variables, processes)


def _process(number: int, last: int, steps: list[Transition]) -> Process:
    registers = tuple(RegisterVar(f"r{n}", VALUES) for n in range(4))
    locations = tuple(Location(str(n)) for n in range(last + 1))
    return Process(f"P{number}", f"P{number}", registers, locations, 0, tuple(steps))


def _program(variables: int, processes: list[Process]) -> Program:
    return Program("random", tuple(SharedVar("xyz"[n], VALUES) for n in range(variables)), tuple(processes))


def corner_cases() -> Iterator[Program]:
    """Programs that tell mistakes apart which random ones rarely show."""
    x, y, z = map(variable_address, range(3))
    one = Const(1)
    fence = Fence("thread_fence", SEQ_CST)
    # What seq_cst accesses order forbids nothing to one that is not seq_cst.
    waits: list[Op] = [Load(0, z, order=RELAXED), Assume(Binary("==", Register(0), one))]
    yield _straight(
        [(Store(x, one, order=SEQ_CST),), (Load(0, y, order=SEQ_CST),), (Store(z, one, order=RELAXED),)],
        [tuple(waits), (Store(y, one, order=SEQ_CST),), (Load(1, x, order=RELAXED),)],
    )
    # A read-modify-write carries on what it has read.
    yield _straight(
        [(Store(x, one, order=RELAXED),), (Store(y, one, order=RELEASE),)],
        [(Rmw(0, y, "add", one, order=RELAXED),)],
        [
            (Load(0, y, order=ACQUIRE), Assume(Binary("==", Register(0), Const(2)))),
            (Load(1, x, order=RELAXED),),
        ],
    )
    # Only the order of fences keeps store buffering away.
    yield _straight(
        [(Store(x, one, order=RELAXED),), (fence,), (Load(0, y, order=RELAXED),)],
        [(Store(y, one, order=RELAXED),), (fence,), (Load(0, x, order=RELAXED),)],
    )


def _straight(*threads: list[tuple[Op, ...]]) -> Program:
    """A step for each of the lists of ops."""
    processes = [
        _process(number, len(steps), [Transition(n, n + 1, ops) for n, ops in enumerate(steps)])
        for number, steps in enumerate(threads)
    ]
    return _program(3, processes)
