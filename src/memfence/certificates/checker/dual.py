"""Backward search: configurations that lead to something bad, with all that lead to them, but not the initial ones.

In Dual-TSO (Abdulla, Atig, Bouajjani and Ngo, CONCUR 2016) a store reaches memory at once, and a process reads late: it
has a FIFO of messages, oldest first. A message holds the values that memory had at one moment, or an own store. A step
reads its own newest store to a variable, else the oldest message. Theorem 13 of `docs/theory/certificates.md`: a
process gets under TSO to no location, with no registers, that it cannot get to here. A set of configurations stands for
all that are above one of them: those with more messages between the own ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product
from math import prod

from memfence.certificates.checker.criteria import require_no_look_at_buffers, require_shared_memory
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.triangular import fences
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.dual import FAILED, Configuration, Control, Facts, Fifo, Message
from memfence.models.accesses import accesses
from memfence.models.buffering import Buffering
from memfence.models.readings import is_locked
from memfence.models.sc import Sc
from memfence.models.state import Run, State
from memfence.models.steps import set_at, starts, take
from memfence.models.tso import Tso
from memfence.program.crowd import fixed_processes, instances_of, named_instances
from memfence.program.facts.effects import has_torn_steps
from memfence.program.ir import Load, Program, Rmw, Store, Transition
from memfence.records import Record

SC, TSO = Sc(), Tso()
MOST_GUESSES, MOST_BAD = 200_000, 500_000


class Action(Record):
    """A step of one process: what it loads at one moment, what it stores, whether its FIFO is empty at that moment."""

    source: Control
    loads: Facts
    stores: Facts
    is_empty: bool
    locked: bool


class DualRules:
    """What processes can do by themselves, loads giving anything, and from where configurations are reached."""

    def __init__(self, question: Question) -> None:
        _refuse_what_is_not_covered(question)
        self.question, self.program = question, question.program
        self.values = [range(v.domain.lo, v.domain.hi + 1) for v in self.program.variables]
        self.fixed = fixed_processes(self.program)
        self.crowds = [instances_of(self.program, template) for template in self.program.any_number]
        self.arriving = [self._arriving(p) for p, _ in enumerate(self.program.processes)]
        self.writes = [
            {
                action.stores[0]
                for actions in known.values()
                for action in actions
                if action.stores and not action.locked
            }
            for known in self.arriving
        ]

    def first(self, p: int) -> set[Control]:
        process = self.program.processes[p]
        values = product(*((0,) if register.transient else register.init for register in process.registers))
        return {Control(process.initial, registers) for registers in values}

    def _arriving(self, p: int) -> dict[Control, set[Action]]:
        found: dict[Control, set[Action]] = {control: set() for control in self.first(p)}
        waiting = list(found)
        while waiting:
            for action, target in self._actions(p, waiting.pop()):
                if target not in found:
                    found[target] = set()
                    waiting.append(target)
                found[target].add(action)
        return found

    def _actions(self, p: int, control: Control) -> Iterator[tuple[Action, Control]]:
        """Every step that the process can take with some values in memory."""
        state = starts(self.program, SC)[0]
        state = replace(state, locations=set_at(state.locations, p, control.location))
        state = replace(state, registers=set_at(state.registers, p, control.registers))
        leaving = [] if control.location == FAILED else self.program.processes[p].leaving(control.location)
        for number, transition in leaving:
            for memory in _guesses(self.program, transition, state.memory, self.values):
                here, step = replace(state, memory=memory), Run(p, number)
                after = take(self.program, SC, here, step)
                if after is None or _waits_for_its_own_store(transition):
                    continue
                loads, stores = _accesses(self.program, here, step)
                locked, target = is_locked(TSO, transition), Control(FAILED, ())
                if isinstance(after, State):
                    target = Control(after.locations[p], after.registers[p])
                failed = target.location == FAILED
                yield Action(control, loads, () if failed else stores, fences(transition), locked), target

    def bad(self) -> Iterator[Configuration]:
        """The bad configurations with empty FIFOs; from others, messages can be deleted, and processes left out."""
        left = MOST_BAD
        for kinds, controls in self._bad():
            for memory in product(*self.values):
                left -= 1
                if left < 0:
                    raise Refused(Condition.KIND, "there are too many bad configurations")
                yield Configuration(controls, memory, tuple(() for _ in kinds), kinds)

    def _bad(self) -> Iterator[tuple[tuple[int, ...], tuple[Control, ...]]]:
        """Who is bad together: the fixed processes, and those that the question names or one that has failed."""
        expressions = [] if self.question.bad is None else [self.question.bad]
        needed = named_instances(self.program, expressions)
        crowds = zip(self.program.any_number, self.crowds, strict=True)
        named = (*self.fixed, *(n for template, members in crowds for n in members[: needed[template]]))
        for members in (named, *((*self.fixed, first) for first, *_ in self.crowds)):
            for controls in product(*(self.arriving[n] for n in members)):
                failed = any(control.location == FAILED for control in controls)
                if failed or (members == named and self._is_bad(dict(zip(members, controls, strict=True)))):
                    yield tuple(map(self._kind, members)), controls

    def _kind(self, process: int) -> int:
        """The first of those that are all alike."""
        return next((members[0] for members in self.crowds if process in members), process)

    def _is_bad(self, controls: Mapping[int, Control]) -> bool:
        state = starts(self.program, TSO)[0]
        for p, control in controls.items():
            state = replace(state, locations=set_at(state.locations, p, control.location))
            state = replace(state, registers=set_at(state.registers, p, control.registers))
        return self.question.is_bad(state)

    def is_initial(self, c: Configuration) -> bool:
        """Whether the configuration stands for an initial one."""
        memory = all(value in v.init for value, v in zip(c.memory, self.program.variables, strict=True))
        at_start = all(control in self.first(kind) for control, kind in zip(c.controls, c.kinds, strict=True))
        return memory and at_start and not any(c.fifos)

    def is_one(self, c: Configuration) -> bool:
        """Whether it has every process of which there is one, and of others only those that there may be."""
        fixed, others = c.kinds[: len(self.fixed)], c.kinds[len(self.fixed) :]
        return fixed == self.fixed and set(others) <= {members[0] for members in self.crowds}

    def before(self, c: Configuration) -> Iterator[Configuration]:
        """From where a step leads to `c`, or above it; without those that are above `c` themselves."""
        for p, (fifo, kind) in enumerate(zip(c.fifos, c.kinds, strict=True)):
            if fifo and not fifo[-1].own and all(c.memory[x] == v for x, v in fifo[-1].facts):
                yield c.with_fifo(p, fifo[:-1])  # its newest message came from memory
            for x, v in self.writes[kind]:
                if _own(fifo, x) is None:
                    yield c.with_fifo(p, (Message(((x, v),), True), *fifo))  # an own one was deleted
            for action in self.arriving[kind].get(c.controls[p], ()):
                yield from self._before_action(replace(c, controls=set_at(c.controls, p, action.source)), p, action)
        for kind, *_ in self.crowds:  # one of which nothing was said has stored
            for action in {one for actions in self.arriving[kind].values() for one in actions if one.stores}:
                for fifo in [()] if action.locked else self._own_stores(kind, action.stores[0]):
                    kinds, controls = (*c.kinds, kind), (*c.controls, action.source)
                    more = Configuration(controls, c.memory, (*c.fifos, fifo), kinds)
                    yield from self._before_action(more, len(c.kinds), action)

    def _own_stores(self, kind: int, newest: tuple[int, int]) -> Iterator[Fifo]:
        """Whatever own messages there may be once the newest is there: at most one for each variable counts."""
        others = [store for store in self.writes[kind] if store[0] != newest[0]]
        for length in range(len({x for x, _ in others}) + 1):
            for chosen in permutations(others, length):
                if len({x for x, _ in chosen}) == length:
                    yield tuple(Message((store,), True) for store in (*chosen, newest))

    def _before_action(self, c: Configuration, p: int, action: Action) -> Iterator[Configuration]:
        for unstored in self._before_stores(c, p, action):
            if action.is_empty or action.locked:
                if not unstored.fifos[p] and all(unstored.memory[x] == v for x, v in action.loads):
                    yield unstored
                continue
            fifo = unstored.fifos[p]
            if all(_own(fifo, x) in (None, v) for x, v in action.loads):
                oldest = Message(tuple((x, v) for x, v in action.loads if _own(fifo, x) is None))
                is_there = not oldest.facts or (fifo and fifo[0] == oldest)
                yield unstored if is_there else unstored.with_fifo(p, (oldest, *fifo))

    def _before_stores(self, c: Configuration, p: int, action: Action) -> Iterator[Configuration]:
        if not action.stores:
            yield c
            return
        if any(c.memory[x] != v for x, v in dict(action.stores).items()):
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
        written = {x for x, _ in action.stores}
        for memory in product(*(values if x in written else (c.memory[x],) for x, values in enumerate(self.values))):
            for before in fifos:
                yield replace(c, memory=memory).with_fifo(p, before)


def check_dual(question: Question, configurations: Collection[Configuration]) -> int:
    """Return if the set proves what is asked; else Refused."""
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


def _require(is_true: bool, condition: Condition, c: Configuration) -> None:
    if not is_true:
        at, registers = tuple(x.location for x in c.controls), tuple(x.registers for x in c.controls)
        raise Refused(condition, f"a configuration of the backward search: {at} {registers} {c.memory} {c.fifos}")


Part = tuple[object, tuple[Fifo, ...]]
"""Of one process: what is the same in all configurations above, and the words between its newest own messages."""


class Above:
    """A set of configurations, and whether one is above some of them: the same but for messages between own ones, and
    for processes of which there may be any number. The first `fixed` are those of which there is one."""

    def __init__(self, fixed: int) -> None:
        self._fixed = fixed
        self._known: dict[object, list[list[Part]]] = {}

    def add(self, c: Configuration) -> None:
        key, parts = self._parts(c)
        self._known.setdefault(key, []).append(parts)

    def covers(self, c: Configuration) -> bool:
        key, parts = self._parts(c)
        return any(self._is_below(known, parts) for known in self._known.get(key, ()))

    def _parts(self, c: Configuration) -> tuple[object, list[Part]]:
        parts = [_part(*one) for one in zip(c.kinds, c.controls, c.fifos, strict=True)]
        return (c.memory, tuple(same for same, _ in parts[: self._fixed])), parts

    def _is_below(self, known: list[Part], parts: list[Part]) -> bool:
        count = self._fixed
        return all(map(_fits, known[:count], parts[:count])) and _embeds(known[count:], parts[count:])


def _embeds(known: list[Part], parts: list[Part]) -> bool:
    """Whether each of the known ones fits one of the parts, no two the same."""
    if not known:
        return True
    return any(
        _fits(known[0], one) and _embeds(known[1:], [*parts[:n], *parts[n + 1 :]]) for n, one in enumerate(parts)
    )


def _fits(known: Part, part: Part) -> bool:
    return known[0] == part[0] and all(map(_is_subword, known[1], part[1]))


def _part(kind: int, control: Control, fifo: Fifo) -> Part:
    owned, words, begin = list[Message](), list[Fifo](), 0
    for n, message in enumerate(fifo):
        if message.own and _own(fifo[n + 1 :], message.facts[0][0]) is None:
            owned.append(message)
            words.append(fifo[begin:n])
            begin = n + 1
    return (kind, control, tuple(owned)), (*words, fifo[begin:])


def _is_subword(word: Fifo, other: Fifo) -> bool:
    rest = iter(other)
    return all(message in rest for message in word)


def _own(fifo: Fifo, variable: int) -> int | None:
    """The value of the newest own store to the variable."""
    return next((m.facts[0][1] for m in reversed(fifo) if m.own and m.facts[0][0] == variable), None)


def _guesses(
    program: Program, transition: Transition, memory: tuple[int, ...], values: Sequence[range]
) -> Iterator[tuple[int, ...]]:
    """Memory with every value of the variables that the step may load."""
    addresses = [op.address for op in transition.ops if isinstance(op, Load | Rmw)]
    read = {x for address in addresses for x in range(address.base, address.base + address.size)}
    if prod(len(values[x]) for x in read) > MOST_GUESSES:
        raise Refused(Condition.KIND, "a step may load too many values")
    return product(*(values[x] if x in read else (value,) for x, value in enumerate(memory)))


def _accesses(program: Program, state: State, step: Run) -> tuple[Facts, Facts]:
    """What the step loads from memory, and what it stores."""
    loads, stores = dict[int, int](), dict[int, int]()
    for access in accesses(program, SC, state, step):
        if access.kind == "store":
            stores[access.variable] = access.value
        elif access.variable not in stores:
            loads[access.variable] = access.value
    return tuple(sorted(loads.items())), tuple(sorted(stores.items()))


def _waits_for_its_own_store(transition: Transition) -> bool:
    """A plain step with a fence behind its store is never taken."""
    behind = [op for n, op in enumerate(transition.ops) if any(isinstance(o, Store) for o in transition.ops[:n])]
    return not is_locked(TSO, transition) and fences(replace(transition, ops=tuple(behind)))


def _refuse_what_is_not_covered(question: Question) -> None:
    require_no_look_at_buffers(question)
    require_shared_memory(question.program)
    is_asked = question.deadlock or question.program.error_locations is not None or has_torn_steps(question.program)
    if is_asked or question.model.buffering is not Buffering.PER_PROCESS:
        raise Refused(Condition.KIND, "the backward search does not know such programs and questions")
