"""Unrolled code as rows for the explorer of execution graphs: `Item` in `core/graphs/code.hpp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from memfence.axiomatic.code import (
    Barrier,
    Branch,
    Check,
    Choose,
    Code,
    Cut,
    Define,
    End,
    EventItem,
    Given,
    Item,
    Join,
    Over,
    Read,
    Thread,
    Wait,
    Write,
)
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.engines.native.expression_code import ExpressionCodes
from memfence.engines.native.slots import Slots
from memfence.program.expressions import TRUE, Expr, Shared, walk

Row = tuple[int, int, int, int, int, int, int, int, int, list[int]]
"""Kind, guard, slot, base, index, value, order, partner, guess, more."""

_DEFINE, _JOIN, _CHOOSE, _GUESS, _READ, _WRITE, _FENCE, _CHECK, _WAIT, _OVER, _CUT, _END = range(12)
_BITS = {"RLX": 1, "ACQ": 2, "REL": 4, "SC": 8, "LOCKED": 16, "MFENCE": 32}
"""The sets of the models' texts; SFENCE orders nothing that TSO does not."""


class Rows:
    """The items of each thread, their expressions, and `positions`: where in the code each row comes from.

    The slots of a thread begin with those of the variables.
    """

    def __init__(self, code: Code, model: AxiomaticModel, *, steps_matter: bool) -> None:
        """NotUnrolled where accesses are one event together. `steps_matter`: so are all of one step."""
        self.model = model
        self.variables = len(code.program.variables)
        first = (self.variables,) * len(code.threads)
        self.codes = ExpressionCodes(Slots(self.variables, None, (), first, 0), code.program.source)
        self.positions: list[list[int]] = []
        self.threads: list[list[Row]] = []
        for number, thread in enumerate(code.threads):
            _require_single_events(thread, steps_matter=steps_matter)
            self._add(number, thread)

    def _add(self, number: int, thread: Thread) -> None:
        rows: list[Row] = []
        at: dict[int, int] = {}
        """The row of the item at a position."""
        guesses = {item.guess for item in thread.items if isinstance(item, Given)}
        for position, item in enumerate(thread.items):
            row = self._row(number, thread, item, at, is_guess=position in guesses)
            if row is not None:
                at[position] = len(rows)
                rows.append(row)
            if isinstance(item, Given):
                self._attempt(number, rows, item, at)
        self.positions.append(list(at))
        self.threads.append(rows)

    def _row(self, number: int, thread: Thread, item: Item, at: dict[int, int], *, is_guess: bool) -> Row | None:
        """None for what means nothing to the core."""

        def expr(value: Expr) -> int:
            return self.codes.number(value, number)

        def guard(value: Expr) -> int:
            return -1 if value == TRUE else expr(value)

        match item:
            case Define(slot, value):
                return _row(_DEFINE, slot=self._slot(slot), value=expr(value))
            case Join(slot, alternatives):
                more = [part for test, value in alternatives for part in (expr(test), expr(value))]
                return _row(_JOIN, slot=self._slot(slot), more=more)
            case Choose(slot, values, test):
                return _row(_GUESS if is_guess else _CHOOSE, guard(test), self._slot(slot), more=values)
            case Read(slot, address, test):
                order = self._order(thread, item)
                return _row(_READ, guard(test), self._slot(slot), address.base, expr(address.index), order=order)
            case Write(address, value, test):
                row = _row(_WRITE, guard(test), -1, address.base, expr(address.index), expr(value))
                partner = -1 if item.reads_by is None else at[item.reads_by]
                return (*row[:6], self._order(thread, item), partner, -1, [])
            case Barrier(guard=test):
                order = self._order(thread, item)
                return None if order == 0 else _row(_FENCE, guard(test), order=order)
            case Check(condition, test):
                return _row(_CHECK, guard(test), value=expr(condition))
            case Wait(condition, test):
                return self._wait(item, guard(test), expr(condition), expr)
            case Over(test):
                return _row(_OVER, guard(test))
            case Cut(test):
                return _row(_CUT, guard(test))
            case End(test, registers):
                return _row(_END, guard(test), more=[self._slot(slot) for slot in registers])
            case Branch() | Given():
                return None
            case _:
                assert_never(item)

    def _wait(self, item: Wait, guard: int, condition: int, expr: Callable[[Expr], int]) -> Row:
        """A thread reads again where it depends on memory whether it goes on."""
        goes_on = -1 if item.goes_on is None else expr(item.goes_on)
        reads_again = item.goes_on is not None and any(isinstance(node, Shared) for node in walk(item.goes_on))
        return _row(
            _WAIT, guard, base=int(reads_again), index=goes_on, value=condition, more=[1] if item.may_end else []
        )

    def _attempt(self, number: int, rows: list[Row], given: Given, at: dict[int, int]) -> None:
        """The read of a compare-exchange that succeeds may turn out to be the other one."""
        read = at[given.succeeds]
        expected = self.codes.number(given.expected, number)
        row = rows[read]
        rows[read] = (*row[:5], expected, row[6], at[given.fails], at[given.guess], [])

    def _slot(self, slot: int) -> int:
        return self.variables + slot

    def _order(self, thread: Thread, item: EventItem) -> int:
        return sum(_BITS.get(tag, 0) for tag in self.model.tags(thread, item))


def _row(
    kind: int,
    guard: int = -1,
    slot: int = -1,
    base: int = -1,
    index: int = -1,
    value: int = -1,
    *,
    order: int = 0,
    more: Sequence[int] = (),
) -> Row:
    return kind, guard, slot, base, index, value, order, -1, -1, list(more)


def _require_single_events(thread: Thread, *, steps_matter: bool) -> None:
    """NotUnrolled where accesses are one event together, but for read-modify-writes, where nothing comes in between."""
    single: dict[int, int] = {}
    for position, item in thread.events:
        if not isinstance(item, Read | Write):
            continue
        access = position
        if isinstance(item, Write) and item.reads_by is not None:
            access = item.reads_by
            between = (other for other in thread.items[access + 1 : position] if isinstance(other, EventItem | Choose))
            if not all(_is_alternative(other, item) for other in between):
                raise NotUnrolled(Unfit.NO_GRAPHS, item.origin.span)
        if isinstance(item, Read) and item.attempted is not None:
            access = single.get(item.step, access)
        if item.exclusive or (steps_matter and item.step >= 0 and single.setdefault(item.step, access) != access):
            raise NotUnrolled(Unfit.NO_GRAPHS, item.origin.span)


def _is_alternative(other: EventItem | Choose, write: Write) -> bool:
    """Whether it is another outcome of the same read-modify-write."""
    if isinstance(other, Read):
        return other.attempted is not None
    return isinstance(other, Write) and other.reads_by == write.reads_by
