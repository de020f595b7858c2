"""A whole DVE model as a program of the IR.

Global variables are shared, local ones are registers, states are locations in the order of their declaration. After a
run-time error DiVinE 2 goes on in a state where everything is 0 and the first process has left all of its states: that
extra location is the last one of the first process.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.dve.names import DOMAIN, LocalPlace, Names, Placed, SharedPlace
from memfence.frontends.dve.reader import read_expression, read_model
from memfence.frontends.dve.steps import Queue, StepLowering
from memfence.frontends.dve.syntax import Model, ProcessText, Step, Variable
from memfence.frontends.dve.values import Values
from memfence.frontends.parsing.syntax import Name
from memfence.passes.atomic_writes import AtomicWrite, with_atomic_writes
from memfence.program import ir
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import TRUE, At, Binary, Expr, negate
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.source import SourceText

ERROR_STATE = "#error"
LARGEST_CAPACITY = 256


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> ir.Program:
    """The program of a DVE model; InputError with every mistake found."""
    return _Lowering(read_model(source), source, replace(options, language="dve")).program()


def parse_state_expression(program: ir.Program, text: str) -> Expr:
    """A DVE expression about the states of `program`, which must come from a DVE text: `P_0.CS and x == 1`."""
    names = Names(read_model(program.source))
    expression = Values(names, None).value(read_expression(SourceText("<expression>", text)))
    if names.errors:
        raise InputError(names.errors)
    return expression


class _Lowering:
    def __init__(self, model: Model, source: SourceText, options: LoadOptions) -> None:
        self.model = model
        self.source = source
        self.options = options
        self.names = Names(model)
        self.variables = _shared_variables(self.names.shared)
        self.queues = self.make_queues()
        self.atomic: list[AtomicWrite] = []

    def program(self) -> ir.Program:
        if not self.names.running:
            place = self.source.span(0, min(1, len(self.source.text)))
            self.names.report(Code.NO_PROCESS, place, "the model has no process", "", "add `process P { ... }`")
        processes = tuple(self.process(number, text) for number, text in enumerate(self.names.running))
        properties = tuple(self.properties())
        self.check_channels(processes)
        if self.names.errors:
            distinct = {(d.message, d.at.span): d for d in self.names.errors}
            raise InputError(sorted(distinct.values(), key=lambda d: d.at.span.start))
        error = (len(self.names.running[0].states), *(0 for _ in processes[1:]))
        name = self.source.path.rsplit("/", 1)[-1].removesuffix(".dve")
        program = ir.Program(
            name, tuple(self.variables), processes, properties, self.source, self.options, self.model.notes, error
        )
        return with_atomic_writes(program, self.atomic)

    def make_queues(self) -> dict[str, Queue]:
        """Memory for the buffered channels, behind the global variables."""
        queues = {}
        for channel in self.model.channels:
            if channel.capacity == 0 or channel.types is None:
                continue
            name, capacity = channel.name.text, min(channel.capacity, LARGEST_CAPACITY)
            if channel.capacity > capacity:
                what = f"channel `{name}` has room for {channel.capacity} messages, more than {LARGEST_CAPACITY}"
                self.names.report(Code.TOO_LARGE, channel.name.span, what, "too large")
            length = len(self.variables)
            self.variables.append(ir.SharedVar(f"{name}.length", ir.Domain(0, capacity), span=channel.name.span))
            fields = []
            for number, kind in enumerate(channel.types):
                fields.append(len(self.variables))
                for slot in range(capacity):
                    label = f"{name}.{number}[{slot}]"
                    self.variables.append(ir.SharedVar(label, DOMAIN[kind], span=channel.name.span))
            queues[name] = Queue(length, tuple(fields), capacity)
        return queues

    # Processes

    def process(self, number: int, text: ProcessText) -> ir.Process:
        builder = ProcessBuilder(text.name.text, text.name.text, text.span)
        for placed in self.names.local[number]:
            if isinstance(placed.symbol, LocalPlace):
                for name, value in _elements(placed):
                    builder.register(name, placed.symbol.domain, (value,), placed.declaration.span)
        committed = {state for name in text.committed if (state := self.names.state(number, name)) is not None}
        for position, label in enumerate(text.states):
            builder.location(label.text, (label.text,), label.span, committed=position in committed)
        initial = self.initial(text, number)
        self.steps(builder, text, number)
        if number == 0:
            builder.location(ERROR_STATE)
        for accepted in (name for names in text.accepting for name in names):
            self.names.state(number, accepted)
        return builder.build(initial)

    def initial(self, text: ProcessText, number: int) -> int:
        if text.initial is None:
            what = f"process `{text.name.text}` has no initial state"
            hint = f"add `init {text.states[0].text};`" if text.states else "add `state q; init q;`"
            self.names.report(Code.NO_INITIAL, text.name.span, what, "no `init`", hint)
            return 0
        return self.names.state(number, text.initial) or 0

    def steps(self, builder: ProcessBuilder, text: ProcessText, number: int) -> None:
        lowering = StepLowering(self.names, number, builder, self.queues)
        source: Name | None = None
        for position, step in enumerate(text.steps):
            source = self.source_state(text, step, source)
            at = None if source is None else self.names.state(number, source)
            to = self.names.state(number, step.target)
            lowered = lowering.lower(step, at or 0, to or 0)
            self.note_atomic_writes(step, number, position)
            is_write = any(isinstance(op, ir.Store) and not op.direct for op in lowered.ops)
            text_of_step = " ".join(step.span.text.split())
            point = ir.FencePoint(text.name.text, f"{text.name.text}.{position}", step.span, text_of_step)
            builder.emit(
                at or 0, to or 0, *lowered.ops,
                span=step.span, sync=lowered.sync, point=point if is_write else None,
            )  # fmt: skip

    def source_state(self, text: ProcessText, step: Step, before: Name | None) -> Name | None:
        if step.source is None and before is None:
            what = f"the first transition of process `{text.name.text}` does not say where it starts"
            self.names.report(Code.UNKNOWN_LABEL, step.span, what, "no state before `->`", "write `state -> ...`")
        return step.source or before

    def note_atomic_writes(self, step: Step, process: int, position: int) -> None:
        atomic = [effect.target.name.text for effect in step.effects if effect.atomic]
        if step.sync is not None and step.sync.atomic:
            atomic += [value.name.text for value in step.sync.values if isinstance(value, Variable)]
        self.atomic += [AtomicWrite(process, position, name) for name in atomic]

    # Channels

    def check_channels(self, processes: tuple[ir.Process, ...]) -> None:
        """Both sides of every rendezvous must agree on the number of values, and not write the same variable."""
        meeting: dict[str, list[tuple[int, ir.Transition]]] = {}
        for p, process in enumerate(processes):
            for t in process.transitions:
                if t.sync is not None:
                    meeting.setdefault(t.sync.channel, []).append((p, t))
        for channel, sides in meeting.items():
            self.check_counts(channel, sides)
            senders = [(p, t) for p, t in sides if t.sync and t.sync.sends]
            receivers = [(p, t) for p, t in sides if t.sync and not t.sync.sends]
            for p, sender in senders:
                for q, receiver in receivers:
                    if p != q:
                        self.check_writes(sender, receiver)

    def check_counts(self, channel: str, sides: list[tuple[int, ir.Transition]]) -> None:
        def count(transition: ir.Transition) -> int:
            assert transition.sync is not None
            return len(transition.sync.values) + len(transition.sync.registers)

        first = sides[0][1]
        for _, other in sides[1:]:
            if count(other) != count(first):
                what = f"channel `{channel}` carries {_values(count(other))} here and {_values(count(first))} elsewhere"
                at, related = Label(other.span, _values(count(other))), Label(first.span, _values(count(first)))
                self.names.errors.append(Diagnostic(Code.ARGUMENT_COUNT, what, at, (related,)))
                return

    def check_writes(self, sender: ir.Transition, receiver: ir.Transition) -> None:
        for number in sorted(_fixed_writes(sender) & _fixed_writes(receiver)):
            what = f"both sides of a rendezvous write `{self.variables[number].name}`"
            at, related = Label(receiver.span, "the receiver"), Label(sender.span, "the sender")
            hint = "write it on one side only: DVE calls this an error"
            self.names.errors.append(Diagnostic(Code.CONFLICTING_WRITES, what, at, (related,), hint))

    # Properties

    def properties(self) -> list[ir.Property]:
        found: list[ir.Property] = []
        for number, text in enumerate(self.names.running):
            values = Values(self.names, number)
            for assertion in text.assertions:
                state = self.names.state(number, assertion.state)
                condition = values.value(assertion.condition)
                shown = f"{text.name.text}.{assertion.state.text} imply {assertion.condition.span.text}"
                here = At(number, frozenset((state or 0,)))
                found.append(ir.Invariant(Binary("||", negate(here), condition), shown))
        if self.model.property is not None:
            automaton = self.property_automaton(self.model.property)
            found += [automaton] if automaton is not None else []
        return found

    def property_automaton(self, name: Name) -> ir.PropertyAutomaton | None:
        text = self.names.property
        if text is None:
            self.names.process(name)
            return None
        states = {state.text: number for number, state in enumerate(text.states)}

        def number_of(state: Name) -> int:
            if state.text not in states:
                self.names.report_state(text.name.text, state, states)
            return states.get(state.text, 0)

        for declaration in text.declarations:
            what = f"the property process `{name.text}` has a variable of its own, which is not supported"
            self.names.report(Code.UNSUPPORTED, declaration.span, what, hint="use states instead of values")
        if text.initial is None:
            what = f"process `{name.text}` has no initial state"
            self.names.report(Code.NO_INITIAL, text.name.span, what, "no `init`")
        values = Values(self.names, None)
        edges = []
        source: Name | None = None
        for step in text.steps:
            source = self.source_state(text, step, source)
            self.refuse_actions(step, name)
            guard = TRUE if step.guard is None else values.value(step.guard)
            edges.append(ir.PropertyEdge(number_of(source) if source else 0, number_of(step.target), guard, step.span))
        accepting = tuple(frozenset(number_of(state) for state in group) for group in text.accepting)
        if not accepting:
            hint = f"add `accept {text.states[-1].text};`" if text.states else None
            what = f"the property process `{name.text}` accepts nothing"
            self.names.report(Code.BAD_PROPERTY, text.name.span, what, "no `accept`", hint)
        initial = number_of(text.initial) if text.initial else 0
        shown = tuple(state.text for state in text.states)
        return ir.PropertyAutomaton(name.text, shown, initial, tuple(edges), accepting, text.span)

    def refuse_actions(self, step: Step, name: Name) -> None:
        for kind, action in (("synchronises", step.sync), ("has an effect", step.effects[0] if step.effects else None)):
            if action is not None:
                what = f"the property process `{name.text}` {kind}, but a property only watches"
                self.names.report(Code.UNSUPPORTED, action.span, what, "not supported", "keep only the guard")


def _shared_variables(placed: list[Placed]) -> list[ir.SharedVar]:
    return [
        ir.SharedVar(name, each.symbol.domain, (value,), each.declaration.span)
        for each in placed
        if isinstance(each.symbol, SharedPlace)
        for name, value in _elements(each)
    ]


def _elements(placed: Placed) -> list[tuple[str, int]]:
    """The flat names and initial values of a variable."""
    name = placed.symbol.name
    if not placed.symbol.is_array:
        return [(name, placed.initial[0])]
    return [(f"{name}[{number}]", value) for number, value in enumerate(placed.initial)]


def _fixed_writes(transition: ir.Transition) -> set[int]:
    stores = (op.address.variable for op in transition.ops if isinstance(op, ir.Store))
    return {variable for variable in stores if variable is not None}


def _values(count: int) -> str:
    return "no value" if count == 0 else "1 value" if count == 1 else f"{count} values"
