"""From programs to unrolled code: what `models.steps` does step by step, as items without loops.

Every location becomes as many as there are ways of being there: how often each loop around it was gone round. Where
ways join, registers are joined; behind a loop it does not matter how often it was gone round.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

from memfence.axiomatic.code import Code, Cut, End, Origin, Over, Thread
from memfence.axiomatic.unrolling.await_termination import AwaitTermination, Stand
from memfence.axiomatic.unrolling.awaits import Await, find_await, steps_that_matter
from memfence.axiomatic.unrolling.emission import Emission
from memfence.axiomatic.unrolling.merging import merge_alike
from memfence.axiomatic.unrolling.nesting import Loop, Name, nesting_of
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.axiomatic.unrolling.state import Reserved, State
from memfence.axiomatic.unrolling.steps import Steps
from memfence.passes.liveness import dead_registers
from memfence.program.expressions import FALSE, TRUE, Const, Expr, Register
from memfence.program.facts.cuts import CUT
from memfence.program.facts.observation import observed_by
from memfence.program.facts.over import ends_the_run
from memfence.program.ir import Process, Program, Transition
from memfence.program.traversal import property_expressions


def unroll(program: Program, times: int) -> Code:
    """All that `program` can do while nobody goes round a loop more than `times` times at a stretch.

    The last values of registers that no property looks at may be anything.

    Loops that only wait (`unrolling.awaits`) count as waits and are complete. NotUnrolled for programs that do
    what has no events.
    """
    if program.error_locations is not None:
        raise NotUnrolled(Unfit.RUNS_GO_ON_AFTER_ERRORS)
    if program.any_number:
        raise NotUnrolled(Unfit.ANY_NUMBER)
    if program.split_accesses:
        raise NotUnrolled(Unfit.SPLIT_ACCESS, program.split_accesses[0].span)
    looked_at = [expr for prop in program.properties for expr in property_expressions(prop)]
    dead = dead_registers(program, observed_by(program, looked_at))
    threads = tuple(_Unrolling(program, number, times, dead[number]).thread() for number in range(len(dead)))
    return Code(program, threads, times)


class _Unrolling:
    """One process. `arrivals`: the states in which each unrolled location is reached, until it is left."""

    def __init__(self, program: Program, number: int, times: int, dead: Sequence[frozenset[int]]) -> None:
        self.program = program
        self.number = number
        _refuse(program.processes[number])
        self.cuts = frozenset(n for n, at in enumerate(program.processes[number].locations) if at.name == CUT)
        self.over = ends_the_run(program.processes[number])
        self.process = merge_alike(program.processes[number], self.cuts | self.over)
        self.times = times
        self.dead = dead
        self.out = Emission()
        self.nesting = nesting_of(self.process)
        self.leaving: dict[int, list[tuple[int, Transition]]] = {}
        for n, transition in enumerate(self.process.transitions):
            self.leaving.setdefault(transition.source, []).append((n, transition))
        self.steps = Steps(program, number, self.out, AwaitTermination(program, self.process, self.leaving, dead))
        self.awaits: dict[Loop, Await | None] = {}
        self.arrivals: dict[Name, tuple[int, list[State]]] = {}
        self.waiting: list[Name] = []

    def thread(self) -> Thread:
        self._arrive(self.process.initial, self.nesting.first(self.process.initial), self._start())
        ended: list[State] = []
        while self.waiting:
            name = heapq.heappop(self.waiting)
            location, states = self.arrivals.pop(name)
            state = self._joined([self._forget(state, location) for state in states])
            if location in self.cuts:
                self.out.emit(Cut(state.guard, self._at(location), of_program=True))
                continue
            if location in self.over:
                self.out.emit(Over(state.guard, self._at(location)))
                continue
            if location not in self.leaving:
                ended.append(state)
                continue
            useful = self._useful(location, name)
            stands = self._stands(location, state)
            if not useful:
                self.steps.wait(FALSE, state.guard, self._at(location), stands)
            for target, after in self.steps.leave(state, useful, stands) if useful else ():
                self._go(location, name, target, after)
        self._end(ended)
        return Thread(self.process.name, tuple(self.out.items), len(self.out.ranges))

    def _useful(self, location: int, name: Name) -> list[tuple[int, Transition]]:
        """The steps that leave; in the last round of an await only those that lead to something."""
        leaving = self.leaving[location]
        if not self._is_last_round(location, name):
            return leaving
        useful = steps_that_matter(self.program, self.process, self.nesting.loops[location][-1])
        return [(number, transition) for number, transition in leaving if number in useful]

    def _is_last_round(self, location: int, name: Name) -> bool:
        """Whether the location belongs to an await, and who goes round it once again may as well wait."""
        loop = next(iter(self.nesting.loops[location][-1:]), None)
        found = None if loop is None else self._await(loop)
        return found is not None and name[-2] >= found.rounds

    def _forget(self, state: State, location: int) -> State:
        """Registers that make no difference any more need not be joined."""
        dead = self.dead[location]
        return replace(state, registers=tuple(Const(0) if n in dead else v for n, v in enumerate(state.registers)))

    def _start(self) -> State:
        registers = self.process.registers
        return State(TRUE, tuple(Const(0) if r.transient else self.out.choose(r.init) for r in registers))

    def _arrive(self, location: int, name: Name, state: State) -> None:
        if name not in self.arrivals:
            self.arrivals[name] = (location, [])
            heapq.heappush(self.waiting, name)
        self.arrivals[name][1].append(state)

    def _go(self, source: int, name: Name, target: int, state: State) -> None:
        there, loop = self.nesting.after(source, name, target)
        found = None if loop is None else self._await(loop)
        if loop is None or there[-2] <= (self.times if found is None else found.rounds):
            self._arrive(target, there, state)
        elif found is None:
            self.out.emit(Cut(state.guard, self._at(target)))
        else:
            state = self._forget(state, target)
            self.steps.wait(FALSE, state.guard, self._at(target), self._stands(target, state))

    def _stands(self, location: int, state: State) -> Stand:
        for loop in self.nesting.loops[location][-1:]:
            if self._await(loop) is not None:
                return Stand(location, state.registers, loop.body)
        return Stand(location, state.registers)

    def _await(self, loop: Loop) -> Await | None:
        if loop not in self.awaits:
            self.awaits[loop] = find_await(self.process, loop, self.dead, self.nesting.loops)
        return self.awaits[loop]

    def _at(self, location: int) -> Origin:
        return Origin(self.number, -1, -1, self.process.locations[location].span)

    def _joined(self, states: Sequence[State]) -> State:
        """One state for all ways that lead here."""
        if len(states) == 1:
            return states[0]
        guard = self.out.either(state.guard for state in states)
        values = zip(*(state.registers for state in states), strict=True)
        guards = [state.guard for state in states]
        registers = tuple(self.out.join(list(zip(guards, alternatives, strict=True))) for alternatives in values)
        return State(guard, registers, self._reserved(states))

    def _reserved(self, states: Sequence[State]) -> tuple[Reserved, ...]:
        if all(state.reserved == states[0].reserved for state in states):
            return states[0].reserved
        return tuple(
            Reserved(self.out.both(state.guard, load.guard), load.position, load.address)
            for state in states
            for load in state.reserved
        )

    def _end(self, ended: Sequence[State]) -> None:
        state = self._joined(ended) if ended else State(FALSE, tuple(Const(0) for _ in self.process.registers))
        self.out.emit(End(state.guard, tuple(self._slot_of(value) for value in state.registers)))

    def _slot_of(self, value: Expr) -> int:
        return value.index if isinstance(value, Register) else self.out.constant(value)


def _refuse(process: Process) -> None:
    for transition in process.transitions:
        if transition.sync is not None:
            raise NotUnrolled(Unfit.CHANNEL, transition.span)
    for location in process.locations:
        if location.committed:
            raise NotUnrolled(Unfit.COMMITTED_LOCATION, location.span)
