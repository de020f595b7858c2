"""Random programs for the criteria: no loops, few accesses, so that a slow twin can enumerate all runs of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.expressions import Binary, Const, Register, variable_address
from memfence.program.ir import Assert, Assume, Domain, Fence, Load, Process, Program, Rmw, SharedVar, Store
from support.generators.programs import LOAD_ORDERS, STORE_ORDERS, Feature, Shape, _Body

PLAIN: frozenset[Feature] = frozenset({"fences", "sfences", "locked", "branches", "waits"})
RICH: frozenset[Feature] = PLAIN | {
    "arithmetic", "addresses", "steps", "choices", "initial", "assertions", "regions", "orders", "rmw",
}  # fmt: skip
MOST_STATEMENTS = {1: 4, 2: 4, 3: 2}
"""A process; by the number of processes."""


@st.composite
def criteria_programs(
    draw: st.DrawFn, features: frozenset[Feature] = RICH, torn_steps: bool = True, counts: Sequence[int] = (2, 2, 3)
) -> Program:
    """Two or three processes, two or three variables, values 0 to 2. `torn_steps`: several stores in one plain step."""
    count = draw(st.sampled_from(counts))
    most = MOST_STATEMENTS[count] + (1 if draw(st.integers(0, 4)) == 0 and count == 3 else 0)
    shape = Shape((count, count), (1, most), draw(st.sampled_from([2, 2, 3])), features=features)
    domain = Domain(0, shape.values - 1)
    variables = tuple(SharedVar(f"x{n}", domain) for n in range(shape.variables))
    processes = tuple(_CriteriaBody(draw, shape, domain, f"P{n}", torn_steps).process() for n in range(count))
    return fuse_lock_regions(Program("generated", variables, processes))


class _CriteriaBody(_Body):
    """As in `generators`, with values that are often 0, since criteria tell a change from none."""

    def __init__(self, draw: st.DrawFn, shape: Shape, domain: Domain, name: str, torn_steps: bool) -> None:
        super().__init__(draw, shape, domain, name)
        self.torn_steps = torn_steps

    def process(self) -> Process:
        least, most = self.shape.statements
        accesses = self.skeleton()
        for _ in range(self.draw(st.integers(0 if accesses else least, most - len(accesses)))):
            accesses.insert(self.draw(st.integers(0, len(accesses))), None)
        for access in accesses:
            if access is None:
                self.statement(1 if self.draw(st.integers(0, 3)) else 0)
            else:
                access()
        return self.builder.build(0)

    def skeleton(self) -> list[Callable[[], None] | None]:
        """Often two accesses that meet those of the other processes the wrong way round: without them, most random
        programs satisfy every criterion. The other statements come before, between and behind."""
        number = int(self.builder.name[1:])
        first, second = variable_address(number % 2), variable_address(1 - number % 2)

        def load() -> None:
            self.step(Load(self.register(), second, order=self.order(LOAD_ORDERS)))

        def locked_load() -> None:
            self.step(Load(self.register(), second), locked=True)

        def store() -> None:
            self.step(Store(first, self.a_constant(), order=self.order(STORE_ORDERS)))

        def store_second() -> None:
            self.step(Store(second, self.a_constant(), order=self.order(STORE_ORDERS)))

        def load_first() -> None:
            self.step(Load(self.register(), first, order=self.order(LOAD_ORDERS)))

        def exchange() -> None:
            if not self.shape.has("rmw"):
                return store()
            kind = self.draw(st.sampled_from(["exchange", "compare_exchange"]))
            expected = Const(self.draw(st.integers(0, 1))) if kind == "compare_exchange" else None
            register = self.draw(st.none() | st.integers(0, self.shape.registers - 1))
            return self.step(Rmw(register, first, kind, self.a_constant(), expected))

        def wait_for_first() -> None:
            self.step(Load(self.scratch, first), Assume(Binary("==", Register(self.scratch), Const(1))))

        def fenced_store() -> None:
            self.step(Store(first, self.a_constant()))
            self.step(Fence("mfence"))

        def load_and_wait() -> None:
            """The value is waited for in a step of its own: the load has happened, whatever it read."""
            loaded = self.register()
            self.step(Load(loaded, second))
            self.step(Assume(Binary(self.draw(st.sampled_from(["==", "!="])), Register(loaded), Const(1))))
            if self.draw(st.booleans()):
                self.step(Fence(self.draw(st.sampled_from(["mfence", "sfence"]))))

        ways: list[list[Callable[[], None]]] = [[], [store, load], [store, load], [store, store_second]]
        ways += [[store, load_and_wait], [fenced_store, load_and_wait]]
        ways += [[load_first, load], [wait_for_first, load], [store, locked_load], [exchange, load]]
        return [*self.draw(st.sampled_from(ways))]

    def accesses(self) -> list[Callable[[], None]]:
        found = super().accesses()
        if self.shape.has("steps"):
            found += [self.read_and_write, self.wait]
        if self.torn_steps and self.shape.has("steps"):
            found.append(self.two_stores)
        return found

    def wait(self) -> None:
        """A step that blocks until memory holds a value."""
        expected = Binary("==", Register(self.scratch), self.a_constant())
        self.step(Load(self.scratch, self.address()), Assume(expected))

    def read_and_write(self) -> None:
        """`x := x + 1`, `y := x`, a load and an assertion about it: one step each."""
        place = self.address()
        load = Load(self.scratch, place)
        bumped = Binary("%", Binary("+", Register(self.scratch), Const(1)), Const(self.shape.values))
        ways = [(load, Store(place, bumped)), (load, Store(self.address(), Register(self.scratch)))]
        if self.shape.has("assertions"):
            ways.append((load, Assert(Binary("!=", Register(self.scratch), self.a_constant()))))  # type: ignore[arg-type]
        self.step(*self.draw(st.sampled_from(ways)))

    def two_stores(self) -> None:
        self.step(self.a_store(), self.a_store())

    def a_constant(self) -> Const:
        return Const(self.draw(st.sampled_from([1, 1, 2, 0])))

    def others(self) -> list[Callable[[], None]]:
        fences = [lambda: self.step(Fence("mfence"))] * 2
        return fences + super().others()
