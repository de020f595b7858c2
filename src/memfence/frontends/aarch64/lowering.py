"""A whole AArch64 litmus test as a program."""

from __future__ import annotations

from dataclasses import replace

from memfence.diagnostics import Diagnostic, InputError
from memfence.frontends.aarch64.instructions import register_name
from memfence.frontends.aarch64.reader import read
from memfence.frontends.aarch64.threads import Thread
from memfence.frontends.herd.final import final_property, observed_by, whole_test
from memfence.frontends.herd.memory import Memory
from memfence.program.ir import Program
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.source import SourceText


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    """The program of a litmus test; InputError with every mistake found."""
    errors: list[Diagnostic] = []
    test = read(source, errors)
    memory = Memory(test.initial, errors)
    for key, name in test.initial.pointers.items():
        memory.number(name, test.initial.places[key])
    memory.is_complete = not errors
    observed = observed_by(test.condition)
    threads = []
    for number, (span, items) in enumerate(zip(test.threads, test.columns, strict=True)):
        asked = [what for what in observed if what.thread == number]
        thread = Thread(number, span, items, test.initial, memory.number, errors)
        threads.append(thread.lower(asked))
    stated = final_property(test.condition, threads, memory, register_name) if test.condition is not None else None
    if errors or stated is None:
        raise InputError(sorted(errors, key=lambda d: d.at.span.start))
    return whole_test(test.name, memory, threads, stated, source, replace(options, language="aarch64"), observed)
