"""Loops that only wait: going round them more than once again changes nothing that one round does not change.

A loop is an await if going round it

* writes nothing: loads, fences, and compare-exchanges that failed;
* leaves registers behind that depend on what was read in this very round and on what the loop does not change;
* goes one way only, or a way that is decided by what was read in this very round.

Take an execution in which a thread goes round n > 1 times, and leave out the events of all rounds but the last: what is
left are the events of a thread that went round once. Nobody reads from what was left out, and the axioms of our models
(acyclicity, irreflexivity, emptiness of relations that only grow with the events) stay true. So one round is enough,
and who would go round again may as well wait there for ever.
"""

from __future__ import annotations

from collections.abc import Sequence

from memfence.axiomatic.unrolling.conditions import excludes
from memfence.axiomatic.unrolling.nesting import Loop
from memfence.program.expressions import Binary, Expr, Register, registers_of
from memfence.program.facts.effects import register_written, registers_read
from memfence.program.ir import Assert, Assign, Assume, Fence, Load, Op, Process, Rmw, Transition

ROUNDS_OF_AWAITS = 1


def exits_of(process: Process, loop: Loop) -> frozenset[int]:
    """The steps, by number, behind which the loop can be left, or is left, before its head is reached again."""
    found: set[int] = set()
    open_ = {t.target for t in process.transitions if t.target not in loop.body}
    grown = True
    while grown:
        grown = False
        for number, transition in enumerate(process.transitions):
            if number not in found and transition.source in loop.body and transition.target in open_:
                found.add(number)
                grown = True
                if transition.source != loop.head:
                    open_.add(transition.source)
    return frozenset(found)


def is_await(process: Process, loop: Loop) -> bool:
    """Whether one round is as good as many; False says nothing."""
    inside = [t for t in process.transitions if t.source in loop.body and t.target in loop.body]
    if not all(isinstance(op, Load | Assign | Assume | Fence | Assert | Rmw) for t in inside for op in t.ops):
        return False
    if any(isinstance(op, Load) and op.exclusive for t in inside for op in t.ops):
        return False
    return _Rounds(process, loop, inside).are_alike()


class _Rounds:
    """All ways from the head of the loop back to it, by depth-first search: loops that wait are small."""

    def __init__(self, process: Process, loop: Loop, inside: Sequence[Transition]) -> None:
        self.process = process
        self.loop = loop
        self.leaving: dict[int, list[Transition]] = {}
        for transition in inside:
            self.leaving.setdefault(transition.source, []).append(transition)
        self.changed = {r for t in inside for op in t.ops if (r := register_written(op)) is not None}
        self.single = all(len(ways) == 1 for ways in self.leaving.values())

    def are_alike(self) -> bool:
        kept = frozenset(range(len(self.process.registers))) - self.changed
        return self._from(self.loop.head, frozenset({self.loop.head}), _Round(kept, kept | self.changed))

    def _from(self, here: int, passed: frozenset[int], so_far: _Round) -> bool:
        for transition in self.leaving.get(here, ()):
            after = so_far.after(transition, self.process, self.single)
            if after is None:
                return False
            if transition.target == self.loop.head:
                if not after.is_complete(self.changed):
                    return False
            elif transition.target in passed:
                return False  # a loop within
            elif not self._from(transition.target, passed | {transition.target}, after):
                return False
        return True


class _Round:
    """What is known on the way round.

    `fresh`: registers whose values depend on this round and on what the loop does not change. `old`: those that still
    have the values that they had at the head. `pending`: compare-exchanges not yet known to have failed.
    """

    def __init__(self, fresh: frozenset[int], old: frozenset[int], pending: tuple[Expr, ...] = ()) -> None:
        self.fresh = fresh
        self.old = old
        self.pending = pending

    def after(self, transition: Transition, process: Process, single: bool) -> _Round | None:
        """After a step; None where rounds are not alike."""
        known: _Round | None = self
        for op in transition.ops:
            known = None if known is None else known._after(op, single)
        if known is None:
            return None
        scratch = frozenset(n for n, register in enumerate(process.registers) if register.transient)
        return _Round(known.fresh | scratch, known.old - scratch, known.pending)

    def _after(self, op: Op, single: bool) -> _Round | None:
        read = registers_read(op)
        match op:
            case Assume(condition):
                alike = read <= self.fresh or (single and read <= self.old)
                pending = tuple(success for success in self.pending if not excludes(success, condition))
                return _Round(self.fresh, self.old, pending) if alike else None
            case Assert():
                return self if read <= self.fresh else None
            case Rmw(register, _, kind, _, expected):
                if kind != "compare_exchange" or register is None or expected is None or not read <= self.fresh:
                    return None
                success = Binary("==", Register(register), expected)
                return None if register in read else self._set(register, True, (success,))
            case Load(register) | Assign(register):
                return self._set(register, read <= self.fresh, ())
            case _:
                return self

    def _set(self, register: int, fresh: bool, pending: tuple[Expr, ...]) -> _Round | None:
        if any(register in registers_of(success) for success in self.pending):
            return None
        kept = self.fresh | {register} if fresh else self.fresh - {register}
        return _Round(kept, self.old - {register}, (*self.pending, *pending))

    def is_complete(self, changed: set[int]) -> bool:
        """At the end of the round: all that changed is fresh, and nothing was written."""
        return changed <= self.fresh and not self.pending
