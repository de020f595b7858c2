"""From the syntax of a `.pst` program to the IR."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label, did_you_mean
from memfence.frontends.parsing.grammar import span_of
from memfence.frontends.persist.reader import ExpressionReader, Findings, read
from memfence.frontends.persist.syntax import (
    INSTRUCTION,
    LABEL,
    RESERVED,
    Declaration,
    Instruction,
    ProcessText,
    ProgramText,
)
from memfence.program import ir
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Expr, Register, fold, variable_address
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.program.parameterised import several
from memfence.source import SourceText

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree
    from memfence.frontends.persist.reader import Node


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> ir.Program:
    """The program; what has no declared range has none yet."""
    findings = Findings(source)
    text = read(source)
    variables = _variables(text, findings)
    processes = _processes(text, variables, findings)
    findings.raise_if_any()
    read_as = replace(options, language="persist")
    templates = tuple(str(process.name) for process in text.processes if process.any_number)
    program = ir.Program(
        str(text.name), tuple(variables.values()), processes, (), source, read_as, any_number=templates
    )
    return replace(program, properties=tuple(_property(source, program, token) for token in text.properties))


def _variables(text: ProgramText, findings: Findings) -> dict[str, ir.SharedVar]:
    found: dict[str, ir.SharedVar] = {}
    places: dict[str, Token] = {}
    for declared in text.variables:
        name = declared.name
        if _is_new(name, str(name), places, findings, "variable"):
            domain, init = _domain(declared, findings)
            found[str(name)] = ir.SharedVar(str(name), domain, init, span_of(findings.source, name))
    return found


def _is_new(name: Token, text: str, places: dict[str, Token], findings: Findings, what: str) -> bool:
    if text in places:
        message = f"{what} `{text}` is declared twice"
        findings.report(Code.DUPLICATE, message, name, "again", "rename one of the two", places[text])
    elif text in RESERVED and what != "register":
        findings.report(Code.SYNTAX, f"`{text}` is a word of the language", name, "cannot be a name", f"try `{text}_`")
    places.setdefault(text, name)
    return places[text] is name


def _domain(declared: Declaration, findings: Findings) -> tuple[ir.Domain, tuple[int, ...]]:
    domain, init = ir.UNDECLARED, 0
    if declared.range is not None:
        lo, hi = (_integer(node, findings) for node in declared.range.children)
        domain = ir.Domain(lo, hi)
        init = min(max(lo, 0), hi)
        if lo > hi:
            message = f"the range of `{declared.name}` contains no value"
            findings.report(Code.EMPTY_RANGE, message, declared.range, "", f"write `[{hi}:{lo}]`")
            return ir.UNDECLARED, (0,)
    if declared.init is not None:
        init = _integer(declared.init.children[0], findings)
        if not domain.lo <= init <= domain.hi:
            message = f"`{declared.name}` starts with {init}, outside its range {domain.lo} to {domain.hi}"
            findings.report(Code.OUT_OF_RANGE, message, declared.init, "outside the range")
    elif init != 0:
        message = f"`{declared.name}` starts with 0, which its range {domain.lo} to {domain.hi} does not contain"
        hint = f"give it an initial value: `{declared.name} = {init} : [{domain.lo}:{domain.hi}]`"
        findings.report(Code.OUT_OF_RANGE, message, declared.name, "starts with 0", hint)
    return domain, (init,)


def _integer(node: Node, findings: Findings) -> int:
    sign, digits = cast("Tree", node).children
    return findings.number(f"{sign or ''}{digits}", node)


def _processes(text: ProgramText, variables: dict[str, ir.SharedVar], findings: Findings) -> tuple[ir.Process, ...]:
    places: dict[str, Token] = {}
    if not text.processes:
        hint = "write `process p regs $r init q begin ... end` after `procs`"
        findings.report(Code.NO_PROCESS, "the program has no process", text.name, "", hint)
    for process in text.processes:
        _is_new(process.name, str(process.name), places, findings, "process")
    lowered = [_Lowering(process, variables, findings).process() for process in text.processes]
    return tuple(
        one
        for process, made in zip(text.processes, lowered, strict=True)
        for one in (several(made) if process.any_number else (made,))
    )


class _Lowering:
    """One process of the text as a process of the IR."""

    def __init__(self, text: ProcessText, variables: dict[str, ir.SharedVar], findings: Findings) -> None:
        self.text = text
        self.variables = variables
        self.numbers = {name: number for number, name in enumerate(variables)}
        self.findings = findings
        self.builder = ProcessBuilder(str(text.name), str(text.name), text.span)
        self.registers: dict[str, int] = {}
        self.arriving: dict[str, list[Instruction]] = {}
        for instruction in text.instructions:
            self.arriving.setdefault(instruction.target, []).append(instruction)
        self.expressions = ExpressionReader(findings, self.value)

    def process(self) -> ir.Process:
        self.declare_registers()
        labels = self.text.labels
        if self.text.instructions and not any(i.label == self.text.initial for i in self.text.instructions):
            message = f"no instruction of `{self.text.name}` has the initial label `{self.text.initial}`"
            hint = did_you_mean(self.text.initial, [str(i.label) for i in self.text.instructions])
            self.findings.report(Code.UNKNOWN_LABEL, message, self.text.initial, "never defined", hint)
        locations = {label: self.location(label, place) for label, place in labels.items()}
        for number, instruction in enumerate(self.text.instructions):
            ops = self.ops(instruction.statement)
            locked = instruction.statement.data == "locked"
            span = span_of(self.findings.source, instruction.statement)
            point = ir.FencePoint(str(self.text.name), f"{INSTRUCTION}{number}", span, " ".join(span.text.split()))
            ends = locations[instruction.label], locations[instruction.target]
            self.builder.emit(*ends, *ops, locked=locked, span=span, point=point)
        return self.builder.build(locations[self.text.initial])

    def declare_registers(self) -> None:
        places: dict[str, Token] = {}
        for declared in self.text.registers:
            name = declared.name.removeprefix("$")
            if declared.name in self.variables:
                message = f"`{name}` is a shared variable already"
                at = Label(span_of(self.findings.source, declared.name), "also a register")
                related = (Label(self.variables[name].span, "declared here"),)
                hint = f"call the register `${name}`"
                self.findings.errors.append(Diagnostic(Code.DUPLICATE, message, at, related, hint))
            elif _is_new(declared.name, name, places, self.findings, "register"):
                domain, init = _domain(declared, self.findings)
                span = span_of(self.findings.source, declared.name)
                self.registers[name] = self.builder.register(name, domain, init, span)

    def location(self, label: str, place: Token) -> int:
        leading = self.arriving.get(label, [])
        point = None
        if leading:
            span = span_of(self.findings.source, leading[0].statement)
            after = " ".join(span.text.split()) if len(leading) == 1 else f"label {label}"
            point = ir.FencePoint(str(self.text.name), f"{LABEL}{label}", span, after)
        return self.builder.location(label, (label,), span_of(self.findings.source, place), point)

    def ops(self, statement: Tree) -> tuple[ir.Op, ...]:
        parts = statement.children
        match statement.data:
            case "assign":
                return (self.assign(parts[0], parts[1]),)
            case "locked":
                target, node = cast("Tree", parts[0]).children
                op = self.assign(target, node)
                if isinstance(op, ir.Assign):
                    message = "only a read or a write of a shared variable can be locked"
                    self.findings.report(
                        Code.TYPE_MISMATCH, message, statement, "works on registers only", "drop `locked`"
                    )
                return (op,)
            case "arw":
                return self.atomic_read_write(*parts)
            case "fence":
                return (ir.Fence("mfence"),)
            case "sfence":
                return (ir.Fence("sfence"),)
            case "assume":
                return (ir.Assume(self.expressions.read(parts[0])),)
            case "assert":
                return (ir.Assert(self.expressions.read(parts[0])),)
            case _:
                return ()

    def assign(self, target: Node, node: Node) -> ir.Op:
        name = cast("Token", target)
        if name in self.variables:
            return self.store(name, self.expressions.read(node), node)
        if not name.startswith("$") and name not in self.registers:
            self.unknown_variable(name)
            self.expressions.read(node)
            return ir.Store(variable_address(0), Const(0))
        number = self.register(name)
        if getattr(node, "type", "") == "NAME" and node in self.variables:
            return ir.Load(number, variable_address(self.numbers[str(node)]))
        return ir.Assign(number, self.expressions.read(node))

    def atomic_read_write(self, *parts: Node) -> tuple[ir.Op, ...]:
        name = cast("Token", parts[0])
        old, new = (self.expressions.read(node) for node in parts[1:])
        if name not in self.variables:
            self.unknown_variable(name)
            return ()
        scratch, store = self.builder.scratch(0), self.store(name, new, parts[2])
        swap = ir.Rmw(scratch, store.address, "compare_exchange", store.value, old)
        return swap, ir.Assume(Binary("==", Register(scratch), old))

    def store(self, name: Token, value: Expr, node: Node) -> ir.Store:
        domain, known = self.variables[str(name)].domain, fold(value)
        if isinstance(known, Const) and not domain.lo <= known.value <= domain.hi:
            message = f"{known.value} lies outside the range {domain.lo} to {domain.hi} of `{name}`"
            self.findings.report(Code.OUT_OF_RANGE, message, node, f"`{name}` cannot hold this")
        return ir.Store(variable_address(self.numbers[str(name)]), value)

    def value(self, name: Token) -> Expr:
        """What `name` means inside an expression."""
        if name in self.variables:
            hint = (
                f"did you mean the register `${name}`?" if name in self.registers else f"read it before: `$r = {name}`"
            )
            message = f"shared variable `{name}` inside an expression"
            self.findings.report(Code.TYPE_MISMATCH, message, name, "only registers may stand here", hint)
            return Const(0)
        return Register(self.register(name))

    def register(self, name: Token) -> int:
        known = self.registers.get(name.removeprefix("$"))
        if known is not None:
            return known
        spelled = f"${name.removeprefix('$')}"
        hint = did_you_mean(spelled, [f"${register}" for register in self.registers], f"declare it: `regs {spelled}`")
        message = f"process `{self.text.name}` has no register `{name}`"
        self.findings.report(Code.UNKNOWN_REGISTER, message, name, "not declared", hint)
        return 0

    def unknown_variable(self, name: Token) -> None:
        if name in self.registers:
            message = f"`{name}` is a register, not a shared variable"
            self.findings.report(Code.TYPE_MISMATCH, message, name, "a shared variable must stand here")
            return
        hint = did_you_mean(name, [*self.variables], f"declare it: `vars {name}`")
        self.findings.report(Code.UNKNOWN_VARIABLE, f"unknown shared variable `{name}`", name, "not declared", hint)


def _property(source: SourceText, program: ir.Program, token: Token) -> ir.Property:
    from memfence.program.text.properties import parse_expression

    keyword = "forbid" if token.startswith("forbid") else "invariant"
    condition = token.removeprefix(keyword)
    text = condition.strip()
    start = (token.start_pos or 0) + len(token) - len(condition.lstrip())
    try:
        expr = parse_expression(text, program, keyword)
    except InputError as error:
        raise InputError([_moved(d, source, start) for d in error.diagnostics]) from None
    return ir.Forbidden(expr, text) if keyword == "forbid" else ir.Invariant(expr, text)


def _moved(diagnostic: Diagnostic, source: SourceText, by: int) -> Diagnostic:
    """A finding about a part of `source` that starts at offset `by`, as a finding about the whole."""

    def moved(label: Label) -> Label:
        return Label(source.span(label.span.start + by, label.span.end + by), label.text)

    return replace(diagnostic, at=moved(diagnostic.at), related=tuple(map(moved, diagnostic.related)))
