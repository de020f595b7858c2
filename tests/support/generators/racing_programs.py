"""Random programs without loops in which processes race: seeded, and most of them behave differently under each model.

`generators.programs` draws whatever the language has, and hardly one program in ten shows the memory model. Here a
process mostly goes from one variable to another, and every load has a register of its own, so that nothing that was
seen is forgotten. Measured on seeds 0 to 999: 34 % tell TSO from SC, 32 % PSO from TSO, and 55 % some two of the three.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Expr, Register, negate, variable_address
from memfence.program.ir import Assume, Domain, Fence, Load, Op, Process, Program, SharedVar, Store

VALUES = Domain(0, 4)


def racing_program(seed: int) -> Program:
    """Two or three processes over two or three variables; the same for the same seed."""
    random = Random(seed)
    count = random.choice([2, 2, 2, 3])
    variables = random.choice([2, 2, 2, 2, 3])
    shared = tuple(SharedVar(f"x{n}", VALUES) for n in range(variables))
    lengths = [3, 4, 4, 4] if count == 2 else [2, 3]
    processes = tuple(_Body(random, f"P{n}", variables).process(random.choice(lengths)) for n in range(count))
    return Program(f"racing {seed}", shared, processes)


class _Body:
    """Draws the statements of one process, each from `here` to a new location."""

    def __init__(self, random: Random, name: str, variables: int) -> None:
        self.random = random
        self.variables = variables
        self.variable = random.randrange(variables)
        self.builder = ProcessBuilder(name, name)
        self.here = self.builder.location()
        self.stored = random.randrange(VALUES.hi)

    def process(self, statements: int) -> Process:
        """Mostly a store comes first: only what is pending can be overtaken."""
        if self.random.random() < 0.7:
            self.step([self.store()])
            statements -= 1
        for _ in range(statements):
            self.statement()
        return self.builder.build(0)

    def statement(self) -> None:
        match self.random.randrange(24):
            case 0:
                self.step([Fence("mfence")])
            case 1:
                self.step([Fence("sfence")])
            case 2:
                self.locked()
            case 3 if self.builder.registers:
                self.branch()
            case 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13:
                self.step([self.load()])
            case _:
                self.step([self.store()])

    def locked(self) -> None:
        """An exchange, or a compare and swap that waits for its value."""
        load = self.load()
        store = Store(load.address, self.value())
        expected = Assume(Binary("==", Register(load.register), Const(self.random.randint(0, 1))))
        self.step([load, expected, store] if self.random.random() < 0.3 else [load, store], locked=True)

    def branch(self) -> None:
        register = Register(self.random.randrange(len(self.builder.registers)))
        condition = Binary("==", register, Const(self.random.randint(0, 2)))
        start, ends = self.here, []
        for guard in (condition, negate(condition)):
            self.here = start
            self.step([Assume(guard), self.random.choice([self.load, self.store])()])
            ends.append(self.here)
        self.builder.emit(ends[1], ends[0])
        self.here = ends[0]

    def step(self, ops: Iterable[Op], *, locked: bool = False) -> None:
        there = self.builder.location()
        self.builder.emit(self.here, there, *ops, locked=locked)
        self.here = there

    def load(self) -> Load:
        register = self.builder.register(f"r{len(self.builder.registers)}", VALUES)
        return Load(register, variable_address(self.next_variable()))

    def store(self) -> Store:
        return Store(variable_address(self.next_variable()), self.value())

    def value(self) -> Expr:
        copied = self.builder.registers and self.random.random() < 0.1
        if copied:
            return Register(self.random.randrange(len(self.builder.registers)))
        self.stored = self.stored % VALUES.hi + 1
        return Const(self.stored)

    def next_variable(self) -> int:
        if self.random.random() < 0.9:
            others = [n for n in range(self.variables) if n != self.variable]
            self.variable = self.random.choice(others)
        return self.variable
