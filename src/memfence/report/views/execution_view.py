"""One execution as people read it: numbered events with places and values, and who reads from whom."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePath

from memfence.axiomatic.code import Barrier, EventItem, Read, Wait, Write
from memfence.axiomatic.execution import Execution, Happened, Place
from memfence.axiomatic.synchronised import FREED
from memfence.axiomatic.waiting import waiting_for_ever
from memfence.program.expressions import FALSE, Shared, walk
from memfence.program.ir import NoDeadlock, Program
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.report.words.findings import broken_text, deadlock_of, error_text, in_brackets
from memfence.source import Span
from memfence.tasks.evidence import Counterexample, Forbidding


class EventRow(Record):
    """An event that is shown: its number, its thread, its place in the text, and what it does."""

    number: int
    thread: str
    place: str
    action: str
    source: str


class Edge(Record):
    """A relation between two events that are shown, by their numbers; 0: the initial writes."""

    first: int
    second: int
    relation: str


class ExecutionView:
    """What is shown of an execution; bookkeeping of the front end is left out."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self.program: Program = execution.code.program
        self.numbers: dict[Place, int] = {}
        self.shown: list[Happened] = []
        for event in execution.events:
            if event.place[0] >= 0 and self._is_shown(event):
                self.shown.append(event)
                self.numbers[event.place] = len(self.shown)

    def _is_shown(self, event: Happened) -> bool:
        variable = None if event.variable is None else self.program.variables[event.variable]
        return variable is None or not (variable.is_bookkeeping or variable.is_internal)

    def rows(self) -> list[EventRow]:
        """The events, thread by thread in program order."""
        return [
            EventRow(
                self.numbers[event.place],
                self.execution.code.threads[event.place[0]].name,
                place_text(self.item(event).origin.span, self.program),
                self._action(event),
                self._source(event),
            )
            for event in self.shown
        ]

    def item(self, event: Happened) -> EventItem:
        thread, position = event.place
        found = self.execution.code.threads[thread].items[position]
        assert isinstance(found, Read | Write | Barrier)
        return found

    def _action(self, event: Happened) -> str:
        item = self.item(event)
        order = "" if item.order is MemoryOrder.PLAIN else f" ({item.order.value})"
        match item:
            case Barrier(kind):
                return f"{kind.replace('_', ' ')}{order}"
            case Read():
                return f"{self._name(event)} = {self._value(event)}{order}"
            case Write():
                return f"{self._name(event)} := {self._value(event)}{order}"

    def _name(self, event: Happened) -> str:
        assert event.variable is not None
        return self.program.variables[event.variable].name

    def _value(self, event: Happened) -> str:
        assert event.variable is not None and event.value is not None
        text = self.program.variables[event.variable].domain.text(event.value)
        return self.program.value_names.get(event.value, text)

    def _source(self, event: Happened) -> str:
        write = self.execution.decisions.read_from.get(event.place)
        if write is None:
            return ""
        number = self.numbers.get(write)
        return "from the initial value" if write[0] < 0 else f"from {number}" if number else "from bookkeeping"

    def edges(self) -> Iterator[Edge]:
        """Who reads from whom, and which write comes before which."""
        decisions = self.execution.decisions
        for read, write in decisions.read_from.items():
            if read in self.numbers and write in self.numbers:
                yield Edge(self.numbers[write], self.numbers[read], "rf")
        for order in decisions.order.values():
            written = [self.numbers[place] for place in order if place in self.numbers]
            for first, second in pairwise(written):
                yield Edge(first, second, "co")

    def overwritten(self) -> Iterator[Edge]:
        """Which write comes right behind what a read saw."""
        for read, write in self.execution.decisions.read_from.items():
            orders = (order for order in self.execution.decisions.order.values() if write in order)
            for order in orders:
                later = order[order.index(write) + 1 :][:1]
                if later and read in self.numbers and later[0] in self.numbers:
                    yield Edge(self.numbers[read], self.numbers[later[0]], "fr")

    def relation(self, a: Place, b: Place) -> str:
        """The relation by which `b` comes after `a`."""
        decisions = self.execution.decisions
        if decisions.read_from.get(b) == a:
            return "rf"
        seen = decisions.read_from.get(a)
        for order in decisions.order.values():
            if b in order and a in order and order.index(a) < order.index(b):
                return "co" if a[0] != b[0] else "po"
            if b in order and seen in order and order.index(seen) < order.index(b):
                return "fr" if a[0] != b[0] else "po"
        return "po" if a[0] == b[0] else "ppo"

    def cycle(self, forbidding: Forbidding) -> str:
        """`1 -po-> 2 -fr-> 3`, back to its start."""
        places = [self.execution.events[number].place for number in forbidding.finding.events]
        names = [str(self.numbers.get(place, "start" if place[0] < 0 else "end of a thread")) for place in places]
        if len(places) < 2:
            return " and ".join(names)
        closed = [*places, places[0]]
        steps = [self.relation(a, b) for a, b in zip(places, closed[1:], strict=True)]
        return " ".join(f"{name} -{step}->" for name, step in zip(names, steps, strict=True)) + f" {names[0]}"


def failed_text(found: Counterexample) -> str:
    """What goes wrong, and where; with the race that leads to it, if there is one."""
    if found.race is not None:
        name, where = race_text(found.execution, found.race)
        return f"{_race_on(name)}, which is undefined behaviour{where}"
    if found.beyond_sc is not None:
        return _beyond_sc_text(found.execution, found.beyond_sc)
    what = _failure(found)
    if found.after_race is None:
        return what
    name, where = race_text(found.execution, found.after_race)
    return f"{what}, after a {_race_on(name)}{where}"


def _race_on(name: str) -> str:
    if name.startswith(FREED):
        return f"data race of freeing `{name.removeprefix(FREED).removesuffix(')')}` with a use of it"
    return f"data race on `{name}`"


def _beyond_sc_text(execution: Execution, pair: tuple[int, int]) -> str:
    """The access that comes too early, and the write that leads to it."""
    view = ExecutionView(execution)
    early, late = (execution.events[number] for number in pair)
    places = [place_text(view.item(event).origin.span) for event in (early, late)]
    name = view.program.variables[late.variable or 0].name
    what = "reads a value from before" if early.place in execution.decisions.read_from else "comes before"
    return f"not robust: the access of `{name}` ({places[0]}) {what} a write ({places[1]}) that leads to it"


def failing_place(found: Counterexample) -> Span | None:
    """Where the check stands that fails, else the second of two accesses that race."""
    execution = found.execution
    if found.race is not None:
        return ExecutionView(execution).item(execution.events[found.race[1]]).origin.span
    if found.beyond_sc is not None:
        return ExecutionView(execution).item(execution.events[found.beyond_sc[0]]).origin.span
    origin = None if found.failed is None else getattr(execution.code.item_at(found.failed), "origin", None)
    return None if origin is None else origin.span


def race_text(execution: Execution, race: tuple[int, int]) -> tuple[str, str]:
    """The variable that races, and where, in brackets."""
    view = ExecutionView(execution)
    events = [execution.events[number] for number in race]
    spans = [view.item(event).origin.span for event in events]
    return view.program.variables[events[0].variable or 0].name, in_brackets(view.program, spans)


def _failure(found: Counterexample) -> str:
    program = found.execution.code.program
    if isinstance(found.violated, NoDeadlock):
        return _waiting_text(found.execution)
    if found.violated is not None:
        return broken_text(found.violated)
    assert found.failed is not None
    check = found.execution.code.item_at(found.failed)
    origin, error = getattr(check, "origin", None), getattr(check, "error", "")
    if origin is None:
        return error or "an assertion fails"
    statement = " ".join(origin.span.text.split()).rstrip("; ")
    what = (
        error_text(program, error, statement, _freed_in(found.execution))
        if error
        else f"{statement or 'an assertion'} fails"
    )
    return what + in_brackets(program, [origin.span])


def _freed_in(execution: Execution) -> dict[str, Span]:
    """The heap blocks that the execution frees, and where."""
    program, found = execution.code.program, dict[str, Span]()
    for event in execution.events:
        item = execution.code.item_at(event.place) if event.place[0] >= 0 else None
        if isinstance(item, Write) and event.variable is not None and event.value:
            name = program.variables[event.variable].name
            if name.startswith("freed("):
                found[name.removeprefix("freed(").removesuffix(")")] = item.origin.span
    return found


def _waiting_text(execution: Execution) -> str:
    """Who waits for ever, and where; who only waits for the end of others is left out."""
    program, waits = execution.code.program, waiting_for_ever(execution)
    causes = [place for place in waits if not _is_bookkeeping(execution, place)] or list(waits)
    names = list(dict.fromkeys(f"`{execution.code.threads[place[0]].name}`" for place in causes))
    spans = [span for place in causes if (span := _waits_at(execution, place)).source.text]
    return deadlock_of(program, names, "wait", spans)


def _is_bookkeeping(execution: Execution, place: Place) -> bool:
    """Whether the thread looks only at what the front end made up, such as that another thread has ended."""
    wait = execution.code.item_at(place)
    assert isinstance(wait, Wait)
    looked_at = (node.address for node in walk(wait.goes_on or FALSE) if isinstance(node, Shared))
    variables = [n for address in looked_at for n in address.variables]
    return bool(variables) and all(execution.code.program.variables[n].is_bookkeeping for n in variables)


def _waits_at(execution: Execution, place: Place) -> Span:
    """Where the text has the wait."""
    wait = execution.code.item_at(place)
    assert isinstance(wait, Wait)
    return wait.origin.span


def place_text(span: Span, program: Program | None = None) -> str:
    """`line 12`; with the file where that is not the program's own; nothing where the text has no such place."""
    if not span.source.text:
        return ""
    if program is None or span.source.path == program.source.path:
        return f"line {span.line}"
    return f"{PurePath(span.source.path).name}:{span.line}"
