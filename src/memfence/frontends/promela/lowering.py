"""A whole Promela model as a program: the way of the text from its characters to the IR."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError
from memfence.frontends.promela.declarations import Errors, Model, collect
from memfence.frontends.promela.inlines import arrange
from memfence.frontends.promela.instances import start
from memfence.frontends.promela.preprocess import preprocess
from memfence.frontends.promela.properties import Formulas
from memfence.frontends.promela.reader import read_units
from memfence.frontends.promela.statements import lower_process
from memfence.program.ir import Program, SharedVar
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.source import SourceText


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    """The program in `source`; InputError with every mistake found.

    A statement is one step, as in Spin, even if it reads several globals: a warning (MF201) says so. With
    `split_reads` it becomes one step a read, in the order of evaluation.
    """
    arranged = arrange(preprocess(source))
    errors, warnings = Errors(), dict[Diagnostic, None]()
    model = collect(read_units(source, arranged.tokens), errors)
    instances = start(model, errors)
    if not instances and not errors.found:
        place = source.span(0, min(1, len(source.text)))
        errors.add(Code.NO_PROCESS, "the program has no process", place, hint="write `active proctype P() { ... }`")
    lowered = [lower_process(model, instance, errors, warnings, options.split_reads) for instance in instances]
    formulas = Formulas(source, model, lowered, errors)
    properties = [formulas.property_of(block) for block in arranged.formulas]
    if errors.found:
        raise InputError(sorted(errors.found, key=lambda d: (d.at.span.source is not source, d.at.span.start)))
    return Program(
        name=PurePath(source.path).stem,
        variables=_variables(model),
        processes=tuple(process.process for process in lowered),
        properties=tuple(found for found in properties if found is not None),
        source=source,
        options=replace(options, language="promela"),
        warnings=tuple(warnings),
    )


def _variables(model: Model) -> tuple[SharedVar, ...]:
    variables = []
    for name, shared in model.shared.items():
        for i in range(shared.size or 1):
            shown = name if shared.size is None else f"{name}[{i}]"
            value = model.memory[shared.base + i]
            variables.append(SharedVar(shown, shared.domain, (value,), shared.name.span))
    return tuple(variables)
