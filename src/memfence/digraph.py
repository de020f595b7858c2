"""Directed graphs over the numbers 0, 1, ...: components, shortest ways and orders. Each algorithm is here, once."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

L = TypeVar("L")


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


def is_acyclic(count: int, successors: Callable[[int], Iterable[int]]) -> bool:
    """Whether no way leads back to where it starts. An edge from a node to itself counts as one."""
    component = components(count, successors)
    inside = ((node, target) for node in range(count) for target in successors(node))
    return not any(component[node] == component[target] for node, target in inside)


def shortest_way(
    start: int, goal: int, leaving: Callable[[int], Iterable[tuple[int, L]]]
) -> list[tuple[int, int, L]] | None:
    """The edges (source, target, label) of a shortest way; None where there is none, also from a node to itself.

    Of several shortest ways the one whose edges `leaving` names first, the earlier edge counting more.
    """
    came: dict[int, tuple[int, L]] = {}
    queue = deque([start])
    while queue and goal not in came:
        here = queue.popleft()
        for target, label in leaving(here):
            if target not in came and target != start:
                came[target] = (here, label)
                queue.append(target)
    if goal not in came:
        return None
    way: list[tuple[int, int, L]] = []
    here = goal
    while here != start:
        source, label = came[here]
        way.append((source, here, label))
        here = source
    return way[::-1]


def in_order(after: Sequence[Iterable[int]], rank: Callable[[int], tuple[int, ...]]) -> list[int] | None:
    """All nodes, each behind those it comes `after`; of those that may come next, the one of the least rank.

    None where there is a cycle.
    """
    waiting = [0] * len(after)
    before: list[list[int]] = [[] for _ in after]
    for node, earlier in enumerate(after):
        for other in earlier:
            before[other].append(node)
            waiting[node] += 1
    ready = [(rank(node), node) for node, count in enumerate(waiting) if count == 0]
    heapq.heapify(ready)
    done: list[int] = []
    while ready:
        _, node = heapq.heappop(ready)
        done.append(node)
        for later in before[node]:
            waiting[later] -= 1
            if waiting[later] == 0:
                heapq.heappush(ready, (rank(later), later))
    return done if len(done) == len(after) else None
