"""No cycle among conditional edges: vertices are eliminated one by one (Rankooh and Rintanen, 2022).

Whoever takes a vertex away adds an edge for each way through it. At last there is a vertex with an edge to itself if
there was a cycle. The fewer ways lead through a vertex, the earlier it goes: so graphs that are long and thin, as
threads are, need far fewer clauses than an order of all vertices does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memfence.digraph import components
from memfence.engines.axiomatic.base import Rows
from memfence.engines.axiomatic.clauses import TRUE, Clauses

Edges = dict[int, dict[int, int]]


def forbid_cycles(clauses: Clauses, rows: Rows, condition: int, at_most: Callable[[int, int], int]) -> None:
    """Where the condition is true, the edges whose literals are true have no cycle.

    `at_most`: where an edge between two vertices can be at all. An edge with this very literal needs no other reason.
    """
    component = components(len(rows), lambda node: rows[node])
    graph = _Graph(clauses, condition, at_most)
    for a, row in enumerate(rows):
        for b, literal in row.items():
            if a == b:
                clauses.add(-condition, -literal)
            elif component[a] == component[b]:
                graph.add(a, b, literal)
    graph.eliminate_all()


class _Graph:
    """`after[a][b]` and `before[b][a]`: the literal of the edge from a to b. `ways`: literals of edges made here."""

    def __init__(self, clauses: Clauses, condition: int, at_most: Callable[[int, int], int]) -> None:
        self.clauses = clauses
        self.condition = condition
        self.at_most = at_most
        self.after: Edges = {}
        self.before: Edges = {}
        self.ways: dict[tuple[int, int], int] = {}

    def add(self, a: int, b: int, literal: int) -> None:
        self.after.setdefault(a, {})[b] = literal
        self.before.setdefault(b, {})[a] = literal

    def eliminate_all(self) -> None:
        after, before = self.after, self.before
        while after:
            self.eliminate(min(after, key=lambda v: len(after[v]) * len(before[v])))

    def eliminate(self, vertex: int) -> None:
        """Take the vertex away, and have every way through it as an edge."""
        sources, targets = self.before.pop(vertex), self.after.pop(vertex)
        for source in sources:
            del self.after[source][vertex]
        for target in targets:
            del self.before[target][vertex]
        for source, first in sources.items():
            for target, second in targets.items():
                if source == target:
                    self.clauses.add(-self.condition, -first, -second)
                else:
                    self.pass_through(source, target, first, second)
        self.drop({*sources, *targets})

    def pass_through(self, source: int, target: int, first: int, second: int) -> None:
        """Have an edge where both literals are true. Nobody makes a literal true that means something else, too."""
        known = self.after[source].get(target)
        if known is not None and (known in (TRUE, first, second) or known == self.at_most(source, target)):
            return
        if TRUE in (first, second) and (known is None or first == second):
            self.add(source, target, second if first == TRUE else first)
            return
        if known is None or known != self.ways.get((source, target)):
            way = self.ways[source, target] = self.clauses.fresh()
            self.add(source, target, way)
            if known is not None:
                self.clauses.add(-known, way)
            known = way
        self.clauses.add(-first, -second, known)

    def drop(self, vertices: Iterable[int]) -> None:
        """Take away those that no cycle can pass any more, and then others for which that has become true."""
        waiting = list(vertices)
        while waiting:
            v = waiting.pop()
            if v not in self.after and v not in self.before:
                continue
            after, before = self.after.get(v, {}), self.before.get(v, {})
            if after and before:
                continue
            for target in after:
                del self.before[target][v]
            for source in before:
                del self.after[source][v]
            self.after.pop(v, None)
            self.before.pop(v, None)
            waiting += [*after, *before]
