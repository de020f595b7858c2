"""Random programs whose threads wait in loops of every shape that front ends make of C: seeded and small.

Loops by loads and by compare-exchanges of every pair of orders, strong and weak; conditions that look at what this
round read or at what the last one did; expected values that a failure brings up to date; loops within loops; choices
that nothing decides; false assumptions, which end the run; steps that block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Expr, Register, negate, variable_address
from memfence.program.ir import Assert, Assign, Assume, Domain, Fence, Load, Op, Process, Program, Rmw, SharedVar, Store
from memfence.program.orders import MemoryOrder

VALUES = Domain(0, 2, "wrap")
RELAXED, ACQUIRE, RELEASE = MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.RELEASE
ACQ_REL, SEQ_CST, PLAIN = MemoryOrder.ACQ_REL, MemoryOrder.SEQ_CST, MemoryOrder.PLAIN
LOADS = (RELAXED, ACQUIRE, SEQ_CST)
STORES = (RELAXED, RELEASE, SEQ_CST)
PAIRS = tuple((success, failure) for success in (RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST) for failure in LOADS)


def await_program(seed: int) -> Program:
    """Two threads and two variables."""
    random = Random(seed)
    variables = (SharedVar("x", VALUES), SharedVar("y", VALUES))
    processes = [_Body(random, f"P{n}").process() for n in range(2)]
    return Program(f"awaits {seed}", variables, tuple(processes))


class _Body:
    """Draws one process, statement by statement. Registers: what was read, what is expected, a copy."""

    def __init__(self, random: Random, name: str) -> None:
        self.random = random
        self.builder = ProcessBuilder(name, name)
        self.here = self.builder.location()
        self.seen, self.expected, self.copy = (Register(self.builder.register(r, VALUES)) for r in ("r", "e", "c"))

    def process(self) -> Process:
        kinds: list[Callable[[], None]] = [
            self.store, self.store, self.spin, self.spin_late, self.take, self.take, self.retry, self.take_if_seen,
            self.once, self.assume, self.block, self.fence, self.choose, self.check,
        ]  # fmt: skip
        for _ in range(self.random.choice([1, 2, 2, 3])):
            self.random.choice(kinds)()
        return self.builder.build(0)

    # Parts.

    def step(self, *ops: Op) -> None:
        there = self.builder.location()
        self.builder.emit(self.here, there, *ops)
        self.here = there

    def load(self) -> Load:
        order = self.random.choice((*LOADS, *LOADS, PLAIN))
        return Load(self.seen.index, variable_address(self.random.randrange(2)), order=order)

    def compare_exchange(self, expected: Expr, new: Expr) -> Rmw:
        success, failure = self.random.choice(PAIRS)
        address = variable_address(self.random.randrange(2))
        return Rmw(self.seen.index, address, "compare_exchange", new, expected, success, failure)

    def wanted(self, register: Register) -> Expr:
        return Binary(self.random.choice(["==", "==", "!=", ">="]), register, Const(self.random.randint(0, 2)))

    def small(self) -> Const:
        return Const(self.random.randint(0, 2))

    def attempt(self, rmw: Rmw, *before: Op) -> None:
        """The compare-exchange; in half of all cases a weak one, which may fail without a reason."""
        there = self.builder.location()
        self.builder.emit(self.here, there, *before, rmw, Assign(self.copy.index, self.succeeded(rmw)))
        if self.random.random() < 0.5:
            self.builder.emit(self.here, there, *before, *self.spuriously(rmw), Assign(self.copy.index, Const(0)))
        self.here = there

    def spuriously(self, rmw: Rmw) -> tuple[Op, ...]:
        """A failure without a reason: a load, or an exchange that expects something else and finds the right value."""
        assert rmw.expected is not None
        if self.random.random() < 0.5:
            return (Load(self.seen.index, rmw.address, order=rmw.failure_order),)
        other = Binary("^", rmw.expected, Const(1))
        return replace(rmw, expected=other), Assume(Binary("==", self.seen, rmw.expected))

    def succeeded(self, rmw: Rmw) -> Expr:
        assert rmw.expected is not None
        return Binary("==", self.seen, rmw.expected)

    # Statements.

    def store(self) -> None:
        address = variable_address(self.random.randrange(2))
        self.step(Store(address, self.small(), order=self.random.choice(STORES)))

    def fence(self) -> None:
        self.step(Fence("thread_fence", self.random.choice([ACQUIRE, RELEASE, SEQ_CST])))

    def spin(self) -> None:
        """`while (!wanted(r = x)) c = r;`, with the first round before the loop or within it."""
        load, wanted, there = self.load(), self.wanted(self.seen), self.builder.location()
        copying = [Assign(self.copy.index, self.seen)] if self.random.random() < 0.4 else []
        before = self.here
        if self.random.random() < 0.5:
            self.step(load)
            self.builder.emit(self.here, self.here, Assume(negate(wanted)), *copying, load)
        elif self.random.random() < 0.5:
            self.step(load)
            again = self.builder.location()
            self.builder.emit(self.here, again, Assume(negate(wanted)), *copying)
            self.builder.emit(again, self.here, load)
        else:
            self.step(load)
            self.builder.emit(self.here, before, Assume(negate(wanted)), *copying)
        self.builder.emit(self.here, there, Assume(wanted))
        self.here = there

    def spin_late(self) -> None:
        """`do { if (wanted(c)) break; c = x; maybe something else } while (1)`: the last round decides."""
        head, there = self.here, self.builder.location()
        wanted = self.wanted(self.copy)
        self.builder.emit(head, there, Assume(wanted))
        body = self.builder.location()
        self.builder.emit(head, body, Assume(negate(wanted)))
        self.here = body
        self.step(self.load())
        if self.random.random() < 0.3:
            self.step(self.load())
        self.builder.emit(self.here, head, Assign(self.copy.index, self.seen))
        self.here = there

    def take(self) -> None:
        """A spin lock: the same expected value in every round."""
        head, there = self.here, self.builder.location()
        self.attempt(self.compare_exchange(self.small(), self.small()))
        self.builder.emit(self.here, head, Assume(negate(self.copy)))
        self.builder.emit(self.here, there, Assume(self.copy))
        self.here = there

    def retry(self) -> None:
        """A failure brings the expected value up to date."""
        self.step(Assign(self.expected.index, self.small()))
        head, there = self.here, self.builder.location()
        self.attempt(self.compare_exchange(self.expected, self.small()))
        self.builder.emit(self.here, head, Assume(negate(self.copy)), Assign(self.expected.index, self.seen))
        self.builder.emit(self.here, there, Assume(self.copy))
        self.here = there

    def take_if_seen(self) -> None:
        """A loop of loads within a loop of compare-exchanges."""
        head, there = self.here, self.builder.location()
        self.spin()
        self.attempt(self.compare_exchange(self.small(), self.small()))
        self.builder.emit(self.here, head, Assume(negate(self.copy)))
        self.builder.emit(self.here, there, Assume(self.copy))
        self.here = there

    def once(self) -> None:
        self.attempt(self.compare_exchange(self.small(), self.small()))

    def assume(self) -> None:
        """Runs in which it is false are not looked at."""
        self.step(self.load())
        wanted = self.wanted(self.seen)
        blocked = self.builder.location(may_end=True)
        self.builder.emit(blocked, blocked)
        self.builder.emit(self.here, blocked, Assume(negate(wanted)))
        self.step(Assume(wanted))

    def block(self) -> None:
        """One step that is possible only where it sees what it waits for."""
        self.step(self.load(), Assume(self.wanted(self.seen)))

    def choose(self) -> None:
        """Either of two ways, one of which may go round."""
        head, there = self.here, self.builder.location()
        self.builder.emit(head, there)
        self.step(self.load())
        self.builder.emit(self.here, self.random.choice([head, there]))
        self.here = there

    def check(self) -> None:
        self.step(self.load(), Assert(self.wanted(self.seen)))
