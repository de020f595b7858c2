"""What processes can do by themselves in the backward search, loads giving anything; and which of that is bad together.

Under SC every step is a locked one: nothing is ever late (Theorem 15).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from math import prod

from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.triangular import fences
from memfence.certificates.format.dual import FAILED, Configuration, Control, Controls, Facts
from memfence.models.accesses import accesses
from memfence.models.readings import is_locked
from memfence.models.sc import Sc
from memfence.models.state import Run, State
from memfence.models.steps import set_at, take
from memfence.models.tso import Tso
from memfence.program.crowd import fixed_processes, instances_of, named_instances
from memfence.program.expressions import At, RegisterOf, Shared, walk
from memfence.program.ir import Load, Program, Rmw, Store, Transition
from memfence.records import Record

SC, TSO = Sc(), Tso()
MOST_GUESSES, MOST_BAD, MOST_CONTROLS, MOST_OWNED = 200_000, 500_000, 200_000, 1_000_000


class Action(Record):
    """A step of one process: what it loads at one moment, what it stores, whether its FIFO is empty at that moment."""

    loads: Facts
    stores: Facts
    is_empty: bool
    locked: bool


class Processes:
    """The processes of a program, each by itself. `fixed`: those of which there is one; `crowds`: the others."""

    def __init__(self, question: Question) -> None:
        self.question, self.program = question, question.program
        self.values = [range(v.domain.lo, v.domain.hi + 1) for v in self.program.variables]
        self.fixed = fixed_processes(self.program)
        self.crowds = [instances_of(self.program, template) for template in self.program.any_number]
        self.somewhere = State(
            tuple(process.initial for process in self.program.processes),
            tuple(tuple(register.init[0] for register in process.registers) for process in self.program.processes),
            tuple(variable.init[0] for variable in self.program.variables),
            SC.empty_buffers(self.program),
        )
        self.kinds = (*self.fixed, *(members[0] for members in self.crowds))
        self.arriving = {kind: self._arriving(kind) for kind in self.kinds}
        self.writes = {kind: self._writes(kind) for kind in self.kinds}
        self.owned = cache(self._owned)  # which takes its time, and is not needed without configurations
        self.leading = cache(self._leading)
        self.storing = cache(self._storing)

    def first(self, p: int) -> set[Control]:
        process = self.program.processes[p]
        values = product(*((0,) if register.transient else register.init for register in process.registers))
        return {Control(process.initial, registers) for registers in values}

    def _arriving(self, p: int) -> dict[Control, set[tuple[Action, Control]]]:
        """By control: how, and from where, the process gets there."""
        found: dict[Control, set[tuple[Action, Control]]] = {control: set() for control in self.first(p)}
        waiting = list(found)
        while waiting:
            source = waiting.pop()
            for action, target in self._actions(p, source):
                if target not in found:
                    found[target] = set()
                    waiting.append(target)
                found[target].add((action, source))
            if len(found) > MOST_CONTROLS:
                raise Refused(Condition.KIND, "a process can be in too many places by itself")
        return found

    def _actions(self, p: int, control: Control) -> Iterator[tuple[Action, Control]]:
        """Every step that the process can take with some values in memory."""
        state = self._with(p, control, self.somewhere)
        leaving = [] if control.location == FAILED else self.program.processes[p].leaving(control.location)
        for number, transition in leaving:
            locked = is_locked(TSO, transition) or not self.question.model.has_buffers
            if not locked and _waits_for_its_own_store(transition):
                continue
            for memory in _guesses(self.program, transition, state.memory, self.values):
                here, step = replace(state, memory=memory), Run(p, number)
                after = take(self.program, SC, here, step)
                if after is None:
                    continue
                loads, stores = _accesses(self.program, here, step)
                target = Control(FAILED, ())
                if isinstance(after, State):
                    target = Control(after.locations[p], after.registers[p])
                failed = target.location == FAILED
                yield Action(loads, () if failed else stores, locked or fences(transition), locked), target

    def _writes(self, kind: int) -> set[tuple[int, int]]:
        """Own messages that a process of this kind may have."""
        actions = {action for ways in self.arriving[kind].values() for action, _ in ways}
        return {action.stores[0] for action in actions if action.stores and not action.locked}

    def _owned(self, kind: int) -> dict[Control, set[Facts]]:
        """By control: the newest own messages about each variable that there may be, in order, oldest first."""
        leaving: dict[Control, list[tuple[Action, Control]]] = {}
        for target, ways in self.arriving[kind].items():
            for action, source in ways:
                leaving.setdefault(source, []).append((action, target))
        waiting: list[tuple[Control, Facts]] = [(control, ()) for control in self.first(kind)]
        seen = set(waiting)
        while waiting:
            control, own = waiting.pop()
            after = [(control, own[1:])] if own else []  # the oldest is deleted
            for action, target in leaving.get(control, ()):
                if not (action.is_empty and own):
                    after.append((target, own if action.locked else with_store(own, action.stores)))
            fresh = set(after) - seen
            seen |= fresh
            waiting += fresh
            if len(seen) > MOST_OWNED:
                raise Refused(Condition.KIND, "a process can have too many stores pending")
        found: dict[Control, set[Facts]] = {}
        for control, own in seen:
            found.setdefault(control, set()).add(own)
        return found

    def _leading(self, kind: int, controls: Controls) -> dict[Action, Controls]:
        """By action: from where it leads to one of the controls."""
        return _by_action(way for control in controls for way in self.arriving[kind].get(control, ()))

    def _storing(self, kind: int) -> dict[Action, Controls]:
        """By action that stores: where it is possible."""
        return _by_action(way for ways in self.arriving[kind].values() for way in ways if way[0].stores)

    def bad(self) -> Iterator[Configuration]:
        """The bad configurations with empty FIFOs; from others, messages can be deleted, and processes left out."""
        memories = self._memories()
        left = MOST_BAD
        for members, is_named in self._members():
            kinds = tuple(map(self.kind, members))
            for chosen in product(*(self._groups(n) for n in members)):
                for memory in memories:
                    left -= 1
                    if left < 0:
                        raise Refused(Condition.KIND, "there are too many bad configurations")
                    controls = {n: next(iter(group)) for n, group in zip(members, chosen, strict=True)}
                    failed = any(control.location == FAILED for control in controls.values())
                    if failed or (is_named and self._is_bad(controls, memory)):
                        yield Configuration(chosen, memory, tuple(() for _ in kinds), kinds)

    def _members(self) -> Iterator[tuple[tuple[int, ...], bool]]:
        """Who may be bad together: the fixed processes, with those that the question names, or with one other."""
        needed = named_instances(self.program, [] if self.question.bad is None else [self.question.bad])
        crowds = zip(self.program.any_number, self.crowds, strict=True)
        yield (*self.fixed, *(n for template, members in crowds for n in members[: needed[template]])), True
        yield from (((*self.fixed, first), False) for first, *_ in self.crowds)

    def _groups(self, process: int) -> list[Controls]:
        """Where the process may be, by what the question sees of it."""
        found: dict[object, set[Control]] = {}
        nodes = [] if self.question.bad is None else list(walk(self.question.bad))
        for control in self.arriving[self.kind(process)]:
            seen: list[object] = [control.location == FAILED]
            for node in nodes if control.location != FAILED else ():
                if isinstance(node, At) and node.process == process:
                    seen.append(control.location in node.locations)
                if isinstance(node, RegisterOf) and node.process == process:
                    seen.append(control.registers[node.register])
            found.setdefault(tuple(seen), set()).add(control)
        return list(map(frozenset, found.values()))

    def _memories(self) -> list[tuple[int | None, ...]]:
        """What memory may hold, as far as the question sees it."""
        nodes = [] if self.question.bad is None else list(walk(self.question.bad))
        seen = {
            variable
            for node in nodes
            if isinstance(node, Shared)
            for variable in range(node.address.base, node.address.base + node.address.size)
        }
        if prod(len(self.values[x]) for x in seen) > MOST_BAD:
            raise Refused(Condition.KIND, "there are too many bad configurations")
        return list(product(*(values if x in seen else (None,) for x, values in enumerate(self.values))))

    def kind(self, process: int) -> int:
        """The first of those that are all alike."""
        return next((members[0] for members in self.crowds if process in members), process)

    def _is_bad(self, controls: Mapping[int, Control], memory: Sequence[int | None]) -> bool:
        known = tuple(old if new is None else new for old, new in zip(self.somewhere.memory, memory, strict=True))
        state = replace(self.somewhere, memory=known)
        for p, control in controls.items():
            state = self._with(p, control, state)
        return self.question.is_bad(state)

    def _with(self, p: int, control: Control, state: State) -> State:
        locations = set_at(state.locations, p, control.location)
        return replace(state, locations=locations, registers=set_at(state.registers, p, control.registers))


def with_store(own: Facts, stores: Facts) -> Facts:
    """The newest own messages after a plain step."""
    written = {x for x, _ in stores}
    return (*((x, v) for x, v in own if x not in written), *stores)


def _by_action(ways: Iterator[tuple[Action, Control]]) -> dict[Action, Controls]:
    found: dict[Action, set[Control]] = {}
    for action, source in ways:
        found.setdefault(action, set()).add(source)
    return {action: frozenset(sources) for action, sources in found.items()}


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
    return fences(replace(transition, ops=tuple(behind)))
