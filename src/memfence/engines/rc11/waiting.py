"""Which values a read goes on for: awaits by value.

A thread that reads a value and waits, or comes back to where it read with nothing changed, has done nothing that others
or its own future know of: the read can be taken out of any execution graph, and what is left is allowed as well, since
fewer events order less. So only reads that go on matter for robustness.
"""

from __future__ import annotations

from collections.abc import Sequence

from memfence.engines.rc11.events import Event, Kind
from memfence.program.expressions import (
    FALSE,
    TRUE,
    Binary,
    Conditional,
    Const,
    Expr,
    Register,
    Unary,
    conjunction,
    disjunction,
    fold,
    negate,
    registers_of,
    rewrite,
    walk,
)
from memfence.program.ir import Assign, Assume, Op, Process, Transition
from memfence.records import Record

MOST_WAYS = 64
TOTAL = frozenset({"+", "-", "*", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"})
"""Operators that cannot fail, as long as numbers are those of registers."""


class Going(Record):
    """Conditions on the value read (`Register(read)`) and the registers as they are before the read.

    `goes_on`: the read counts. `waits_for`: the step is possible. `returns`: it comes back to where it was, and nothing
    has changed.
    """

    read: int
    goes_on: Expr
    waits_for: Expr
    returns: Expr

    def with_value(self, value: int) -> Expr:
        """Whether a read of the value would count."""
        return fold(rewrite(self.goes_on, lambda leaf: Const(value) if leaf == Register(self.read) else leaf))

    def with_register(self, old: int) -> Expr:
        """Whether the read that has put its value into this register counts."""
        return self._in(self.goes_on, old)

    def returned(self, old: int) -> Expr:
        """Whether the thread is back where it was, with its value in this register."""
        return self._in(self.returns, old)

    def _in(self, expr: Expr, old: int) -> Expr:
        return fold(rewrite(expr, lambda leaf: Register(old) if leaf == Register(self.read) else leaf))


class _Unclear(Exception):
    """The ways on are not understood: then every value counts."""


def going_on(process: Process, step: Transition, event: Event, dead: Sequence[frozenset[int]]) -> Going:
    """For which values the read of the step goes on. `dead`: registers by location."""
    read = len(process.registers)
    try:
        way = _Way(process, event.old, read)
        way.perform(step.ops[event.last + 1 :] if event.kind is Kind.READ else step.ops[event.first + 1 :])
    except _Unclear:
        return Going(read, TRUE, TRUE, FALSE)
    waits_for = conjunction(*way.conditions)
    if event.kind is not Kind.READ:
        return Going(read, fold(waits_for), waits_for, FALSE)
    try:
        returns = _Rounds(process, step, event, dead).returning(way)
    except _Unclear:
        returns = FALSE
    goes_on = fold(Binary("&&", waits_for, negate(returns)))
    return Going(read, goes_on, waits_for, fold(returns))


class _Way:
    """What is known behind the read: registers as expressions of those before it and of the value read."""

    def __init__(self, process: Process, old: int, read: int) -> None:
        self.process = process
        self.values: dict[int, Expr] = {old: Register(read)}
        self.conditions: list[Expr] = []

    def copy(self) -> _Way:
        twin = _Way(self.process, -1, -1)
        twin.values, twin.conditions = dict(self.values), list(self.conditions)
        return twin

    def value(self, expr: Expr) -> Expr:
        if any(_may_fail(node) for node in walk(expr)):
            raise _Unclear
        return rewrite(expr, lambda e: self.values.get(e.index, e) if isinstance(e, Register) else e)

    def perform(self, ops: Sequence[Op]) -> Op | None:
        """Follow local ops; the first other one, if there is one. Locked pairs end with their store."""
        for op in ops:
            match op:
                case Assume(condition):
                    self.conditions.append(self.value(condition))
                case Assign(register, value):
                    if not self._fits(register, value):
                        raise _Unclear
                    self.values[register] = self.value(value)
                case _:
                    return op
        return None

    def _fits(self, register: int, value: Expr) -> bool:
        """Whether the register takes the value as it is, for sure."""
        domain = self.process.registers[register].domain
        match value:
            case Const(number):
                return domain.holds(number)
            case Register(other):
                source = self.process.registers[other].domain
                return domain.holds(source.lo) and domain.holds(source.hi)
            case Unary("!") | Binary("==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||"):
                return domain.holds(0) and domain.holds(1)
        return False

    def end_step(self) -> None:
        for n, register in enumerate(self.process.registers):
            if register.transient:
                self.values[n] = Const(0)


def _may_fail(node: Expr) -> bool:
    match node:
        case Binary(op):
            return op not in TOTAL and not _is_safe(node)
        case Const() | Register() | Unary() | Conditional():
            return False
    return True


def _is_safe(node: Expr) -> bool:
    """Division by, or a shift by, a constant that is not wrong."""
    match node:
        case Binary("/" | "%", _, Const(by)):
            return by != 0
        case Binary("<<" | ">>", _, Const(by)):
            return 0 <= by < 63
    return False


class _Rounds:
    """The ways from behind the read back to where it is made again: at the same place, or in the loop behind it."""

    def __init__(self, process: Process, step: Transition, event: Event, dead: Sequence[frozenset[int]]) -> None:
        self.process = process
        self.step = step
        self.old = event.old
        self.load = step.ops[event.first]
        self.dead = dead
        self.read = len(process.registers)
        self.behind: dict[int, Expr] = {}
        self.back: list[Expr] = []
        self.onward: list[Expr] = []

    def returning(self, way: _Way) -> Expr:
        """Where the thread comes back for sure, with nothing changed."""
        start = way.copy()
        start.conditions = []
        start.end_step()
        self.behind = dict(start.values)
        self._from(self.step.target, start, frozenset())
        return Binary("&&", disjunction(*self.back), negate(disjunction(*self.onward))) if self.back else FALSE

    def _from(self, here: int, way: _Way, passed: frozenset[int]) -> None:
        if here == self.step.source and self._is_unchanged(way):
            self._add(self.back, way)
            return
        leaving = [step for _, step in self.process.leaving(here)]
        if here != self.step.target and self._is_made_again(leaving) and self._is_as_behind(way):
            self._add(self.back, way)
            return
        for step in leaving:
            after = way.copy()
            other = after.perform(step.ops)
            if other is not None or step.target in passed or step.sync is not None:
                self._add(self.onward, after)
                continue
            after.end_step()
            self._from(step.target, after, passed | {here})

    def _is_unchanged(self, way: _Way) -> bool:
        """Whether all that matters at the read is as it was before it."""
        dead = self.dead[self.step.source]
        changed = {op.register for op in self.step.ops if isinstance(op, Assign)}
        differing = {n for n, value in way.values.items() if value != Register(n)}
        return all(n in dead or self.process.registers[n].transient for n in changed | differing)

    def _is_made_again(self, leaving: Sequence[Transition]) -> bool:
        """Whether the one step from here is the same read, and leads to where the first one led."""
        if len(leaving) != 1:
            return False
        (step,) = leaving
        return step.ops == (self.load,) and step.target == self.step.target and step.sync is None

    def _is_as_behind(self, way: _Way) -> bool:
        """Whether, but for the value read, all that matters behind the read is as the first read left it."""
        dead = self.dead[self.step.target]
        for n in way.values.keys() | self.behind.keys():
            value, before = way.values.get(n, Register(n)), self.behind.get(n, Register(n))
            is_own = value == before and self.read not in registers_of(value)
            if not (n == self.old or is_own or n in dead or self.process.registers[n].transient):
                return False
        return True

    def _add(self, ways: list[Expr], way: _Way) -> None:
        ways.append(conjunction(*way.conditions))
        if len(self.back) + len(self.onward) > MOST_WAYS:
            raise _Unclear
