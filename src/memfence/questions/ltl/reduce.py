"""Smaller automata for the same language: marks, states and edges that make no difference are removed.

In this order until nothing changes: states from which nothing can be accepted; marks outside accepting components, and
marks that another one implies inside a component (the rest are renumbered component by component); states and edges
that another one simulates (direct simulation, with marks); pairs of edges that differ in the sign of one literal.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from memfence.questions.ltl.automaton import Automaton, Edge, automaton_components


def reduce_automaton(automaton: Automaton) -> Automaton:
    """An automaton for the same language, with at most as many states and marks (one mark at least where needed)."""
    while True:
        smaller = _renumber(_merge_cubes(_merge_simulated(_clean_marks(_drop_dead(automaton)))))
        if smaller == automaton:
            return automaton
        automaton = smaller


def _accepting_components(automaton: Automaton, component: list[int]) -> set[int]:
    """The components in which a run can stay for ever and see every mark."""
    seen: dict[int, int] = {}
    for state, leaving in enumerate(automaton.edges):
        for edge in leaving:
            if component[state] == component[edge.target]:
                seen[component[state]] = seen.get(component[state], 0) | edge.marks
    return {number for number, marks in seen.items() if marks == automaton.all_marks}


def _drop_dead(automaton: Automaton) -> Automaton:
    """Remove the states that cannot reach an accepting component, but for the initial one."""
    component = automaton_components(automaton)
    alive = _accepting_components(automaton, component)
    for state in sorted(range(automaton.states), key=lambda s: component[s]):
        if any(component[edge.target] in alive for edge in automaton.edges[state]):
            alive.add(component[state])
    edges = [
        tuple(edge for edge in leaving if component[edge.target] in alive) if component[state] in alive else ()
        for state, leaving in enumerate(automaton.edges)
    ]
    return _renumber(replace(automaton, edges=tuple(edges)))


def _renumber(automaton: Automaton) -> Automaton:
    """Keep what can be reached, in breadth-first order, edges sorted."""
    number = {automaton.initial: 0}
    order = [automaton.initial]
    for state in order:
        for edge in automaton.edges[state]:
            if edge.target not in number:
                number[edge.target] = len(order)
                order.append(edge.target)
    edges = tuple(
        tuple(sorted({replace(edge, target=number[edge.target]) for edge in automaton.edges[state]})) for state in order
    )
    return Automaton(0, edges, automaton.marks)


# Marks


def _clean_marks(automaton: Automaton) -> Automaton:
    """Give every accepting component only the marks it needs, numbered from 0; the others are on all of its edges."""
    component = automaton_components(automaton)
    accepting = _accepting_components(automaton, component)
    inside: dict[int, list[int]] = defaultdict(list)
    rejecting_cycle = False
    for state, leaving in enumerate(automaton.edges):
        for edge in leaving:
            if component[state] == component[edge.target]:
                inside[component[state]].append(edge.marks)
                rejecting_cycle |= component[state] not in accepting
    needed = {number: _needed_marks(inside[number], automaton.marks) for number in accepting}
    most = max((len(marks) for marks in needed.values()), default=0)
    count = max(most, 1) if rejecting_cycle else most

    def marks_of(state: int, edge: Edge) -> int:
        if component[state] != component[edge.target] or component[state] not in accepting:
            return 0
        useful = needed[component[state]]
        renumbered = sum(1 << new for new, old in enumerate(useful) if edge.marks >> old & 1)
        return renumbered | ((1 << count) - (1 << len(useful)))

    edges = tuple(
        tuple(sorted({replace(edge, marks=marks_of(state, edge)) for edge in leaving}))
        for state, leaving in enumerate(automaton.edges)
    )
    return Automaton(automaton.initial, edges, count)


def _needed_marks(edges: list[int], count: int) -> list[int]:
    """The marks that no other one implies, on these edges of one component, and that some edge does not have."""
    needed: list[int] = []
    carriers = [frozenset(i for i, marks in enumerate(edges) if marks >> mark & 1) for mark in range(count)]
    for mark, carried in enumerate(carriers):
        is_implied = any(
            other < carried or (other == carried and number < mark) for number, other in enumerate(carriers)
        )
        if len(carried) < len(edges) and not is_implied:
            needed.append(mark)
    return needed


# Simulation


def _merge_simulated(automaton: Automaton) -> Automaton:
    """Merge states that simulate each other and drop edges that a better one beside them simulates.

    An edge must not be dropped for one that imitates it only by crossing later on: it may be that very crossing.
    """
    component = automaton_components(automaton)
    simulated = _simulation(automaton, component, crossing=automaton.all_marks)
    strictly = _simulation(automaton, component, crossing=0)

    def representative(state: int) -> int:
        # The lowest component: no edge then leads from a lower component to a higher one, so no new cycle appears.
        equal = [s for s in range(automaton.states) if s in simulated[state] and state in simulated[s]]
        return min(equal, key=lambda s: (component[s], s))

    chosen = [representative(state) for state in range(automaton.states)]
    edges = []
    for state, leaving in enumerate(automaton.edges):
        redirected = sorted({replace(edge, target=chosen[edge.target]) for edge in leaving})
        edges.append(tuple(_best(redirected, strictly)) if chosen[state] == state else ())
    return _renumber(Automaton(chosen[automaton.initial], tuple(edges), automaton.marks))


def _simulation(automaton: Automaton, component: list[int], crossing: int) -> list[set[int]]:
    """For each state, those that simulate it: whatever it does they can do, seeing at least the same marks.

    A run crosses from one component to another only finitely often, so the marks of such edges do not matter: to be
    imitated they have none, and as imitations they count as having the marks `crossing`.
    """
    offers = [
        [(edge, edge.marks if component[s] == component[edge.target] else crossing) for edge in leaving]
        for s, leaving in enumerate(automaton.edges)
    ]
    needs = [
        [(edge, edge.marks if component[s] == component[edge.target] else 0) for edge in leaving]
        for s, leaving in enumerate(automaton.edges)
    ]
    simulated = [set(range(automaton.states)) for _ in range(automaton.states)]

    def imitates(other: int, edge: Edge, marks: int) -> bool:
        return any(
            not candidate.positive & ~edge.positive
            and not candidate.negative & ~edge.negative
            and not marks & ~offered
            and candidate.target in simulated[edge.target]
            for candidate, offered in offers[other]
        )

    changed = True
    while changed:
        changed = False
        for state in range(automaton.states):
            for other in list(simulated[state]):
                if other != state and not all(imitates(other, edge, marks) for edge, marks in needs[state]):
                    simulated[state].discard(other)
                    changed = True
    return simulated


def _best(edges: list[Edge], simulated: list[set[int]]) -> list[Edge]:
    """The edges without those that another one, kept, makes superfluous."""

    def is_superfluous(edge: Edge, other: Edge) -> bool:
        return (
            not other.positive & ~edge.positive
            and not other.negative & ~edge.negative
            and not edge.marks & ~other.marks
            and other.target in simulated[edge.target]
        )

    kept = list(edges)
    for edge in edges:
        if any(is_superfluous(edge, other) for other in kept if other != edge):
            kept.remove(edge)
    return kept


# Cubes


def _merge_cubes(automaton: Automaton) -> Automaton:
    """Replace two edges that differ in the sign of one literal by one without it, and drop what one edge covers."""
    merged = []
    for leaving in automaton.edges:
        groups: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
        for edge in leaving:
            groups[edge.target, edge.marks].add((edge.positive, edge.negative))
        merged.append(
            tuple(
                Edge(target, positive, negative, marks)
                for (target, marks), cubes in groups.items()
                for positive, negative in _merged(cubes)
            )
        )
    return replace(automaton, edges=tuple(merged))


def _merged(cubes: set[tuple[int, int]]) -> set[tuple[int, int]]:
    while True:
        pair = next(
            (
                ((p, n), (p ^ bit, n ^ bit), bit)
                for p, n in sorted(cubes)
                for bit in _bits(p)
                if (p ^ bit, n ^ bit) in cubes
            ),
            None,
        )
        if pair is None:
            break
        (positive, negative), other, bit = pair
        cubes = (cubes - {(positive, negative), other}) | {(positive & ~bit, negative & ~bit)}
    return {(p, n) for p, n in cubes if not any(_covers(c, (p, n)) for c in cubes if c != (p, n))}


def _bits(mask: int) -> list[int]:
    return [1 << i for i in range(mask.bit_length()) if mask >> i & 1]


def _covers(cube: tuple[int, int], other: tuple[int, int]) -> bool:
    return not cube[0] & ~other[0] and not cube[1] & ~other[1]
