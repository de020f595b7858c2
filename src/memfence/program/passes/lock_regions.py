"""Fusion of lock regions: every acyclic path from `lock` to its `unlock` becomes one locked transition (DESIGN 3).

A region acts as one atomic step then, which is smaller, and which the criteria need. A region keeps the step-by-step
meaning of `Lock` and `Unlock` where one step would not do: it contains a cycle, a location with no way on, a
rendezvous, a location that a property or another process looks at, or more than `MOST_PATHS` paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.program.expressions import At, Expr, walk
from memfence.program.ir import Fence, Lock, Ltl, Op, Process, Program, Transition, Unlock
from memfence.program.passes.numbering import (
    keep_locations,
    property_expressions,
    reachable_locations,
    transition_expressions,
)
from memfence.program.passes.sequences import joined_ops, joined_span

MOST_PATHS = 2000


def fuse_lock_regions(program: Program) -> Program:
    """Replace lock regions by locked transitions, and remove the locations inside that nothing leads to any more.

    InputError (MF111) where the control flow reaches `unlock` without the lock, or `lock` while holding it.
    """
    if not any(_is_bus_op(op) for p in program.processes for t in p.transitions for op in t.ops):
        return program
    diagnostics = [d for process in program.processes for d in _unbalanced(process)]
    if diagnostics:
        raise InputError(list({(d.message, d.at.span): d for d in diagnostics}.values()))
    fused = tuple(_fuse(p, _watched_locations(program, n)) for n, p in enumerate(program.processes))
    kept = []
    for before, after in zip(program.processes, fused, strict=True):
        lost = reachable_locations(before) - reachable_locations(after)
        kept.append(frozenset(range(len(before.locations))) - lost)
    return keep_locations(replace(program, processes=fused), kept)


def _is_bus_op(op: Op) -> bool:
    return isinstance(op, Lock | Unlock)


def _holds_after(transition: Transition, holds: bool) -> bool:
    for op in transition.ops:
        if _is_bus_op(op):
            holds = isinstance(op, Lock)
    return holds


def _unbalanced(process: Process) -> Iterator[Diagnostic]:
    """Follow the control flow with and without the lock."""
    found = {(process.initial, False)}
    waiting = [(process.initial, False)]
    while waiting:
        location, holds = waiting.pop()
        for _, transition in process.leaving(location):
            yield from _misuses(process, transition, holds)
            after = (transition.target, _holds_after(transition, holds))
            if after not in found:
                found.add(after)
                waiting.append(after)


def _misuses(process: Process, transition: Transition, holds: bool) -> Iterator[Diagnostic]:
    for op in transition.ops:
        if isinstance(op, Lock) and holds:
            message = f"`{process.template}` can take the lock here while it holds it already"
            yield Diagnostic(
                Code.UNBALANCED_LOCK, message, Label(transition.span, "taken twice"), hint="unlock before this lock"
            )
        if isinstance(op, Unlock) and not holds:
            message = f"`{process.template}` can get here without the lock that it releases"
            yield Diagnostic(
                Code.UNBALANCED_LOCK,
                message,
                Label(transition.span, "not held"),
                hint="lock on every way to it",
            )
        if _is_bus_op(op):
            holds = isinstance(op, Lock)


def _watched_locations(program: Program, process: int) -> frozenset[int]:
    """The locations of the process that a property or an op of any process refers to."""
    exprs: list[Expr] = [e for prop in program.properties for e in property_expressions(prop)]
    exprs += [e for p in program.processes for t in p.transitions for e in transition_expressions(t)]
    leaves = (leaf for expr in exprs for leaf in walk(expr))
    watched = {n for leaf in leaves if isinstance(leaf, At) and leaf.process == process for n in leaf.locations}
    words = {w for prop in program.properties if isinstance(prop, Ltl) for w in re.findall(r"@\s*\w+|\w+", prop.text)}
    words = {w.lstrip("@ \t\n") for w in words if not w.isdigit()}
    for number, location in enumerate(program.processes[process].locations):
        if words.intersection((location.name, *location.labels)):
            watched.add(number)
    return frozenset(watched)


def _fuse(process: Process, watched: frozenset[int]) -> Process:
    leaving: dict[int, list[Transition]] = {n: [] for n in range(len(process.locations))}
    for transition in process.transitions:
        leaving[transition.source].append(transition)
    transitions: list[Transition] = []
    for transition in process.transitions:
        region = _region_after(transition, leaving)
        if region is None or not _can_fuse(process, region, watched):
            transitions.append(transition)
        else:
            transitions += [_one_step(process, path) for path in _paths(transition, region)]
    return replace(process, transitions=tuple(transitions))


@dataclass(frozen=True, slots=True)
class _Region:
    """Between a lock and its unlocks: `leaving[location]` for every location inside."""

    entry: int | None
    leaving: Mapping[int, list[Transition]]


def _region_after(transition: Transition, leaving: Mapping[int, list[Transition]]) -> _Region | None:
    """The region that the transition enters, if any; without inner locations, if it leaves it at once."""
    if transition.sync is not None or not any(isinstance(op, Lock) for op in transition.ops):
        return None
    if not _holds_after(transition, False):
        return _Region(None, {})
    inside = {transition.target: leaving[transition.target]}
    waiting = [transition.target]
    while waiting:
        for inner in leaving[waiting.pop()]:
            if _holds_after(inner, True) and inner.target not in inside:
                inside[inner.target] = leaving[inner.target]
                waiting.append(inner.target)
    return _Region(transition.target, inside)


def _can_fuse(process: Process, region: _Region, watched: frozenset[int]) -> bool:
    if watched.intersection(region.leaving) or not all(region.leaving.values()):
        return False
    if any(process.locations[n].committed for n in region.leaving):
        return False
    inner = [t for transitions in region.leaving.values() for t in transitions]
    if any(t.sync is not None or any(isinstance(op, Lock) for op in t.ops) for t in inner):
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
