"""Threads that wait for ever and how programs end, under models in cat: from the program itself, without unrolling.

Each thread is followed step by step, with any value for each read, and stopped anywhere. Only rounds that change
nothing are left out: a thread that stands as it stood before, and has not written since. Threads that stopped somewhere
are put together: every way in which their reads have sources and their writes an order is judged by the model's text.
Only coherent ones are tried, which is what all of our models ask for.

A thread is *stuck*, given what memory holds at last, if it has not ended, and whatever it does from where it stands, as
long as its reads see these last values, it never ends, writes, fails or leaves the run. An execution waits for ever if
every thread has ended or is stuck, and one is. See docs/theory/waiting.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from math import prod

from memfence.axiomatic.candidates import Local
from memfence.axiomatic.code import Barrier, Code, EventItem, Read, Thread, Write
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.thread_run import Did, ThreadRun
from memfence.models.cat.interpreter import judge
from memfence.program.expressions import Address, EvaluationError, Expr, Register, check_index, evaluate
from memfence.program.facts.effects import value_written
from memfence.program.ir import Assert, Assign, Assume, Fence, Load, Op, Process, Program, Rmw, Store, Transition
from twins.reference_search import Outcome

FAILED = -1
"""The location of a thread whose check has failed."""


@dataclass(frozen=True, slots=True)
class Stand:
    """A thread that did `events` in so many `steps`, and stands at the location with these registers.

    `passed`: how it stood since it last wrote.
    """

    location: int
    registers: tuple[int, ...]
    events: tuple[Did, ...] = ()
    steps: int = 0
    passed: frozenset[tuple[int, tuple[int, ...]]] = frozenset()

    @property
    def is_a_round(self) -> bool:
        return (self.location, self.registers) in self.passed

    def value(self, expr: Expr, **more: int) -> int:
        def leaf(node: object, _: int) -> int:
            assert isinstance(node, Register)
            return self.registers[node.index] if node.index < len(self.registers) else more["old"]

        return evaluate(expr, leaf)

    def variable(self, address: Address) -> int:
        return address.base + check_index(address, self.value(address.index))

    def did(self, item: EventItem, variable: int | None = None, value: int | None = None) -> Stand:
        return replace(self, events=(*self.events, Did(len(self.events), item, variable, value)))


Look = Callable[[int], Iterable[int]]
"""The values that a read of a variable may return."""


@dataclass(frozen=True, slots=True)
class Follower:
    """Follows one thread."""

    program: Program
    process: Process

    def start(self) -> Iterator[Stand]:
        for registers in product(*(r.init for r in self.process.registers)):
            yield Stand(self.process.initial, registers)

    def has_ended(self, stand: Stand) -> bool:
        return stand.location != FAILED and not any(self.process.leaving(stand.location))

    def is_over(self, location: int) -> bool:
        steps = [step for _, step in self.process.leaving(location)]
        return self.process.locations[location].may_end and steps == [Transition(location, location)]

    def after(self, stand: Stand, look: Look) -> Iterator[Stand]:
        """Where the thread stands after one step."""
        for _, step in self.process.leaving(stand.location):
            locked = step.locked or any(isinstance(op, Rmw) for op in step.ops)
            for done in self._ops(stand, step.ops, look, locked):
                if done.location == FAILED:
                    yield done
                    continue
                kept = zip(self.process.registers, done.registers, strict=True)
                registers = tuple(0 if register.transient else value for register, value in kept)
                new = done.events[len(stand.events) :]
                wrote = any(isinstance(did.item, Write) for did in new)
                passed = frozenset() if wrote else stand.passed | {(stand.location, stand.registers)}
                yield Stand(step.target, registers, done.events, stand.steps + 1, passed)

    def _ops(self, stand: Stand, ops: Sequence[Op], look: Look, locked: bool) -> Iterator[Stand]:
        if not ops:
            yield stand
            return
        try:
            following = list(self._op(stand, ops[0], look, locked))
        except EvaluationError:
            following = [replace(stand, location=FAILED)]
        for after in following:
            yield from [after] if after.location == FAILED else self._ops(after, ops[1:], look, locked)

    def _op(self, stand: Stand, op: Op, look: Look, locked: bool) -> Iterator[Stand]:
        step = stand.steps
        match op:
            case Load(register, address, None, order, False):
                x = stand.variable(address)
                for value in look(x):
                    read = Read(0, address, order=order, step=step, locked=locked)
                    yield self._set(stand.did(read, x, value), register, value)
            case Store(address, value, False, order, None, False):
                x = stand.variable(address)
                written = self.program.variables[x].domain.fit(stand.value(value))
                yield stand.did(Write(address, value, order=order, step=step, locked=locked), x, written)
            case Rmw():
                for value in look(stand.variable(op.address)):
                    yield self._modified(stand, op, value)
            case Assign(register, value):
                yield self._set(stand, register, stand.value(value))
            case Assume(condition):
                if stand.value(condition):
                    yield stand
            case Assert(condition):
                yield stand if stand.value(condition) else replace(stand, location=FAILED)
            case Fence(kind, order):
                yield stand.did(Barrier(kind, order, step=step))
            case _:
                raise AssertionError(f"{op} has no events here")

    def _modified(self, stand: Stand, op: Rmw, old: int) -> Stand:
        x, step, position = stand.variable(op.address), stand.steps, len(stand.events)
        succeeds = op.expected is None or stand.value(op.expected) == old
        read = Read(0, op.address, order=op.order, step=step, locked=True)
        if not succeeds:
            read = replace(read, order=op.failure_order, attempted=op.order)
        new = stand.value(value_written(op, Register(len(stand.registers))), old=old) if succeeds else 0
        after = stand.did(read, x, old)
        if succeeds:
            write = Write(op.address, op.operand, order=op.order, reads_by=position, step=step, locked=True)
            after = after.did(write, x, self.program.variables[x].domain.fit(new))
        return after if op.register is None else self._set(after, op.register, old)

    def _set(self, stand: Stand, register: int, value: int) -> Stand:
        fitting = self.process.registers[register].domain.fit(value)
        registers = (*stand.registers[:register], fitting, *stand.registers[register + 1 :])
        return replace(stand, registers=registers)

    def is_stuck(self, stand: Stand, memory: Sequence[int]) -> bool:
        """Whether the thread never ends, writes, fails or leaves the run while memory holds this."""
        first = replace(stand, events=(), steps=0, passed=frozenset())
        seen, waiting = {first}, [first]
        while waiting:
            here = waiting.pop()
            if here.location == FAILED or self.has_ended(here) or self.is_over(here.location):
                return False
            if here.location != first.location and self.process.locations[here.location].may_end:
                return False
            for after in self.after(here, lambda x: (memory[x],)):
                if any(isinstance(did.item, Write) for did in after.events):
                    return False
                known = replace(after, events=(), steps=0, passed=frozenset())
                if known not in seen:
                    seen.add(known)
                    waiting.append(known)
        return True


@dataclass(slots=True)
class Graphs:
    """All executions in which no thread makes more than `most_steps` steps.

    `standings`: of each thread all that it can do by itself. `is_complete`: no thread could have gone on, but for
    rounds after which it stands as before.
    """

    program: Program
    model: AxiomaticModel
    most_steps: int
    followers: list[Follower] = field(init=False)
    standings: list[list[Stand]] = field(init=False)
    is_complete: bool = True

    def __post_init__(self) -> None:
        self.followers = [Follower(self.program, process) for process in self.program.processes]
        readable = [set(variable.init) for variable in self.program.variables]
        known = 0
        while known != sum(map(len, readable)):
            known = sum(map(len, readable))
            self.is_complete = True
            self.standings = [list(self._standings(follower, readable)) for follower in self.followers]
            for did in (did for found in self.standings for stand in found for did in stand.events):
                if isinstance(did.item, Write) and did.variable is not None and did.value is not None:
                    readable[did.variable].add(did.value)

    def _standings(self, follower: Follower, readable: Sequence[set[int]]) -> Iterator[Stand]:
        waiting = list(follower.start())
        while waiting:
            stand = waiting.pop()
            yield stand
            if stand.location == FAILED or follower.is_over(stand.location):
                continue
            following = [s for s in follower.after(stand, lambda x: sorted(readable[x])) if not s.is_a_round]
            if stand.steps < self.most_steps:
                waiting += following
            else:
                self.is_complete &= not following

    @property
    def pairs(self) -> int:
        """In how many ways threads that stopped somewhere can be put together."""
        return prod(map(len, self.standings))

    def waits_for_ever(self) -> bool:
        """Whether in some execution every thread has ended or is stuck, and one is stuck."""
        memories = list(product(*(range(v.domain.lo, v.domain.hi + 1) for v in self.program.variables)))
        settled = [
            [s for s in found if follower.has_ended(s) or any(follower.is_stuck(s, memory) for memory in memories)]
            for follower, found in zip(self.followers, self.standings, strict=True)
        ]
        return any(self._is_waiting(chosen, memory) for chosen, memory in self._executions(settled))

    def _is_waiting(self, chosen: Sequence[Stand], memory: Sequence[int]) -> bool:
        pairs = list(zip(self.followers, chosen, strict=True))
        left = [(follower, stand) for follower, stand in pairs if not follower.has_ended(stand)]
        may_end = all(follower.process.locations[stand.location].may_end for follower, stand in left)
        return not may_end and all(follower.is_stuck(stand, memory) for follower, stand in left)

    def fails(self) -> bool:
        """Whether in some execution a check fails."""
        return any(True for chosen in self._failing() for _ in self._executions([[stand] for stand in chosen]))

    def _failing(self) -> Iterator[tuple[Stand, ...]]:
        for chosen in product(*self.standings):
            if any(stand.location == FAILED for stand in chosen):
                yield chosen

    def outcomes(self) -> set[Outcome]:
        """Registers that last, and memory, where all threads have ended."""
        ended = [
            [stand for stand in found if follower.has_ended(stand)]
            for follower, found in zip(self.followers, self.standings, strict=True)
        ]
        return {
            (tuple(map(self._lasting, self.followers, chosen)), memory) for chosen, memory in self._executions(ended)
        }

    def _lasting(self, follower: Follower, stand: Stand) -> tuple[int, ...]:
        pairs = zip(follower.process.registers, stand.registers, strict=True)
        return tuple(value for register, value in pairs if not register.transient)

    def _executions(self, among: Sequence[Sequence[Stand]]) -> Iterator[tuple[tuple[Stand, ...], tuple[int, ...]]]:
        """What each thread has done, and what memory holds then, for all executions that the model allows."""
        for chosen in product(*among):
            for initial in product(*(variable.init for variable in self.program.variables)):
                for memory in self._memories(chosen, initial):
                    yield chosen, memory

    def _memories(self, chosen: Sequence[Stand], initial: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        threads = [Thread(f"P{n}", tuple(d.item for d in s.events), 0) for n, s in enumerate(chosen)]
        runs = [ThreadRun(stand.events, (), (), (), (), (), False) for stand in chosen]
        code = Code(self.program, tuple(threads), 0)
        local = Local(code, runs, self.model, dependencies=False)
        parts = [list(_communications(local, x, value)) for x, value in enumerate(initial)]
        for communication in product(*parts):
            rf = [pair for pairs, _ in communication for pair in pairs]
            orders = [order for _, order in communication]
            if judge(self.model.cat, local.with_communication(rf, orders)).is_allowed:
                yield tuple(_last_value(local, order, initial) for order in orders)


def _communications(
    local: Local, variable: int, initial: int
) -> Iterator[tuple[list[tuple[int, int]], tuple[int, ...]]]:
    """Who reads whom at one variable, and in which order writes reach it."""
    here = [(n, did) for n, did in enumerate(local.did) if did is not None and did.variable == variable]
    writes = [(variable, initial), *((n, did.value) for n, did in here if isinstance(did.item, Write))]
    reads = [(n, did.value) for n, did in here if isinstance(did.item, Read)]
    sources = [[write for write, value in writes if value == seen] for _, seen in reads]
    for order in permutations([write for write, _ in writes[1:]]):
        for found in product(*sources):
            pairs = [(write, read) for write, (read, _) in zip(found, reads, strict=True)]
            if _is_coherent(local, here, pairs, (variable, *order)):
                yield pairs, (variable, *order)


def _is_coherent(
    local: Local, here: Sequence[tuple[int, Did]], pairs: Sequence[tuple[int, int]], order: Sequence[int]
) -> bool:
    """Whether no thread goes back in the order of writes, and none of its writes comes before what it has seen."""
    source = {read: write for write, read in pairs}
    seen: dict[int, int] = {}
    for event, _ in here:
        thread, _ = local.places[event]
        at = order.index(source.get(event, event))
        if at < seen.get(thread, 0) or (event not in source and at == seen.get(thread)):
            return False
        seen[thread] = at
    return True


def _last_value(local: Local, order: Sequence[int], initial: Sequence[int]) -> int:
    did = local.did[order[-1]]
    return initial[order[-1]] if did is None or did.value is None else did.value
