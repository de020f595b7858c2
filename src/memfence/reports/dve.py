"""A DVE model with its store buffers written out, for checkers that know sequential consistency only.

The transformation of Barnat, Brim and Havel, section III (TSO with one pending store a process and variable): for
every variable x that process P writes there are `sb_x_P` (the pending value) and `i_x_P` (whether there is one), and
for every process the order of its pending stores (`queue_P`, a ring from `head_P` to `tail_P`). Writes go there, and
wait while one to the same variable is pending. Reads come from there where something is pending: a transition that
reads n such variables becomes 2^n transitions, one for each combination of places. The process `MM` moves pending
stores to memory.

Where the paper is silent: a read behind a write of the same transition sees it; a variable that a transition writes
twice enters the queue once; an array element whose index is only known at run time, and everything in a transition that
would become more than 16, is read by arithmetic instead: `sb + (1 - i) * x`, since `sb` is 0 where nothing is pending.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.dve.names import Names, SharedPlace
from memfence.frontends.dve.reader import read_model
from memfence.frontends.dve.syntax import (
    Assignment,
    Expression,
    Infix,
    InState,
    Model,
    Number,
    Prefix,
    ProcessText,
    Step,
    Variable,
    subexpressions,
)
from memfence.program.atomic_writes import EVERY_VARIABLE, AtomicWrite
from memfence.program.ir import Program
from memfence.reports.dve_text import (
    Read,
    as_written,
    print_channel,
    print_declaration,
    print_expression,
    print_process_head,
    print_system,
)
from memfence.source import Span

MOST_VARIANTS = 16
_KINDS = ("sb_", "i_", "queue_", "head_", "tail_")


def print_store_buffer_model(program: Program, atomic: Iterable[AtomicWrite] = ()) -> str:
    """The transformed text of a program that was read from DVE; `atomic` writes go to memory directly.

    InputError (MF004) for what cannot be expressed: another language, committed states, a few odd indices.
    """
    if program.language != "dve":
        at = Label(program.source.span(0, 1))
        raise InputError([Diagnostic(Code.UNSUPPORTED, "only DVE models can be written with store buffers", at)])
    return _Transformation(read_model(program.source), atomic).text()


@dataclass(frozen=True, slots=True)
class _Buffer:
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
            for key in _keys(place, None):
                if key in self.held:
                    yield name, place, key.removeprefix(name)


class _Transformation:
    def __init__(self, model: Model, atomic: Iterable[AtomicWrite]) -> None:
        self.model = model
        self.names = Names(model)
        self.atomic: dict[tuple[int, int], set[str]] = {}
        for write in atomic:
            self.atomic.setdefault((write.process, write.transition), set()).add(write.variable)
        self.prefix = self.unused_prefix()
        self.buffers = [self.buffer(number, process) for number, process in enumerate(self.names.running)]

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

    def buffer(self, process: int, text: ProcessText) -> _Buffer:
        places: dict[str, SharedPlace] = {}
        held: set[str] = set()
        for number, step in enumerate(text.steps):
            for target, marked in _targets(step):
                place = self.shared(process, target)
                if place is not None and not self.is_atomic(process, number, target, marked):
                    places[place.name] = place
                    held.update(_keys(place, target))
        ordered = dict(sorted(places.items(), key=lambda item: item[1].base))
        return _Buffer(text.name.text, ordered, frozenset(held), self.prefix)

    # Text

    def text(self) -> str:
        for process in self.model.processes:
            for state in process.committed:
                raise _refusal(state.span, "committed states cannot be combined with the process `MM`")
        lines = [print_declaration(d) for d in self.model.declarations]
        lines += [print_channel(c) for c in self.model.channels]
        for buffer in self.buffers:
            lines += _declarations(buffer)
        for number, process in enumerate(self.names.running):
            lines += ["", *self.process(number, process)]
        lines += ["", *self.memory_process()]
        if self.names.property is not None:
            lines += ["", *_untouched(self.names.property)]
        return "\n".join([*lines, "", print_system(self.model), ""])

    def process(self, number: int, process: ProcessText) -> list[str]:
        lines = print_process_head(process)
        transitions: list[str] = []
        source = ""
        for position, step in enumerate(process.steps):
            source = step.source.text if step.source else source
            for body in _StepText(self, number, position, step).variants():
                transitions.append(f"    {source} -> {step.target.text} {{ {body}}}")
        if transitions:
            lines += ["  trans", ",\n".join(transitions) + ";"]
        return [*lines, "}"]

    def memory_process(self) -> list[str]:
        name = "MM"
        while name in {p.name.text for p in self.model.processes}:
            name += "_"
        transitions = []
        for buffer in self.buffers:
            for variable, place, index in buffer.elements():
                identifier = place.base + int(index[1:-1] or 0) if index else place.base
                pending, indicator = buffer.pending(variable) + index, buffer.indicator(variable) + index
                head, oldest = buffer.head, f"{buffer.queue}[{buffer.head}]"
                guard = f"{indicator} == 1 and {oldest} == {identifier} and {head} != {buffer.tail}"
                effect = (
                    f"{variable}{index} = {pending}, {indicator} = 0, {pending} = 0, "
                    f"{oldest} = 0, {head} = ({head} + 1) % {buffer.room}"
                )
                transitions.append(f"    q0 -> q0 {{ guard {guard}; effect {effect}; }}")
        body = ["  trans", ",\n".join(transitions) + ";"] if transitions else []
        return [f"process {name} {{", "  state q0;", "  init q0;", *body, "}"]


def _declarations(buffer: _Buffer) -> list[str]:
    if not buffer.places:
        return []
    lines = []
    for name, place in buffer.places.items():
        size = f"[{place.count}]" if place.is_array else ""
        kind = "byte" if place.domain.lo == 0 else "int"
        lines += [f"{kind} {buffer.pending(name)}{size};", f"byte {buffer.indicator(name)}{size};"]
    kind = "byte" if all(place.base + place.count < 256 for place in buffer.places.values()) else "int"
    ring = "byte" if buffer.room < 256 else "int"
    lines.append(f"{kind} {buffer.queue}[{buffer.room}];")
    lines.append(f"{ring} {buffer.head}, {buffer.tail};")
    return lines


def _untouched(process: ProcessText) -> list[str]:
    lines = print_process_head(process)
    transitions = []
    source = ""
    for step in process.steps:
        source = step.source.text if step.source else source
        guard = f"guard {print_expression(step.guard)}; " if step.guard is not None else ""
        transitions.append(f"    {source} -> {step.target.text} {{ {guard}}}")
    if transitions:
        lines += ["  trans", ",\n".join(transitions) + ";"]
    return [*lines, "}"]


@dataclass(slots=True)
class _Places:
    """Where reads of one variant come from: `pending` and `in_memory` variables, the others by arithmetic."""

    pending: set[str] = field(default_factory=set)
    in_memory: set[str] = field(default_factory=set)


class _StepText:
    """One transition of the source as several of the transformed model."""

    def __init__(self, whole: _Transformation, process: int, position: int, step: Step) -> None:
        self.whole = whole
        self.process = process
        self.buffer = whole.buffers[process]
        self.step = step
        self.writes = [
            (target, whole.is_atomic(process, position, target, marked))
            for target, marked in _targets(step)
            if whole.shared(process, target) is not None
        ]
        self.waits_for_all = any(atomic for _, atomic in self.writes)

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
        place = self.whole.shared(self.process, variable)
        keys = [] if place is None else _keys(place, variable)
        return keys[0] if len(keys) == 1 and keys[0] in self.buffer.held else None

    def surely_in_memory(self) -> set[str]:
        """The variables that cannot be pending when the transition starts, since it waits for that."""
        if self.waits_for_all:
            return {name + index for name, _, index in self.buffer.elements()}
        return {key for target, atomic in self.writes if not atomic and (key := self.key(target)) is not None}

    def doubtful_reads(self) -> list[str]:
        """The variables of which only the run tells whether they are pending, in the order of the text."""
        found: dict[str, None] = {}
        for variable in _variables_read(self.step):
            key = self.key(variable)
            if key is not None and key not in self.surely_in_memory():
                found[key] = None
        return list(found)

    # One variant

    def body(self, places: _Places, doubtful: Collection[str]) -> str:
        conditions = [f"{self.indicator_of(key)} == {int(key in places.pending)}" for key in doubtful]
        if self.waits_for_all:
            conditions += [
                f"{buffer.indicator(name)}{index} == 0"
                for buffer in self.whole.buffers
                for name, _, index in buffer.elements()
            ]
        free = self.free_targets(places)
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
            place = self.whole.shared(self.process, variable)
            if place is None or not self.buffer.held.intersection(_keys(place, variable)):
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

    def free_targets(self, places: _Places) -> list[str]:
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
        place = self.whole.shared(self.process, target)
        if place is None or self.waits_for_all or place.name not in self.buffer.places:
            return
        if not place.is_array:
            conditions[f"{self.buffer.indicator(place.name)} == 0"] = None
            return
        mentioned = {v.name.text for v in _variables(target.index)} if target.index is not None else set()
        if mentioned & {*changed, place.name}:
            raise _refusal(target.span, f"the index of `{place.name}` depends on what this transition writes before")
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
        place = self.whole.shared(self.process, target)
        return place is not None and not any(atomic for other, atomic in self.writes if other is target)

    def target_text(self, target: Variable, places: _Places) -> str:
        place = self.whole.shared(self.process, target)
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
        place = self.whole.shared(self.process, target)
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


def _keys(place: SharedPlace, variable: Variable | None) -> list[str]:
    """The elements, `x` or `a[2]`, that the variable may mean; all of its place for None."""
    if not place.is_array:
        return [place.name]
    if variable is None or not isinstance(variable.index, Number | None):
        return [f"{place.name}[{number}]" for number in range(place.count)]
    return [f"{place.name}[{0 if variable.index is None else variable.index.value}]"]


def _targets(step: Step) -> list[tuple[Variable, bool]]:
    """What the transition writes, in order, and whether the text marks the write as atomic."""
    received: list[tuple[Variable, bool]] = []
    if step.sync is not None and not step.sync.sends:
        received = [(value, step.sync.atomic) for value in step.sync.values if isinstance(value, Variable)]
    return received + [(assignment.target, assignment.atomic) for assignment in step.effects]


def _variables(expression: Expression) -> Iterator[Variable]:
    if isinstance(expression, Variable):
        yield expression
    for part in subexpressions(expression):
        yield from _variables(part)


def _variables_read(step: Step) -> Iterator[Variable]:
    """Every read of the transition, in the order of the text."""
    expressions: list[Expression] = [] if step.guard is None else [step.guard]
    if step.sync is not None and step.sync.sends:
        expressions += step.sync.values
    for target, _ in _targets(step):
        expressions += [] if target.index is None else [target.index]
    expressions += [assignment.value for assignment in step.effects]
    for expression in expressions:
        yield from _variables(expression)


def _is_condition(guard: Expression) -> bool:
    """Whether the guard is 0 or 1: DVE's `and` takes a negative right operand for false, a guard does not."""
    match guard:
        case InState() | Prefix("not", _, _):
            return True
        case Infix(operator, _, _, _):
            return operator in ("==", "!=", "<", "<=", ">", ">=", "and", "or", "imply")
        case _:
            return False


def _refusal(span: Span, what: str) -> InputError:
    return InputError([Diagnostic(Code.UNSUPPORTED, what, Label(span, "cannot be transformed"))])
