"""Backward search: configurations that lead to something bad, with all that lead to them, but not the initial ones.

In Dual-TSO (Abdulla, Atig, Bouajjani and Ngo, CONCUR 2016) a store reaches memory at once, and a process reads late: it
has a FIFO of messages, oldest first. A message holds the values that memory had at one moment, or an own store. A step
reads its own newest store to a variable, else the oldest message. Theorem 13 of `docs/theory/certificates.md`: a
process gets under TSO to no location, with no registers, that it cannot get to here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from math import prod

from memfence.certificates.checker.abridged import ends_of
from memfence.certificates.checker.criteria import require_no_look_at_buffers, require_shared_memory
from memfence.certificates.checker.dual_local import MOST_BAD, Action, Processes, with_store
from memfence.certificates.checker.dual_order import is_above, newest_own, own_value
from memfence.certificates.checker.dual_ranges import narrowed
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.dual import (
    FAILED,
    Configuration,
    Configurations,
    Control,
    Controls,
    Facts,
    Fifo,
    Memory,
    Message,
)
from memfence.models.buffering import Buffering
from memfence.models.spec import SC as SPEC_OF_SC
from memfence.models.steps import evaluate_in, set_at
from memfence.program.expressions import At, BufferEmpty, Expr, RegisterOf, Shared, walk
from memfence.program.facts.effects import has_torn_steps
from memfence.program.parameterised import alike, named_instances


class DualRules(Processes):
    """Which configurations are bad, from where one is reached, and which are initial."""

    def is_one(self, c: Configuration) -> bool:
        """Whether it has every process of which there is one, and of others only those that there may be."""
        fixed, others = c.kinds[: len(self.fixed)], c.kinds[len(self.fixed) :]
        return fixed == self.fixed and set(others) <= {members[0] for members in self.instances}

    def is_initial(self, c: Configuration) -> bool:
        """Whether the configuration stands for an initial one."""
        memory = all(
            value is None or value in v.init for value, v in zip(c.memory, self.program.variables, strict=True)
        )
        at_start = all(controls & self.first(kind) for controls, kind in zip(c.controls, c.kinds, strict=True))
        return memory and at_start and not any(c.fifos)

    def bad(self) -> Iterator[Configuration]:
        """The bad configurations with empty FIFOs; from others, messages can be deleted, and processes left out."""
        named = named_instances(self.program, self.question.looks_at)
        instances = zip(self.program.any_number, self.instances, strict=True)
        asked = (*self.fixed, *(n for template, members in instances for n in members[: named[template]]))
        yield from self._bad_together(asked, is_asked=True)
        for first, *_ in self.instances:
            yield from self._bad_together((*self.fixed, first), is_asked=False)

    def _bad_together(self, members: tuple[int, ...], *, is_asked: bool) -> Iterator[Configuration]:
        """Where one of these processes has failed, or, if the question is about them, what it asks about is true."""
        nodes = [node for expr in self.question.looks_at for node in walk(expr)]
        addresses = [node.address for node in nodes if isinstance(node, Shared)]
        seen = {x for address in addresses for x in range(address.base, address.base + address.size)}
        memories = list(self.memories(seen, [None] * len(self.program.variables), MOST_BAD))
        kinds = tuple(alike(self.program, n)[0] for n in members)
        groups = [self._groups(n, nodes) for n in members]
        if len(memories) * prod(map(len, groups)) > MOST_BAD:
            raise Refused(Condition.KIND, "there are too many bad configurations")
        for memory, *chosen in product(memories, *groups):
            one_of_each = {n: next(iter(group)) for n, group in zip(members, chosen, strict=True)}
            has_failed = any(control.location == FAILED for control in one_of_each.values())
            if has_failed or (is_asked and self._is_bad(one_of_each, memory)):
                yield Configuration(tuple(chosen), memory, tuple(() for _ in kinds), kinds)

    def _groups(self, process: int, nodes: Sequence[Expr]) -> list[Controls]:
        """Where the process may be, by what the question sees of it."""
        own = [node for node in nodes if isinstance(node, At | RegisterOf) and node.process == process]
        found: dict[object, set[Control]] = {}
        for control in self.controls[alike(self.program, process)[0]]:
            state, has_failed = self.placed(process, control, self.somewhere), control.location == FAILED
            seen = None if has_failed else tuple(evaluate_in(self.program, state, process, node) for node in own)
            found.setdefault(seen, set()).add(control)
        return list(map(frozenset, found.values()))

    def _is_bad(self, controls: Mapping[int, Control], memory: Memory) -> bool:
        known = tuple(old if new is None else new for old, new in zip(self.somewhere.memory, memory, strict=True))
        state = replace(self.somewhere, memory=known)
        for process, control in controls.items():
            state = self.placed(process, control, state)
        return self.question.is_bad(state)

    def before(self, c: Configuration) -> Iterator[Configuration]:
        """From where a step leads to `c`, or above it; without those that are above `c` themselves."""
        for p, (fifo, kind) in enumerate(zip(c.fifos, c.kinds, strict=True)):
            if fifo and not fifo[-1].own:  # its newest came from memory
                yield from _with_memory(c.with_fifo(p, fifo[:-1]), fifo[-1].facts)
            for x, v in self._writes(kind):
                if own_value(fifo, x) is None:  # an own one was deleted
                    yield from self._owning(c.with_fifo(p, (Message(((x, v),), True), *fifo)), p)
            for action, sources in self.leading(kind, c.controls[p]).items():
                yield from self._before_action(replace(c, controls=set_at(c.controls, p, sources)), p, action)
        for kind, *_ in self.instances:  # one of which nothing was said has stored
            for action, sources in self.leading(kind, frozenset(self.controls[kind])).items():
                for fifo in self._own_stores(kind, sources, action) if action.stores else ():
                    more = Configuration((*c.controls, sources), c.memory, (*c.fifos, fifo), (*c.kinds, kind))
                    yield from self._before_action(more, len(c.kinds), action)

    def _writes(self, kind: int) -> set[tuple[int, int]]:
        """Own messages that a process of this kind may have."""
        return {store for _, own in self.owned(kind) for store in own}

    def _own_stores(self, kind: int, sources: Controls, action: Action) -> set[Fifo]:
        """Whatever own messages there may be once the newest is there: at most one for each variable counts."""
        owned = {
            () if action.locked else with_store(own, action.stores) for at, own in self.owned(kind) if at in sources
        }
        return {tuple(Message((store,), True) for store in own) for own in owned}

    def _owning(self, c: Configuration, p: int) -> Iterator[Configuration]:
        """The configuration, the process being only where it may have the own messages that it has."""
        own, owned = newest_own(c.fifos[p]), self.owned(c.kinds[p])
        left = frozenset(control for control in c.controls[p] if (control, own) in owned)
        if left:
            yield replace(c, controls=set_at(c.controls, p, left))

    def _before_action(self, c: Configuration, p: int, action: Action) -> Iterator[Configuration]:
        """From where the process, which is already back where it was, has loaded and stored this."""
        stores = dict(action.stores)
        if any(c.memory[x] not in (None, v) for x, v in stores.items()):
            return
        memory = tuple(None if x in stores else value for x, value in enumerate(c.memory))
        for fifo in self._before_stores(c.fifos[p], c.kinds[p], action):
            unstored = replace(c, memory=memory).with_fifo(p, fifo)
            if action.is_empty:
                for loaded in _with_memory(unstored, action.loads) if not fifo else ():
                    yield from self._owning(loaded, p)
            elif all(own_value(fifo, x) in (None, v) for x, v in action.loads):
                oldest = Message(tuple((x, v) for x, v in action.loads if own_value(fifo, x) is None))
                is_there = not oldest.facts or fifo[:1] == (oldest,)
                yield from self._owning(unstored if is_there else unstored.with_fifo(p, (oldest, *fifo)), p)

    def _before_stores(self, fifo: Fifo, kind: int, action: Action) -> Iterator[Fifo]:
        """The FIFO without the message of the store; there may have been an older one about the same variable."""
        if action.locked or not action.stores:
            yield fifo
        elif fifo[-1:] == (Message(action.stores, True),):
            ((x, _),), rest = action.stores, fifo[:-1]
            yield rest
            for older in (Message((store,), True) for store in self._writes(kind) if store[0] == x):
                places = (n for n in range(len(fifo)) if own_value(rest[n:], x) is None)
                yield from ((*rest[:n], older, *rest[n:]) for n in places)


def _with_memory(c: Configuration, facts: Facts) -> Iterator[Configuration]:
    """The configuration where memory holds these values, if it can."""
    if all(c.memory[x] in (None, v) for x, v in facts):
        yield replace(c, memory=tuple(dict(facts).get(x, value) for x, value in enumerate(c.memory)))


def check_dual(question: Question, found: Configurations, left_out: Abridgement = WHOLE) -> int:
    """Return if the set proves what is asked; else Refused. `question` and `left_out` are as `prepared` has them."""
    rules = DualRules(question, left_out)
    if not all(map(rules.is_one, found.all)):
        raise NotACertificate("a configuration has other processes than it may have")

    def is_known(c: Configuration, likely: Iterable[Configuration] = ()) -> bool:
        """Whether all that `c` stands for is above what a single configuration of the set stands for."""
        return any(is_above(c, known) for known in chain(likely, found.all))

    for c in rules.bad():  # Condition 1: it holds whatever is bad.
        _require(is_known(c), Condition.BAD, c)
    for number, c in enumerate(found.all):
        _require(not rules.is_initial(c), Condition.INITIAL, c)  # Condition 2: but no initial configuration.
        likely = found.likely(number)
        for before in rules.before(c):  # Condition 3: and nothing outside leads into it.
            _require(is_known(before, likely), Condition.CLOSED, before)
    return len(found.all)


def for_processes_alone(question: Question) -> Question:
    """Theorem 17: where no configuration is bad, no run is, under any model: as if every step were locked."""
    return replace(question, model=SPEC_OF_SC)


def _require(is_true: bool, condition: Condition, c: Configuration) -> None:
    if not is_true:
        raise Refused(condition, shown(c))


def shown(c: Configuration) -> str:
    """A configuration in words."""
    places = [sorted({control.location for control in controls}) for controls in c.controls]
    fifos = [[(message.facts, message.own) for message in fifo] for fifo in c.fifos]
    return f"a configuration of the backward search: at {places}, memory {c.memory}, messages {fifos}"


def prepared(question: Question, ranges: object = None, left_out: Abridgement = WHOLE) -> Question:
    """The question about a program that the theorems speak of, and its narrower `ranges`; Refused if there is none.

    Theorem 19: `left_out` may be as in other sets of states, and the same for all instances of a template.
    """
    program, under_sc = question.program, question.model.buffering is Buffering.NOWHERE
    require_shared_memory(program)
    if under_sc:
        looks = question.bad is not None and any(isinstance(node, BufferEmpty) for node in walk(question.bad))
    else:
        require_no_look_at_buffers(question)
        looks = has_torn_steps(program) or question.model.buffering is not Buffering.PER_PROCESS
    if looks or question.finals or question.deadlock or program.error_locations is not None:
        raise Refused(Condition.KIND, "the backward search does not know such programs and questions")
    question = replace(question, program=narrowed(program, ranges))
    ends_of(question.program, question.model.unbounded.definition, left_out, question.looks_at)
    each = list(zip(left_out.passing, left_out.dead, strict=True))
    if left_out.alike or any(each[n] != each[alike(program, n)[0]] for n, _ in enumerate(each)):
        raise Refused(Condition.KIND, "instances that are alike pass different locations")
    return question
