"""Configurations of the backward search, as lists: controls, memory, FIFOs. A message: its values, and if it is own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import read_object
from memfence.program.ir import Program
from memfence.records import Record

FAILED = -1
"""The location of a process that has failed."""
Facts = tuple[tuple[int, int], ...]
"""Variables with values, in the order of the variables."""


class Control(Record):
    """Where a process is."""

    location: int
    registers: tuple[int, ...]


class Message(Record):
    """Values that memory had at one moment, or an own store."""

    facts: Facts
    own: bool = False


Fifo = tuple[Message, ...]


class Configuration(Record):
    """Memory, and for each process where it is, and what it has still to read, oldest first.

    `kinds`: the process of the program that each of them is like: all of which there is one first, each once, then
    others of which there may be any number.
    """

    controls: tuple[Control, ...]
    memory: tuple[int, ...]
    fifos: tuple[Fifo, ...]
    kinds: tuple[int, ...]

    def with_fifo(self, process: int, fifo: Fifo) -> Configuration:
        return replace(self, fifos=(*self.fifos[:process], fifo, *self.fifos[process + 1 :]))


def configuration_as_list(c: Configuration) -> list[Any]:
    controls = [[control.location, control.registers] for control in c.controls]
    return [controls, c.memory, [[[message.facts, message.own] for message in fifo] for fifo in c.fifos], c.kinds]


def read_configurations(program: Program, contents: Iterable[bytes]) -> set[Configuration]:
    """All configurations of a section. NotACertificate where they cannot be read."""
    found = set[Configuration]()
    for content in contents:
        listed = read_object(content).get("configurations")
        if not isinstance(listed, list):
            raise NotACertificate("configurations are a list")
        found |= {_configuration(program, one) for one in listed}
    return found


def _configuration(program: Program, found: Any) -> Configuration:
    match found:
        case [list(controls), list(memory), list(fifos), list(kinds)] if len(controls) == len(fifos) == len(
            kinds
        ) and len(memory) == len(program.variables):
            read = tuple(tuple(_message(program, message) for message in _list(fifo)) for fifo in fifos)
            return Configuration(tuple(map(_control, controls)), _numbers(memory), read, _numbers(kinds))
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


def _numbers(found: list[Any]) -> tuple[int, ...]:
    if not all(type(number) is int for number in found):
        raise NotACertificate("a number was expected")
    return tuple(found)
