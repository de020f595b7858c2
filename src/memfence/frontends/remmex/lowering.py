"""A whole Remmex program: shared variables and one process a proctype."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.remmex.expressions import SharedName
from memfence.frontends.remmex.reader import Reader
from memfence.frontends.remmex.statements import DOMAINS, ProcessLowering, check_initial
from memfence.frontends.remmex.syntax import ProgramText
from memfence.program.ir import Program, SharedVar
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.source import SourceText


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> Program:
    """The program; InputError with every mistake found. LOCK ... UNLOCK are left as lock regions.

    Two proctypes may have the same name, as in files of the original tool: the second is called `p_1`, then `p_2`.
    """
    reader = Reader(source)
    text = reader.read()
    if not text.processes:
        end = len(source.text.rstrip())
        where = Label(source.span(max(0, end - 1), max(1, end)))
        hint = "write `proctype p { skip; }`, for example"
        raise InputError([*reader.errors, Diagnostic(Code.NO_PROCESS, "the program has no proctype", where, hint=hint)])
    variables, shared = _memory(reader, text)
    processes = tuple(
        ProcessLowering(reader, process, name, shared).lower()
        for process, name in zip(text.processes, _process_names(text), strict=True)
    )
    if reader.errors:
        raise InputError(sorted(reader.errors, key=lambda d: d.at.span.start))
    name = PurePath(source.path).stem
    return Program(name, tuple(variables), processes, (), source, replace(options, language="remmex"))


def _memory(reader: Reader, text: ProgramText) -> tuple[list[SharedVar], dict[str, SharedName]]:
    variables: list[SharedVar] = []
    shared: dict[str, SharedName] = {}
    for declaration in text.declarations:
        name = declaration.name
        if name.text in shared:
            before = Label(variables[shared[name.text].base].span, "first here")
            what = f"the shared variable `{name.text}` is declared twice"
            reader.errors.append(Diagnostic(Code.DUPLICATE, what, Label(name.span), (before,)))
            continue
        domain = DOMAINS[declaration.kind]
        check_initial(reader, declaration, domain)
        size = declaration.size or 1
        values = (declaration.initial * size)[:size] if len(declaration.initial) == 1 else declaration.initial
        shared[name.text] = SharedName(len(variables), declaration.size)
        for element in range(size):
            shown = name.text if declaration.size is None else f"{name.text}[{element}]"
            value = domain.fit(values[element]) if element < len(values) else 0
            variables.append(SharedVar(shown, domain, (value,), name.span))
    return variables, shared


def _process_names(text: ProgramText) -> list[str]:
    names: dict[str, None] = {}
    used: dict[str, int] = {}
    for process in text.processes:
        base = process.name.text
        name = base
        while name in names:
            used[base] = used.get(base, 0) + 1
            name = f"{base}_{used[base]}"
        names[name] = None
    return list(names)
