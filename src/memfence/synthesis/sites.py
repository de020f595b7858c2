"""Where fences can go: every edit of the text, what it fences, and what it costs.

A site is a place of the source text: one edit there changes every instance of its template. What an edit does is its
*effect*, the transitions (process, number) right behind which its fence executes, or which it locks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memfence.frontends.frontend import EditKind
from memfence.program.facts.loop_depth import loop_levels
from memfence.program.ir import Fence, FencePoint, Op, Process, Program, Store, Transition, Unlock
from memfence.records import Record
from memfence.synthesis.options import COST_OF_A_LOOP, MOST_LEVELS

Effect = frozenset[tuple[int, int]]


class FenceEdit(Record):
    """One edit. `number` is its place in the list of all; `weaker` the number of the `sfence` at the same place.

    `level`: how many loops are around it. `processes`: those whose code it changes. `is_before`: the place is described
    by the statement behind it. `depth`: how many calls of the text lead to it.
    """

    number: int
    kind: EditKind
    point: FencePoint
    effect: Effect
    cost: int
    level: int
    processes: tuple[int, ...]
    is_before: bool = False
    weaker: int | None = None
    depth: int = 0


def find_edits(program: Program, kinds: Iterable[EditKind], costs: Mapping[EditKind, int]) -> tuple[FenceEdit, ...]:
    """Every edit that could make a difference to a program for hardware, one for each effect, in the order of the text.

    Left out: fences where nothing can be pending, and all but the cheapest of several places with the same effect.
    """
    edits: list[FenceEdit] = []
    kinds = tuple(kinds)
    for site in _sites(program, may_lock="locked" in kinds):
        numbers: dict[EditKind, int] = {}
        for kind in ("sfence", "mfence", "locked"):
            effect = site.locked if kind == "locked" else site.pending
            if kind not in kinds or not effect:
                continue
            cost = costs[kind] * COST_OF_A_LOOP ** min(site.level, MOST_LEVELS)
            processes = tuple(sorted({p for p, _ in (effect if kind == "locked" else site.executed)}))
            weaker = numbers.get("sfence") if kind == "mfence" else None
            numbers[kind] = len(edits)
            edits.append(
                FenceEdit(
                    len(edits),
                    kind,
                    site.point,
                    effect,
                    cost,
                    site.level,
                    processes,
                    site.is_before,
                    weaker,
                    site.depth,
                )
            )
    return tuple(edits)


class _Site(Record):
    """`executed`: the transitions behind which a fence at the point runs; `pending`: those of them that can leave
    stores in a buffer; `locked`: the transitions with a store at the point."""

    point: FencePoint
    executed: Effect
    pending: Effect
    locked: Effect
    is_before: bool
    level: int
    depth: int


def _sites(program: Program, *, may_lock: bool) -> list[_Site]:
    behind: dict[FencePoint, set[tuple[int, int]]] = {}
    lockable: dict[FencePoint, set[tuple[int, int]]] = {}
    pending: set[tuple[int, int]] = set()
    levels = [loop_levels(process) for process in program.processes]
    depths: dict[FencePoint, int] = {}
    for p, process in enumerate(program.processes):
        pending.update((p, t) for t in leaves_pending(process))
        for t, transition in enumerate(process.transitions):
            place = process.locations[transition.target].point
            if place is not None:
                behind.setdefault(place, set()).add((p, t))
                depths[place] = _depth_at(process, transition.target)
            if transition.point is not None:
                behind.setdefault(transition.point, set()).add((p, t))
                depths[transition.point] = len(transition.calls)
                if may_lock and _can_be_locked(transition):
                    lockable.setdefault(transition.point, set()).add((p, t))
    sites = [
        _Site(
            point, frozenset(executed), frozenset(executed & pending), frozenset(lockable.get(point, ())),
            _is_before(program, point, executed), max(levels[p][t] for p, t in executed), depths.get(point, 0),
        )
        for point, executed in behind.items()
    ]  # fmt: skip
    return _cheapest(sites)


def _is_before(program: Program, point: FencePoint, executed: Iterable[tuple[int, int]]) -> bool:
    """Whether the point is named after the statement that follows it: none that leads there has its place."""
    places = {program.processes[p].transitions[t].span.start for p, t in executed}
    return point.span.start not in places


def _cheapest(sites: Sequence[_Site]) -> list[_Site]:
    """One site for each effect: outside of loops if possible, then in the innermost function, which others call, too,
    then right behind a statement."""

    def rank(site: _Site) -> tuple[int, int, bool, int, str]:
        return site.level, -site.depth, site.is_before, site.point.span.start, site.point.key

    kept: dict[tuple[Effect, Effect], _Site] = {}
    for site in sorted(sites, key=rank):
        if site.pending or site.locked:
            kept.setdefault((site.pending, site.locked), site)
    # A place that only fences may stand beside one with the same fence effect that can also be locked.
    fencing = {site.pending for site in kept.values() if site.locked}
    chosen = [site for site in kept.values() if site.locked or site.pending not in fencing]
    return sorted(chosen, key=lambda s: (s.point.span.start, s.is_before, s.point.template, s.point.key))


def _depth_at(process: Process, location: int) -> int:
    """How many calls are open in the steps that leave the location."""
    return max((len(transition.calls) for _, transition in process.leaving(location)), default=0)


def _can_be_locked(transition: Transition) -> bool:
    return not transition.locked and any(isinstance(op, Store) and not op.direct for op in transition.ops)


def leaves_pending(process: Process) -> frozenset[int]:
    """The transitions behind which a store of the process can still be in its buffer, by a look at the text."""
    full: set[int] = set()
    found: set[int] = set()
    todo = list(range(len(process.transitions)))
    leaving: dict[int, list[int]] = {}
    for number, transition in enumerate(process.transitions):
        leaving.setdefault(transition.source, []).append(number)
    while todo:
        number = todo.pop()
        transition = process.transitions[number]
        if number not in found and _pending_after(transition, transition.source in full):
            found.add(number)
            if transition.target not in full:
                full.add(transition.target)
                todo += leaving.get(transition.target, ())
    return frozenset(found)


def _pending_after(transition: Transition, before: bool) -> bool:
    if transition.locked:
        return False
    pending = before
    for op in transition.ops:
        pending = _after_op(op, pending)
    return pending


def _after_op(op: Op, pending: bool) -> bool:
    match op:
        case Store(_, _, False):
            return True
        case Fence("mfence") | Unlock():
            return False
        case _:
            return pending
