"""Small random programs with locked steps that write by what they read elsewhere, and with regions that hold the bus.

Seeded, and without endless loops, so that the definitions in `twins/criteria.py` can go through all runs. Values are 0
to 2. Regions have branches and loops that end; with `unbalanced`, a way may forget to release the bus, or release one
that it does not hold. Calibrated on planted bugs: a checker that delays one store only is wrong about one program in
twenty, one that knows one way only to each place inside a region about one in fifty.
"""

from __future__ import annotations

from random import Random

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Expr, Register, variable_address
from memfence.program.ir import (
    Assert,
    Assume,
    Domain,
    Fence,
    Load,
    Lock,
    Op,
    Process,
    Program,
    SharedVar,
    Store,
    Unlock,
)

VALUES = Domain(0, 2)
KEPT, SCRATCH = 0, 1


def guarded_program(seed: int) -> Program:
    return _program(Random(seed), "guarded", with_regions=False, unbalanced=False)


def region_program(seed: int, *, unbalanced: bool = False, failing: bool = False) -> Program:
    """`failing`: some steps, inside regions and elsewhere, are assertions about what they read."""
    return _program(Random(seed), "regions", with_regions=True, unbalanced=unbalanced, failing=failing)


def _program(random: Random, name: str, *, with_regions: bool, unbalanced: bool, failing: bool = False) -> Program:
    count = random.choice([2, 2, 2, 3])
    variables = random.choice([2, 2, 3])
    shared = tuple(SharedVar(f"x{n}", VALUES, (random.choice([0, 0, 1]),)) for n in range(variables))
    bodies = [_Body(random, f"P{n}", n, variables, with_regions, unbalanced, failing) for n in range(count)]
    if random.random() < 0.3:
        return Program(name, shared, (bodies[0].overtaking(), *(body.watching() for body in bodies[1:2])))
    return Program(name, shared, tuple(body.process(4 if count == 2 else 2) for body in bodies))


class _Body:
    def __init__(
        self, random: Random, name: str, number: int, variables: int, regions: bool, unbalanced: bool, failing: bool
    ) -> None:
        self.random, self.number, self.variables = random, number, variables
        self.regions, self.unbalanced, self.failing = regions, unbalanced, failing
        self.builder = ProcessBuilder(name, name)
        self.builder.register("r", VALUES)
        self.builder.scratch(0, VALUES)
        self.here = self.builder.location()

    def process(self, longest: int) -> Process:
        for _ in range(self.random.randint(1, longest - 1)):
            self.statement()
        if self.random.random() < 0.7:  # what a store before may be overtaken by
            self.step(Load(KEPT, self.address(1 - self.number % 2)))
        return self.builder.build(0)

    def overtaking(self) -> Process:
        """Stores to x, then a load of y: what comes in between may need several of them to be pending."""
        for _ in range(self.random.randint(1, 3)):
            self.step(Store(variable_address(0), Const(self.random.choice([0, 1, 2]))))
        self.step(Load(KEPT, variable_address(1)))
        return self.builder.build(0)

    def watching(self) -> Process:
        """A write of y that waits for x, or has looked at it perhaps, in one event."""
        expected = Binary("==", Register(SCRATCH), Const(self.random.choice([0, 0, 1, 2])))
        store = Store(variable_address(1), Const(self.random.choice([1, 2])))
        if not self.regions or self.random.random() < 0.3:
            self.step(Load(SCRATCH, variable_address(0)), Assume(expected), store, locked=True)
        else:
            self.step(Lock())
            self.random.choice([self.maybe, self.branch, self.count_down])()
            self.step(store)
            self.step(Unlock())
        return self.builder.build(0)

    def statement(self) -> None:
        die = self.random.randrange(12)
        if die < 5:
            self.store()
        elif die < 6:
            self.load()
        elif die < 7:
            self.step(Fence(self.random.choice(["mfence", "sfence"])))
        elif die < 8:
            self.step(*self.test(), Store(self.address(), self.value()))
        elif die < 10 or not self.regions:
            self.step(*self.test(), *self.stores(), locked=True)
        else:
            self.region()

    # Pieces of steps.

    def address(self, likely: int | None = None) -> object:
        if likely is not None and self.random.random() < 0.7:
            return variable_address(likely)
        return variable_address(self.random.randrange(self.variables))

    def value(self) -> Expr:
        return Const(self.random.choice([0, 1, 1, 2])) if self.random.random() < 0.85 else Register(KEPT)

    def test(self) -> list[Op]:
        """Often: wait for a value of another variable."""
        expected = Binary(self.random.choice(["==", "!="]), Register(SCRATCH), Const(self.random.choice([0, 0, 1, 2])))
        load = Load(SCRATCH, self.address(1 - self.number % 2))
        return self.random.choice([[load, Assume(expected)], [load, Assume(expected)], [load], []])

    def stores(self) -> list[Op]:
        return [Store(self.address(), self.value()) for _ in range(self.random.choice([1, 1, 2]))]

    def step(self, *ops: Op, locked: bool = False, to: int | None = None) -> None:
        there = self.builder.location() if to is None else to
        self.builder.emit(self.here, there, *ops, locked=locked)
        self.here = there

    def store(self) -> None:
        self.step(Store(self.address(self.number % 2), self.value()))

    # Regions.

    def region(self) -> None:
        if self.unbalanced and self.random.random() < 0.2:
            return self.step(Unlock())
        before = [Load(SCRATCH, self.address())] if self.random.random() < 0.1 else []
        self.step(*before, Lock(), *(self.test() if self.random.random() < 0.3 else ()))
        for _ in range(self.random.randint(1, 2)):
            ways = [self.store, self.load, self.branch, self.count_down, self.locked_inside, self.maybe]
            self.random.choice(ways)()
        forgets = self.unbalanced and self.random.random() < 0.3
        behind = [Load(KEPT, self.address())] if self.random.random() < 0.1 else []
        return None if forgets else self.step(Unlock(), *behind)

    def load(self) -> None:
        if not self.failing or self.random.random() < 0.3:
            return self.step(Load(KEPT, self.address()))
        wanted = Binary(self.random.choice(["==", "!="]), Register(SCRATCH), Const(self.random.choice([0, 1])))
        return self.step(Load(SCRATCH, self.address()), Assert(wanted))

    def locked_inside(self) -> None:
        self.step(Fence("mfence"))
        self.step(*self.test(), *self.stores(), locked=True)

    def branch(self) -> None:
        """Two ways on: the other one may leave the region."""
        start, there = self.here, self.builder.location()
        condition = Binary("==", Register(SCRATCH), Const(self.random.choice([0, 1])))
        load = Load(SCRATCH, self.address())
        self.step(load, Assume(condition))
        self.store()
        self.step(to=there)
        self.here = start
        other: list[Op] = [load, Assume(Binary("-", Const(1), condition))]
        if self.unbalanced and self.random.random() < 0.3:
            other.append(Unlock())
        self.step(*other, to=there)

    def maybe(self) -> None:
        """Two ways to the same place: one of them has looked at a variable."""
        start, there = self.here, self.builder.location()
        ways: list[list[Op]] = [[Load(SCRATCH, self.address())], []]
        for ops in self.random.sample(ways, 2):
            self.here = start
            self.step(*ops, to=there)

    def count_down(self) -> None:
        """`while (x != 0) x = x - 1`, which ends: nobody else writes meanwhile."""
        place, start = self.address(), self.here
        positive = Binary("!=", Register(KEPT), Const(0))
        self.step(Load(KEPT, place))
        turn = self.here
        self.step(Assume(positive), Store(place, Binary("-", Register(KEPT), Const(1))), to=start)
        self.here = turn
        self.step(Assume(Binary("==", Register(KEPT), Const(0))))


def endless_program(seed: int) -> Program:
    """Regions with loops that may go round for ever, or read until something changes, which it never does inside."""
    random = Random(seed)
    shared = tuple(SharedVar(f"x{n}", VALUES, (random.choice([0, 0, 1]),)) for n in range(2))
    bodies = [_Endless(random, f"P{n}", n, 2, True, False, False) for n in range(2)]
    return Program("endless", shared, tuple(body.process(4) for body in bodies))


class _Endless(_Body):
    def branch(self) -> None:
        """`while (x == v) ...`: once round, or for ever."""
        start, load = self.here, Load(SCRATCH, self.address())
        condition = Binary("==", Register(SCRATCH), Const(self.random.choice([0, 1])))
        self.step(load, Assume(condition))
        if self.random.random() < 0.5:
            self.store()
        self.step(to=start)
        self.step(load, Assume(Binary("-", Const(1), condition)))

    def count_down(self) -> None:
        """Round as often as it likes, with accesses that depend on that."""
        start = self.here
        self.random.choice([self.store, self.load])()
        self.step(to=start)
        self.step()
