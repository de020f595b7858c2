"""Generalised Büchi automata with acceptance on edges: plain data, easy to hand to a core.

An edge can be taken in a state of the program where all atoms in `positive` are true and all in `negative` are false
(bit masks over atom numbers). A run is accepting if it sees each of the `marks` acceptance marks again and again.
"""

from __future__ import annotations

from dataclasses import dataclass

from memfence.digraph import components
from memfence.records import Record


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """To `target`; `marks` is a bit mask over acceptance marks."""

    target: int
    positive: int
    negative: int
    marks: int

    def allows(self, valuation: int) -> bool:
        """Whether the edge can be taken where exactly the atoms in `valuation` are true."""
        return not self.positive & ~valuation and not self.negative & valuation


class Automaton(Record):
    """`edges[s]` leave state s; an automaton without marks accepts every infinite run."""

    initial: int
    edges: tuple[tuple[Edge, ...], ...]
    marks: int

    @property
    def states(self) -> int:
        return len(self.edges)

    @property
    def size(self) -> tuple[int, int, int]:
        """States, edges, marks."""
        return self.states, sum(len(leaving) for leaving in self.edges), self.marks

    @property
    def all_marks(self) -> int:
        return (1 << self.marks) - 1


def automaton_components(automaton: Automaton) -> list[int]:
    """The component of each state."""
    return components(automaton.states, lambda state: (edge.target for edge in automaton.edges[state]))
