"""Backward search: configurations that lead to something bad, with all that lead to them, but not the initial ones.

In Dual-TSO (Abdulla, Atig, Bouajjani and Ngo, CONCUR 2016) a store reaches memory at once, and a process reads late: it
has a FIFO of messages, oldest first. A message holds the values that memory had at one moment, or an own store. A step
reads its own newest store to a variable, else the oldest message. Theorem 13 of `docs/theory/certificates.md`: a
process gets under TSO to no location, with no registers, that it cannot get to here. A set of configurations stands for
all that are above one of them: those with more messages between the own ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from memfence.certificates.checker.criteria import require_no_look_at_buffers, require_shared_memory
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.triangular import fences
from memfence.certificates.format.dual import FAILED, Configuration, Control, Facts, Fifo, Message
from memfence.models.accesses import accesses
from memfence.models.buffering import Buffering
from memfence.models.readings import is_locked
from memfence.models.sc import Sc
from memfence.models.state import Run, State
from memfence.models.steps import set_at, starts, take
from memfence.models.tso import Tso
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

    def _arriving(self, p: int) -> dict[Control, set[Action]]:
        first = {Control(state.locations[p], state.registers[p]) for state in starts(self.program, SC)}
        found: dict[Control, set[Action]] = {control: set() for control in first}
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
        """The bad configurations with empty FIFOs; from others, messages can be deleted."""
        empty: tuple[Fifo, ...] = tuple(() for _ in self.program.processes)
        left = MOST_BAD
        for controls in product(*self.arriving):
            if self._is_bad(controls):
                for memory in product(*self.values):
                    left -= 1
                    if left < 0:
                        raise Refused(Condition.KIND, "there are too many bad configurations")
                    yield Configuration(controls, memory, empty)

    def _is_bad(self, controls: tuple[Control, ...]) -> bool:
        if any(control.location == FAILED for control in controls):
            return True
        at, registers = tuple(c.location for c in controls), tuple(c.registers for c in controls)
        return self.question.is_bad(
            State(at, registers, tuple(values[0] for values in self.values), TSO.empty_buffers(self.program))
        )

    def is_initial(self, c: Configuration) -> bool:
        """Whether the configuration stands for an initial one."""
        return not any(c.fifos) and any(
            (state.locations, state.registers, state.memory)
            == (tuple(x.location for x in c.controls), tuple(x.registers for x in c.controls), c.memory)
            for state in starts(self.program, SC)
        )

    def before(self, c: Configuration) -> Iterator[Configuration]:
        """From where a step leads to `c`, or above it; without those that are above `c` themselves."""
        for p, fifo in enumerate(c.fifos):
            if fifo and not fifo[-1].own and all(c.memory[x] == v for x, v in fifo[-1].facts):
                yield c.with_fifo(p, fifo[:-1])  # its newest message came from memory
            for x, v in self.writes[p]:
                if _own(fifo, x) is None:
                    yield c.with_fifo(p, (Message(((x, v),), True), *fifo))  # an own one was deleted
            for action in self.arriving[p].get(c.controls[p], ()):
                yield from self._before_action(replace(c, controls=set_at(c.controls, p, action.source)), p, action)

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
            older = [Message((store,), True) for store in self.writes[p] if store[0] == x]
            fifos = [rest, *((*rest[:n], one, *rest[n:]) for one in older for n in range(newest, len(rest) + 1))]
        written = {x for x, _ in action.stores}
        for memory in product(*(values if x in written else (c.memory[x],) for x, values in enumerate(self.values))):
            for before in fifos:
                yield replace(c, memory=memory).with_fifo(p, before)


def check_dual(question: Question, configurations: Collection[Configuration]) -> int:
    """Return if the set proves what is asked; else Refused."""
    rules, known = DualRules(question), Above()
    for c in configurations:
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


class Above:
    """A set of configurations, and whether one is above some of them: the same but for messages between own ones."""

    def __init__(self) -> None:
        self._known: dict[object, list[tuple[Fifo, ...]]] = {}

    def add(self, c: Configuration) -> None:
        key, words = _cut(c)
        self._known.setdefault(key, []).append(words)

    def covers(self, c: Configuration) -> bool:
        key, words = _cut(c)
        return any(all(map(_is_subword, known, words)) for known in self._known.get(key, ()))


def _cut(c: Configuration) -> tuple[object, tuple[Fifo, ...]]:
    """What is the same in all configurations above: all but the words between the newest own messages."""
    owned: list[list[Message]] = []
    words: list[Fifo] = []
    for fifo in c.fifos:
        owned.append([])
        begin = 0
        for n, message in enumerate(fifo):
            if message.own and _own(fifo[n + 1 :], message.facts[0][0]) is None:
                owned[-1].append(message)
                words.append(fifo[begin:n])
                begin = n + 1
        words.append(fifo[begin:])
    return (c.controls, c.memory, tuple(map(tuple, owned))), tuple(words)


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
