"""What the threads of unrolled code do, as bits: the values of slots, the events, where they happen, how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
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
    Wait,
    Write,
)
from memfence.axiomatic.execution import Place
from memfence.engines.axiomatic.clauses import FALSE, TRUE, Clauses
from memfence.engines.axiomatic.ranges import ranges_of
from memfence.engines.axiomatic.slots import Definitions, Slots
from memfence.engines.axiomatic.vectors import ZERO_VECTOR, Vector, choose, constant, free_vector, is_equal
from memfence.program.expressions import Address, Expr
from memfence.program.facts.interval_arithmetic import Interval
from memfence.records import Record

INITIAL = -1
"""The thread of initial writes."""


class Event(Record):
    """An event that may happen: where `happens` is true, at the variable whose literal in `at` is true.

    `item` is None for the initial write to the variable with the number `position`.
    """

    number: int
    thread: int
    position: int
    item: EventItem | None
    happens: int
    at: Mapping[int, int] = field(default_factory=dict)
    value: Vector | None = None

    @property
    def is_read(self) -> bool:
        return isinstance(self.item, Read)

    @property
    def is_write(self) -> bool:
        return self.item is None or isinstance(self.item, Write)

    @property
    def place(self) -> Place:
        return self.thread, self.position


class Turn(Record):
    """A `Branch` of the code, and where control passes it."""

    thread: int
    position: int
    condition: Expr
    happens: int
    of_pair: bool


class Events:
    """All events, initial writes first, then thread by thread; initial writes only to variables that are accessed.

    `failing`, `cut`: for each `Check` and `Cut`, where it fails or is reached. `ended`: for each thread, where it ends.
    `chosen`: the vector of each `Choose`. `initial`: what each variable starts with.
    """

    def __init__(self, code: Code, clauses: Clauses) -> None:
        self.code = code
        self.clauses = clauses
        self.ranges = ranges_of(code)
        self.list: list[Event] = []
        self.turns: list[Turn] = []
        self.chosen: dict[Place, Vector] = {}
        self.failing: dict[Place, int] = {}
        self.cut: dict[Place, int] = {}
        self.ended: list[int] = []
        self.slots = [Slots(clauses, thread, Definitions(thread)) for thread in code.threads]
        self.initial = [self._any_value(variable.init) for variable in code.program.variables]
        self._written = _variables(code, Write)
        self._write_initially()
        for thread in range(len(code.threads)):
            for position, item in enumerate(code.threads[thread].items):
                self._encode(thread, position, item)

    def last_register(self, thread: int, register: int) -> Vector:
        """What the register holds where the thread ends."""
        end = self.code.threads[thread].items[-1]
        assert isinstance(end, End)
        return self.slots[thread].slot(end.registers[register])

    def _any_value(self, values: tuple[int, ...]) -> Vector:
        """One of the values, whichever."""
        if len(values) == 1:
            return constant(values[0])
        vector = free_vector(self.clauses, Interval(min(values), max(values)))
        self.clauses.add(*(is_equal(self.clauses, vector, constant(value)) for value in values))
        return vector

    def _write_initially(self) -> None:
        for variable in sorted(self._written | _variables(self.code, Read)):
            self._happen(INITIAL, variable, None, {variable: TRUE}, self.initial[variable])

    def _happen(
        self, thread: int, position: int, item: EventItem | None, at: Mapping[int, int], value: Vector | None
    ) -> None:
        happens = self.clauses.any_of(at.values())
        self.list.append(Event(len(self.list), thread, position, item, happens, at, value))

    def _encode(self, thread: int, position: int, item: Item) -> None:
        slots, here = self.slots[thread], (thread, position)
        match item:
            case Choose(slot, values):
                slots.vectors[slot] = self.chosen[here] = self._any_value(values)
            case Read(slot, address, guard):
                at = self._at(slots, address, guard)
                slots.vectors[slot] = self._value_read(address, self.clauses.any_of(at.values()))
                self._happen(thread, position, item, at, slots.vectors[slot])
            case Write(address, value, guard):
                self._happen(thread, position, item, self._at(slots, address, guard), slots.value(value))
            case Barrier(guard=guard):
                self.list.append(Event(len(self.list), thread, position, item, slots.is_true(guard)))
            case Branch(condition, guard):
                self.turns.append(Turn(thread, position, condition, slots.is_true(guard), item.of_pair))
            case Check(condition, guard):
                self.failing[here] = self.clauses.both(slots.is_true(guard), -slots.is_true(condition))
            case Given(condition=condition, guard=guard):
                self.clauses.add(-slots.is_true(guard), slots.is_true(condition))
            case Cut(guard):
                self.cut[here] = slots.is_true(guard)
            case End(guard):
                self.ended.append(slots.is_true(guard))
            case Define() | Join() | Wait() | Over():
                pass
            case _:
                assert_never(item)

    def _at(self, slots: Slots, address: Address, guard: Expr) -> dict[int, int]:
        """Where an access goes. It cannot happen with an index out of bounds: a check before it has failed then."""
        happens = slots.is_true(guard)
        if address.variable is not None:
            return {address.variable: happens}
        index = slots.value(address.index)
        found = {
            address.base + n: self.clauses.both(happens, is_equal(self.clauses, index, constant(n)))
            for n in range(address.size)
        }
        at = {variable: literal for variable, literal in found.items() if literal != FALSE}
        self.clauses.add(-happens, *at.values())
        return at

    def _value_read(self, address: Address, happens: int) -> Vector:
        """Any value that may be there, 0 where nothing is read; what is never written is known already."""
        variables = address.variables
        if len(variables) == 1 and variables[0] not in self._written:
            return choose(self.clauses, happens, self.initial[variables[0]], ZERO_VECTOR)
        memory = self.ranges.memory
        lo, hi = min(0, *(memory[n].lo for n in variables)), max(0, *(memory[n].hi for n in variables))
        vector = free_vector(self.clauses, Interval(lo, hi))
        for bit in vector.bits:
            self.clauses.add(happens, -bit)
        return vector


def _variables(code: Code, kind: type[Read] | type[Write]) -> set[int]:
    items = (item for thread in code.threads for item in thread.items if isinstance(item, kind))
    return {variable for item in items for variable in item.address.variables}
