"""Random programs for property and differential tests: `programs(Shape(...))` is a hypothesis strategy.

Calibrated on planted bugs: about nine accesses to one other op, stores of non-zero values, two to four statements a
process, few variables, so that processes really meet. Every feature beyond loads and stores is a word in
`Shape.features`; `EVERYTHING` is all of them that keep the program free of run-time errors. Tests of register work
shift `Shape.weights`: with the default, planted bugs in reductions of local steps are hardly ever found.
Loops store without bound: explore them with a bounded model only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from hypothesis import strategies as st

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, Const, Expr, Register, negate, variable_address
from memfence.program.ir import (
    Assert,
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Lock,
    Op,
    Process,
    Program,
    Rmw,
    RmwKind,
    SharedVar,
    Store,
    Unlock,
)
from memfence.program.orders import MemoryOrder

Feature = Literal[
    "fences",  # mfence
    "sfences",  # sfence
    "locked",  # compare-and-set, exchange, locked stores and loads
    "regions",  # lock ... unlock; `fuse_lock_regions` before a model sees the program
    "branches",  # if (r == v) ... else ...
    "loops",  # while (r == v) ..., and endless loops
    "waits",  # a process blocks until r == v
    "arithmetic",  # r := (r + 1) % n, stores of register values
    "addresses",  # a[r % n]
    "steps",  # several ops in one atomic step, through scratch registers
    "choices",  # nondeterministic: both ways are open
    "initial",  # several initial values
    "assertions",
    "errors",  # values that leave their range, indices out of bounds
    "counting",  # r := r + 1 without end: needs undeclared or wrapping ranges
    "orders",  # accesses and fences with C11's memory orders
    "rmw",  # read-modify-write ops, alone and with others in one step
]

LOAD_ORDERS = (MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.SEQ_CST)
STORE_ORDERS = (MemoryOrder.RELEASE, MemoryOrder.SEQ_CST, MemoryOrder.RELAXED)
FENCE_ORDERS = (MemoryOrder.RELEASE, MemoryOrder.SEQ_CST, MemoryOrder.ACQUIRE, MemoryOrder.ACQ_REL)
RMW_ORDERS = (MemoryOrder.SEQ_CST, MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)
CLOSED_KINDS: tuple[RmwKind, ...] = ("exchange", "compare_exchange", "and", "max", "min")
"""Their result is never larger than the larger of their operands."""

EVERYTHING: frozenset[Feature] = frozenset(get_args(Feature)) - {"regions", "assertions", "errors", "counting"}
STRAIGHT: frozenset[Feature] = frozenset({"fences", "sfences"})


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the programs are, and what is in them. Pairs are (least, most)."""

    processes: tuple[int, int] = (1, 2)
    statements: tuple[int, int] = (2, 4)
    variables: int = 2
    values: int = 3
    registers: int = 2
    weights: tuple[int, int, int] = (8, 1, 1)
    """How often a statement is an access, another single step, or something with statements inside."""
    features: frozenset[Feature] = field(default=EVERYTHING)
    domain: Domain | None = None
    """For all values; without one, exactly 0 .. values - 1, an error outside."""

    def has(self, feature: Feature) -> bool:
        return feature in self.features


DEFAULT_SHAPE = Shape()


@st.composite
def programs(draw: st.DrawFn, shape: Shape = DEFAULT_SHAPE) -> Program:
    """Random programs of the shape. Deterministic given the draws; shrinks towards few, short, plain processes."""
    domain = shape.domain or Domain(0, shape.values - 1)
    count = draw(st.integers(*shape.processes))
    variables = tuple(SharedVar(f"x{n}", domain, _initial(draw, shape)) for n in range(shape.variables))
    processes = tuple(_Body(draw, shape, domain, f"P{n}").process() for n in range(count))
    return Program("generated", variables, processes)


def _initial(draw: st.DrawFn, shape: Shape) -> tuple[int, ...]:
    if not shape.has("initial") or draw(st.integers(0, 9)) < 8:
        return (0,)
    return tuple(draw(st.lists(st.integers(0, shape.values - 1), min_size=1, max_size=2, unique=True)))


class _Body:
    """Draws the statements of one process, each from `here` to a new location."""

    def __init__(self, draw: st.DrawFn, shape: Shape, domain: Domain, name: str) -> None:
        self.draw = draw
        self.shape = shape
        self.builder = ProcessBuilder(name, name)
        for n in range(shape.registers):
            self.builder.register(f"r{n}", domain, _initial(draw, shape))
        self.scratch = self.builder.scratch(0, domain)
        self.here = self.builder.location()

    def process(self) -> Process:
        self.block(*self.shape.statements, depth=0)
        return self.builder.build(0)

    def block(self, least: int, most: int, depth: int) -> None:
        for _ in range(self.draw(st.integers(least, most))):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        access, other, structure = self.shape.weights
        die = self.draw(st.integers(0, access + other + structure - 1))
        others = self.others()
        structures = self.structures() if depth == 0 else []
        if die >= access + other and structures:
            self.draw(st.sampled_from(structures))()
        elif die >= access and others:
            self.draw(st.sampled_from(others))()
        else:
            self.draw(st.sampled_from(self.accesses()))()

    # What a statement may be, simplest first: hypothesis shrinks towards the front.

    def accesses(self) -> list[Callable[[], None]]:
        found = [self.store, self.load, self.store, self.load]
        if self.shape.has("locked"):
            found.append(self.locked)
        if self.shape.has("steps"):
            found.append(self.several)
        if self.shape.has("rmw"):
            found.append(self.read_modify_write)
        return found

    def others(self) -> list[Callable[[], None]]:
        ways: list[tuple[Feature, Callable[[], None]]] = [
            ("fences", lambda: self.step(Fence("mfence"))),
            ("sfences", lambda: self.step(Fence("sfence"))),
            ("orders", lambda: self.step(Fence("thread_fence", self.draw(st.sampled_from(FENCE_ORDERS))))),
            ("waits", lambda: self.step(Assume(self.condition()))),
            ("arithmetic", lambda: self.step(Assign(self.register(), self.value()))),
            ("assertions", lambda: self.step(Assert(self.condition()))),
            ("counting", self.count),
            ("errors", self.mistake),
        ]
        return [way for feature, way in ways if self.shape.has(feature)]

    def structures(self) -> list[Callable[[], None]]:
        ways: list[tuple[Feature, Callable[[], None]]] = [
            ("branches", self.branch),
            ("choices", self.choice),
            ("loops", self.loop),
            ("regions", self.region),
        ]
        return [way for feature, way in ways if self.shape.has(feature)]

    # The statements.

    def store(self) -> None:
        self.step(self.a_store())

    def load(self) -> None:
        self.step(self.a_load())

    def locked(self) -> None:
        variable, register = self.address(), self.register()
        expected = self.draw(st.integers(0, self.shape.values - 1))
        load = Load(register, variable)
        compare = Assume(Binary("==", Register(register), Const(expected)))
        ops: list[tuple[Op, ...]] = [
            (self.a_store(),),
            (load, Store(variable, self.a_constant())),
            (load, compare, Store(variable, self.a_constant())),
            (load,),
        ]
        self.step(*self.draw(st.sampled_from(ops)), locked=True)

    def several(self) -> None:
        """A guard that reads memory, a copy between variables, two accesses at once, a load under a condition."""
        scratch = Load(self.scratch, self.address())
        guard = Assume(Binary("!=", Register(self.scratch), self.a_constant()))
        ops: list[tuple[Op, ...]] = [
            (scratch, guard),
            (scratch, Store(self.address(), Register(self.scratch))),
            (scratch, self.a_load(), Assume(self.condition())),
            (self.a_store(), self.a_load()),
            (Load(self.register(), self.address(), self.condition()),),
        ]
        if self.shape.has("sfences"):
            ops += [(Fence("sfence"), self.a_store()), (self.a_load(), Fence("sfence"), self.a_store())]
        self.step(*self.draw(st.sampled_from(ops)))

    def read_modify_write(self) -> None:
        """Alone; waiting for success; with the success in a register; with another access in the same step."""
        op = self.an_rmw()
        if op.expected is None:
            ways: list[tuple[Op, ...]] = [(op,), (op,), (op, self.a_load()), (self.a_store(), op)]
        else:
            register = self.scratch if op.register is None else op.register
            compared = replace(op, register=register)
            success = Binary("==", Register(register), op.expected)
            ways = [
                (op,),
                (compared, Assume(success)),
                (compared, Assign(self.register(), success)),
                (op, self.a_load()),
            ]
        self.step(*self.draw(st.sampled_from(ways)))

    def an_rmw(self) -> Rmw:
        """Without run-time errors only kinds whose result is one of the values."""
        wraps = self.shape.domain is not None and self.shape.domain.overflow == "wrap"
        every = wraps or self.shape.has("errors") or self.shape.has("counting")
        kind: RmwKind = self.draw(st.sampled_from(get_args(RmwKind) if every else CLOSED_KINDS))
        register = self.draw(st.none() | st.integers(0, self.shape.registers - 1))
        expected = self.value_or(Const(0)) if kind == "compare_exchange" else None
        order = self.draw(st.sampled_from(RMW_ORDERS)) if self.shape.has("orders") else MemoryOrder.SEQ_CST
        return Rmw(register, self.address(), kind, self.value_or(self.a_constant()), expected, order)

    def value_or(self, constant: Const) -> Expr:
        return self.value() if self.draw(st.integers(0, 2)) == 2 else constant

    def count(self) -> None:
        register = self.register()
        more = Binary("+", Register(register), Const(self.draw(st.sampled_from([1, -1, 2]))))
        variable = self.address()
        ops: list[tuple[Op, ...]] = [
            (Assign(register, more),),
            (Store(variable, more),),
            (Load(register, variable), Store(variable, more)),
        ]
        self.step(*self.draw(st.sampled_from(ops)))

    def mistake(self) -> None:
        outside = Binary("+", Register(self.register()), Const(1))
        ops: list[Op] = [
            Store(self.address(), outside),
            Assign(self.register(), outside),
            Load(self.register(), Address(0, self.shape.variables, outside)),
        ]
        self.step(self.draw(st.sampled_from(ops)))

    def branch(self) -> None:
        condition = self.condition()
        self.fork(Assume(condition), Assume(negate(condition)))

    def choice(self) -> None:
        self.fork()

    def fork(self, *guards: Op) -> None:
        start, ends = self.here, []
        for way in range(2):
            self.here = start
            if guards or self.draw(st.booleans()):
                self.step(*guards[way : way + 1])
            else:  # ways that differ in kind may leave one place
                self.statement(depth=1)
            self.block(0, 2, depth=1)
            ends.append(self.here)
        self.builder.emit(ends[1], ends[0])
        self.here = ends[0]

    def loop(self) -> None:
        head, condition = self.here, self.condition()
        self.step(Assume(condition))
        self.block(1, 2, depth=1)
        self.builder.emit(self.here, head)
        self.here = head
        if self.draw(st.booleans()):
            self.step(Assume(negate(condition)))
        else:
            self.step()

    def region(self) -> None:
        self.step(Lock())
        for op in self.draw(st.lists(st.sampled_from([self.a_load, self.a_store]), min_size=1, max_size=3)):
            self.step(op())
        if self.draw(st.booleans()):
            self.branch()
        self.step(Unlock())

    # The parts of statements.

    def step(self, *ops: Op, locked: bool = False) -> None:
        there = self.builder.location()
        self.builder.emit(self.here, there, *ops, locked=locked)
        self.here = there

    def a_store(self) -> Store:
        plain = not self.shape.has("arithmetic") or self.draw(st.integers(0, 3)) < 3
        return Store(self.address(), self.a_constant() if plain else self.value(), order=self.order(STORE_ORDERS))

    def a_load(self) -> Load:
        return Load(self.register(), self.address(), order=self.order(LOAD_ORDERS))

    def order(self, orders: Sequence[MemoryOrder]) -> MemoryOrder:
        if not self.shape.has("orders") or self.draw(st.integers(0, 2)) < 2:
            return MemoryOrder.PLAIN
        return self.draw(st.sampled_from(orders))

    def address(self) -> Address:
        last = self.shape.variables - 1
        if self.shape.has("addresses") and self.draw(st.integers(0, 5)) == 5:
            size = Const(self.shape.variables)
            # Twice, since the remainder of a negative number is negative.
            index = Binary("%", Binary("+", Binary("%", Register(self.register()), size), size), size)
            return Address(0, self.shape.variables, index)
        return variable_address(self.draw(st.integers(0, last)))

    def register(self) -> int:
        return self.draw(st.integers(0, self.shape.registers - 1))

    def a_constant(self) -> Const:
        return Const(self.draw(st.integers(1, self.shape.values - 1)))

    def value(self) -> Expr:
        register = Register(self.register())
        size = Const(self.shape.values)
        bumped = Binary("%", Binary("+", register, self.a_constant()), size)
        return self.draw(st.sampled_from([self.a_constant(), register, bumped]))

    def condition(self) -> Expr:
        register = Register(self.register())
        constant = Const(self.draw(st.integers(0, self.shape.values - 1)))
        other = Register(self.register())
        op: Literal["==", "!=", "<"] = self.draw(st.sampled_from(["==", "!=", "<"]))
        return Binary(op, register, self.draw(st.sampled_from([constant, other])))
