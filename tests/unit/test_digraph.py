"""Graph algorithms against their definitions, on every small graph."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, permutations, product

from hypothesis import given
from hypothesis import strategies as st

from memfence.digraph import components, in_order, is_acyclic, shortest_way

Graph = list[list[int]]
NODES = 3


def small_graphs() -> Iterator[Graph]:
    """Every graph of three nodes, edges from a node to itself included."""
    for bits in range(1 << NODES * NODES):
        yield [[b for b in range(NODES) if bits >> (NODES * a + b) & 1] for a in range(NODES)]


graphs = st.integers(1, 7).flatmap(
    lambda count: st.lists(st.lists(st.integers(0, count - 1), max_size=4), min_size=count, max_size=count)
)


def reached(graph: Graph) -> set[tuple[int, int]]:
    """Pairs with a way of one edge or more."""
    found = {(a, b) for a, targets in enumerate(graph) for b in targets}
    for middle, a, b in product(range(len(graph)), repeat=3):
        if (a, middle) in found and (middle, b) in found:
            found.add((a, b))
    return found


def check_components(graph: Graph) -> None:
    component = components(len(graph), lambda node: graph[node])
    pairs = reached(graph)
    for a, b in product(range(len(graph)), repeat=2):
        together = a == b or ((a, b) in pairs and (b, a) in pairs)
        assert (component[a] == component[b]) == together
        if b in graph[a]:
            assert component[a] >= component[b]
    assert set(component) == set(range(max(component) + 1))


def test_components_reach_each_other_and_come_after_what_they_lead_to() -> None:
    for graph in small_graphs():
        check_components(graph)


@given(graphs)
def test_components_of_larger_graphs(graph: Graph) -> None:
    check_components(graph)


def test_a_graph_is_acyclic_where_no_node_reaches_itself() -> None:
    for graph in small_graphs():
        cyclic = any(a == b for a, b in reached(graph))
        assert is_acyclic(NODES, lambda node, graph=graph: graph[node]) == (not cyclic)


@given(graphs)
def test_a_shortest_way_is_a_way_and_no_other_is_shorter(graph: Graph) -> None:
    for start, goal in product(range(len(graph)), repeat=2):
        way = shortest_way(start, goal, lambda node: ((target, (node, target)) for target in graph[node]))
        if start == goal or (start, goal) not in reached(graph):
            assert way is None
            continue
        assert way is not None and way[0][0] == start and way[-1][1] == goal
        assert all(target in graph[source] and label == (source, target) for source, target, label in way)
        assert all(a[1] == b[0] for a, b in pairwise(way))
        assert len(way) == distance(graph, start, goal)


def distance(graph: Graph, start: int, goal: int) -> int:
    level, count = {start}, 0
    while goal not in level or count == 0:
        level, count = {target for node in level for target in graph[node]}, count + 1
    return count


def test_an_order_is_the_first_by_rank_that_keeps_what_comes_before() -> None:
    for graph in small_graphs():
        fitting = [
            list(order)
            for order in permutations(range(NODES))
            if all(order.index(b) < order.index(a) for a, targets in enumerate(graph) for b in targets)
        ]
        assert in_order(graph, lambda node: (node,)) == (min(fitting) if fitting else None)


def test_a_long_chain_needs_no_recursion() -> None:
    count = 20_000
    assert is_acyclic(count, lambda node: [node + 1] if node + 1 < count else [])
    assert not is_acyclic(count, lambda node: [(node + 1) % count])
