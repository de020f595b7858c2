"""Whether two programs are the same but for places in the text, names and numbers of locations, and numbers of
transitions: what a program that was written out and read again must be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memfence.program.expressions import At, Expr, rewrite
from memfence.program.ir import Op, Process, Program, Sync, Transition
from memfence.program.traversal import map_op, map_property, reachable_locations

Label = tuple[tuple[Op, ...], bool, Sync | None]


def are_isomorphic(a: Program, b: Program) -> bool:
    """Whether a one-to-one map of the reachable locations turns `a` into `b`, labels and properties included.

    True is a promise. `b` may have labels that `a` has nowhere: no property of `a` speaks of them. Where a location has
    several ways out that do the same, their order has to be the same, too.
    """
    return twin_steps(a, b) is not None


def twin_steps(a: Program, b: Program) -> list[dict[int, int]] | None:
    """For each process the transitions of `a` that can be reached, and their twins in `b`; None: not isomorphic."""
    if a.variables != b.variables or len(a.processes) != len(b.processes):
        return None
    walks = [_Walk(p, q) for p, q in zip(a.processes, b.processes, strict=True)]
    if not all(walk.succeeds() for walk in walks):
        return None
    maps = [walk.to for walk in walks]
    if not _agree_on_locations(a, b, walks) or not _agree_on_errors(a, b, maps):
        return None
    return [walk.twins() for walk in walks]


@dataclass
class _Walk:
    """Two processes at the same time, location by location; what ops say about locations is compared afterwards."""

    a: Process
    b: Process
    to: dict[int, int] = field(default_factory=dict)
    steps: list[tuple[Transition, Transition]] = field(default_factory=list)

    def succeeds(self) -> bool:
        same = (self.a.name, self.a.template, self.a.registers) == (self.b.name, self.b.template, self.b.registers)
        waiting = [(self.a.initial, self.b.initial)]
        while same and waiting:
            here, there = waiting.pop()
            if here in self.to:
                same = self.to[here] == there
                continue
            self.to[here] = there
            leaving, others = _leaving(self.a, here), _leaving(self.b, there)
            same = _is_same_place(self.a, self.b, here, there) and list(map(_blind, leaving)) == list(
                map(_blind, others)
            )
            self.steps += zip(leaving, others, strict=False)
            waiting += [(t.target, u.target) for t, u in zip(leaving, others, strict=False)]
        return same and len(set(self.to.values())) == len(self.to) == len(reachable_locations(self.b))

    def twins(self) -> dict[int, int]:
        numbers, others = ({id(t): n for n, t in enumerate(p.transitions)} for p in (self.a, self.b))
        return {numbers[id(t)]: others[id(u)] for t, u in self.steps}


def _leaving(process: Process, location: int) -> list[Transition]:
    """In an order that does not depend on numbers, as far as what they do tells them apart."""
    return sorted((t for _, t in process.leaving(location)), key=lambda t: repr(_blind(t)))


def _blind(transition: Transition) -> Label:
    """What the transition does, but for the numbers of locations that it looks at."""
    ops = tuple(map_op(op, _without_locations) for op in transition.ops)
    return ops, transition.locked, transition.sync


def _without_locations(expr: Expr) -> Expr:
    return rewrite(expr, lambda leaf: At(leaf.process, frozenset()) if isinstance(leaf, At) else leaf)


def _is_same_place(a: Process, b: Process, here: int, there: int) -> bool:
    p, q = a.locations[here], b.locations[there]
    known = {label for location in a.locations for label in location.labels}
    return (set(p.labels), p.committed, p.may_end) == (known & set(q.labels), q.committed, q.may_end)


def _agree_on_locations(a: Program, b: Program, walks: Sequence[_Walk]) -> bool:
    """Whether every look at a location, in an op or a property, is one at its twin."""
    mapped = _renumbered([walk.to for walk in walks])
    theirs = _renumbered([{n: n for n in walk.to.values()} for walk in walks])  # drops what is out of reach there
    for walk in walks:
        for t, u in walk.steps:
            if [map_op(op, mapped) for op in t.ops] != [map_op(op, theirs) for op in u.ops]:
                return False
    return [map_property(p, mapped) for p in a.properties] == [map_property(p, theirs) for p in b.properties]


def _renumbered(maps: Sequence[dict[int, int]]) -> Callable[[Expr], Expr]:
    def leaf(expr: Expr) -> Expr:
        if not isinstance(expr, At):
            return expr
        to = maps[expr.process]
        return At(expr.process, frozenset(to[n] for n in expr.locations if n in to))

    return lambda expr: rewrite(expr, leaf)


def _agree_on_errors(a: Program, b: Program, maps: Sequence[dict[int, int]]) -> bool:
    if a.error_locations is None or b.error_locations is None:
        return a.error_locations is b.error_locations
    return all(to.get(n, n) == m for to, n, m in zip(maps, a.error_locations, b.error_locations, strict=True))
