"""Configurations of the backward search, as lists: sets of controls, memory, FIFOs. A message: its values, is it own?

`{"sets": [...], "configurations": [...]}`: a set is a list of controls `[location, registers]`; a configuration is
`[sets, memory, fifos, kinds]`, with the numbers of sets, and `null` where it says nothing about a variable. A fifth
list may hold the numbers of configurations that are said to stand for what leads to this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import read_object
from memfence.program.ir import Program
from memfence.records import Record

MOST_MORE = 100
"""Processes of a configuration beyond those of the program; searches need a handful."""
FAILED = -1
"""The location of a process that has failed."""
Facts = tuple[tuple[int, int], ...]
"""Variables with values, in the order of the variables."""


class Control(Record):
    """Where a process is."""

    location: int
    registers: tuple[int, ...]


Controls = frozenset[Control]


class Message(Record):
    """Values that memory had at one moment, or an own store."""

    facts: Facts
    own: bool = False


Fifo = tuple[Message, ...]
Memory = tuple[int | None, ...]


class Configuration(Record):
    """Memory, and for each process where it may be, and what it has still to read, oldest first.

    `memory`: None for any value. `kinds`: the process of the program that each of them is like: all of which there is
    one first, each once, then others of which there may be any number.
    """

    controls: tuple[Controls, ...]
    memory: Memory
    fifos: tuple[Fifo, ...]
    kinds: tuple[int, ...]

    def with_fifo(self, process: int, fifo: Fifo) -> Configuration:
        return replace(self, fifos=(*self.fifos[:process], fifo, *self.fifos[process + 1 :]))


class Configurations(Record):
    """The configurations of a section. `below`: for each, which of them, by number, may stand for what leads to it.

    Whoever is asked whether something leads out of the set looks at those first. They prove nothing: all are looked at.
    """

    all: tuple[Configuration, ...] = ()
    below: tuple[tuple[int, ...], ...] = ()

    def hints(self, number: int) -> tuple[int, ...]:
        return self.below[number] if self.below else ()

    def likely(self, number: int) -> list[Configuration]:
        return [self.all[n] for n in self.hints(number)]


def section_objects(found: Configurations, *, at_once: int = 1000) -> Iterator[dict[str, Any]]:
    """What stands in the chunks of a section: each set before the configurations that name it."""
    numbers: dict[Controls, int] = {}
    for at in range(0, len(found.all), at_once):
        part, sets = list[Any](), list[Any]()
        for number, c in enumerate(found.all[at : at + at_once], at):
            for controls in c.controls:
                if controls not in numbers:
                    numbers[controls] = len(numbers)
                    ordered = sorted(controls, key=lambda control: (control.location, control.registers))
                    sets.append([[control.location, control.registers] for control in ordered])
            fifos = [[[message.facts, message.own] for message in fifo] for fifo in c.fifos]
            below = found.below[number : number + 1]
            part.append([[numbers[controls] for controls in c.controls], c.memory, fifos, c.kinds, *below])
        yield {"sets": sets, "configurations": part}


def read_configurations(program: Program, contents: Iterable[bytes]) -> Configurations:
    """All configurations of a section. NotACertificate where they cannot be read."""
    found, below, sets = list[Configuration](), list[tuple[int, ...]](), list[Controls]()
    for content in contents:
        read = read_object(content)
        sets += [frozenset(map(_control, _list(one))) for one in _list(read.get("sets"))]
        for one in map(_list, _list(read.get("configurations"))):
            found.append(_configuration(program, sets, one[:4]))
            below.append(_hints(one[4:]))
    if any(not 0 <= number < len(found) for numbers in below for number in numbers):
        raise NotACertificate("a configuration is said to be above one that is not there")
    return Configurations(tuple(found), tuple(below))


def _configuration(program: Program, sets: Sequence[Controls], found: list[Any]) -> Configuration:
    match found:
        case [list(controls), list(memory), list(fifos), list(kinds)] if len(controls) == len(fifos) == len(
            kinds
        ) and len(memory) == len(program.variables):
            if len(kinds) > len(program.processes) + MOST_MORE:
                raise NotACertificate("a configuration has too many processes")
            numbers, held = _numbers(controls), tuple(None if one is None else _number(one) for one in memory)
            if any(not 0 <= number < len(sets) for number in numbers):
                raise NotACertificate("a configuration has a set of controls that is not there")
            read = tuple(tuple(_message(program, message) for message in _list(fifo)) for fifo in fifos)
            return Configuration(tuple(sets[number] for number in numbers), held, read, _numbers(kinds))
        case _:
            raise NotACertificate("a configuration cannot be read")


def _hints(found: list[Any]) -> tuple[int, ...]:
    match found:
        case []:
            return ()
        case [list(numbers)] if all(one < other for one, other in pairwise(_numbers(numbers))):
            return _numbers(numbers)
        case _:
            raise NotACertificate("a configuration cannot be read")


def _control(found: Any) -> Control:
    match found:
        case [int(location), list(registers)]:
            return Control(location, _numbers(registers))
        case _:
            raise NotACertificate("a control cannot be read")


def _message(program: Program, found: Any) -> Message:
    match found:
        case [list(facts), bool(own)] if facts and (len(facts) == 1 or not own):
            pairs = tuple(_numbers(_list(fact)) for fact in facts)
            if all(len(pair) == 2 and 0 <= pair[0] < len(program.variables) for pair in pairs):
                return Message(tuple((pair[0], pair[1]) for pair in pairs), own)
    raise NotACertificate("a message cannot be read")


def _list(found: Any) -> list[Any]:
    if not isinstance(found, list):
        raise NotACertificate("a list was expected")
    return found


def _number(found: Any) -> int:
    if type(found) is not int:
        raise NotACertificate("a number was expected")
    return found


def _numbers(found: list[Any]) -> tuple[int, ...]:
    return tuple(map(_number, found))
