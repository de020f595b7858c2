"""The items of one thread while they are made: slots, what values they can have, and guards that join again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memfence.axiomatic.code import Choose, Define, Item, Join
from memfence.program.expressions import (
    FALSE,
    TRUE,
    Const,
    Expr,
    Register,
    RegisterOf,
    conjunction,
    disjunction,
    fold,
    registers_of,
    rewrite,
)
from memfence.program.facts.interval_arithmetic import BOOLEAN, MACHINE, Interval, hull, value_of


class Emission:
    """Collects items. Values and guards are constants or slots, `Register(n)`, never larger expressions."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.ranges: list[Interval] = []
        self.known: dict[Expr, Expr] = {}
        self.guards: dict[Expr, Expr] = {}
        self.parents: dict[frozenset[Expr], Expr] = {}
        self.forks: dict[Expr, frozenset[Expr]] = {}

    def slot(self, values: Interval) -> int:
        """A new slot, for whoever emits the item that defines it."""
        self.ranges.append(values)
        return len(self.ranges) - 1

    def emit(self, item: Item) -> int:
        """Add the item; its position."""
        self.items.append(item)
        return len(self.items) - 1

    def range_of(self, expr: Expr) -> Interval:
        """Every value that `expr` can have where it has one; computed from what its slots can hold."""
        used = sorted(registers_of(expr))
        numbers = {slot: number for number, slot in enumerate(used)}
        dense = rewrite(expr, lambda leaf: Register(numbers[leaf.index]) if isinstance(leaf, Register) else leaf)
        found = value_of(dense, tuple(self.ranges[slot] for slot in used), _no_other)
        return MACHINE if found is None else found

    def define(self, expr: Expr) -> Expr:
        """A slot with this value; constants and slots are as good by themselves."""
        expr = without_slots(expr)
        if isinstance(expr, Const | Register):
            return expr
        if expr not in self.known:
            values = self.range_of(expr)
            self.known[expr] = self._defined(expr, values if MACHINE.contains(values) else MACHINE)
        return self.known[expr]

    def constant(self, value: Expr) -> int:
        """A slot with this constant."""
        if value not in self.known:
            self.known[value] = self._defined(value, self.range_of(value))
        found = self.known[value]
        assert isinstance(found, Register)
        return found.index

    def _defined(self, expr: Expr, values: Interval) -> Expr:
        slot = self.slot(values)
        self.emit(Define(slot, expr))
        return Register(slot)

    def choose(self, values: Sequence[int], guard: Expr = TRUE) -> Expr:
        """One of the values: nobody knows which. It matters where the guard is true."""
        if len(values) == 1:
            return Const(values[0])
        slot = self.slot(Interval(min(values), max(values)))
        self.emit(Choose(slot, tuple(values), guard))
        return Register(slot)

    def join(self, alternatives: Sequence[tuple[Expr, Expr]]) -> Expr:
        """The value whose guard is true."""
        different = {value for _, value in alternatives}
        if len(different) == 1:
            return alternatives[0][1]
        values = [self.range_of(value) for value in different]
        slot = self.slot(_hull(values))
        self.emit(Join(slot, tuple(alternatives)))
        return Register(slot)

    # Guards. `forks` remembers which guards are all ways that lead on from one: together they are that one again.

    def both(self, guard: Expr, *conditions: Expr) -> Expr:
        """A guard that is true where all of them are."""
        kept = [c for c in (guard, *conditions) if not (isinstance(c, Const) and c.value != 0)]
        if any(isinstance(c, Const) for c in kept):
            return FALSE
        if len(kept) == 1 and kept[0] is guard:
            return guard
        return self._guard(conjunction(*kept))

    def _guard(self, expr: Expr) -> Expr:
        if isinstance(expr, Const):
            return truth(expr)
        if isinstance(expr, Register) and self.ranges[expr.index] == BOOLEAN:
            return expr
        if expr not in self.guards:
            self.guards[expr] = self._defined(expr, BOOLEAN)
        return self.guards[expr]

    def fork(self, guard: Expr, conditions: Sequence[Expr]) -> list[Expr]:
        """The guards of ways of which exactly one is taken where `guard` is true."""
        guards = [self.both(guard, condition) for condition in conditions]
        ways = frozenset(g for g in guards if g != FALSE)
        if guard not in ways:
            self.parents[ways] = guard
            self.forks.update(dict.fromkeys(ways, ways))
        return guards

    def either(self, guards: Iterable[Expr]) -> Expr:
        """A guard that is true where one of them is."""
        left = {guard: None for guard in guards if guard != FALSE}
        if TRUE in left:
            return TRUE
        while True:
            ways = next((w for g in left if (w := self.forks.get(g)) is not None and w <= left.keys()), None)
            if ways is None:
                break
            left = {guard: None for guard in left if guard not in ways} | {self.parents[ways]: None}
            if TRUE in left:
                return TRUE
        return self._guard(disjunction(*left))


def without_slots(expr: Expr) -> Expr:
    """`expr`, computed if it depends on no slot; else as it is, because what it depends on matters."""
    return expr if registers_of(expr) else fold(expr)


def truth(expr: Expr) -> Expr:
    """`expr`, of which only the truth counts."""
    return Const(int(expr.value != 0)) if isinstance(expr, Const) else expr


def _hull(values: Iterable[Interval]) -> Interval:
    first, *others = values
    for other in others:
        first = hull(first, other)
    return first


def _no_other(_: RegisterOf) -> Interval:
    raise AssertionError("unrolled code looks at its own slots only")
