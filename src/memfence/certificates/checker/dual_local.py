"""What processes can do by themselves in the backward search, loads giving anything.

Under SC every step is a locked one: nothing is ever late (Theorem 15).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from math import prod
from typing import Any, TypeVar

from memfence.certificates.checker.abridged import Ends
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.triangular import fences
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.certificates.format.dual import FAILED, Control, Controls, Facts
from memfence.models.accesses import accesses
from memfence.models.readings import is_locked
from memfence.models.replay import nth_start
from memfence.models.state import ProcessStep, State, Step
from memfence.models.steps import set_at, take
from memfence.program.facts.effects import address_read
from memfence.program.ir import Transition
from memfence.program.parameterised import fixed_processes, instances_of
from memfence.records import Record

MOST_GUESSES, MOST_BAD, MOST_CONTROLS, MOST_TRIED, MOST_OWNED = 200_000, 500_000, 500_000, 20_000_000, 1_000_000
Place = TypeVar("Place", bound=Hashable)


class Action(Record):
    """A step of one process: what it loads at one moment, what it stores, whether its FIFO is empty at that moment."""

    loads: Facts
    stores: Facts
    is_empty: bool
    locked: bool


class Processes:
    """The processes of a program, each by itself. `fixed`: those of which there is one; `instances`: the others."""

    def __init__(self, question: Question, left_out: Abridgement = WHOLE) -> None:
        self.question, self.program, self.model = question, question.program, question.model.unbounded.definition
        self.fixed = fixed_processes(self.program)
        self.instances = [instances_of(self.program, template) for template in self.program.any_number]
        self.kinds = (*self.fixed, *(members[0] for members in self.instances))
        self.somewhere = nth_start(self.program, self.model, 0)
        self.ends = {kind: self._ends(kind, left_out) for kind in self.kinds}
        self.actions, self.owned = cache(self._actions), cache(self._owned)
        self.controls = {kind: self._controls(kind) for kind in self.kinds}

    def _ends(self, kind: int, left_out: Abridgement) -> Ends:
        """Where the process comes to by local steps of its own; the others stay where they are."""
        nowhere = tuple(frozenset[int]() for _ in left_out.passing)
        passing = set_at(nowhere, kind, left_out.passing[kind]) if nowhere else nowhere
        nothing = tuple(frozenset[Step]() for _ in nowhere)
        return Ends(self.program, self.model, replace(left_out, passing=passing), nothing, nowhere)

    def _at(self, kind: int, state: State) -> Iterator[Control]:
        """The places that the process gets to from `state` by local steps (Theorem 19)."""
        for end in self.ends[kind].of(state):
            if isinstance(end, State):
                yield Control(end.locations[kind], end.registers[kind])
            else:
                yield Control(FAILED, ())

    def first(self, kind: int) -> set[Control]:
        process = self.program.processes[kind]
        kept = [(0,) if register.transient else register.init for register in process.registers]
        if prod(map(len, kept)) > MOST_GUESSES:
            raise Refused(Condition.KIND, "a process has too many first values")
        starts = (Control(process.initial, registers) for registers in product(*kept))
        return {end for start in starts for end in self._at(kind, self.placed(kind, start, self.somewhere))}

    def _controls(self, kind: int) -> list[Control]:
        """Where the process may be. What it does there is forgotten: only configurations need that."""
        tried = 0

        def after(control: Control) -> Iterator[Control]:
            nonlocal tried
            tried += sum(self._guesses(loaded) for _, _, loaded in self._leaving(kind, control))
            if tried > MOST_TRIED:
                raise Refused(Condition.KIND, "a process can do too much by itself")
            return (target for _, target in self._actions(kind, control))

        return _reached(self.first(kind), after, MOST_CONTROLS)

    def _leaving(self, kind: int, control: Control) -> Iterator[tuple[int, Transition, set[int]]]:
        """Each step from there: its number, the step, and which variables it may load."""
        leaving = [] if control.location == FAILED else self.program.processes[kind].leaving(control.location)
        for number, transition in leaving:
            addresses = [address for op in transition.ops if (address := address_read(op)) is not None]
            yield number, transition, {x for address in addresses for x in address.variables}

    def _actions(self, kind: int, control: Control) -> set[tuple[Action, Control]]:
        """Every step that the process can take with some values in memory, and where it leads."""
        found = set[tuple[Action, Control]]()
        state = self.placed(kind, control, self.somewhere)
        for number, transition, loaded in self._leaving(kind, control):
            locked = is_locked(self.model, transition) or not self.question.model.has_buffers
            for memory in self.memories(loaded, state.memory, MOST_GUESSES):
                here, step = replace(state, memory=memory), ProcessStep(kind, number)
                after = take(self.program, self.model, here, step)
                if after is None:
                    continue
                loads, stores = self._accessed(here, step)
                for target in self._at(kind, after) if isinstance(after, State) else [Control(FAILED, ())]:
                    made = () if target.location == FAILED else stores
                    found.add((Action(loads, made, locked or fences(transition), locked), target))
        return found

    def _accessed(self, state: State, step: ProcessStep) -> tuple[Facts, Facts]:
        """What the step loads from memory, and what it stores."""
        loads, stores = dict[int, int](), dict[int, int]()
        for access in accesses(self.program, self.model, state, step):
            if "store" in access.kind:
                stores[access.variable] = access.value
            elif access.variable not in stores:
                loads[access.variable] = access.value
        return tuple(sorted(loads.items())), tuple(sorted(stores.items()))

    def _owned(self, kind: int) -> set[tuple[Control, Facts]]:
        """Where the process may be with which newest own messages about each variable, oldest first."""

        def after(place: tuple[Control, Facts]) -> Iterator[tuple[Control, Facts]]:
            control, own = place
            yield control, own[1:]  # the oldest is deleted, if there is one
            for action, target in self.actions(kind, control):
                if not (action.is_empty and own):
                    yield target, own if action.locked else with_store(own, action.stores)

        first: list[tuple[Control, Facts]] = [(control, ()) for control in self.first(kind)]
        return set(_reached(first, after, MOST_OWNED))

    def leading(self, kind: int, controls: Controls) -> dict[Action, Controls]:
        """By action: from where it leads to one of the controls."""
        found: dict[Action, set[Control]] = {}
        for source in self.controls[kind]:
            for action, target in self.actions(kind, source):
                if target in controls:
                    found.setdefault(action, set()).add(source)
        return {action: frozenset(sources) for action, sources in found.items()}

    def memories(self, variables: set[int], others: Sequence[int | None], most: int) -> Iterator[tuple[Any, ...]]:
        """Memory with every value of these variables, and what is given of the others."""
        values = [range(v.domain.lo, v.domain.hi + 1) for v in self.program.variables]
        if self._guesses(variables) > most:
            raise Refused(Condition.KIND, "there are too many values that a step may load, or that are bad")
        return product(*(values[x] if x in variables else (value,) for x, value in enumerate(others)))

    def _guesses(self, variables: set[int]) -> int:
        """How many ways there are to give them values."""
        domains = (self.program.variables[x].domain for x in variables)
        return prod(domain.hi - domain.lo + 1 for domain in domains)

    def placed(self, process: int, control: Control, state: State) -> State:
        """The state in which the process is there."""
        locations = set_at(state.locations, process, control.location)
        return replace(state, locations=locations, registers=set_at(state.registers, process, control.registers))


def _reached(first: Iterable[Place], after: Callable[[Place], Iterable[Place]], most: int) -> list[Place]:
    """All that one comes to from the first ones."""
    waiting = list(first)
    seen = set(waiting)
    for place in waiting:  # grows while it is gone through
        fresh = set(after(place)) - seen
        seen |= fresh
        waiting += fresh
        if len(waiting) > most:
            raise Refused(Condition.KIND, "a process can be in too many places by itself, or have too many messages")
    return waiting


def with_store(own: Facts, stores: Facts) -> Facts:
    """The newest own messages after a plain step."""
    written = {x for x, _ in stores}
    return (*((x, v) for x, v in own if x not in written), *stores)
