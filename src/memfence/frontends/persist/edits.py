"""Writing `.pst` text: fences into a program that was read, and whole programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.edits import Edit, Jump, apply_edits, fence_edits, fresh_label
from memfence.frontends.persist.reader import STYLE, read
from memfence.frontends.persist.syntax import INSTRUCTION, LABEL, RESERVED, Instruction
from memfence.program import ir
from memfence.program.expressions import Address, Binary, Expr, Register
from memfence.program.text.expressions import print_expression
from memfence.source import SourceText

if TYPE_CHECKING:
    from memfence.frontends.frontend import EditKind


def insert_fences(source: SourceText, points: Sequence[tuple[ir.FencePoint, EditKind]]) -> str:
    """The text with a fence written at each point (or its write locked), otherwise byte for byte the same."""
    edits: list[Edit] = []
    for process in read(source).processes:
        chosen = [(p.key, kind) for p, kind in points if p.template == process.name]
        jumps = [
            _jump(source.text, i, (f"{INSTRUCTION}{n}", "locked") in chosen) for n, i in enumerate(process.instructions)
        ]
        at_label: dict[str, list[ir.FenceKind]] = {}
        after: dict[int, list[ir.FenceKind]] = {}
        for key, kind in chosen:
            if kind != "locked" and key.startswith(LABEL):
                at_label.setdefault(key.removeprefix(LABEL), []).append(kind)
            elif kind != "locked":
                after.setdefault(int(key.removeprefix(INSTRUCTION)), []).append(kind)
        spelling: dict[ir.FenceKind, str] = {"mfence": "fence", "sfence": "sfence"}
        edits += fence_edits(source.text, jumps, set(process.labels), at_label, after, spelling, STYLE.comment)
    return apply_edits(source.text, edits)


def _jump(text: str, instruction: Instruction, locked: bool) -> Jump:
    """`instruction` as a jump; new lines have its indentation and its last semicolon."""
    start, end = instruction.span.start, instruction.span.end
    before = text[text.rfind("\n", 0, start) + 1 : start]
    indent = before if before.isspace() else ""
    last = ";" if text[end - 1 : end] == ";" else ""
    target, position = str(instruction.target), instruction.target.start_pos or 0

    def line(label: str, statement: str, goto: str) -> str:
        return f"{indent}{label}: {statement}; goto {goto}{last}"

    def rewrite(goto: str) -> tuple[list[Edit], list[str]]:
        first = instruction.statement.start_pos
        return [Edit(first, first, "locked "), Edit(position, position + len(target), goto)], []

    return Jump(target, position, end, line, rewrite if locked else None)


def write_program(program: ir.Program) -> str:
    """Text that `parse` reads as the same program; InputError (MF004) for what the language cannot express.

    That is a step with several accesses, a computed address, or a process that never starts but has instructions.
    Names with other characters than letters, digits and `_` are changed. Ranges in which values wrap are left out.
    """
    named = _with_plain_names(program)
    lines = [f"program {named.name}", _list("vars", (_declaration(v, v.name) for v in named.variables)), "procs"]
    for number, process in enumerate(named.processes):
        kept = [r for r in process.registers if not r.transient]
        lines += ["", f"process {process.name}", _list("regs", (_declaration(r, r.name) for r in kept))]
        lines += [f"init {process.locations[process.initial].name}", "begin"]
        if process.transitions and not any(process.leaving(process.initial)):
            raise _cannot_express(process.transitions[0])
        for transition in process.transitions:
            source, target = (process.locations[end].name for end in (transition.source, transition.target))
            lines.append(f"  {source}: {_statement(named, number, transition)}; goto {target}")
        lines.append("end")
    return "\n".join([*lines, *map(_property, program.properties), ""])


def _list(keyword: str, items: Iterable[str]) -> str:
    return f"{keyword} {', '.join(items)}".rstrip()


def _declaration(declared: ir.SharedVar | ir.RegisterVar, name: str) -> str:
    init = f" = {declared.init[0]}" if declared.init != (0,) else ""
    domain = declared.domain
    return f"{name}{init} : [{domain.lo}:{domain.hi}]" if _is_declared(domain) else f"{name}{init}"


def _is_declared(domain: ir.Domain) -> bool:
    return domain.overflow == "error"


def _with_plain_names(program: ir.Program) -> ir.Program:
    """`program` with names that the language can spell; registers have their `$`."""
    taken = set(RESERVED)
    variables = [replace(v, name=fresh_label(_plain(v.name), taken)) for v in program.variables]
    names = set(RESERVED)
    processes = []
    for process in program.processes:
        registers = set[str]()
        labels = set(RESERVED)
        processes.append(
            replace(
                process,
                name=fresh_label(_plain(process.name), names),
                registers=tuple(
                    replace(r, name="$" + fresh_label(_plain(r.name), registers)) for r in process.registers
                ),
                locations=tuple(
                    replace(place, name=fresh_label(_plain(place.name), labels)) for place in process.locations
                ),
            )
        )
    return replace(program, name=_plain(program.name), variables=tuple(variables), processes=tuple(processes))


def _plain(name: str) -> str:
    spelled = name if re.fullmatch(r"\w+", name, re.ASCII) else re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    return spelled if spelled.isdecimal() or re.match(r"[A-Za-z_]", spelled) else f"_{spelled}"


def _statement(program: ir.Program, number: int, transition: ir.Transition) -> str:
    process = program.processes[number]

    def text(expr: Expr) -> str:
        return print_expression(expr, program, number)

    def variable(address: Address) -> str:
        if address.variable is None:
            raise _cannot_express(transition)
        return program.variables[address.variable].name

    locked = "locked " if transition.locked else ""
    match transition.ops:
        case (ir.Load(register, address, None),):
            return f"{locked}{process.registers[register].name} = {variable(address)}"
        case (ir.Store(address, value, False),):
            return f"{locked}{variable(address)} = {text(value)}"
        case (ir.Rmw(r, x, "compare_exchange", new, old), ir.Assume(Binary("==", Register(s), expected))) if (
            old is not None and old == expected and _is_arw(process, r, s, x, x)
        ):
            return f"arw({variable(x)}, {text(old)}, {text(new)})"
        case (ir.Load(r, x, None), ir.Assume(Binary("==", Register(s), old)), ir.Store(y, new)) if _is_arw(
            process, r, s, x, y
        ):
            return f"arw({variable(x)}, {text(old)}, {text(new)})"
        case (ir.Assign(register, value),) if not locked:
            return f"{process.registers[register].name} = {text(value)}"
        case (ir.Assume(condition),) if not locked:
            return f"assume {text(condition)}"
        case (ir.Assert(condition),) if not locked:
            return f"assert {text(condition)}"
        case (ir.Fence(kind),) if not locked:
            return "fence" if kind == "mfence" else kind
        case () if not locked and transition.sync is None:
            return "skip"
        case _:
            raise _cannot_express(transition)


def _is_arw(process: ir.Process, loaded: int | None, compared: int, read: Address, written: Address) -> bool:
    return loaded is not None and loaded == compared and process.registers[loaded].transient and read == written


def _property(known: ir.Property) -> str:
    match known:
        case ir.Forbidden(_, text):
            return f"forbid {text};"
        case ir.Invariant(_, text):
            return f"invariant {text};"
        case _:
            return f"// not expressible here: {getattr(known, 'text', known)}"


def _cannot_express(transition: ir.Transition) -> InputError:
    message = "this cannot be written in the language of the persistence paper"
    return InputError([Diagnostic(Code.UNSUPPORTED, message, Label(transition.span))])
