"""Generalised Büchi automata with acceptance on edges: plain data, easy to hand to a core.

An edge can be taken in a state of the program where all atoms in `positive` are true and all in `negative` are false
(bit masks over atom numbers). A run is accepting if it sees each of the `marks` acceptance marks again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class Automaton:
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


def components(count: int, successors: Callable[[int], Iterable[int]]) -> list[int]:
    """The number of the strongly connected component of each node (Tarjan); a component comes after all it leads to.

    So an edge between components always goes from a higher number to a lower one.
    """
    order: list[int] = [-1] * count
    low = [0] * count
    component = [-1] * count
    path: list[int] = []
    visited = found = 0
    for root in range(count):
        if order[root] >= 0:
            continue
        order[root] = low[root] = visited
        visited += 1
        path.append(root)
        work = [(root, iter(successors(root)))]
        while work:
            node, rest = work[-1]
            for target in rest:
                if order[target] < 0:
                    order[target] = low[target] = visited
                    visited += 1
                    path.append(target)
                    work.append((target, iter(successors(target))))
                    break
                if component[target] < 0:
                    low[node] = min(low[node], order[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    while component[node] < 0:
                        component[path.pop()] = found
                    found += 1
    return component


def automaton_components(automaton: Automaton) -> list[int]:
    """The component of each state."""
    return components(automaton.states, lambda state: (edge.target for edge in automaton.edges[state]))
