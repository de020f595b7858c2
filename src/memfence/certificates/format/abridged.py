"""What a section leaves out of its states: the numbers in its first chunk."""

from __future__ import annotations

from typing import Any

from memfence.certificates.format.container import NotACertificate
from memfence.program.ir import Program
from memfence.records import Record

Numbers = frozenset[int]


class Abridgement(Record):
    """`passing`: by process, locations at which no state of the set has it. `dead`: by process and location, registers.
    `alike`: classes of processes, in ascending order, of whose local parts states have only the sorted order.

    All are empty where nothing is left out.
    """

    passing: tuple[Numbers, ...] = ()
    dead: tuple[tuple[Numbers, ...], ...] = ()
    alike: tuple[tuple[int, ...], ...] = ()

    def as_lists(self) -> dict[str, Any]:
        """For the first chunk of a section."""
        if not self.passing:
            return {}
        dead = [[sorted(registers) for registers in process] for process in self.dead]
        alike = {"alike": list(map(list, self.alike))} if self.alike else {}
        return {"passing": [sorted(locations) for locations in self.passing], "dead": dead} | alike


WHOLE = Abridgement()


def read_abridgement(program: Program, details: dict[str, Any]) -> Abridgement:
    """What the section leaves out of the states of `program`; NotACertificate where that cannot be read."""
    if details.keys().isdisjoint(("passing", "dead", "alike")):
        return WHOLE
    passing, dead = details.get("passing"), details.get("dead")
    count = len(program.processes)
    if not isinstance(passing, list) or not isinstance(dead, list) or not len(passing) == len(dead) == count:
        raise NotACertificate("a section leaves something out of other processes than there are")
    for process, registers in zip(program.processes, dead, strict=True):
        if not isinstance(registers, list) or len(registers) != len(process.locations):
            raise NotACertificate("a section has dead registers at other locations than there are")
    return Abridgement(
        tuple(_numbers(found, len(p.locations)) for p, found in zip(program.processes, passing, strict=True)),
        tuple(
            tuple(_numbers(found, len(p.registers)) for found in registers)
            for p, registers in zip(program.processes, dead, strict=True)
        ),
        _classes(details.get("alike", []), count),
    )


def _classes(found: object, count: int) -> tuple[tuple[int, ...], ...]:
    """Classes of processes, each of which is named once."""
    if not isinstance(found, list):
        raise NotACertificate("a section has no list of processes that are alike")
    classes = tuple(tuple(sorted(_numbers(members, count))) for members in found)
    if sum(map(len, found)) != len(frozenset().union(*classes)):
        raise NotACertificate("a section says twice of a process what it is like")
    return classes


def _numbers(found: object, count: int) -> Numbers:
    if not isinstance(found, list) or not all(type(number) is int and 0 <= number < count for number in found):
        raise NotACertificate("a section leaves out a location or a register that is not there")
    return frozenset(found)
