"""A DVE model with its store buffers written out, for checkers that know sequential consistency only.

The transformation of Barnat, Brim and Havel, section III (TSO with one pending store per process and variable): for
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

from collections.abc import Iterable

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.dve.reader import read_model
from memfence.frontends.dve.syntax import Model, ProcessText
from memfence.passes.atomic_writes import AtomicWrite, WaitsFor
from memfence.program.ir import Program
from memfence.translation.dve_buffers import Buffer, Buffers, refusal
from memfence.translation.dve_steps import StepText
from memfence.translation.dve_text import (
    print_channel,
    print_declaration,
    print_expression,
    print_process_head,
    print_system,
)


def render_store_buffer_model(
    program: Program, atomic: Iterable[AtomicWrite] = (), *, waits_for: WaitsFor = "own"
) -> str:
    """The transformed text of a program that was read from DVE; `atomic` writes go to memory directly.

    They wait until nothing is pending for their own process, or, as the paper has it, for `all`.

    InputError (MF004) for what cannot be expressed: another language, committed states, a few odd indices.
    """
    if program.language != "dve":
        at = Label(program.source.span(0, 1))
        raise InputError([Diagnostic(Code.UNSUPPORTED, "only DVE models can be written with store buffers", at)])
    model = read_model(program.source)
    return _Rendering(model, Buffers(model, atomic, waits_for)).text()


class _Rendering:
    def __init__(self, model: Model, buffers: Buffers) -> None:
        self.model = model
        self.buffers = buffers
        self.names = buffers.names

    def text(self) -> str:
        for process in self.model.processes:
            for state in process.committed:
                raise refusal(state.span, "committed states cannot be combined with the process `MM`")
        lines = [print_declaration(d) for d in self.model.declarations]
        lines += [print_channel(c) for c in self.model.channels]
        for buffer in self.buffers.of:
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
            for body in StepText(self.buffers, number, position, step).variants():
                transitions.append(f"    {source} -> {step.target.text} {{ {body}}}")
        if transitions:
            lines += ["  trans", ",\n".join(transitions) + ";"]
        return [*lines, "}"]

    def memory_process(self) -> list[str]:
        name = "MM"
        while name in {p.name.text for p in self.model.processes}:
            name += "_"
        transitions = []
        for buffer in self.buffers.of:
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


def _declarations(buffer: Buffer) -> list[str]:
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
