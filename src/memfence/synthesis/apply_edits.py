"""The program with fences in it, without going through its text: what `insert_fences` of a language must amount to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING

from memfence.frontends.edits import fresh_label
from memfence.passes.atomic_writes import AtomicWrite, with_atomic_writes
from memfence.program.ir import Fence, FencePoint, Location, Process, Program, Transition

if TYPE_CHECKING:
    from memfence.frontends.frontend import EditKind
    from memfence.synthesis.sites import FenceEdit

Fences = Mapping[FencePoint, Sequence[Fence]]


def insert(program: Program, points: Sequence[tuple[FencePoint, EditKind]]) -> Program:
    """`program` with a fence at each point, in every instance of its template, or the transition there locked.

    The fence of a location is one new location on the way to it, shared by all transitions that lead there; the fence
    of a transition is a new location of its own. Numbers of locations and transitions stay what they were; new ones
    follow.
    """
    fences: dict[FencePoint, list[Fence]] = {}
    locked = {point for point, kind in points if kind == "locked"}
    for point, kind in points:
        if kind != "locked":
            fences.setdefault(point, []).append(Fence(kind))
    return insert_fences(program, fences, locked)


def insert_fences(program: Program, fences: Fences, locked: AbstractSet[FencePoint] = frozenset()) -> Program:
    """The same for fences of any kind and order."""
    return replace(program, processes=tuple(_fenced(process, fences, locked)[0] for process in program.processes))


def points_of_new_steps(program: Program, points: Sequence[tuple[FencePoint, EditKind]]) -> list[list[FencePoint]]:
    """For each process the points of the fences that `insert` adds to it, in the order of their transitions."""
    fences = {point: [Fence(kind)] for point, kind in points if kind != "locked"}
    return [_fenced(process, fences, frozenset())[1] for process in program.processes]


def with_edits(program: Program, edits: Iterable[FenceEdit]) -> Program:
    """What the text with all `edits` written into it means."""
    chosen = sorted(edits, key=lambda edit: edit.number)
    if program.language != "dve":
        return insert(program, [(edit.point, edit.kind) for edit in chosen])
    return with_atomic_writes(program, [AtomicWrite(p, t) for edit in chosen for p, t in sorted(edit.effect)])


def _fenced(process: Process, fences: Fences, locked: AbstractSet[FencePoint]) -> tuple[Process, list[FencePoint]]:
    """The process with its fences, and the points of those that were added, in their order."""
    locations, added, points = list(process.locations), list[Transition](), list[FencePoint]()
    taken = {place.name for place in process.locations}

    def entry(point: FencePoint | None, place: Location, target: int) -> int:
        """Where control must go to pass the fences of `point` and then `target`, on the way to `place`."""
        if point is None:
            return target
        for fence in reversed(fences.get(point, ())):
            locations.append(Location(fresh_label(f"{place.name}__fence", taken), span=point.span))
            added.append(Transition(len(locations) - 1, target, (fence,), span=point.span))
            points.append(point)
            target = len(locations) - 1
        return target

    arrived_at = {transition.target for transition in process.transitions}
    entries = [entry(place.point, place, n) if n in arrived_at else n for n, place in enumerate(process.locations)]
    changed = [
        replace(
            t,
            target=entry(t.point, process.locations[t.target], entries[t.target]),
            locked=t.locked or t.point in locked,
        )
        for t in process.transitions
    ]
    return replace(process, locations=tuple(locations), transitions=(*changed, *added)), points
