"""A whole litmus test as a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.diagnostics import Diagnostic, InputError
from memfence.frontends.herd.final import final_property, observed_by, whole_test
from memfence.frontends.herd.memory import Memory
from memfence.frontends.herd.syntax import Item
from memfence.frontends.litmus.instructions import register_name
from memfence.frontends.litmus.reader import read
from memfence.frontends.litmus.syntax import Instruction, Location
from memfence.frontends.litmus.threads import Thread
from memfence.program.ir import Program
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.source import SourceText


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    """The program of a litmus test; InputError with every mistake found."""
    errors: list[Diagnostic] = []
    test = read(source, errors)
    memory = Memory(test.initial, errors)
    _declare(memory, test.columns)
    memory.is_complete = not errors
    observed = observed_by(test.condition)
    threads = []
    for number, (span, items) in enumerate(zip(test.threads, test.columns, strict=True)):
        asked = [o.register for o in observed if o.thread == number and o.register is not None]
        thread = Thread(number, span, items, test.architecture, test.initial, memory.number, errors)
        threads.append(thread.lower(asked))
    stated = None
    if test.condition is not None:
        stated = final_property(
            test.condition, threads, memory, lambda number: register_name(number, test.architecture)
        )
    if errors or stated is None:
        raise InputError(sorted(errors, key=lambda d: d.at.span.start))
    return whole_test(test.name, memory, threads, stated, source, replace(options, language="litmus"), observed)


def _declare(memory: Memory, columns: Sequence[Sequence[Item[Instruction]]]) -> None:
    for column in columns:
        for item in column:
            for operand in item.instruction.operands if item.instruction is not None else ():
                if isinstance(operand, Location):
                    memory.number(operand.name, operand.span)
