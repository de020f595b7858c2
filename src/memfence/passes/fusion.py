"""Reduction 2: local steps are fused with the step before them, so that states are only stored before memory accesses.

A location all of whose leaving transitions are local (register work, guards, assertions) is removed: every arriving
transition t is combined with every leaving one u. Nothing else can tell the difference, because
- u neither looks at other processes nor do they look at what it does; the question may, if t only reads and is not
  seen itself: then t and u together are as good as u alone;
- where t has an effect that others or the question see (a store, an unlock, an observed register), some u is possible
  whatever t has read, and none fails: nothing in u prevents the fused step, so the effect is not lost. With
  `Observed.blocking` that is asked of every t.
Removed locations keep their number but nothing leads to them any more, so that expressions about others stay right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod

from memfence.models.spec import ModelSpec
from memfence.passes.concatenate import joined_ops, joined_span
from memfence.program import ir
from memfence.program.expressions import FOREIGN, EvaluationError, Register, evaluate, walk
from memfence.program.facts.effects import is_local, op_expressions, register_written, registers_read
from memfence.program.facts.may_fail import expression_may_fail, may_fail
from memfence.program.facts.observation import Observed, observed_by
from memfence.records import Record

SPARE_TRANSITIONS = 8
"""A location is kept where removing it would add more transitions than this."""

MOST_VALUATIONS = 1024
"""Guards are compared on all values of the registers they read, up to this many combinations."""


def fuse_local_steps(program: ir.Program, observed: Observed, model: ModelSpec) -> ir.Program:
    """Remove the locations between a step and the local steps after it. Needs `origin` of every transition."""
    others = observed_by(program, ())
    processes = tuple(_Fusion(program, p, observed, others, model).result() for p in range(len(program.processes)))
    return replace(program, processes=processes)


class _Facts(Record):
    """Of one op; `op` itself, so that no other has its identity."""

    op: ir.Op
    reads: frozenset[int]
    is_local: bool
    may_fail: bool


class _Fusion:
    def __init__(
        self, program: ir.Program, number: int, observed: Observed, others: Observed, model: ModelSpec
    ) -> None:
        self.program = program
        self.process: ir.Process = program.processes[number]
        self.sees_buffer = number in observed.buffers
        self.blocking = observed.blocking
        self.keeps_fences = observed.accesses and observed.fences
        self.model = model
        self.seen_locations = {at for p, at in observed.locations if p == number}
        self.seen_registers = {r for p, r in observed.registers if p == number}
        self.locations_for_others = {at for p, at in others.locations if p == number}
        self.registers_for_others = {r for p, r in others.registers if p == number}
        self.fixed = {self.process.initial, *self.seen_locations}
        if program.error_locations is not None:
            self.fixed.add(program.error_locations[number])
        self.arriving: dict[int, list[ir.Transition]] = {n: [] for n in range(len(self.process.locations))}
        self.leaving: dict[int, list[ir.Transition]] = {n: [] for n in range(len(self.process.locations))}
        self._known: dict[int, _Facts] = {}
        for transition in self.process.transitions:
            self._add(transition)

    def _facts(self, op: ir.Op) -> _Facts:
        """Found once: an op of a long chain of local steps is looked at for every location that is removed."""
        known = self._known.get(id(op))
        if known is None:
            foreign = any(isinstance(leaf, FOREIGN) for e in op_expressions(op) for leaf in walk(e))
            local = (is_local(op) or self._does_nothing(op)) and not foreign
            known = self._known[id(op)] = _Facts(op, registers_read(op), local, self._op_may_fail(op))
        return known

    def result(self) -> ir.Process:
        changed = True
        while changed:
            changed = False
            for location in range(len(self.process.locations)):
                changed = self._remove(location) or changed
        left = [t for transitions in self.leaving.values() for t in transitions]
        return replace(self.process, transitions=tuple(sorted(left, key=lambda t: t.origin)))

    def _add(self, transition: ir.Transition) -> None:
        self.arriving[transition.target].append(transition)
        self.leaving[transition.source].append(transition)

    def _remove(self, location: int) -> bool:
        """Whether the location could be removed."""
        arriving, leaving = self.arriving[location], self.leaving[location]
        if not arriving or not self._is_removable(location, arriving, leaving):
            return False
        self.arriving[location], self.leaving[location] = [], []
        for t in arriving:
            self.leaving[t.source] = [other for other in self.leaving[t.source] if other is not t]
        for u in leaving:
            self.arriving[u.target] = [other for other in self.arriving[u.target] if other is not u]
        for t in arriving:
            for u in leaving:
                self._add(self._fused(t, u))
        return True

    def _is_removable(self, location: int, arriving: list[ir.Transition], leaving: list[ir.Transition]) -> bool:
        if location in self.fixed or self.process.locations[location].committed or not leaving:
            return False
        if any(t.source == location for t in arriving) or not all(self._is_local(u) for u in leaving):
            return False
        if len(arriving) * len(leaving) > len(arriving) + len(leaving) + SPARE_TRANSITIONS:
            return False
        if any(t.sync is not None for t in arriving):
            return False
        if any(self._is_seen_by_others(u) for u in leaving):
            return False
        if not all(self._is_unseen(u) for u in leaving) and not all(self._only_reads(t) for t in arriving):
            return False
        has_effect = not all(self._only_reads(t) for t in arriving)
        if has_effect and any(self._may_fail(u) for u in leaving):
            return False
        return not (self.blocking or has_effect) or self._always_goes_on(leaving)

    def _is_local(self, u: ir.Transition) -> bool:
        """Register work that looks at no other process, and does not make others wait."""
        if u.locked or u.sync is not None or self.process.locations[u.target].committed:
            return False
        return all(self._facts(op).is_local for op in u.ops)

    def _does_nothing(self, op: ir.Op) -> bool:
        """Under SC no fence does; an attacker that walks on with pending stores finds one between the parts."""
        if self.keeps_fences or not isinstance(op, ir.Fence):
            return False
        return op.kind != "thread_fence" and op.kind not in self.model.fence_kinds

    def _is_seen_by_others(self, u: ir.Transition) -> bool:
        """Whether another process may go by it: then it matters what happens between the step before and this one."""
        written = {register_written(op) for op in u.ops}
        return u.target in self.locations_for_others or bool(written & self.registers_for_others)

    def _is_unseen(self, t: ir.Transition) -> bool:
        """Whether the question sees no difference between before and after, as far as this process goes."""
        written = {register_written(op) for op in t.ops}
        same_places = t.target == t.source or not self.seen_locations.intersection((t.source, t.target))
        return same_places and not written.intersection(self.seen_registers)

    def _only_reads(self, t: ir.Transition) -> bool:
        separates = self.sees_buffer and any(isinstance(op, ir.Fence) and op.kind == "sfence" for op in t.ops)
        return (
            self._is_unseen(t)
            and not separates
            and not any(isinstance(op, ir.Store | ir.Rmw | ir.Unlock) for op in t.ops)
        )

    def _may_fail(self, u: ir.Transition) -> bool:
        return any(self._facts(op).may_fail for op in u.ops)

    def _op_may_fail(self, op: ir.Op) -> bool:
        return (
            isinstance(op, ir.Assert)
            or may_fail(self.program, self.process, op)
            or (isinstance(op, ir.Assume) and expression_may_fail(self.program, self.process, op.condition))
        )

    def _always_goes_on(self, leaving: Sequence[ir.Transition]) -> bool:
        """Whether some of these local transitions is possible, whatever the registers hold."""
        ways = [_up_to_the_last_guard(u.ops) for u in leaving]
        return not all(ways) or _cover_everything(ways, self.process.registers)

    def _fused(self, t: ir.Transition, u: ir.Transition) -> ir.Transition:
        return replace(
            t,
            target=u.target,
            ops=joined_ops(self.process, [t.ops, u.ops], lambda op: self._facts(op).reads),
            span=joined_span([t, u]),
            point=u.point or t.point,
            origin=(*t.origin, *u.origin),
        )


def _up_to_the_last_guard(ops: Sequence[ir.Op]) -> Sequence[ir.Op]:
    """What may block; nothing if nothing does."""
    guards = [position for position, op in enumerate(ops) if isinstance(op, ir.Assume)]
    return ops[: guards[-1] + 1] if guards else ()


def _cover_everything(ways: Sequence[Sequence[ir.Op]], registers: Sequence[ir.RegisterVar]) -> bool:
    """Whether one of these lists of local ops runs to its end, or fails, for all values of the registers."""
    read = sorted(frozenset[int]().union(*(registers_read(op) for ops in ways for op in ops)))
    domains = [ir.Domain(0, 0) if registers[n].transient else registers[n].domain for n in read]
    if prod(domain.size for domain in domains) > MOST_VALUATIONS:
        return False
    ranges = [range(domain.lo, domain.hi + 1) for domain in domains]
    starts = (dict(zip(read, values, strict=True)) for values in product(*ranges))
    return all(any(_runs(ops, dict(start), registers) for ops in ways) for start in starts)


def _runs(ops: Sequence[ir.Op], values: dict[int, int], registers: Sequence[ir.RegisterVar]) -> bool:
    """Whether the ops run to their end or fail; a value outside its register's range counts as neither."""

    def leaf_value(leaf: object, _: int) -> int:
        return values.get(leaf.index, 0) if isinstance(leaf, Register) else 0

    for op in ops:
        try:
            if isinstance(op, ir.Assume) and not evaluate(op.condition, leaf_value):
                return False
            if isinstance(op, ir.Assign):
                value = evaluate(op.value, leaf_value)
                if not registers[op.register].transient and not registers[op.register].domain.holds(value):
                    return False
                values[op.register] = value
        except EvaluationError:
            return True
    return True
