"""Robustness under TSO and PSO: no step overtakes a store of its process such that others close a cycle back to it.

Theorem 9: a program that is not robust has an attack. From a state of SC one process makes a store that stays pending,
and walks on; others take steps of SC in between, each happening after something that the walk has done in memory, until
one of them accesses the variable of the pending store. A step that fails has made its reads; its process stops there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from memfence.certificates.checker.abridged import ends_of
from memfence.certificates.checker.criteria import made_by, require_single_stores, with_newest_stores, without_buffers
from memfence.certificates.checker.events import SC, events_of, is_locked_event
from memfence.certificates.checker.invariant import check_closed
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.models.buffering import Buffering
from memfence.models.state import SEPARATOR, Buffer, Failure, ProcessStep, State
from memfence.models.steps import MemoryModel, set_at, take
from memfence.program.facts.effects import address_read, stored_variables
from memfence.program.ir import Process, Program
from memfence.records import Record

STOPPED = -1
"""The location of a process that has failed."""


class Attack(Record):
    """How far an attack has come: the store of `attacker` to `delayed` is pending, and what has to wait behind it.

    `state` has memory as the others see it, and in the buffers of the attacker the newest store to each variable.
    `members` are the others that took part; `read` and `written` is what was accessed in memory since the store.
    """

    attacker: int
    delayed: int
    state: State
    members: frozenset[int] = frozenset()
    read: frozenset[int] = frozenset()
    written: frozenset[int] = frozenset()


def check_robust(
    program: Program, model: MemoryModel, states: Collection[State], left_out: Abridgement = WHOLE
) -> None:
    """Theorem 9: the set is closed under the steps of SC, and no attack that starts in it comes to its end."""
    require_single_stores(program)
    check_closed(ends_of(program, SC, left_out), states, may_fail=True)
    search = AttackSearch(program, model)
    for state in states:
        for step, first in search.starting_in(state):
            if search.comes_back(first):
                raise Refused(Condition.CYCLE, program.variables[first.delayed].name, state=state, step=step)


class AttackSearch:
    """All attacks, each gone through once, from whatever state it starts."""

    def __init__(self, program: Program, model: MemoryModel) -> None:
        self.program, self.model = program, model
        self._seen: set[Attack] = set()
        # What the others of each process may write and access at all: nothing else of an attack matters.
        numbered = list(enumerate(program.processes))
        others = [[q for n, q in numbered if n != p] for p, _ in numbered]
        self._written = [frozenset(v for q in them for v in stored_variables(q)) for them in others]
        self._touched = [own.union(*map(_read, them)) for own, them in zip(self._written, others, strict=True)]

    def starting_in(self, state: State) -> Iterator[tuple[ProcessStep, Attack]]:
        """A process makes a store that stays pending, to a variable of others, while nobody holds the bus."""
        empty = replace(state, buffers=self.model.empty_buffers(self.program))
        for p, process in enumerate(self.program.processes) if state.lock_owner is None else ():
            for number, transition in process.leaving(state.locations[p]):
                after = take(self.program, self.model, empty, ProcessStep(p, number))
                if not isinstance(after, State) or is_locked_event(transition):
                    continue
                pending = {entry[0] for buffer in after.buffers[p] for entry in buffer if entry is not None}
                for variable in pending & self._touched[p]:  # one at most: a plain step has one store
                    first = self._walked(Attack(p, variable, empty), number)
                    assert first is not None, "the step was possible"
                    yield ProcessStep(p, number), first

    def comes_back(self, first: Attack) -> bool:
        """Whether others get to access the delayed variable, each of their steps happening after the attacker's."""
        waiting = [first]
        while waiting:
            here = waiting.pop()
            if here in self._seen:
                continue
            self._seen.add(here)
            for number, _ in self.program.processes[here.attacker].leaving(here.state.locations[here.attacker]):
                after = self._walked(here, number)
                waiting += () if after is None else (after,)
            for touched, after in self._answers(here):
                if here.delayed in touched:
                    return True
                waiting.append(after)
        return False

    def _walked(self, here: Attack, number: int) -> Attack | None:
        """The attacker goes on; None where it cannot: a fence or a locked event waits for what is pending."""
        p, step = here.attacker, ProcessStep(here.attacker, number)
        after = take(self.program, self.model, here.state, step)
        if after is None or is_locked_event(self.program.processes[p].transitions[number]):
            return None
        read = {one.variable for one in made_by(self.program, self.model, here.state, step) if one.kind == "load"}
        failed = (_stopped(here.state, p), frozenset[int]())
        state, stored = failed if isinstance(after, Failure) else self._settled(after, here)
        all_read, all_written = here.read | (read & self._written[p]), here.written | (stored & self._touched[p])
        return replace(here, state=state, read=all_read, written=all_written)

    def _settled(self, state: State, attack: Attack) -> tuple[State, frozenset[int]]:
        """The state once all is in memory that need not wait for the delayed store, and what that is."""
        p = attack.attacker
        if self.model.buffering is Buffering.PER_PROCESS:
            return with_newest_stores(state, p), frozenset()
        buffers, memory, stored = _without_first_separators(state.buffers[p]), state.memory, set[int]()
        is_separated = any(SEPARATOR in buffer for buffer in buffers)
        kept: list[Buffer] = []
        for buffer in buffers:
            at = buffer.index(SEPARATOR) if SEPARATOR in buffer else len(buffer)
            entries = [entry for entry in buffer if entry is not None]
            mark: Buffer = (SEPARATOR,) if is_separated else ()
            if entries and entries[0][0] == attack.delayed:
                kept.append((entries[-1], *mark))
                continue
            if at:
                variable, value = entries[at - 1]
                memory, stored = set_at(memory, variable, value), stored | {variable}
            kept.append((*mark, *entries[at:][-1:]))
        return replace(state, memory=memory, buffers=set_at(state.buffers, p, tuple(kept))), frozenset(stored)

    def _answers(self, here: Attack) -> Iterator[tuple[frozenset[int], Attack]]:
        """Each event of another process that happens after something in the attack, with what it accesses."""
        plain = without_buffers(here.state)
        for p in sorted({p for p, at in enumerate(plain.locations) if at != STOPPED} - {here.attacker}):
            for event in events_of(self.program, plain, p):
                after = event.after if isinstance(event.after, State) else _stopped(plain, p)
                touched = event.read | event.written
                if p in here.members or touched & here.written or event.written & here.read:
                    state, members = replace(after, buffers=here.state.buffers), here.members | {p}
                    read = here.read | (event.read & self._written[here.attacker])
                    written = here.written | event.written
                    yield touched, replace(here, state=state, members=members, read=read, written=written)


def _stopped(state: State, process: int) -> State:
    return replace(state, locations=set_at(state.locations, process, STOPPED))


def _without_first_separators(buffers: tuple[Buffer, ...]) -> tuple[Buffer, ...]:
    """Ahead of the delayed store there is nothing that a separator could separate."""
    while buffers and all(buffer and buffer[0] is SEPARATOR for buffer in buffers):
        buffers = tuple(buffer[1:] for buffer in buffers)
    return buffers


def _read(process: Process) -> frozenset[int]:
    ops = [op for transition in process.transitions for op in transition.ops]
    return frozenset(v for op in ops if (address := address_read(op)) is not None for v in address.variables)
