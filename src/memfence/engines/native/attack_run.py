"""An attack as a run of the relaxed model, built step by step.

SC to the state where the attack starts, every store committing at once; then the attacker, its stores staying in its
buffer; then the others, under SC again, maybe several times in turn; last the attacker's buffer drains. The reference
model replays it (the persistence paper's Witness, and the run behind a happens-before cycle). Where the program under
test fails on the way (an assertion), the run ends there: nothing can follow a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models.accesses import AccessKind, accesses
from memfence.models.state import Commit, DropSeparator, Failure, ProcessStep, State, Step
from memfence.models.steps import MemoryModel, take
from memfence.program.facts.effects import accesses_memory
from memfence.program.ir import Lock, Op, Transition, Unlock

if TYPE_CHECKING:
    from memfence.engines.native.attacks import Attack, Attacks

_PENDING: AccessKind = "pending store"


class AttackRun:
    """Builds the run of the relaxed model step by step, so that every step is known to be possible."""

    def __init__(self, found: Attacks, attack: Attack, model: MemoryModel) -> None:
        self.found = found
        self.attack = attack
        self.model = model
        self.program = found.program
        self.start, self.prefix = found.sc_run(attack._native.state)
        self.steps: list[Step] = []
        self.has_failed = False
        self.state = self._relaxed(self.start)

    def trace(self) -> Trace:
        for step in self.prefix:
            self.take(step)
            self.drain_all()
        native = self.attack._native
        if native.is_helper_first:
            self.help(native.helpers, drain=False)
        walked = 0
        for until, helpers in native.intervals:
            self.walk(walked, until)
            self.help(helpers, drain=True)
            walked = until
        self.walk(walked, len(native.edges))
        if native.is_helper_first:
            self.drain_all(but=self.attack.attacker)
        else:
            self.help(native.helpers, drain=True)
        self.drain_all()
        return Trace(self.program, self.model, self._relaxed(self.start), self.steps)

    def walk(self, first: int, end: int) -> None:
        """The attacker alone: its stores stay pending, but for those that the attack lets reach memory."""
        native = self.attack._native
        for position, edge in list(enumerate(native.edges))[first:end]:
            is_separated = 0 <= native.separated_at <= position
            for step in self.parts(edge, completed=position + 1 < len(native.edges)):
                before = self.state
                self.take(step)
                if position == 0:
                    self.commit_early(before, step)
                if self.model.buffering.reorders_stores and not is_separated:
                    self.commit_what_may_pass()

    def commit_early(self, before: State, step: ProcessStep) -> None:
        """Commit those stores of the first step that the attack does not delay, and what separates them from others."""
        stored = [a.variable for a in accesses(self.program, self.model, before, step) if a.kind == _PENDING]
        self.drop_separators()
        for variable in stored[: self.attack._native.early]:
            self.commit(variable)
            self.drop_separators()

    def drop_separators(self) -> None:
        """Let the separators leave that nothing is pending before: they were issued ahead of the delayed store."""
        for step, after in self.model.background(self.program, self.state, self.attack.attacker):
            if isinstance(step, DropSeparator) and not self.has_failed:
                self.steps.append(step)
                self.state = after
                self.drop_separators()
                return

    def commit(self, variable: int) -> None:
        """Commit the attacker's oldest pending store to the variable; it is the next to commit."""
        for step, after in self.model.background(self.program, self.state, self.attack.attacker):
            if isinstance(step, Commit) and self.head(step) == variable:
                self.steps.append(step)
                self.state = after
                return
        raise UnreplayableWitness(f"no store to {self.program.variables[variable].name} can commit")

    def commit_what_may_pass(self) -> None:
        """Under PSO, stores to other variables than the delayed one reach memory at once."""
        for step, after in self.model.background(self.program, self.state, self.attack.attacker):
            if isinstance(step, Commit) and self.head(step) != self.attack.delayed and not self.has_failed:
                self.steps.append(step)
                self.state = after
                self.commit_what_may_pass()
                return

    def head(self, commit: Commit) -> int | None:
        entry = self.state.buffers[commit.process][commit.buffer][0]
        return None if entry is None else entry[0]

    def help(self, helpers: Iterable[tuple[int, bool]], *, drain: bool) -> None:
        """The steps of the others, each of which commits at once, or not yet."""
        for edge, completed in helpers:
            for step in self.parts(edge, completed):
                self.take(step)
                if drain:
                    self.drain_all(but=self.attack.attacker)

    def parts(self, edge: int, completed: bool) -> Iterator[ProcessStep]:
        """The loaded program's transitions behind an edge; without `completed`, to the last that touches memory."""
        step = self.found.encoded.edges[edge]
        assert isinstance(step, ProcessStep)
        origin = self.found.encoded.origin_of(edge)
        if not completed:
            origin = transitions_to_access(self.program.processes[step.process].transitions, origin)
        for number in origin:
            yield ProcessStep(step.process, number)

    def take(self, step: Step) -> None:
        if self.has_failed:
            return
        after = take(self.program, self.model, self.state, step)
        if after is None:
            raise UnreplayableWitness(f"{step} is not possible under {self.model.name}")
        self.steps.append(step)
        if isinstance(after, Failure):
            self.has_failed = True
        else:
            self.state = after

    def drain_all(self, but: int | None = None) -> None:
        """Commit everything that is pending, except for process `but` and for what the bus lock keeps from memory."""
        for process in range(len(self.program.processes)):
            if self.state.lock_owner not in (None, process):
                continue
            while process != but and not self.has_failed and any(self.state.buffers[process]):
                step, self.state = next(iter(self.model.background(self.program, self.state, process)))
                self.steps.append(step)

    def _relaxed(self, state: State) -> State:
        return State(
            state.locations, state.registers, state.memory, self.model.empty_buffers(self.program), state.lock_owner
        )


def transitions_to_access(transitions: tuple[Transition, ...], origin: tuple[int, ...]) -> tuple[int, ...]:
    """The transitions behind an edge up to the one that touches memory or the bus; the first of them if none does."""
    touching = [i for i, n in enumerate(origin) if any(map(_matters, transitions[n].ops))]
    return origin[: touching[-1] + 1] if touching else origin[:1]


def _matters(op: Op) -> bool:
    return accesses_memory(op) or isinstance(op, Lock | Unlock)
