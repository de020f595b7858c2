"""The store buffers of a DVE model as variables: their names, what each may hold, which writes bypass them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.dve.names import Names, SharedPlace
from memfence.frontends.dve.syntax import Expression, Model, Number, ProcessText, Step, Variable, subexpressions
from memfence.passes.atomic_writes import EVERY_VARIABLE, AtomicWrite, WaitsFor
from memfence.records import Record
from memfence.source import Span

_KINDS = ("sb_", "i_", "queue_", "head_", "tail_")


class Buffer(Record):
    """The store buffer of one process: its name, the global variables it may hold, and which elements of them."""

    process: str
    places: dict[str, SharedPlace]
    held: frozenset[str]
    prefix: str = ""

    def pending(self, name: str) -> str:
        return f"{self.prefix}sb_{name}_{self.process}"

    def indicator(self, name: str) -> str:
        return f"{self.prefix}i_{name}_{self.process}"

    @property
    def queue(self) -> str:
        return f"{self.prefix}queue_{self.process}"

    @property
    def head(self) -> str:
        return f"{self.prefix}head_{self.process}"

    @property
    def tail(self) -> str:
        return f"{self.prefix}tail_{self.process}"

    @property
    def room(self) -> int:
        return len(self.held) + 1

    def elements(self) -> Iterator[tuple[str, SharedPlace, str]]:
        """Every variable it may hold: name, place, and the index as text (empty for a plain variable)."""
        for name, place in self.places.items():
            for key in elements_meant(place, None):
                if key in self.held:
                    yield name, place, key.removeprefix(name)


class Buffers:
    """The buffers of all processes of a model, given the `atomic` writes and whose stores these wait for."""

    def __init__(self, model: Model, atomic: Iterable[AtomicWrite], waits_for: WaitsFor) -> None:
        self.names = Names(model)
        self.waits_for = waits_for
        self.atomic: dict[tuple[int, int], set[str]] = {}
        for write in atomic:
            self.atomic.setdefault((write.process, write.transition), set()).add(write.variable)
        self.prefix = self.unused_prefix()
        self.of = [self.buffer(number, process) for number, process in enumerate(self.names.running)]

    def unused_prefix(self) -> str:
        taken = {*self.names.globals, *(name for local in self.names.locals for name in local), *self.names.channels}
        prefix = ""
        while any(name.startswith(tuple(prefix + kind for kind in _KINDS)) for name in taken):
            prefix += "m_"
        return prefix

    def shared(self, process: int, variable: Variable) -> SharedPlace | None:
        """The global variable that `variable` is for that process, if it is one."""
        if variable.owner is not None or variable.name.text in self.names.locals[process]:
            return None
        symbol = self.names.globals.get(variable.name.text)
        return symbol if isinstance(symbol, SharedPlace) else None

    def is_atomic(self, process: int, number: int, variable: Variable, marked: bool) -> bool:
        wanted = self.atomic.get((process, number), set())
        return marked or EVERY_VARIABLE in wanted or variable.name.text in wanted

    def buffer(self, process: int, text: ProcessText) -> Buffer:
        places: dict[str, SharedPlace] = {}
        held: set[str] = set()
        for number, step in enumerate(text.steps):
            for target, marked in targets(step):
                place = self.shared(process, target)
                if place is not None and not self.is_atomic(process, number, target, marked):
                    places[place.name] = place
                    held.update(elements_meant(place, target))
        ordered = dict(sorted(places.items(), key=lambda item: item[1].base))
        return Buffer(text.name.text, ordered, frozenset(held), self.prefix)


def elements_meant(place: SharedPlace, variable: Variable | None) -> list[str]:
    """The elements, `x` or `a[2]`, that the variable may mean; all of its place for None."""
    if not place.is_array:
        return [place.name]
    if variable is None or not isinstance(variable.index, Number | None):
        return [f"{place.name}[{number}]" for number in range(place.count)]
    return [f"{place.name}[{0 if variable.index is None else variable.index.value}]"]


def targets(step: Step) -> list[tuple[Variable, bool]]:
    """What the transition writes, in order, and whether the text marks the write as atomic."""
    received: list[tuple[Variable, bool]] = []
    if step.sync is not None and not step.sync.sends:
        received = [(value, step.sync.atomic) for value in step.sync.values if isinstance(value, Variable)]
    return received + [(assignment.target, assignment.atomic) for assignment in step.effects]


def variables_of(expression: Expression) -> Iterator[Variable]:
    if isinstance(expression, Variable):
        yield expression
    for part in subexpressions(expression):
        yield from variables_of(part)


def variables_read(step: Step) -> Iterator[Variable]:
    """Every read of the transition, in the order of the text."""
    expressions: list[Expression] = [] if step.guard is None else [step.guard]
    if step.sync is not None and step.sync.sends:
        expressions += step.sync.values
    for target, _ in targets(step):
        expressions += [] if target.index is None else [target.index]
    expressions += [assignment.value for assignment in step.effects]
    for expression in expressions:
        yield from variables_of(expression)


def refusal(span: Span, what: str) -> InputError:
    return InputError([Diagnostic(Code.UNSUPPORTED, what, Label(span, "cannot be transformed"))])
