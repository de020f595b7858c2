"""Whether a thread that stands somewhere goes on once its reads see what memory holds at last.

A thread that waits reads the same variables again and again, and in the end sees the last writes to them. So it is
followed from where it stands, with last values for all that it reads, along every way that is open to it. It goes on
where one of them writes, fails, or leads out of the loop in which it goes round. What comes out are conditions on the
thread's registers and on last values (`Shared`). Where none of them is true, it waits for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memfence.axiomatic.unrolling.conditions import canonical, excludes
from memfence.axiomatic.unrolling.definedness import conditions, fitted, in_bounds, inside
from memfence.program.expressions import (
    FALSE,
    TRUE,
    Address,
    Binary,
    Conditional,
    Const,
    Expr,
    Register,
    Shared,
    conjunction,
    disjunction,
    fold,
    negate,
    rewrite,
)
from memfence.program.facts.effects import accesses_memory
from memfence.program.facts.interval_arithmetic import MACHINE, Interval, value_of
from memfence.program.ir import Assert, Assign, Assume, Load, Op, Process, Program, Rmw, Store, Transition
from memfence.records import Record
from memfence.source import NOWHERE, Span

MOST_STEPS = 500
"""Whoever follows more than that gives up: loops that only wait are small."""

Registers = tuple[Expr, ...]
Tests = tuple[Expr, ...]
"""What must be true for the thread to get somewhere."""


class Stand(Record):
    """Where a thread stands, with its registers by slots.

    `body`: the locations of the loop in which it goes round while it waits; whoever leaves them goes on.
    """

    location: int
    registers: Registers
    body: frozenset[int] = frozenset()


class Outlook(Record):
    """`goes_on`: where the thread goes on; None where nobody knows. `place`: what it does again and again till then."""

    goes_on: Expr | None
    place: Span


class TooManyWays(Exception):
    """Nobody knows whether the thread goes on."""


class AwaitTermination:
    """Follows one process; `dead`: for each location the registers that make no difference there."""

    def __init__(
        self,
        program: Program,
        process: Process,
        leaving: Mapping[int, Sequence[tuple[int, Transition]]],
        dead: Sequence[frozenset[int]],
    ) -> None:
        self.program = program
        self.process = process
        self.leaving = leaving
        self.dead = dead
        self.known: dict[Stand, Outlook] = {}
        self.ranges: Sequence[Interval] = ()
        self.body: frozenset[int] = frozenset()
        self.steps = 0
        self.exits: dict[Expr, None] = {}

    def outlook(self, stand: Stand, ranges: Sequence[Interval]) -> Outlook:
        """What becomes of a thread that stands there; `ranges`: what the slots can hold."""
        if stand not in self.known:
            self.ranges, self.body, self.steps, self.exits = ranges, stand.body, 0, {}
            goes_on = self._goes_on(stand.location, self._forgotten(stand.location, stand.registers))
            self.known[stand] = Outlook(goes_on, self._place(stand))
        return self.known[stand]

    def _place(self, stand: Stand) -> Span:
        """Of the first access that the thread makes while it waits, and that has a place in the text."""
        seen = [stand.location]
        for location in seen:  # grows
            for _, step in self.leaving.get(location, ()):
                stays = not stand.body or step.target in stand.body
                if stays and step.span.source.text and any(accesses_memory(op) for op in step.ops):
                    return step.span
                seen += [step.target] if step.target in stand.body and step.target not in seen else []
        return NOWHERE

    def _goes_on(self, *here: *tuple[int, Registers]) -> Expr | None:
        try:
            self._follow(*here, frozenset({here}), ())
        except TooManyWays:
            return None
        return TRUE if TRUE in self.exits else disjunction(*self.exits)

    def _follow(
        self, location: int, registers: Registers, passed: frozenset[tuple[int, Registers]], tests: Tests
    ) -> None:
        for _, transition in self.leaving.get(location, ()):
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise TooManyWays
            for step in _Step(self, registers, tests).taken(transition.ops):
                target = transition.target
                if step.has_written or target not in self.body or self.process.locations[target].may_end:
                    self.leave(step.tests)
                    continue
                there = (target, self._forgotten(target, step.registers))
                if there not in passed:
                    self._follow(*there, passed | {there}, step.tests)

    def leave(self, tests: Tests) -> None:
        """Whoever gets here goes on."""
        self.exits[conjunction(*tests)] = None

    def _forgotten(self, location: int, registers: Registers) -> Registers:
        dead, kinds = self.dead[location], self.process.registers
        return tuple(Const(0) if n in dead or kinds[n].transient else value for n, value in enumerate(registers))

    def range_of(self, expr: Expr) -> Interval:
        """Every value that `expr` can have where it has one."""
        found: dict[Expr, Interval] = {}

        def leaf(node: Expr) -> Expr:
            match node:
                case Register(slot):
                    found.setdefault(node, self.ranges[slot])
                case Shared(address):  # whichever element it is
                    node = Shared(Address(address.base, address.size, Const(0)))
                    found.setdefault(node, self._range_at(address))
                case _:
                    return node
            return Register(list(found).index(node))

        values = value_of(rewrite(expr, leaf), tuple(found.values()), lambda _: MACHINE)
        return MACHINE if values is None else values

    def _range_at(self, address: Address) -> Interval:
        domains = [v.domain for v in self.program.variables[address.base : address.base + address.size]]
        return Interval(min(d.lo for d in domains), max(d.hi for d in domains))


class _Step:
    """A step on its way: registers, and what must be true for it to get here.

    `has_written`: whoever takes it goes on, if it is possible at all: a step happens as a whole or not.
    """

    def __init__(
        self, waiting: AwaitTermination, registers: Registers, tests: Tests, has_written: bool = False
    ) -> None:
        self.waiting = waiting
        self.registers = registers
        self.tests = tests
        self.has_written = has_written

    def taken(self, ops: Sequence[Op]) -> Iterator[_Step]:
        """The step once all of it is done, for every way that it can go."""
        for number, op in enumerate(ops):
            if isinstance(op, Store | Rmw):
                for after in self._writing(op):
                    yield from after.taken(ops[number + 1 :])
                return
            if not self._perform(op):
                return
        yield self

    def _writing(self, op: Store | Rmw) -> Iterator[_Step]:
        """With the write, where its condition is true, and without."""
        old = self._last(op.address)
        writes = self._value(op.when or TRUE) if isinstance(op, Store) else TRUE
        if isinstance(op, Rmw) and op.expected is not None:
            writes = Binary("==", old, self._value(op.expected))
        if not self._is_defined(writes) or not self._is_address(op.address, writes if isinstance(op, Store) else TRUE):
            return
        for condition, has_written in ((writes, True), (negate(writes), self.has_written)):
            after = _Step(self.waiting, self.registers, self.tests, has_written)
            if after._test(condition) and (
                isinstance(op, Store) or op.register is None or after._set(op.register, old)
            ):
                yield after

    def _perform(self, op: Op) -> bool:
        """Follow the op; False where nobody gets behind it."""
        match op:
            case Load(register, address, when):
                extra = TRUE if when is None else self._value(when)
                if not self._is_defined(extra) or not self._is_address(address, extra):
                    return False
                value = self._last(address)
                return self._set(register, value if when is None else Conditional(extra, value, Const(0)))
            case Assign(register, value):
                return self._is_defined(self._value(value)) and self._set(register, self._value(value))
            case Assume(condition):
                return self._is_defined(self._value(condition)) and self._test(self._value(condition))
            case Assert(condition):
                wrong = negate(self._value(condition))
                return self._is_defined(wrong) and self._fail_where(wrong)
        return True

    def _value(self, expr: Expr) -> Expr:
        return fold(rewrite(expr, lambda node: self.registers[node.index] if isinstance(node, Register) else node))

    def _last(self, address: Address) -> Expr:
        return Shared(Address(address.base, address.size, self._value(address.index)))

    def _test(self, condition: Expr) -> bool:
        """Go on where it is true; False where it never is."""
        condition = canonical(fold(condition))
        if condition == FALSE or any(excludes(condition, earlier) for earlier in self.tests):
            return False
        if condition != TRUE and condition not in self.tests:
            self.tests = (*self.tests, condition)
        return True

    def _fail_where(self, condition: Expr) -> bool:
        """Whoever finds it true goes on, by a failure; follow the others."""
        failing = _Step(self.waiting, self.registers, self.tests)
        if failing._test(condition):
            self.waiting.leave(failing.tests)
        return self._test(negate(condition))

    def _is_defined(self, value: Expr, extra: Expr = TRUE) -> bool:
        """Whoever computes what has no value fails."""
        needed = [test for test, _ in conditions(value, self.waiting.range_of)]
        return all(self._fail_where(conjunction(extra, negate(test))) for test in needed)

    def _is_address(self, address: Address, extra: Expr = TRUE) -> bool:
        index = self._value(address.index)
        needed = in_bounds(index, address.size, self.waiting.range_of)
        return self._is_defined(index, extra) and (
            needed is None or self._fail_where(conjunction(extra, negate(needed)))
        )

    def _set(self, register: int, value: Expr) -> bool:
        domain = self.waiting.process.registers[register].domain
        needed = inside(domain, value, self.waiting.range_of)
        stored = fold(fitted(domain, value, self.waiting.range_of))
        self.registers = (*self.registers[:register], stored, *self.registers[register + 1 :])
        return needed is None or self._fail_where(negate(needed))
