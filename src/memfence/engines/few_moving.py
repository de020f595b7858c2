"""Attacks on a large program, looked for in small searches before every state is visited.

First a few states of the whole program; none where the text shows that there is nothing to find
(core/attacks/open_walks.hpp). Then searches in which few processes move, the others staying where they begin: such a
run is a run of the program, and there are few of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from memfence.engines.native.attacks import Attacks, AttackSearch
from memfence.tasks.limits import Limits, Stop

LARGE = 20_000
"""SC states beyond which attacks of few processes are looked for, and as many for each group of processes."""
LEAST_MOVING, MOST_MOVING = 2, 3
MOST_GROUPS = 500
"""Groups of processes that are tried."""


def small_searches(search: AttackSearch, limits: Limits, *, collect: bool, most_states: int = 0) -> Iterator[Attacks]:
    """What each of them finds. The first is about the whole program; there are others where it was cut short.

    `most_states`: how many all others together may visit; 0: any number.
    """
    is_short = 0 < limits.most_states <= LARGE
    first = search.explore(collect=collect, limits=limits if is_short else limits.within(most_states=LARGE, threads=1))
    yield first
    if first.stop is Stop.STATES and not is_short:
        yield from _with_few_moving(search, first, limits, collect, most_states)


def _with_few_moving(
    search: AttackSearch, first: Attacks, limits: Limits, collect: bool, most_states: int
) -> Iterator[Attacks]:
    """Attacks of processes that may have more than were found, by small groups of processes."""
    limits = limits.within(most_states=LARGE, threads=1)
    known = [attack.clause for attack in first.attacks]
    left = set(first.open)
    states = 0
    for group in _groups(len(search.program.processes), first.alike):
        if not left or limits.deadline.passed or 0 < most_states <= states:
            return
        if left.isdisjoint(group):
            continue
        found = search.explore(collect=collect, limits=limits, known=known, moving=group, by_text=collect)
        if collect:
            left = (left - set(group)) | found.open
            known += [attack.clause for attack in found.attacks]
        states += found.cost.states
        yield found


def _groups(processes: int, alike: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, ...]]:
    """Small groups of processes; of those that exchanging processes makes equal, the first."""
    tried = 0
    for size in range(LEAST_MOVING, min(MOST_MOVING, processes - 1) + 1):
        for group in combinations(range(processes), size):
            if any([p for p in members if p in group] != _first_of(members, group) for members in alike):
                continue
            if tried == MOST_GROUPS:
                return
            tried += 1
            yield group


def _first_of(members: tuple[int, ...], group: tuple[int, ...]) -> list[int]:
    return list(members[: sum(p in group for p in members)])
