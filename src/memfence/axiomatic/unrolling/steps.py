"""The ways that lead on from one place of a thread, as items.

The steps that leave a location are performed together as far as their ops are the same, and part where these differ: by
a branch where conditions exclude each other, else by a choice that nothing decides. A step happens as a whole or not at
all, so its writes are held back until all that it waits for is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from memfence.axiomatic.code import Barrier, Branch, Origin, Wait
from memfence.axiomatic.unrolling.accesses import Accesses
from memfence.axiomatic.unrolling.await_termination import AwaitTermination, Stand
from memfence.axiomatic.unrolling.conditions import excludes, is_opposite
from memfence.axiomatic.unrolling.definedness import conditions
from memfence.axiomatic.unrolling.emission import Emission, without_slots
from memfence.axiomatic.unrolling.merging import error_of
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.axiomatic.unrolling.state import State, Way
from memfence.program.expressions import FALSE, TRUE, Binary, Const, Expr, disjunction, registers_of
from memfence.program.ir import Assert, Assign, Assume, Fence, Load, Lock, Op, Program, Rmw, Store, Transition, Unlock

Arrivals = Iterator[tuple[int, State]]
"""Locations, and the states in which they are reached."""


class Steps(Accesses):
    """Performs the steps of one process; everything that happens becomes an item.

    `stands`: where the thread is before the step under way.
    """

    stands = Stand(0, ())

    def __init__(self, program: Program, process: int, out: Emission, waiting: AwaitTermination) -> None:
        super().__init__(program, process, out)
        self.waiting = waiting

    def wait(self, condition: Expr, guard: Expr, origin: Origin, stands: Stand) -> None:
        """Where the condition is false the thread stays where it stands."""
        outlook = self.waiting.outlook(stands, self.out.ranges)
        if outlook.place.source.text:
            origin = replace(origin, span=outlook.place)
        may_end = self.process.locations[stands.location].may_end
        self.out.emit(Wait(condition, guard, origin, outlook.goes_on, may_end))

    def leave(self, state: State, transitions: Sequence[tuple[int, Transition]], stands: Stand) -> Arrivals:
        """The states after each of the steps, with the locations they lead to. One of them happens, or none."""
        self.step += 1
        self.stands = stands
        yield from self._ways(state, [Way(number, transition) for number, transition in transitions])

    def _ways(self, state: State, ways: Sequence[Way]) -> Arrivals:
        if not any(way.waits for way in ways):
            state = self._released(state)
        groups: dict[tuple[Op | None, str, bool], list[Way]] = {}
        for way in ways:
            groups.setdefault((way.head, error_of(way.head), way.locked), []).append(way)
        if len(groups) > 1:
            yield from self._part(state, list(groups.values()))
            return
        op = ways[0].head
        if len(ways) > 1 and (op is None or isinstance(op, Store | Fence | Assert)):
            yield from self._choose(state, [[way] for way in ways])
        elif op is None:
            yield ways[0].transition.target, self._ended(state)
        else:
            after = self._perform(state, ways[0], op)
            if after.guard != FALSE:
                yield from self._ways(after, [way.rest for way in ways])

    def _ended(self, state: State) -> State:
        registers = zip(self.process.registers, state.registers, strict=True)
        kept = tuple(Const(0) if register.transient else value for register, value in registers)
        return replace(state, registers=kept, loaded=())

    def _released(self, state: State) -> State:
        """Let happen what was held back."""
        for item in state.held:
            self.out.emit(replace(item, guard=self.out.both(state.guard, item.guard)))
        return replace(state, held=())

    # Where ways part.

    def _part(self, state: State, groups: list[list[Way]]) -> Arrivals:
        heads = [(group[0].head, group) for group in groups]
        found = [
            (self.condition(state, group[0], op.condition), group) for op, group in heads if isinstance(op, Assume)
        ]
        possible = [(test, group) for test, group in found if test != FALSE]
        tests = [test for test, _ in possible]
        decided = len(found) == len(groups) and all(excludes(a, b) for n, a in enumerate(tests) for b in tests[:n])
        if decided and not any(list(conditions(test, self.out.range_of)) for test in tests):
            yield from self._branch(state, possible)
        else:
            yield from self._choose(state, groups)

    def _branch(self, state: State, ways: Sequence[tuple[Expr, list[Way]]]) -> Arrivals:
        """Conditions that exclude each other decide."""
        tests = [test for test, _ in ways]
        for n, (test, group) in enumerate(ways):
            if registers_of(test) and not any(is_opposite(test, earlier) for earlier in tests[:n]):
                self.out.emit(Branch(test, state.guard, self.origin(group[0])))
        if len(tests) == 2 and is_opposite(*tests):
            guards = self.out.fork(state.guard, tests)
        else:
            self._wait(state, disjunction(*tests), ways[0][1][0] if ways else None)
            guards = [self.out.both(state.guard, test) for test in tests]
        for guard, (_, group) in zip(guards, ways, strict=True):
            if guard != FALSE:
                yield from self._ways(replace(state, guard=guard), [way.rest for way in group])

    def _choose(self, state: State, groups: Sequence[list[Way]]) -> Arrivals:
        """The thread takes any way; where that is not possible then, it stays where it is."""
        chosen = self.out.choose(range(len(groups)), state.guard)
        tests = [without_slots(Binary("==", chosen, Const(n))) for n in range(len(groups))]
        for guard, group in zip(self.out.fork(state.guard, tests), groups, strict=True):
            yield from self._ways(replace(state, guard=guard), group)

    def _wait(self, state: State, condition: Expr, way: Way | None) -> None:
        if condition != TRUE:
            origin = Origin(self.number, -1, -1) if way is None else self.origin(way)
            self.wait(condition, state.guard, origin, self.stands)

    def _perform(self, state: State, way: Way, op: Op) -> State:
        match op:
            case Load():
                return self.load(state, way, op)
            case Store():
                return self.store(state, way, op)
            case Rmw():
                return self.modify(state, way, op)
            case Assign(register, value):
                state = self.evaluable(state, way, value)
                return self.set(state, way, register, self.value(state, way, value))
            case Assume(condition):
                return self._assume(state, way, condition)
            case Assert(condition, error):
                state = self.evaluable(state, way, condition)
                test = self.condition(state, way, condition)
                if registers_of(test):
                    self.out.emit(Branch(test, state.guard, self.origin(way)))
                return self.check(state, way, test, error)
            case Fence(kind, order):
                barrier = Barrier(kind, order, TRUE, self.step, self.origin(way))
                return replace(state, held=(*state.held, barrier))
            case Lock() | Unlock():
                raise NotUnrolled(Unfit.BUS_LOCK, way.transition.span)
            case _:
                assert_never(op)

    def _assume(self, state: State, way: Way, condition: Expr) -> State:
        state = self.evaluable(state, way, condition)
        test = self.condition(state, way, condition)
        if registers_of(test):
            self.out.emit(Branch(test, state.guard, self.origin(way)))
        self._wait(state, test, way)
        return replace(state, guard=self.out.both(state.guard, test))
