"""Relations between numbered events as rows of bit masks: bit j of row i says that i is related to j."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import and_, or_

from memfence.digraph import shortest_way

Rows = tuple[int, ...]


def bits(mask: int) -> Iterator[int]:
    """The numbers in a set, in order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(numbers: Iterable[int]) -> int:
    """The set of these numbers."""
    found = 0
    for number in numbers:
        found |= 1 << number
    return found


def nothing(size: int) -> Rows:
    return (0,) * size


def identity(size: int, within: int = -1) -> Rows:
    """Every event of the set `within` with itself."""
    return tuple((1 << i) & within for i in range(size))


def from_pairs(size: int, pairs: Iterable[tuple[int, int]]) -> Rows:
    rows = [0] * size
    for first, second in pairs:
        rows[first] |= 1 << second
    return tuple(rows)


def pairs_of(rows: Rows) -> Iterator[tuple[int, int]]:
    return ((first, second) for first, row in enumerate(rows) for second in bits(row))


def union(left: Rows, right: Rows) -> Rows:
    return tuple(map(or_, left, right))


def intersection(left: Rows, right: Rows) -> Rows:
    return tuple(map(and_, left, right))


def difference(left: Rows, right: Rows) -> Rows:
    return tuple(a & ~b for a, b in zip(left, right, strict=True))


def complement(rows: Rows) -> Rows:
    everything = (1 << len(rows)) - 1
    return tuple(everything & ~row for row in rows)


def product(size: int, first: int, second: int) -> Rows:
    return tuple(second if first >> i & 1 else 0 for i in range(size))


def compose(left: Rows, right: Rows) -> Rows:
    """From a to c wherever `left` leads from a to some b, and `right` from there to c."""
    found = []
    for row in left:
        reached = 0
        while row:
            low = row & -row
            reached |= right[low.bit_length() - 1]
            row ^= low
        found.append(reached)
    return tuple(found)


def inverse(rows: Rows) -> Rows:
    return from_pairs(len(rows), ((second, first) for first, second in pairs_of(rows)))


def closure(rows: Rows) -> Rows:
    """The transitive closure (Warshall)."""
    found = list(rows)
    for middle in range(len(found)):
        way, step = 1 << middle, found[middle]
        if step:
            for i, row in enumerate(found):
                if row & way:
                    found[i] = row | step
    return tuple(found)


def domain(rows: Rows) -> int:
    return mask_of(first for first, row in enumerate(rows) if row)


def image(rows: Rows) -> int:
    found = 0
    for row in rows:
        found |= row
    return found


def reflexive_event(rows: Rows) -> int | None:
    """The first event that is related to itself."""
    return next((i for i, row in enumerate(rows) if row >> i & 1), None)


def shortest_cycle(rows: Rows) -> tuple[int, ...] | None:
    """The events of a shortest cycle, each once, in its order, from the least on; None where there is no cycle."""
    on_cycles = [i for i, row in enumerate(closure(rows)) if row >> i & 1]
    best: tuple[int, ...] | None = None
    for start in on_cycles:
        if rows[start] >> start & 1:
            return (start,)
        for target in bits(rows[start]):
            way = shortest_way(target, start, lambda node: ((next_, None) for next_ in bits(rows[node])))
            if way is not None and (best is None or len(way) + 1 < len(best)):
                best = (start, *(source for source, _, _ in way))
    return best
