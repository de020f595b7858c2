"""A state of one thread as far as it is known: open calls with their values, and memory that only it accesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.link import Symbol
from memfence.frontends.c.machine.liveness import FunctionFacts
from memfence.frontends.c.machine.values import Value

Position = tuple[int, str, str, int]
"""Module, function, block, and the number of the next instruction."""


@dataclass(slots=True)
class Frame:
    """An open call. `call` is the instruction of the caller that opened it, None for the first.

    `alive`: those of the `scoped` locals whose block has been entered and not left.
    """

    symbol: Symbol
    facts: FunctionFacts
    block: str
    index: int
    env: dict[str, Value]
    call: Call | None = None
    atomic: bool = False
    alive: frozenset[str] = frozenset()

    @property
    def position(self) -> Position:
        return self.symbol.module, self.symbol.name, self.block, self.index

    def copy(self) -> Frame:
        at = self.block, self.index
        return Frame(self.symbol, self.facts, *at, dict(self.env), self.call, self.atomic, self.alive)


@dataclass(slots=True)
class State:
    """`cells`: address -> (size, value) of memory of this thread alone. `counts`: how often something happened.

    `started`: other threads may be running.
    """

    frames: list[Frame]
    cells: dict[int, tuple[int, Value]] = field(default_factory=dict)
    counts: dict[object, int] = field(default_factory=dict)
    started: bool = True

    @property
    def top(self) -> Frame:
        return self.frames[-1]

    def copy(self) -> State:
        return State([f.copy() for f in self.frames], dict(self.cells), dict(self.counts), self.started)

    def positions(self) -> tuple[Position, ...]:
        return tuple(frame.position for frame in self.frames)

    def count(self, what: object) -> int:
        """How often it happened before; it has happened once more now."""
        before = self.counts.get(what, 0)
        self.counts[what] = before + 1
        return before


def overlapping(cells: Mapping[int, tuple[int, Value]], address: int, size: int) -> list[int]:
    """The cells that share a byte with the given range; no cell is wider than 8 bytes."""
    return [a for a in range(address - 7, address + size) if a in cells and a + cells[a][0] > address]
