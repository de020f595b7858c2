"""Random programs with C's memory orders, fences, dependencies, branches and read-modify-writes: seeded, small enough
to enumerate all executions, and most of them behave differently under different models.

Every process has two accesses of a cycle through the variables, as classical litmus tests do, and something between
them: nothing, a fence, a dependency or a branch. `test_axiomatic_against_oracle` counts those that tell models apart.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, Const, Expr, Register, negate, variable_address
from memfence.program.ir import (
    Assert,
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Op,
    Process,
    Program,
    Rmw,
    RmwKind,
    SharedVar,
    Store,
    WrittenFence,
)
from memfence.program.orders import MemoryOrder

VALUES = Domain(0, 3, "wrap")
LOADS = (MemoryOrder.PLAIN, MemoryOrder.RELAXED, MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.SEQ_CST)
STORES = (MemoryOrder.PLAIN, MemoryOrder.RELAXED, MemoryOrder.RELAXED, MemoryOrder.RELEASE, MemoryOrder.SEQ_CST)
BOTH = (*LOADS[1:], MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)
FENCES = (MemoryOrder.ACQUIRE, MemoryOrder.RELEASE, MemoryOrder.ACQ_REL, MemoryOrder.SEQ_CST)
ARM_FENCES: tuple[WrittenFence, ...] = ("dmb.sy", "dmb.ld", "dmb.st", "isb")
KINDS: tuple[RmwKind, ...] = ("exchange", "add", "compare_exchange", "or")


def ordered_program(seed: int, *, assembly: bool = False) -> Program:
    """The same for the same seed. `assembly`: with exclusive accesses and the fences of ARM."""
    random = Random(seed)
    count = random.choice([2, 2, 2, 3])
    start = (0,) if random.random() < 0.9 else (0, 1)
    variables = tuple(SharedVar(f"x[{n}]", VALUES, start if n == 0 else (0,)) for n in range(min(count, 2)))
    bodies = (_Body(random, f"P{n}", len(variables), n, assembly=assembly) for n in range(count))
    processes = tuple(body.process(extra=count == 2 and random.random() < 0.4) for body in bodies)
    return Program(f"ordered {seed}", variables, processes)


class _Body:
    """Draws one process, statement by statement, each from `here` to a new location."""

    def __init__(self, random: Random, name: str, variables: int, number: int, *, assembly: bool) -> None:
        self.random = random
        self.variables = variables
        self.number = number
        self.assembly = assembly
        self.builder = ProcessBuilder(name, name)
        self.here = self.builder.location()
        self.written = number
        self.seen: int | None = None

    def process(self, *, extra: bool) -> Process:
        self.access(self.number % self.variables)
        self.between()
        self.access((self.number + 1) % self.variables)
        if extra:
            self.access(self.random.randrange(self.variables))
        if self.random.random() < 0.05 and self.seen is not None:
            self.step(Assert(Binary("!=", Register(self.seen), Const(1))))
        return self.builder.build(0)

    def between(self) -> None:
        kind = self.random.random()
        if kind < 0.25:
            self.step(self.fence())
        elif kind < 0.5 and self.seen is not None:
            self.branch()

    def fence(self) -> Fence:
        if self.assembly and self.random.random() < 0.7:
            return Fence(self.random.choice(ARM_FENCES))
        return Fence("thread_fence", self.random.choice(FENCES))

    def branch(self) -> None:
        """Both ways join again; what they do, or what they compute, may differ."""
        assert self.seen is not None
        condition = Binary("==", Register(self.seen), Const(self.random.randint(0, 1)))
        start, ends = self.here, []
        both: list[Callable[[], None]] = [self.store_something, self.compute, lambda: self.step()]
        for guard in (condition, negate(condition)):
            self.here = start
            self.step(Assume(guard))
            self.random.choice(both)()
            ends.append(self.here)
        self.builder.emit(ends[1], ends[0])
        self.here = ends[0]

    def store_something(self) -> None:
        self.step(self.store(self.random.randrange(self.variables)))

    def compute(self) -> None:
        assert self.seen is not None
        self.step(Assign(self.seen, self.random.choice([Const(1), Binary("+", Register(self.seen), Const(1))])))

    def step(self, *ops: Op) -> None:
        there = self.builder.location()
        self.builder.emit(self.here, there, *ops)
        self.here = there

    def access(self, variable: int) -> None:
        kind = self.random.random()
        if kind < 0.42:
            self.step(self.load(variable))
        elif kind < 0.85:
            self.step(self.store(variable))
        elif self.assembly:
            self.exclusive_pair(variable)
        else:
            self.step(self.modify(variable))

    def load(self, variable: int, *, exclusive: bool = False) -> Load:
        address = self.address(variable)
        order = self.random.choice(LOADS)
        return Load(self.register(), address, order=order, exclusive=exclusive)

    def store(self, variable: int) -> Store:
        return Store(self.address(variable), self.value(), order=self.random.choice(STORES))

    def modify(self, variable: int) -> Rmw:
        kind = self.random.choice(KINDS)
        expected = Const(self.random.randint(0, 1)) if kind == "compare_exchange" else None
        orders = {"order": self.random.choice(BOTH), "failure_order": self.random.choice(LOADS[1:])}
        address, operand = self.address(variable), self.value()
        return Rmw(self.register(), address, kind, operand, expected, **orders)

    def exclusive_pair(self, variable: int) -> None:
        self.step(self.load(variable, exclusive=True))
        store = self.store(variable)
        status = self.builder.register(f"s{len(self.builder.registers)}", VALUES)
        self.step(Store(variable_address(variable), store.value, order=store.order, exclusive=True, status=status))

    def register(self) -> int:
        self.seen = self.builder.register(f"r{len(self.builder.registers)}", VALUES)
        return self.seen

    def nothing(self) -> Expr | None:
        """0, computed from what was read."""
        if self.seen is None or self.random.random() < 0.75:
            return None
        return Binary("^", Register(self.seen), Register(self.seen))

    def address(self, variable: int) -> Address:
        zero = self.nothing()
        if zero is None:
            return variable_address(variable)
        if self.variables == 2 and self.seen is not None and self.random.random() < 0.3:
            return Address(0, 2, Binary("&", Register(self.seen), Const(1)))
        return Address(0, self.variables, Binary("+", zero, Const(variable)))

    def value(self) -> Expr:
        self.written = self.written % 2 + 1
        zero = self.nothing()
        if zero is None or self.seen is None:
            return Const(self.written)
        return Register(self.seen) if self.random.random() < 0.3 else Binary("+", zero, Const(self.written))
