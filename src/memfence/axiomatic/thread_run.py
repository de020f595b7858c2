"""One thread of unrolled code, carried out by itself: what it does, given what its reads return and what it chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from memfence.axiomatic.code import (
    Barrier,
    Branch,
    Check,
    Choose,
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
from memfence.program.expressions import (
    Address,
    Const,
    EvaluationError,
    Expr,
    Register,
    check_index,
    evaluate,
    registers_of,
    rewrite,
)
from memfence.records import Record

Reads = frozenset[int]
"""Positions of reads."""

NONE: Reads = frozenset()


class NotAnExecution(Exception):
    """The code does not do this: a fault of whoever decided it, never of the program under test."""


class Did(Record):
    """An event, and the reads of the thread that its address, its value and the way to it depend on.

    `pair`: reads that control depends on only where a read-modify-write is a pair of exclusives.
    """

    position: int
    item: EventItem
    variable: int | None = None
    value: int | None = None
    address: Reads = NONE
    data: Reads = NONE
    control: Reads = NONE
    pair: Reads = NONE


class Waiting(Record):
    """Where a thread stops; `goes_on` as in `code.Wait`, but for last values known."""

    position: int
    goes_on: Expr | None


class ThreadRun(Record):
    """`did`: events in program order; then the positions of failed checks and of cuts, and waits without an end.

    `contradicted`: where something was chosen that cannot have been; then the run is part of no execution.
    """

    did: tuple[Did, ...]
    failed: tuple[int, ...]
    cut: tuple[int, ...]
    waiting: tuple[Waiting, ...]
    contradicted: tuple[int, ...]
    registers: tuple[int, ...]
    ended: bool


Decide = Callable[[int, Choose], int]
Look = Callable[[int, Read, int], int]
"""From position, item and variable to the value that the read returns."""


def run_thread(thread: Thread, look: Look, decide: Decide) -> ThreadRun:
    """The thread from its first item to its last; NotAnExecution where something happens that cannot."""
    running = _Running(thread, look, decide)
    for position, item in enumerate(thread.items):
        running.perform(position, item)
    return running.result()


def look_up(values: Mapping[int, int]) -> Look:
    """Reads that return what is written down for their position."""

    def look(position: int, item: Read, variable: int) -> int:
        if position not in values:
            raise NotAnExecution(f"no value for the read at {position}")
        return values[position]

    return look


def choose_as(values: Mapping[int, int]) -> Decide:
    """Choices as written down for their positions; the first value where nothing is: then it does not matter."""

    def decide(position: int, item: Choose) -> int:
        value = values.get(position, item.values[0])
        if value not in item.values:
            raise NotAnExecution(f"the choice at {position} cannot be {value}")
        return value

    return decide


class _Running:
    """`sources`: for each slot the reads that its value comes from."""

    def __init__(self, thread: Thread, look: Look, decide: Decide) -> None:
        self.look = look
        self.decide = decide
        self.slots = [0] * thread.slots
        self.sources: list[Reads] = [NONE] * thread.slots
        self.did: list[Did] = []
        self.control: Reads = NONE
        self.pair: Reads = NONE
        self.failed: list[int] = []
        self.cut: list[int] = []
        self.waiting: list[Waiting] = []
        self.contradicted: list[int] = []
        self.end: tuple[tuple[int, ...], bool] = (), False

    def result(self) -> ThreadRun:
        registers, ended = self.end
        return ThreadRun(
            tuple(self.did),
            tuple(self.failed),
            tuple(self.cut),
            tuple(self.waiting),
            tuple(self.contradicted),
            registers,
            ended,
        )

    def value(self, expr: Expr) -> int:
        """Where it has none (division by zero), a check says so, and what is behind does not happen: any will do."""
        try:
            return evaluate(expr, self._leaf)
        except EvaluationError:
            return 0

    def _leaf(self, node: object, _: int) -> int:
        if not isinstance(node, Register):
            raise NotAnExecution(f"{node} in unrolled code")
        return self.slots[node.index]

    def reads_of(self, expr: Expr) -> Reads:
        return NONE.union(*(self.sources[slot] for slot in registers_of(expr)))

    def variable(self, position: int, address: Address) -> int:
        try:
            return address.base + check_index(address, self.value(address.index))
        except EvaluationError as error:
            raise NotAnExecution(f"the access at {position}: {error}") from None

    def define(self, slot: int, value: int, sources: Reads) -> None:
        self.slots[slot], self.sources[slot] = value, sources

    def perform(self, position: int, item: Item) -> None:
        match item:
            case Define(slot, value):
                self.define(slot, self.value(value), self.reads_of(value))
            case Join(slot, alternatives):
                taken = next((value for guard, value in alternatives if self.value(guard)), None)
                if taken is not None:
                    self.define(slot, self.value(taken), self.reads_of(taken))
            case Choose(slot):
                self.define(slot, self.decide(position, item), NONE)
            case End(guard, registers):
                self.end = tuple(self.slots[slot] for slot in registers), bool(self.value(guard))
            case _:
                if self.value(item.guard):
                    self.happen(position, item)

    def happen(self, position: int, item: EventItem | Branch | Check | Given | Wait | Over | Cut) -> None:
        match item:
            case Read() | Write():
                self.access(position, item)
            case Barrier():
                self.did.append(Did(position, item, control=self.control, pair=self.pair))
            case Branch(condition):
                self.branch(item, self.reads_of(condition))
            case Check(condition):
                self.failed += [] if self.value(condition) else [position]
            case Given(condition):
                self.contradicted += [] if self.value(condition) else [position]
            case Wait(condition):
                self.waiting += [] if self.value(condition) else [self.stopped(position, item)]
            case Over():
                pass
            case Cut():
                self.cut.append(position)
            case _:
                assert_never(item)

    def stopped(self, position: int, item: Wait) -> Waiting:
        def known(node: Expr) -> Expr:
            return Const(self.slots[node.index]) if isinstance(node, Register) else node

        return Waiting(position, None if item.goes_on is None else rewrite(item.goes_on, known))

    def branch(self, item: Branch, reads: Reads) -> None:
        if item.of_pair:
            self.pair |= reads
        else:
            self.control |= reads

    def access(self, position: int, item: Read | Write) -> None:
        variable = self.variable(position, item.address)
        address = self.reads_of(item.address.index)
        if isinstance(item, Read):
            value = self.look(position, item, variable)
            self.define(item.slot, value, frozenset({position}))
            data = NONE
        else:
            value, data = self.value(item.value), self.reads_of(item.value)
        self.did.append(Did(position, item, variable, value, address, data, self.control, self.pair))
