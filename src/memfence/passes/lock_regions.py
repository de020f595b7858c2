"""Fusion of lock regions: every acyclic path from `lock` to its `unlock` becomes one locked transition (docs/adr/0007).

A region acts as one atomic step then, which is smaller. A region keeps the step-by-step
meaning of `Lock` and `Unlock` where one step would not do: it contains a cycle, a location with no way on, a
rendezvous, a location that a property or another process looks at, or more than `MOST_PATHS` paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.passes.concatenate import joined_ops, joined_span
from memfence.passes.numbering import keep_locations
from memfence.program.expressions import At, Expr, walk
from memfence.program.facts.labels import has_meaning
from memfence.program.ir import Fence, Lock, Ltl, Op, Process, Program, Transition, Unlock
from memfence.program.traversal import property_expressions, reachable_locations, transition_expressions
from memfence.records import Record

MOST_PATHS = 2000


def fuse_lock_regions(program: Program) -> Program:
    """Replace lock regions by locked transitions, and remove the locations inside that nothing leads to any more.

    InputError (MF111) for an `unlock` that is only ever reached without the lock, and for a `lock` that is only ever
    reached while holding it. Where just some paths lead there so, the step blocks on them, and a note says so.
    """
    if not has_lock_regions(program):
        return program
    misuses = [(process, misuse) for process in program.processes for misuse in _misuses(process)]
    errors = [_unbalanced(process, misuse) for process, misuse in misuses if misuse.always]
    if errors:
        raise InputError(list({(d.message, d.at.span): d for d in errors}.values()))
    fused = tuple(_fuse(p, _watched_locations(program, n)) for n, p in enumerate(program.processes))
    kept = []
    for before, after in zip(program.processes, fused, strict=True):
        lost = reachable_locations(before) - reachable_locations(after)
        kept.append(frozenset(range(len(before.locations))) - lost)
    notes = dict.fromkeys(f"an unbalanced lock or unlock of `{process.template}` blocks" for process, _ in misuses)
    return keep_locations(replace(program, processes=fused, notes=(*program.notes, *notes)), kept)


def with_atomic_regions(program: Program) -> Program:
    """`program` as the criteria about shared memory see it: lock regions are one step wherever that is possible.

    Nothing is observed inside a region, so no property keeps its steps apart, and `properties` are dropped where that
    matters. A path that takes the lock and never releases it is dropped, too: from there on nobody else accesses
    memory, so what it does comes after everything else, as under SC. Regions with a cycle stay as they are; the core
    runs through them as one event.
    """
    if not has_lock_regions(program):
        return program
    processes = tuple(_without_endless_locks(process) for process in program.processes)
    fused = fuse_lock_regions(replace(program, processes=processes, properties=()))
    return replace(fused, notes=tuple(dict.fromkeys(fused.notes)))


def has_lock_regions(program: Program) -> bool:
    """Whether some lock region is taken step by step."""
    return any(_is_bus_op(op) for p in program.processes for t in p.transitions for op in t.ops)


def _without_endless_locks(process: Process) -> Process:
    """`process` without the steps behind which the lock is never released, and those that can only block."""
    reached = reached_with_lock(process)
    ends = {(t.source, holds) for t in process.transitions for holds in (False, True) if not _holds_after(t, holds)}
    releasing = {place for place in reached if place in ends or not place[1]}
    while True:
        more = {
            (t.source, True)
            for t in process.transitions
            if (t.source, True) in reached
            and not _is_misused(t, True)
            and (t.target, _holds_after(t, True)) in releasing
        }
        if more <= releasing:
            break
        releasing |= more

    def goes_on(transition: Transition) -> bool:
        after = {
            (transition.target, _holds_after(transition, holds))
            for holds in (False, True)
            if (transition.source, holds) in reached and not _is_misused(transition, holds)
        }
        return bool(after & releasing)

    return replace(process, transitions=tuple(filter(goes_on, process.transitions)))


def _is_bus_op(op: Op) -> bool:
    return isinstance(op, Lock | Unlock)


def _holds_after(transition: Transition, holds: bool) -> bool:
    for op in transition.ops:
        if _is_bus_op(op):
            holds = isinstance(op, Lock)
    return holds


class _Misuse(Record):
    """A transition that takes the lock twice or releases one that is not held: on some paths, or `always`."""

    transition: Transition
    always: bool


def reached_with_lock(process: Process) -> set[tuple[int, bool]]:
    """Follow the control flow with and without the lock; a misused lock blocks."""
    reached = {(process.initial, False)}
    waiting = [(process.initial, False)]
    while waiting:
        location, holds = waiting.pop()
        for _, transition in process.leaving(location):
            after = (transition.target, _holds_after(transition, holds))
            if after not in reached and not _is_misused(transition, holds):
                reached.add(after)
                waiting.append(after)
    return reached


def _misuses(process: Process) -> Iterator[_Misuse]:
    reached = reached_with_lock(process)
    for transition in process.transitions:
        wrong = [_is_misused(transition, holds) for holds in (False, True) if (transition.source, holds) in reached]
        if any(wrong):
            yield _Misuse(transition, all(wrong))


def _is_misused(transition: Transition, holds: bool) -> bool:
    for op in transition.ops:
        if _is_bus_op(op):
            if isinstance(op, Lock) == holds:
                return True
            holds = not holds
    return False


def _unbalanced(process: Process, misuse: _Misuse) -> Diagnostic:
    taken = any(isinstance(op, Lock) for op in misuse.transition.ops)
    if taken:
        message = f"`{process.template}` takes the lock here while it holds it already"
        label, hint = "taken twice", "unlock before this lock"
    else:
        message = f"`{process.template}` releases the lock here without holding it"
        label, hint = "not held", "lock on the way to this unlock, or remove it"
    return Diagnostic(Code.UNBALANCED_LOCK, message, Label(misuse.transition.span, label), hint=hint)


def _watched_locations(program: Program, process: int) -> frozenset[int]:
    """The locations of the process that a property or an op of any process refers to."""
    exprs: list[Expr] = [e for prop in program.properties for e in property_expressions(prop)]
    exprs += [e for p in program.processes for t in p.transitions for e in transition_expressions(t)]
    leaves = (leaf for expr in exprs for leaf in walk(expr))
    watched = {n for leaf in leaves if isinstance(leaf, At) and leaf.process == process for n in leaf.locations}
    words = {w for prop in program.properties if isinstance(prop, Ltl) for w in re.findall(r"@\s*\w+|\w+", prop.text)}
    words = {w.lstrip("@ \t\n") for w in words if not w.isdigit()}
    for number, location in enumerate(program.processes[process].locations):
        if words.intersection((location.name, *location.labels)) or has_meaning(location):
            watched.add(number)
    if program.error_locations is not None:
        watched.add(program.error_locations[process])
    return frozenset(watched)


def _fuse(process: Process, watched: frozenset[int]) -> Process:
    leaving: dict[int, list[Transition]] = {n: [] for n in range(len(process.locations))}
    for transition in process.transitions:
        leaving[transition.source].append(transition)
    regions = {n: _region_after(t, leaving) for n, t in enumerate(process.transitions) if _enters_region(t)}
    fused = {n: region for n, region in regions.items() if _can_fuse(process, region, watched)}
    while True:
        # Where the lock may still be held step by step, a lock has to block: it must not become a locked transition.
        held = {location for n, region in regions.items() if n not in fused for location in region.leaving}
        free = {n: region for n, region in fused.items() if process.transitions[n].source not in held}
        if free == fused:
            break
        fused = free
    transitions: list[Transition] = []
    for number, transition in enumerate(process.transitions):
        if number in fused:
            transitions += [_one_step(process, path) for path in _paths(transition, fused[number])]
        else:
            transitions.append(transition)
    return replace(process, transitions=tuple(transitions))


class _Region(Record):
    """Between a lock and its unlocks: what leaves every location inside, but for nested locks, which block."""

    entry: int | None
    leaving: Mapping[int, list[Transition]]


def _enters_region(transition: Transition) -> bool:
    return transition.sync is None and any(isinstance(op, Lock) for op in transition.ops)


def _region_after(transition: Transition, leaving: Mapping[int, list[Transition]]) -> _Region:
    """The region that the transition enters; without inner locations, if it leaves it at once."""
    if not _holds_after(transition, False):
        return _Region(None, {})
    inside: dict[int, list[Transition]] = {}
    waiting = [transition.target]
    while waiting:
        location = waiting.pop()
        if location not in inside:
            inside[location] = [t for t in leaving[location] if not any(isinstance(op, Lock) for op in t.ops)]
            waiting += [t.target for t in inside[location] if _holds_after(t, True)]
    return _Region(transition.target, inside)


def _can_fuse(process: Process, region: _Region, watched: frozenset[int]) -> bool:
    if watched.intersection(region.leaving) or not all(region.leaving.values()):
        return False
    if any(process.locations[n].committed for n in region.leaving):
        return False
    if any(t.sync is not None for transitions in region.leaving.values() for t in transitions):
        return False
    count = _count_paths(region)
    return count is not None and count <= MOST_PATHS


def _count_paths(region: _Region) -> int | None:
    """How many paths lead through the region; None if it has a cycle."""
    if region.entry is None:
        return 1
    counts: dict[int, int] = {}
    open_locations: set[int] = set()
    stack = [(region.entry, False)]
    while stack:
        location, done = stack.pop()
        inner = [t.target for t in region.leaving[location] if _holds_after(t, True)]
        if done:
            open_locations.discard(location)
            counts[location] = sum(counts[n] for n in inner) + len(region.leaving[location]) - len(inner)
        elif location in open_locations:
            return None
        elif location not in counts:
            open_locations.add(location)
            stack.append((location, True))
            if open_locations.intersection(inner):
                return None
            stack += [(n, False) for n in inner if n not in counts]
    return counts[region.entry]


def _paths(first: Transition, region: _Region) -> Iterator[tuple[Transition, ...]]:
    if region.entry is None:
        yield (first,)
        return
    stack: list[tuple[Transition, ...]] = [(first,)]
    while stack:
        path = stack.pop()
        if _holds_after(path[-1], True):
            stack += [(*path, t) for t in reversed(region.leaving[path[-1].target])]
        else:
            yield path


def _one_step(process: Process, path: tuple[Transition, ...]) -> Transition:
    parts = [[op for op in t.ops if not isinstance(op, Lock | Unlock | Fence)] for t in path]
    return replace(path[-1], source=path[0].source, ops=joined_ops(process, parts), locked=True, span=joined_span(path))
