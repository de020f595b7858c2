"""A whole litmus test in C as a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label, did_you_mean
from memfence.frontends.clitmus.initial import Initial
from memfence.frontends.clitmus.places import Pointee
from memfence.frontends.clitmus.reader import ARCHITECTURES, CTest, read
from memfence.frontends.clitmus.syntax import ThreadText
from memfence.frontends.clitmus.threads import Thread
from memfence.frontends.herd.condition import read_condition
from memfence.frontends.herd.dialect import Dialect
from memfence.frontends.herd.final import LoweredThread, final_property, observed_by, whole_test
from memfence.frontends.herd.memory import Memory
from memfence.frontends.herd.syntax import Condition
from memfence.program.ir import Program
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.source import SourceText


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    """The program of a litmus test in C; InputError with every mistake found."""
    errors: list[Diagnostic] = []
    test = read(source, errors)
    if errors:
        raise InputError(sorted(errors, key=lambda d: d.at.span.start))
    memory = Memory(test.initial.state, errors)
    threads, registers = [], _Registers()
    for text in test.threads:
        thread = Thread(text, _places(text, test.initial, memory), errors)
        threads.append(LoweredThread(thread.lower(), registers.numbered(thread.registers)))
    condition = _read_condition(test, registers, errors)
    stated = None
    if condition is not None and _are_known(condition, threads, registers, errors):
        stated = final_property(condition, threads, memory, registers.names.__getitem__)
    if errors or stated is None:
        raise InputError(sorted(errors, key=lambda d: d.at.span.start))
    return whole_test(test.name, memory, threads, stated, source, replace(options, language="clitmus"))


class _Registers:
    """Names of local variables, numbered for the condition: the same name means the same number in every thread."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def read(self, word: str) -> int | None:
        """The number of what a condition calls so; None where it cannot be a name."""
        return self.number(word) if word.isidentifier() else None

    def number(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def name(self, number: int, architecture: str) -> str:
        return self.names[number]

    def numbered(self, registers: dict[str, int]) -> dict[int, int]:
        return {self.number(name): register for name, register in registers.items()}


def _places(text: ThreadText, initial: Initial, memory: Memory) -> dict[str, Pointee]:
    places = {}
    for parameter in text.parameters:
        name, size = parameter.name.text, initial.sizes.get(parameter.name.text)
        base = memory.number(name if size is None else f"{name}[0]", parameter.name.span)
        places[name] = Pointee(base, size or 1, parameter.is_atomic)
    return places


def _read_condition(test: CTest, registers: _Registers, errors: list[Diagnostic]) -> Condition | None:
    dialect = Dialect(ARCHITECTURES, registers.read, registers.name, "", "0:r0", "the local variables of the thread")
    try:
        return read_condition(test.condition, len(test.threads), dialect)
    except InputError as error:
        errors.extend(error.diagnostics)
        return None


def _are_known(
    condition: Condition, threads: Sequence[LoweredThread], registers: _Registers, errors: list[Diagnostic]
) -> bool:
    """Whether every register of the condition is a local variable of its thread."""
    unknown = [
        what
        for what in observed_by(condition)
        if what.thread is not None and what.register is not None and what.register not in threads[what.thread].registers
    ]
    for what in unknown:
        assert what.thread is not None
        known = [registers.names[number] for number in threads[what.thread].registers]
        hint = did_you_mean(what.name, known, f"declare it in P{what.thread} with `int {what.name};`")
        message = f"P{what.thread} has no local variable `{what.name}`"
        errors.append(Diagnostic(Code.UNKNOWN_REGISTER, message, Label(what.span), hint=hint))
    return not unknown
