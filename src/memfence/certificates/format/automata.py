"""Symbolic states in certificates: a control part, and for each process the number of an automaton.

A row is the row of a state without buffers, then 4 bytes for each process, the highest first. Automata stand in `JSON`
chunks before the rows: `{"automata": [[moves, accepting], ...]}`, where `moves[q]` are lists `[entry, target]`. An
entry is `[variable, value]` or `null` for a separator; state 0 is the first one; `accepting` lists numbers of states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memfence.certificates.format.columns import Columns, planes
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import read_object
from memfence.models.buffering import Buffering
from memfence.models.state import Entry, State
from memfence.program.ir import Program
from memfence.records import Record

NUMBER = 4
"""Bytes for the number of an automaton."""


class ReadAutomaton(Record):
    """Deterministic, from state 0 on."""

    moves: tuple[dict[Entry, int], ...]
    accepting: frozenset[int]


def read_automata(contents: Iterable[bytes]) -> list[ReadAutomaton]:
    """All automata of a section."""
    found = list[ReadAutomaton]()
    for content in contents:
        listed = read_object(content).get("automata")
        if not isinstance(listed, list):
            raise NotACertificate("automata are a list")
        found += map(_automaton, listed)
    return found


def _automaton(found: Any) -> ReadAutomaton:
    match found:
        case [list(moves), list(accepting)] if moves and all(isinstance(leaving, list) for leaving in moves):
            numbers = range(len(moves))
            if not all(type(n) is int and n in numbers for n in accepting):
                raise NotACertificate("an automaton accepts in a state that it has not")
            return ReadAutomaton(tuple(dict(_moves(leaving, numbers)) for leaving in moves), frozenset(accepting))
        case _:
            raise NotACertificate("an automaton cannot be read")


def _moves(leaving: list[Any], numbers: range) -> Iterator[tuple[Entry, int]]:
    """Two moves with the same entry would be one: the last."""
    for move in leaving:
        match move:
            case [None, int(target)] if target in numbers:
                yield None, target
            case [[int(variable), int(value)], int(target)] if target in numbers:
                yield (variable, value), target
            case _:
                raise NotACertificate("a move of an automaton cannot be read")


class SymbolicRows:
    """How the symbolic states of `program` are written."""

    def __init__(self, program: Program) -> None:
        self.control = Columns(program, Buffering.NOWHERE, 0)
        self.processes = len(program.processes)
        self.width = self.control.width + NUMBER * self.processes

    def states(self, block: bytes) -> Iterator[tuple[State, tuple[int, ...]]]:
        """Each control part, without buffers, with the numbers of its automata."""
        for row in planes(block, self.width):
            numbers = row[self.control.width :]
            yield (
                self.control.state(row[: self.control.width]),
                tuple(int.from_bytes(numbers[at : at + NUMBER]) for at in range(0, len(numbers), NUMBER)),
            )
