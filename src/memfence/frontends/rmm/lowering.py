"""A whole RMM program: variables, processes and forbidden combinations of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label, did_you_mean
from memfence.frontends.parsing.syntax import Name
from memfence.frontends.rmm.macros import expand_macros
from memfence.frontends.rmm.memory import Memory
from memfence.frontends.rmm.reader import Reader
from memfence.frontends.rmm.statements import ProcessLowering
from memfence.frontends.rmm.syntax import ProgramText
from memfence.program.expressions import At, Expr, conjunction
from memfence.program.ir import Forbidden, Process, Program
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.program.parameterised import with_any_number
from memfence.source import SourceText, Span


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    """The program; InputError with every mistake found. `locked` blocks are left as lock regions."""
    reader = Reader(expand_macros(source))
    text = reader.read()
    if not text.processes:
        where = Label(source.span(max(0, len(source.text.rstrip()) - 1), max(1, len(source.text.rstrip()))))
        hint = "write `process text nop`, for example"
        raise InputError([Diagnostic(Code.NO_PROCESS, "the program has no process", where, hint=hint)])
    memory = _memory(reader, text)
    owners = [process for process in text.processes for _ in range(process.count)]
    processes = tuple(
        ProcessLowering(reader, process, number, len(owners), memory).lower() for number, process in enumerate(owners)
    )
    forbidden = [_forbidden(reader, labels, span, processes) for labels, span in text.forbidden]
    if reader.errors:
        raise InputError(_distinct(reader.errors))
    name, variables = PurePath(source.path).stem, tuple(memory.variables)
    templates = tuple(process.template for process in text.processes if process.any_number)
    program = Program(name, variables, processes, tuple(forbidden), source, replace(options, language="rmm"))
    return with_any_number(program, templates) if templates else program


def _memory(reader: Reader, text: ProgramText) -> Memory:
    memory = Memory(reader)
    for declaration in text.data:
        memory.declare_global(declaration)
    number = 0
    for process in text.processes:
        for _ in range(process.count):
            for declaration in process.data:
                memory.declare_owned(number, declaration)
            number += 1
    return memory


def _forbidden(reader: Reader, labels: Sequence[Name | None], span: Span, processes: Sequence[Process]) -> Forbidden:
    """One combination: every process with a label stands at it, all at once."""
    if len(labels) != len(processes):
        what = f"this combination names {len(labels)} labels, but there are {len(processes)} processes"
        reader.report(Code.ARGUMENT_COUNT, what, span, "write `*` where any place will do")
    parts: list[Expr] = []
    words: list[str] = []
    for number, (label, process) in enumerate(zip(labels, processes, strict=False)):
        if label is None:
            continue
        known = {name: at for at, location in enumerate(process.locations) for name in location.labels}
        if label.text in known:
            parts.append(At(number, frozenset({known[label.text]})))
            words.append(f"{process.name}@{label.text}")
        else:
            hint = did_you_mean(label.text, list(known))
            what = f"unknown label `{label.text}` in process {number}"
            reader.report(Code.UNKNOWN_LABEL, what, label.span, hint)
    return Forbidden(conjunction(*parts), " && ".join(words) or "true")


def _distinct(errors: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Every mistake once, though each copy of a process has it, in the order of the text."""
    seen = {(d.code, d.message, d.at.span.start): d for d in reversed(errors)}
    return sorted(seen.values(), key=lambda d: d.at.span.start)
