"""How the loops of a process nest, and the names of its locations once the loops are unrolled.

Bourdoncle's weak topological order ("Efficient chaotic iteration strategies with widenings", 1993): a loop is a
strongly connected component of the control flow; its head is taken out, and what remains is ordered in the same way. So
every cycle passes the head of some loop that contains it, in irreducible graphs as well.

The name of an unrolled location is a tuple: for every loop around it, outermost first, the position of the loop and how
often its head was reached from inside; at last the position of the location itself. Every step leads to a name that is
larger, and ways join again behind a loop, however often they went round.
"""

from __future__ import annotations

from collections.abc import Collection

from memfence.digraph import components
from memfence.program.ir import Process
from memfence.records import Record

Name = tuple[int, ...]


class Loop(Record):
    """`head`: its location; `position`: its place among what surrounds it; `body`: all locations, the head included."""

    head: int
    position: int
    body: frozenset[int]


class Nesting(Record):
    """For each location that can be reached: the loops around it, outermost first, and its own position in the last."""

    loops: dict[int, tuple[Loop, ...]]
    positions: dict[int, int]

    def first(self, location: int) -> Name:
        """The name of a location when it is reached from outside all of its loops."""
        return self._name(location, ())

    def _name(self, location: int, rounds: Name) -> Name:
        loops = self.loops[location]
        counts = (*rounds, *(0 for _ in loops[len(rounds) :]))
        pairs = (n for loop, count in zip(loops, counts, strict=True) for n in (loop.position, count))
        return (*pairs, self.positions[location])

    def after(self, source: int, name: Name, target: int) -> tuple[Name, Loop | None]:
        """The name of `target` when a step from `source`, called `name`, leads there; the loop that this goes round."""
        inside = [mine for mine, other in zip(self.loops[source], self.loops[target], strict=False) if mine == other]
        rounds = name[1:-1:2][: len(inside)]
        if inside and target == inside[-1].head and len(inside) == len(self.loops[target]):
            return self._name(target, (*rounds[:-1], rounds[-1] + 1)), inside[-1]
        return self._name(target, rounds), None


def nesting_of(process: Process) -> Nesting:
    """The loops of `process`, as far as control can get."""
    found = Nesting({}, {})
    successors: dict[int, list[int]] = {}
    for transition in process.transitions:
        successors.setdefault(transition.source, []).append(transition.target)
    reached = _reachable(process.initial, successors)
    _order(reached, successors, (), found)
    return found


def _reachable(start: int, successors: dict[int, list[int]]) -> list[int]:
    """In the order of a depth-first search, so that the head of a loop comes before its body."""
    found: dict[int, None] = {}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        if here not in found:
            found[here] = None
            waiting.extend(reversed(successors.get(here, [])))
    return list(found)


def _order(among: Collection[int], successors: dict[int, list[int]], around: tuple[Loop, ...], found: Nesting) -> None:
    """Give everything `among` its place inside of the loops `around`; position 0 belongs to the head of the last."""
    nodes = list(among)
    numbers = {node: number for number, node in enumerate(nodes)}
    within = [[numbers[t] for t in successors.get(node, []) if t in numbers] for node in nodes]
    component = components(len(nodes), lambda n: within[n])
    members: dict[int, list[int]] = {}
    for number, node in enumerate(nodes):
        members.setdefault(component[number], []).append(node)
    for position, group in enumerate(sorted(members, reverse=True), start=1):
        body = members[group]
        head = body[0]
        if len(body) == 1 and head not in successors.get(head, []):
            found.loops[head], found.positions[head] = around, position
            continue
        loop = Loop(head, position, frozenset(body))
        found.loops[head], found.positions[head] = (*around, loop), 0
        _order(body[1:], successors, (*around, loop), found)
