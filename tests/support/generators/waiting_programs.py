"""Random programs whose threads store, and wait in loops or in one step until they see something: seeded and small."""

from __future__ import annotations

from random import Random

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Expr, Register, negate, variable_address
from memfence.program.ir import Assume, Domain, Fence, Load, Op, Process, Program, Rmw, SharedVar, Store
from memfence.program.orders import MemoryOrder

VALUES = Domain(0, 3, "wrap")
LOADS = (MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.SEQ_CST)
STORES = (MemoryOrder.RELAXED, MemoryOrder.RELEASE, MemoryOrder.SEQ_CST)


X, Y = variable_address(0), variable_address(1)


def waiting_program(seed: int, *, with_updates: bool = False) -> Program:
    """Two threads and two variables. Every other program is a wake-up that may get lost: one thread asks, looks
    whether somebody is about to come, and sleeps; the other one comes, looks whether it was asked, and wakes it.
    `with_updates`: also loops around read-modify-writes, and loops of two loads.
    """
    random = Random(seed)
    variables = (SharedVar("x", VALUES), SharedVar("y", VALUES))
    bodies = [_Body(random, f"P{n}", with_updates) for n in range(2)]
    processes = [bodies[0].sleeper(), bodies[1].waker()] if seed % 2 else [body.process() for body in bodies]
    return Program(f"waiting {seed}", variables, tuple(processes))


class _Body:
    """Draws one process, statement by statement."""

    def __init__(self, random: Random, name: str, with_updates: bool = False) -> None:
        self.random = random
        self.with_updates = with_updates
        self.builder = ProcessBuilder(name, name)
        self.here = self.builder.location()
        self.register = Register(self.builder.register("r", VALUES))

    def process(self) -> Process:
        for _ in range(self.random.choice([2, 2, 3])):
            more = [self.spin_for_two, self.take, self.set_and_look] if self.with_updates else []
            kinds = [self.store, self.store, self.spin, self.spin, self.block, self.fence, self.pick, *more]
            self.random.choice(kinds)()
        return self.builder.build(0)

    def sleeper(self) -> Process:
        self.step(Store(X, Const(1), order=self.random.choice(STORES)))
        self.between()
        self.step(Load(self.register.index, Y, order=self.random.choice(LOADS)))
        before, nobody = self.here, Binary("==", self.register, Const(0))
        self.step(Assume(nobody))
        self.spin(Load(self.register.index, X, order=self.random.choice(LOADS)), Binary("==", self.register, Const(2)))
        self.builder.emit(before, self.here, Assume(negate(nobody)))
        return self.builder.build(0)

    def waker(self) -> Process:
        self.step(Store(Y, Const(1), order=self.random.choice(STORES)))
        self.between()
        self.step(Load(self.register.index, X, order=self.random.choice(LOADS)))
        before, asked = self.here, Binary("!=", self.register, Const(0))
        self.step(Assume(asked))
        self.step(Store(X, Const(2), order=self.random.choice(STORES)))
        self.builder.emit(before, self.here, Assume(negate(asked)))
        return self.builder.build(0)

    def between(self) -> None:
        if self.random.random() < 0.5:
            self.fence()

    def step(self, *ops: Op) -> None:
        there = self.builder.location()
        self.builder.emit(self.here, there, *ops)
        self.here = there

    def store(self) -> None:
        address = variable_address(self.random.randrange(2))
        self.step(Store(address, Const(self.random.randint(0, 2)), order=self.random.choice(STORES)))

    def fence(self) -> None:
        self.step(Fence("thread_fence", MemoryOrder.SEQ_CST))

    def pick(self) -> None:
        """Go on by any of two ways that are open, or stand still where none is."""
        self.step(self.load())
        there = self.builder.location()
        for _ in range(2):
            self.builder.emit(self.here, there, Assume(self.wanted()))
        self.here = there

    def wanted(self) -> Expr:
        return Binary(self.random.choice(["==", "!=", ">="]), self.register, Const(self.random.randint(0, 2)))

    def load(self) -> Load:
        address = variable_address(self.random.randrange(2))
        return Load(self.register.index, address, order=self.random.choice(LOADS))

    def spin(self, load: Load | None = None, wanted: Expr | None = None) -> None:
        """Read until it is there; as front ends write it, with the first round before the loop or within it."""
        wanted, load, there = wanted or self.wanted(), load or self.load(), self.builder.location()
        if self.random.random() < 0.4:
            self.step(load)
            self.builder.emit(self.here, self.here, Assume(negate(wanted)), load)
        else:
            before = self.here
            self.step(load)
            self.builder.emit(self.here, before, Assume(negate(wanted)))
        self.builder.emit(self.here, there, Assume(wanted))
        self.here = there

    def spin_for_two(self) -> None:
        """Read one variable and then the other until both are as wanted."""
        head, first, second = self.here, self.wanted(), self.wanted()
        self.step(Load(self.register.index, X))
        self.builder.emit(self.here, head, Assume(negate(first)))
        self.step(Assume(first), Load(self.register.index, Y))
        self.builder.emit(self.here, head, Assume(negate(second)))
        self.step(Assume(second))

    def take(self) -> None:
        """A lock by compare-exchange, which tries again where it fails."""
        expected, desired = self.random.sample(range(3), 2)
        self.update(Rmw(self.register.index, X, "compare_exchange", Const(desired), Const(expected)), expected)

    def set_and_look(self) -> None:
        """A lock by exchange: a try that fails writes what is there, or something else."""
        wanted, written = self.random.sample(range(3), 2)
        self.update(Rmw(self.register.index, Y, "exchange", Const(written)), wanted)

    def update(self, update: Rmw, wanted: int) -> None:
        head = self.here
        self.step(update)
        is_wanted = Binary("==", self.register, Const(wanted))
        self.builder.emit(self.here, head, Assume(negate(is_wanted)))
        self.step(Assume(is_wanted))

    def block(self) -> None:
        """One step that is possible only where it sees what it waits for."""
        self.step(self.load(), Assume(self.wanted()))
