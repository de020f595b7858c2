"""One transition of a DVE model as the transitions of the model with store buffers: see `dve`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from memfence.frontends.dve.names import SharedPlace
from memfence.frontends.dve.syntax import Assignment, Expression, Infix, InState, Prefix, Step, Variable
from memfence.translation.dve_buffers import Buffers, elements_meant, refusal, targets, variables_of, variables_read
from memfence.translation.dve_text import Read, as_written, print_expression

MOST_VARIANTS = 16


@dataclass(slots=True)
class _Places:
    """Where reads of one variant come from: `pending` and `in_memory` variables, the others by arithmetic."""

    pending: set[str] = field(default_factory=set)
    in_memory: set[str] = field(default_factory=set)


class StepText:
    """One transition of the source as several of the transformed model."""

    def __init__(self, all_buffers: Buffers, process: int, position: int, step: Step) -> None:
        self.all_buffers = all_buffers
        self.process = process
        self.buffer = all_buffers.of[process]
        self.step = step
        self.writes = [
            (target, all_buffers.is_atomic(process, position, target, marked))
            for target, marked in targets(step)
            if all_buffers.shared(process, target) is not None
        ]
        self.waits = any(atomic for _, atomic in self.writes)

    def variants(self) -> Iterator[str]:
        """The body of each of the transitions."""
        read = self.doubtful_reads()
        if 2 ** len(read) > MOST_VARIANTS:
            yield self.body(_Places(set(), self.surely_in_memory()), ())
            return
        for size in range(len(read) + 1):
            for pending in combinations(read, size):
                in_memory = self.surely_in_memory() | (set(read) - set(pending))
                yield self.body(_Places(set(pending), in_memory), read)

    def key(self, variable: Variable) -> str | None:
        """`x` or `a[2]` for a variable that may be pending and that the text alone tells, else None."""
        place = self.all_buffers.shared(self.process, variable)
        keys = [] if place is None else elements_meant(place, variable)
        return keys[0] if len(keys) == 1 and keys[0] in self.buffer.held else None

    def surely_in_memory(self) -> set[str]:
        """The variables that cannot be pending when the transition starts, since it waits for that."""
        if self.waits:
            return {name + index for name, _, index in self.buffer.elements()}
        return {key for target, atomic in self.writes if not atomic and (key := self.key(target)) is not None}

    def doubtful_reads(self) -> list[str]:
        """The variables of which only the run tells whether they are pending, in the order of the text."""
        found: dict[str, None] = {}
        for variable in variables_read(self.step):
            key = self.key(variable)
            if key is not None and key not in self.surely_in_memory():
                found[key] = None
        return list(found)

    # One variant

    def body(self, places: _Places, doubtful: Collection[str]) -> str:
        conditions = [f"{self.indicator_of(key)} == {int(key in places.pending)}" for key in doubtful]
        if self.waits:
            conditions += [
                f"{buffer.indicator(name)}{index} == 0"
                for buffer in (self.all_buffers.of if self.all_buffers.waits_for == "all" else [self.buffer])
                for name, _, index in buffer.elements()
            ]
        free = self.freetargets(places)
        if self.step.guard is not None:
            guard = print_expression(self.step.guard, self.reader(places))
            alone = not conditions and not free
            conditions.append(guard if alone or _is_condition(self.step.guard) else f"({guard}) != 0")
        conditions = [f"({c})" if len(conditions) + len(free) > 1 else c for c in conditions] + free
        sync, effects = self.synchronisation(places), []
        effects += self.after_receive(places)
        for position, assignment in enumerate(self.step.effects):
            effects += self.effect(assignment, places, self.step.effects[position + 1 :])
        text = f"guard {' and '.join(conditions)}; " if conditions else ""
        text += f"sync {sync}; " if sync else ""
        return text + (f"effect {', '.join(effects)}; " if effects else "")

    def indicator_of(self, key: str) -> str:
        name, bracket, index = key.partition("[")
        return f"{self.buffer.indicator(name)}{bracket}{index}"

    def pending_of(self, key: str) -> str:
        name, bracket, index = key.partition("[")
        return f"{self.buffer.pending(name)}{bracket}{index}"

    def reader(self, places: _Places) -> Read:
        def read(variable: Variable, index: str | None) -> str:
            place = self.all_buffers.shared(self.process, variable)
            if place is None or not self.buffer.held.intersection(elements_meant(place, variable)):
                return as_written(variable, index)
            key = self.key(variable)
            if key is not None and key in places.pending:
                return self.pending_of(key)
            if key in places.in_memory:
                return as_written(variable, index)
            at = f"[{index if index is not None else 0}]" if place.is_array else ""
            pending, indicator = self.buffer.pending(place.name), self.buffer.indicator(place.name)
            return f"({pending}{at} + (1 - {indicator}{at}) * {place.name}{at})"

        return read

    def freetargets(self, places: _Places) -> list[str]:
        """Nothing may be pending for what is written, by the index that the write will have."""
        conditions: dict[str, None] = {}
        changed: set[str] = set()
        if self.step.sync is not None and not self.step.sync.sends:
            received = [value for value in self.step.sync.values if isinstance(value, Variable)]
            for target in received:
                self.add_free_target(target, places, {v.name.text for v in received}, conditions)
            changed |= {target.name.text for target in received}
        for assignment in self.step.effects:
            self.add_free_target(assignment.target, places, changed, conditions)
            changed.add(assignment.target.name.text)
        return list(conditions)

    def add_free_target(
        self, target: Variable, places: _Places, changed: Collection[str], conditions: dict[str, None]
    ) -> None:
        place = self.all_buffers.shared(self.process, target)
        if place is None or self.waits or place.name not in self.buffer.places:
            return
        if not place.is_array:
            conditions[f"{self.buffer.indicator(place.name)} == 0"] = None
            return
        mentioned = {v.name.text for v in variables_of(target.index)} if target.index is not None else set()
        if mentioned & {*changed, place.name}:
            raise refusal(target.span, f"the index of `{place.name}` depends on what this transition writes before")
        index = "0" if target.index is None else print_expression(target.index, self.reader(places))
        conditions[f"{self.buffer.indicator(place.name)}[{index}] == 0"] = None

    def synchronisation(self, places: _Places) -> str:
        sync = self.step.sync
        if sync is None:
            return ""
        if sync.sends:
            values = [print_expression(value, self.reader(places)) for value in sync.values]
        else:
            values = [self.target_text(v, places) for v in sync.values if isinstance(v, Variable)]
        message = f"{{{', '.join(values)}}}" if len(values) > 1 else "".join(values)
        return f"{sync.channel.text}{'!' if sync.sends else '?'}{message}"

    def is_buffered(self, target: Variable) -> bool:
        place = self.all_buffers.shared(self.process, target)
        return place is not None and not any(atomic for other, atomic in self.writes if other is target)

    def target_text(self, target: Variable, places: _Places) -> str:
        place = self.all_buffers.shared(self.process, target)
        index = None if target.index is None else print_expression(target.index, self.reader(places))
        if place is None or not self.is_buffered(target):
            return as_written(target, index)
        at = f"[{index or 0}]" if place.is_array else ""
        return f"{self.buffer.pending(place.name)}{at}"

    def after_receive(self, places: _Places) -> list[str]:
        sync = self.step.sync
        if sync is None or sync.sends:
            return []
        received = [value for value in sync.values if isinstance(value, Variable)]
        later = [assignment.target for assignment in self.step.effects]
        return [text for target in received for text in self.enqueue(target, places, later)]

    def effect(self, assignment: Assignment, places: _Places, later: Iterable[Assignment]) -> list[str]:
        value = print_expression(assignment.value, self.reader(places))
        text = f"{self.target_text(assignment.target, places)} = {value}"
        return [text, *self.enqueue(assignment.target, places, [other.target for other in later])]

    def enqueue(self, target: Variable, places: _Places, later: Iterable[Variable]) -> list[str]:
        """What follows a buffered write: its indicator and its place in the queue, unless it is written again."""
        place = self.all_buffers.shared(self.process, target)
        if place is None:
            return []
        key = self.key(target)
        if not self.is_buffered(target):
            return []
        index = None if target.index is None else print_expression(target.index, self.reader(places))
        self.now_pending(place, key, places)
        if key is not None and any(self.key(other) == key for other in later):
            return []
        at = f"[{index or 0}]" if place.is_array else ""
        number = f"{place.base} + {index}" if key is None else str(place.base + int(key.partition("[")[2][:-1] or 0))
        queue, tail = self.buffer.queue, self.buffer.tail
        return [
            f"{self.buffer.indicator(place.name)}{at} = 1",
            f"{queue}[{tail}] = {number}",
            f"{tail} = ({tail} + 1) % {self.buffer.room}",
        ]

    def now_pending(self, place: SharedPlace, key: str | None, places: _Places) -> None:
        """From here on reads see the write; which element it was, only the run tells where the index is not fixed."""
        if key is not None:
            places.in_memory.discard(key)
            places.pending.add(key)
            return
        for number in range(place.count):
            places.in_memory.discard(f"{place.name}[{number}]")
            places.pending.discard(f"{place.name}[{number}]")


def _is_condition(guard: Expression) -> bool:
    """Whether the guard is 0 or 1: DVE's `and` takes a negative right operand for false, a guard does not."""
    match guard:
        case InState() | Prefix("not", _, _):
            return True
        case Infix(operator, _, _, _):
            return operator in ("==", "!=", "<", "<=", ">", ">=", "and", "or", "imply")
        case _:
            return False
