"""Loops that only wait: going round them once again changes nothing that the last round does not change.

A loop is an await if going round it

* writes nothing: there are loads, fences, and compare-exchanges that fail;
* leaves registers behind that depend on what was read in this very round and on what the loop does not change;
* goes one way only, or a way that is decided by what was read in this very round.

Take an execution in which a thread goes round n > 1 times, and leave out the events of all rounds but the last: what is
left are the events of a thread that went round once. Nobody reads from what was left out, and the axioms of our models
(acyclicity, irreflexivity, emptiness of relations that only grow with the events) stay true. So one round is enough,
and who would go round again may as well wait there for ever. Where nothing that was read in an earlier round counts
when the loop is left, even that round can go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memfence.axiomatic.unrolling.conditions import excludes
from memfence.axiomatic.unrolling.nesting import Loop
from memfence.program.expressions import Binary, Const, Expr, Register, registers_of, rewrite
from memfence.program.facts.effects import accesses_memory, op_expressions, register_written
from memfence.program.facts.may_fail import expression_may_fail, may_fail
from memfence.program.ir import Assert, Assign, Assume, Fence, Load, Op, Process, Program, Rmw, Transition
from memfence.program.orders import MemoryOrder
from memfence.records import Record

Registers = frozenset[int]


class Await(Record):
    """`rounds`: how often its head must be reached from inside, at most 2 times, so that nothing is lost.
    `begins_before`: what is read on the way into the loop is a round."""

    rounds: int
    begins_before: bool


def find_await(process: Process, loop: Loop, dead: Sequence[Registers], reached: Collection[int]) -> Await | None:
    """None if the loop is no await. `dead`: for each location the registers that make no difference there. `reached`:
    the locations to which a way leads."""
    inside = [t for t in process.transitions if t.source in loop.body and t.target in loop.body]
    if not all(_may_wait(op) for t in inside for op in t.ops):
        return None
    entering = [
        t for t in process.transitions if t.source not in loop.body and t.target in loop.body and t.source in reached
    ]
    rounds = _Rounds(process, loop, inside, dead)
    if not rounds.are_alike():
        return None
    begins_before = rounds.looks_back and _starts_with_a_round(process, loop, inside, entering)
    needed = int(rounds.looks_back and not begins_before) + int(_is_entered_beside_its_head(process, loop, entering))
    return Await(needed, begins_before)


def _is_entered_beside_its_head(process: Process, loop: Loop, entering: Sequence[Transition]) -> bool:
    """Then the head is reached from inside once before the first round begins."""
    entered = {process.initial, *(t.target for t in entering)}
    return bool(entered & loop.body - {loop.head})


def steps_that_matter(program: Program, process: Process, loop: Loop) -> frozenset[int]:
    """The steps, by number, behind which something can happen before the head is reached again: the loop is left, the
    program fails, or a plain access races."""
    inside = [n for n, t in enumerate(process.transitions) if t.source in loop.body]
    found = {n for n in inside if any(_shows(program, process, op) for op in process.transitions[n].ops)}
    ahead = {t.target for t in process.transitions if t.target not in loop.body}
    ahead |= {process.transitions[n].source for n in found} - {loop.head}
    grown = True
    while grown:
        grown = False
        for number, transition in enumerate(process.transitions):
            if number not in found and transition.source in loop.body and transition.target in ahead:
                found.add(number)
                grown = True
                if transition.source != loop.head:
                    ahead.add(transition.source)
    return frozenset(found)


def _shows(program: Program, process: Process, op: Op) -> bool:
    is_plain = isinstance(op, Load) and op.order is MemoryOrder.PLAIN
    fails = may_fail(program, process, op) or any(expression_may_fail(program, process, e) for e in op_expressions(op))
    return isinstance(op, Assert) or is_plain or fails


def _may_wait(op: Op) -> bool:
    match op:
        case Load(exclusive=exclusive):
            return not exclusive
        case Rmw(register, kind="compare_exchange"):
            return register is not None
    return isinstance(op, Assign | Assume | Fence | Assert)


def _starts_with_a_round(
    process: Process, loop: Loop, inside: Sequence[Transition], entering: Sequence[Transition]
) -> bool:
    """Whether a round is one load, and every way into the loop ends with that very load: a round as well."""
    events = [op for t in inside for op in t.ops if accesses_memory(op) or isinstance(op, Fence)]
    changes = [op for t in inside for op in t.ops if register_written(op) is not None]
    if len(events) != 1 or changes != events or not isinstance(events[0], Load) or any(t.locked for t in inside):
        return False
    return process.initial not in loop.body and all(_ends_with(t, loop, events[0]) for t in entering)


def _ends_with(entering: Transition, loop: Loop, load: Load) -> bool:
    others = [op for op in entering.ops if op != load]
    needed = frozenset().union(*(registers_of(e) for e in op_expressions(load))) | {load.register}
    return (
        entering.target == loop.head
        and not entering.locked
        and len(others) == len(entering.ops) - 1
        and all(isinstance(op, Assign | Assume) and register_written(op) not in needed for op in others)
    )


class _Rounds:
    """All ways from the head of the loop back to it, and out of it, by depth-first search: awaits are small.

    `looks_back`: what an earlier round has read counts when the loop is left.
    """

    def __init__(self, process: Process, loop: Loop, inside: Sequence[Transition], dead: Sequence[Registers]) -> None:
        self.process = process
        self.loop = loop
        self.dead = dead
        self.looks_back = False
        self.leaving = {here: [t for t in process.transitions if t.source == here] for here in loop.body}
        written = (register_written(op) for t in inside for op in t.ops)
        self.changed = frozenset(r for r in written if r is not None and not process.registers[r].transient)
        self.single = all(sum(t in inside for t in ways) == 1 for ways in self.leaving.values())

    def are_alike(self) -> bool:
        registers = {n: Const(0) if r.transient else Register(n) for n, r in enumerate(self.process.registers)}
        return self._from(self.loop.head, frozenset({self.loop.head}), _Round(registers))

    def _from(self, here: int, passed: frozenset[int], so_far: _Round) -> bool:
        return all(self._by(transition, passed, so_far) for transition in self.leaving[here])

    def _by(self, transition: Transition, passed: frozenset[int], so_far: _Round) -> bool:
        """Whether all goes well on ways that take this step; also where nobody can."""
        target = transition.target
        after = _Round(dict(so_far.values), so_far.conditions, so_far.pending, so_far.reads)
        for op in transition.ops:
            stays = target in self.loop.body
            if not self._is_alike(after, op, stays):
                return False
            if not after.perform(op):
                return True
        after.end_step(self.process)
        left = {n for n in self.changed - self.dead[target] if self._is_stale(after.values[n])}
        if target not in self.loop.body:
            self.looks_back |= bool(left)
            return True
        if target == self.loop.head:
            return not left and not after.pending
        return target not in passed and self._from(target, passed | {target}, after)

    def _is_stale(self, value: Expr) -> bool:
        return bool(registers_of(value) & self.changed)

    def _is_alike(self, so_far: _Round, op: Op, stays: bool) -> bool:
        """Whether the op does the same where earlier rounds are left out."""
        used = [so_far.value(expr) for expr in op_expressions(op)]
        stale = any(self._is_stale(value) for value in used)
        if isinstance(op, Assign):
            return True
        self.looks_back |= stale
        if not stale or not stays:
            return True
        fresh = any(max(registers_of(value), default=0) >= len(self.process.registers) for value in used)
        return isinstance(op, Assume) and self.single and not fresh


class _Round:
    """What is known on the way: registers as expressions of what they were at the head and of what was read since.

    What is read gets a number behind those of the registers. `pending`: the successes of compare-exchanges, which must
    be excluded by a condition before the round is complete.
    """

    def __init__(
        self,
        values: dict[int, Expr] | Mapping[int, Expr],
        conditions: tuple[Expr, ...] = (),
        pending: tuple[Expr, ...] = (),
        reads: int = 0,
    ) -> None:
        self.values = dict(values)
        self.conditions = conditions
        self.pending = pending
        self.reads = reads

    def value(self, expr: Expr) -> Expr:
        return rewrite(expr, lambda leaf: self.values[leaf.index] if isinstance(leaf, Register) else leaf)

    def perform(self, op: Op) -> bool:
        """Follow the op; False where no round gets here."""
        match op:
            case Load(register):
                self.values[register] = self._read()
            case Rmw(register, expected=expected) if register is not None:
                old = self._read()
                if expected is not None:
                    self.pending = (*self.pending, Binary("==", old, self.value(expected)))
                self.values[register] = old
            case Assign(register, value):
                self.values[register] = self.value(value)
            case Assume(condition):
                test = self.value(condition)
                self.pending = tuple(success for success in self.pending if not excludes(success, test))
                if any(excludes(test, earlier) for earlier in self.conditions):
                    return False
                self.conditions = (*self.conditions, test)
            case _:
                pass
        return True

    def _read(self) -> Expr:
        self.reads += 1
        return Register(len(self.values) + self.reads - 1)

    def end_step(self, process: Process) -> None:
        for number, register in enumerate(process.registers):
            if register.transient:
                self.values[number] = Const(0)
