"""Backward search: configurations that lead to something bad, with all that lead to them, but not the initial ones.

In Dual-TSO (Abdulla, Atig, Bouajjani and Ngo, CONCUR 2016) a store reaches memory at once, and a process reads late: it
has a FIFO of messages, oldest first. A message holds the values that memory had at one moment, or an own store. A step
reads its own newest store to a variable, else the oldest message. Theorem 13 of `docs/theory/certificates.md`: a
process gets under TSO to no location, with no registers, that it cannot get to here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from memfence.certificates.checker.criteria import require_no_look_at_buffers, require_shared_memory
from memfence.certificates.checker.dual_local import Action, Processes, with_store
from memfence.certificates.checker.dual_order import Above, newest_own, own_value
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.dual import Configuration, Controls, Facts, Fifo, Memory, Message
from memfence.models.buffering import Buffering
from memfence.models.spec import SC as SPEC_OF_SC
from memfence.models.steps import set_at
from memfence.program.crowd import instances_of
from memfence.program.expressions import BufferEmpty, walk
from memfence.program.facts.effects import has_torn_steps
from memfence.program.ir import Process, Program


class DualRules(Processes):
    """From where configurations are reached, and which are initial."""

    def is_initial(self, c: Configuration) -> bool:
        """Whether the configuration stands for an initial one."""
        memory = all(
            value is None or value in v.init for value, v in zip(c.memory, self.program.variables, strict=True)
        )
        at_start = all(controls & self.first(kind) for controls, kind in zip(c.controls, c.kinds, strict=True))
        return memory and at_start and not any(c.fifos)

    def is_one(self, c: Configuration) -> bool:
        """Whether it has every process of which there is one, and of others only those that there may be."""
        fixed, others = c.kinds[: len(self.fixed)], c.kinds[len(self.fixed) :]
        return fixed == self.fixed and set(others) <= {members[0] for members in self.crowds}

    def before(self, c: Configuration) -> Iterator[Configuration]:
        """From where a step leads to `c`, or above it; without those that are above `c` themselves."""
        for p, (fifo, kind) in enumerate(zip(c.fifos, c.kinds, strict=True)):
            if fifo and not fifo[-1].own:
                yield from _with_memory(c.with_fifo(p, fifo[:-1]), fifo[-1].facts)  # its newest came from memory
            for x, v in self.writes[kind]:
                if own_value(fifo, x) is None:
                    own = Message(((x, v),), True)
                    yield from self._owning(c.with_fifo(p, (own, *fifo)), p)  # an own one was deleted
            for action, sources in self.leading(kind, c.controls[p]).items():
                yield from self._before_action(replace(c, controls=set_at(c.controls, p, sources)), p, action)
        for kind, *_ in self.crowds:  # one of which nothing was said has stored
            for action, sources in self.storing(kind).items():
                for fifo in [()] if action.locked else self._own_stores(kind, sources, action.stores):
                    kinds, controls = (*c.kinds, kind), (*c.controls, sources)
                    more = Configuration(controls, c.memory, (*c.fifos, fifo), kinds)
                    yield from self._before_action(more, len(c.kinds), action)

    def _own_stores(self, kind: int, sources: Controls, stores: Facts) -> set[Fifo]:
        """Whatever own messages there may be once the newest is there: at most one for each variable counts."""
        owned = {own for source in sources for own in self.owned(kind).get(source, ())}
        return {tuple(Message((store,), True) for store in with_store(own, stores)) for own in owned}

    def _owning(self, c: Configuration, p: int) -> Iterator[Configuration]:
        """The configuration, the process being only where it may have the own messages that it has."""
        own, owned = newest_own(c.fifos[p]), self.owned(c.kinds[p])
        left = frozenset(control for control in c.controls[p] if own in owned.get(control, ()))
        if left:
            yield replace(c, controls=set_at(c.controls, p, left))

    def _before_action(self, c: Configuration, p: int, action: Action) -> Iterator[Configuration]:
        for unstored in self._before_stores(c, p, action):
            fifo = unstored.fifos[p]
            if action.is_empty:
                if not fifo:
                    for loaded in _with_memory(unstored, action.loads):
                        yield from self._owning(loaded, p)
            elif all(own_value(fifo, x) in (None, v) for x, v in action.loads):
                oldest = Message(tuple((x, v) for x, v in action.loads if own_value(fifo, x) is None))
                is_there = not oldest.facts or (fifo and fifo[0] == oldest)
                loaded = unstored if is_there else unstored.with_fifo(p, (oldest, *fifo))
                yield from self._owning(loaded, p)

    def _before_stores(self, c: Configuration, p: int, action: Action) -> Iterator[Configuration]:
        if not action.stores:
            yield c
            return
        stores = dict(action.stores)
        if any(c.memory[x] not in (None, v) for x, v in stores.items()):
            return
        fifos, fifo = [c.fifos[p]], c.fifos[p]
        if not action.locked:
            ((x, v),) = action.stores
            if not fifo or fifo[-1] != Message(((x, v),), True):
                return
            rest = fifo[:-1]
            newest = max(
                (n + 1 for n, message in enumerate(rest) if message.own and message.facts[0][0] == x), default=0
            )
            older = [Message((store,), True) for store in self.writes[c.kinds[p]] if store[0] == x]
            fifos = [rest, *((*rest[:n], one, *rest[n:]) for one in older for n in range(newest, len(rest) + 1))]
        memory = tuple(None if x in stores else value for x, value in enumerate(c.memory))
        for before in fifos:
            yield replace(c, memory=memory).with_fifo(p, before)


def _with_memory(c: Configuration, facts: Facts) -> Iterator[Configuration]:
    """The configuration where memory holds these values, if it can."""
    memory: Memory = c.memory
    for x, v in facts:
        if memory[x] not in (None, v):
            return
        memory = set_at(memory, x, v)
    yield replace(c, memory=memory)


def check_dual(question: Question, configurations: Collection[Configuration]) -> int:
    """Return if the set proves what is asked; else Refused. `question` is as `prepared` has it."""
    rules = DualRules(question)
    known = Above(len(rules.fixed))
    for c in configurations:
        if not rules.is_one(c):
            raise NotACertificate("a configuration has other processes than it may have")
        known.add(c)
    for c in rules.bad():  # Condition 1: it holds whatever is bad.
        _require(known.covers(c), Condition.BAD, c)
    for c in configurations:
        _require(not rules.is_initial(c), Condition.INITIAL, c)  # Condition 2: but no initial configuration.
        for before in rules.before(c):  # Condition 3: and nothing outside leads into it.
            _require(known.covers(before), Condition.CLOSED, before)
    return len(configurations)


def for_processes_alone(question: Question) -> Question:
    """Theorem 17: where no configuration is bad, no run is, under any model: as if every step were locked."""
    return prepared(replace(question, model=SPEC_OF_SC))


def _require(is_true: bool, condition: Condition, c: Configuration) -> None:
    if not is_true:
        raise Refused(condition, shown(c))


def shown(c: Configuration) -> str:
    """A configuration in words."""
    places = [sorted({control.location for control in controls}) for controls in c.controls]
    fifos = [[(message.facts, message.own) for message in fifo] for fifo in c.fifos]
    return f"a configuration of the backward search: at {places}, memory {c.memory}, messages {fifos}"


def prepared(question: Question, ranges: object = None) -> Question:
    """The question about a program that the theorems speak of, and its narrower `ranges`; Refused if there is none."""
    from memfence.certificates.checker.dual_ranges import narrowed

    program, under_sc = question.program, question.model.buffering is Buffering.NOWHERE
    require_shared_memory(program)
    if under_sc:
        looks = question.bad is not None and any(isinstance(node, BufferEmpty) for node in walk(question.bad))
    else:
        require_no_look_at_buffers(question)
        looks = has_torn_steps(program) or question.model.buffering is not Buffering.PER_PROCESS
    if looks or question.finals or question.deadlock or program.error_locations is not None:
        raise Refused(Condition.KIND, "the backward search does not know such programs and questions")
    return replace(question, program=narrowed(_with_alike(program), ranges))


def _with_alike(program: Program) -> Program:
    """Instances that are all alike, although the question may look at registers of some of them only."""
    processes = list(program.processes)
    for template in program.any_number:
        members = instances_of(program, template)
        for n in members:
            processes[n] = _widest(program, n, members)
    return replace(program, processes=tuple(processes))


def _widest(program: Program, process: int, members: tuple[int, ...]) -> Process:
    """The process, its registers starting with whatever one of the members starts with."""
    columns = zip(*(program.processes[n].registers for n in members), strict=True)
    registers = tuple(max(column, key=lambda register: len(register.init)) for column in columns)
    return replace(program.processes[process], registers=registers)
