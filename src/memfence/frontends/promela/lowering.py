"""A whole Promela model as a program: the way of the text from its characters to the IR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError
from memfence.frontends.promela.claims import automaton_of, with_named
from memfence.frontends.promela.declarations import DOMAINS, Errors, Model, collect, element_names
from memfence.frontends.promela.evaluation import ITS_ENDS
from memfence.frontends.promela.formula_tokens import with_references
from memfence.frontends.promela.inlines import arrange
from memfence.frontends.promela.instances import any_number, start
from memfence.frontends.promela.preprocess import preprocess
from memfence.frontends.promela.properties import Formulas
from memfence.frontends.promela.reader import read_units
from memfence.frontends.promela.statements import Lowered, lower_process
from memfence.frontends.promela.timeouts import with_timeouts
from memfence.program.expressions import At, Expr, rewrite
from memfence.program.facts.ends import halting_locations
from memfence.program.ir import Domain, Process, Program, SharedVar
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.program.parameterised import with_any_number
from memfence.program.traversal import map_transitions
from memfence.source import SourceText


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    """The program in `source`; InputError with every mistake found.

    A statement is one step, as in Spin, even if it reads several globals: a warning (MF201) says so. With
    `split_reads` it becomes one step a read, in the order of evaluation.
    """
    arranged = arrange(preprocess(source, options.c.macros))
    errors, warnings = Errors(), dict[Diagnostic, None]()
    model = collect(read_units(source, with_references(arranged.tokens)), errors)
    instances = start(model, errors)
    model.processes = len(instances)
    if not instances and not errors.found:
        place = source.span(0, min(1, len(source.text)))
        errors.add(Code.NO_PROCESS, "the program has no process", place, hint="write `active proctype P() { ... }`")
    lowered = [lower_process(model, instance, errors, warnings, options.split_reads) for instance in instances]
    finished = with_timeouts([_finished(one.process, model, lowered) for one in lowered], errors)
    lowered = [replace(one, process=process) for one, process in zip(lowered, finished, strict=True)]
    formulas = Formulas(source, model, lowered, errors)
    properties = [formulas.property_of(block) for block in arranged.formulas]
    claims = [automaton_of(claim, model, formulas, finished, errors) for claim in model.claims]
    properties += with_named([claim for claim in claims if claim is not None])
    if errors.found:
        raise InputError(sorted(errors.found, key=lambda d: (d.at.span.source is not source, d.at.span.start)))
    program = Program(
        name=PurePath(source.path).stem,
        variables=_variables(model),
        processes=tuple(finished),
        properties=tuple(found for found in properties if found is not None),
        source=source,
        options=replace(options, language="promela"),
        warnings=tuple(warnings),
        constants=tuple(model.constants.items()),
        meanings=formulas.meanings(),
        any_number=any_number(model),
    )
    return with_any_number(program, ()) if program.any_number else program


def _finished(process: Process, model: Model, lowered: Sequence[Lowered]) -> Process:
    """What had to wait until every process is known: where each of them ends, and the names of values."""
    ends = [frozenset(halting_locations(one.process)) for one in lowered]

    def resolved(leaf: Expr) -> Expr:
        return At(leaf.process, ends[leaf.process]) if isinstance(leaf, At) and leaf.locations == ITS_ENDS else leaf

    steps = map_transitions(process.transitions, lambda expr: rewrite(expr, resolved))
    registers = tuple(replace(r, domain=_named(r.domain, model)) for r in process.registers)
    return replace(process, registers=registers, transitions=steps)


def _named(domain: Domain, model: Model) -> Domain:
    """A variable of type `mtype` has values with names."""
    if domain is not DOMAINS["mtype"]:
        return domain
    return replace(domain, names=tuple((value, name) for name, value in model.constants.items()))


def _variables(model: Model) -> tuple[SharedVar, ...]:
    variables = []
    for name, shared in model.shared.items():
        for i, shown in enumerate(element_names(name, shared.shape)):
            value = model.memory[shared.base + i]
            variables.append(SharedVar(shown, _named(shared.domain, model), (value,), shared.name.span))
    return tuple(variables)
