"""From the statements of one RMM process to the IR, built backwards: every statement knows where control goes next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label, did_you_mean
from memfence.frontends.parsing.labels import Labels
from memfence.frontends.parsing.syntax import FenceHere, Goto, Name
from memfence.frontends.rmm import syntax
from memfence.frontends.rmm.expressions import Translator, bounds_of, within
from memfence.frontends.rmm.memory import Memory, domain_of
from memfence.frontends.rmm.reader import Reader
from memfence.passes.liveness import default_value
from memfence.passes.unset_registers import with_every_value
from memfence.program import expressions, ir
from memfence.program.builder import ProcessBuilder
from memfence.program.facts.effects import register_written, registers_read

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token


class ProcessLowering:
    """One process; mistakes go to the reader's errors."""

    def __init__(self, reader: Reader, text: syntax.ProcessText, number: int, count: int, memory: Memory) -> None:
        self.reader = reader
        self.text = text
        self.number = number
        self.memory = memory
        self.builder = ProcessBuilder(f"P{number}", text.template, text.span)
        self.registers: dict[str, int] = {}
        self.labels = Labels(reader, self.builder)
        self.locked_depth = 0
        self.translator = Translator(reader, number, count, self._register_of)

    def lower(self) -> ir.Process:
        for declaration in self.text.registers:
            if declaration.name.text in self.registers:
                what = f"the register `{declaration.name.text}` is declared twice"
                before = Label(self.builder.registers[self.registers[declaration.name.text]].span, "first here")
                self.reader.errors.append(Diagnostic(Code.DUPLICATE, what, Label(declaration.name.span), (before,)))
            domain = domain_of(declaration)
            init = (default_value(domain) if declaration.initial is None else declaration.initial,)
            number = self.builder.register(declaration.name.text, domain, init, declaration.name.span)
            self.registers[declaration.name.text] = number
        labelled = (statement.labels for statement in _every_statement(self.text.statements))
        self.labels.place(labelled, "defined twice in one process")
        end = self.builder.location("end")
        initial = self._list(self.text.statements, end)
        return self._with_initial_values(self.builder.build(initial))

    def _with_initial_values(self, process: ir.Process) -> ir.Process:
        """`*` in a register that is written before it is read is one value for now; otherwise all of its domain."""
        live = live_at_start(process)
        for declaration in self.text.registers:
            if declaration.initial is not None:
                continue
            number = self.registers[declaration.name.text]
            unset = replace(process.registers[number], unset=process.registers[number].domain)
            try:
                self.builder.registers[number] = with_every_value(unset) if number in live else unset
            except InputError as error:
                self.reader.errors += error.diagnostics
        return self.builder.build(process.initial)

    def _register_of(self, token: Token) -> int:
        return self._register(self.reader.name(token))

    def _register(self, name: Name) -> int:
        if name.text in self.registers:
            return self.registers[name.text]
        hint = did_you_mean(name.text, list(self.registers), f"declare it with `registers {name.text} = 0`")
        self.reader.report(Code.UNKNOWN_REGISTER, f"unknown register `{name.text}`", name.span, hint)
        self.registers[name.text] = self.builder.register(name.text)
        return self.registers[name.text]

    def _list(self, statements: Sequence[syntax.Statement], target: int) -> int:
        """Lower a list that ends at `target`; return where it starts."""
        for position in range(len(statements) - 1, -1, -1):
            before = statements[position - 1] if position else None
            target = self._statement(statements[position], target, before)
        return target

    def _statement(self, statement: syntax.Statement, target: int, before: syntax.Statement | None = None) -> int:
        """Lower one statement; return the location before it. A `goto` without label needs none of its own."""
        if statement.labels:
            here = self.labels.locations[statement.labels[0].text]
            if isinstance(statement.body, syntax.While):
                self._loop(statement.body, here, target, statement)
            else:
                self._start(statement, here, target)
            return here
        if isinstance(statement.body, Goto):
            return self.labels.target(statement.body.label)
        if isinstance(statement.body, syntax.Block):
            return self._list(statement.body.statements, target)
        if isinstance(statement.body, syntax.While):
            here = self.builder.location(span=statement.span)
            self._loop(statement.body, here, target, statement)
            return here
        here = self.builder.location(span=statement.span, point=self._point_before(statement, before))
        self._start(statement, here, target)
        return here

    def _start(self, statement: syntax.Statement, here: int, target: int) -> None:
        """Let the statement start at `here`, which other alternatives may share."""
        body = statement.body
        match body:
            case syntax.If(condition, then, otherwise):
                test = self.translator.condition(condition)
                self.builder.emit(here, self._statement(then, target), ir.Assume(test), span=statement.span)
                rest = self._statement(otherwise, target) if otherwise is not None else target
                self.builder.emit(here, rest, ir.Assume(expressions.negate(test)), span=statement.span)
            case syntax.While() | Goto():
                self.builder.emit(here, self._unlabelled(statement, target), span=statement.span)
            case syntax.Either(alternatives):
                for alternative in alternatives:
                    self._alternative(alternative, here, target)
            case syntax.Locked(alternatives):
                self._locked(statement, alternatives, here, target)
            case syntax.Block(statements):
                self._alternative(statements, here, target)
            case _:
                ops, locked = self._ops(body)
                point = self._point_after(statement)
                self.builder.emit(here, target, *ops, locked=locked, span=statement.span, point=point)

    def _unlabelled(self, statement: syntax.Statement, target: int) -> int:
        body = statement.body
        if isinstance(body, Goto):
            return self.labels.target(body.label)
        assert isinstance(body, syntax.While)
        head = self.builder.location(span=statement.span)
        self._loop(body, head, target, statement)
        return head

    def _alternative(self, statements: Sequence[syntax.Statement], here: int, target: int) -> None:
        first, rest = statements[0], self._list(statements[1:], target)
        if first.labels:
            self.builder.emit(here, self._statement(first, rest), span=first.span)
        else:
            self._start(first, here, rest)

    def _loop(self, loop: syntax.While, here: int, target: int, statement: syntax.Statement) -> None:
        test = self.translator.condition(loop.condition)
        self.builder.emit(here, self._statement(loop.body, here), ir.Assume(test), span=statement.span)
        self.builder.emit(here, target, ir.Assume(expressions.negate(test)), span=statement.span)

    def _locked(
        self, statement: syntax.Statement, alternatives: Sequence[Sequence[syntax.Statement]], here: int, target: int
    ) -> None:
        if self.locked_depth:
            self.reader.report(Code.UNBALANCED_LOCK, "`locked` inside `locked`", statement.span, "remove the inner one")
        for inner in (s for alternative in alternatives for s in _every_statement(alternative)):
            if inner.labels:
                what = f"the label `{inner.labels[0].text}` stands inside `locked`, which is one step"
                self.reader.report(Code.UNSUPPORTED, what, inner.labels[0].span, "put the label before `locked`")
            if isinstance(inner.body, Goto):
                what = "`goto` inside `locked`: the lock would never be released"
                self.reader.report(Code.UNBALANCED_LOCK, what, inner.span, "jump after the block")
        self.locked_depth += 1
        inside = self.builder.location(span=statement.span)
        outside = self.builder.location(span=statement.span)
        for alternative in alternatives:
            self._alternative(alternative, inside, outside)
        self.locked_depth -= 1
        self.builder.emit(here, inside, ir.Lock(), span=statement.span)
        self.builder.emit(outside, target, ir.Unlock(), span=statement.span, point=self._point_after(statement))

    def _ops(self, body: syntax.Body) -> tuple[list[ir.Op], bool]:
        """What a simple statement does, and whether it is locked."""
        assert isinstance(body, syntax.Simple)
        registers = self.builder.registers
        match body:
            case syntax.Nop():
                return [], False
            case FenceHere(kind):
                return [ir.Fence(kind)], False
            case syntax.AssumeHere(condition):
                return [ir.Assume(self.translator.condition(condition))], False
            case syntax.SetRegister(name, value):
                number = self._register(name)
                expr = self.translator.number(value)
                return [*_assume(within(expr, registers[number].domain, registers)), ir.Assign(number, expr)], False
            case syntax.ReadCheck(place, value):
                expr = self.translator.number(value)
                scratch = self.builder.scratch(0)
                checks, address = self._address(place)
                return [
                    *checks,
                    ir.Load(scratch, address),
                    ir.Assume(expressions.Binary("==", expressions.Register(scratch), expr)),
                ], False
            case syntax.ReadInto(name, place):
                return self._read(self._register(name), place), False
            case syntax.Write(place, value, locked):
                expr = self.translator.number(value)
                checks, address = self._address(place)
                return [*checks, *self._fits(address, expr), ir.Store(address, expr)], locked
            case syntax.Cas(place, old, new):
                expected, expr = self.translator.number(old), self.translator.number(new)
                checks, address = self._address(place)
                scratch = self.builder.scratch(0)
                swap = ir.Rmw(scratch, address, "compare_exchange", expr, expected)
                success = ir.Assume(expressions.Binary("==", expressions.Register(scratch), expected))
                return [*checks, *self._fits(address, expr), swap, success], False
            case _:
                assert_never(body)

    def _read(self, register: int, place: syntax.MemoryCell) -> list[ir.Op]:
        """Load into a register; blocks where the value does not fit."""
        checks, address = self._address(place)
        domain = self.builder.registers[register].domain
        sources = [v.domain for v in self.memory.variables[address.base : address.base + address.size]]
        unchecked = domain.overflow == "undeclared" or all(
            s.overflow != "undeclared" and domain.lo <= s.lo and s.hi <= domain.hi for s in sources
        )
        if unchecked:
            return [*checks, ir.Load(register, address)]
        scratch = self.builder.scratch(0)
        fits = within(expressions.Register(scratch), domain, self.builder.registers)
        return [*checks, ir.Load(scratch, address), *_assume(fits), ir.Assign(register, expressions.Register(scratch))]

    def _fits(self, address: expressions.Address, value: expressions.Expr) -> list[ir.Op]:
        """Block where the value does not lie in the domain of the variable that is written."""
        checks: list[expressions.Expr] = []
        for offset, variable in enumerate(self.memory.variables[address.base : address.base + address.size]):
            check = within(value, variable.domain, self.builder.registers)
            if check is not None:
                elsewhere = expressions.Binary("!=", address.index, expressions.Const(offset))
                checks.append(check if address.size == 1 else expressions.disjunction(elsewhere, check))
        return _assume(expressions.conjunction(*checks) if checks else None)

    def _address(self, place: syntax.MemoryCell) -> tuple[list[ir.Op], expressions.Address]:
        """The address of a place, and what must hold for it to exist."""
        if place.kind != "pointer":
            return [], expressions.variable_address(self.memory.find(place, self.number, self.translator))
        assert place.address is not None
        expr = self.translator.number(place.address)
        bounds = bounds_of(expr, self.builder.registers)
        last = len(self.memory.variables) - 1
        known = expressions.fold(expr)
        if last < 0 or (bounds is not None and (bounds[1] < 0 or bounds[0] > last)):
            what = f"the address `{place.name.span.text}` lies outside the memory: there are {last + 1} variables"
            self.reader.report(Code.BAD_ADDRESS, what, place.name.span)
            return [], expressions.variable_address(0)
        if isinstance(known, expressions.Const):
            return [], expressions.variable_address(known.value)
        lo = max(0, bounds[0]) if bounds else 0
        hi = min(last, bounds[1]) if bounds else last
        checks: list[expressions.Expr] = []
        if bounds is None or bounds[0] < lo:
            checks.append(expressions.Binary("<=", expressions.Const(lo), expr))
        if bounds is None or bounds[1] > hi:
            checks.append(expressions.Binary("<=", expr, expressions.Const(hi)))
        index = expressions.Binary("-", expr, expressions.Const(lo)) if lo else expr
        return _assume(expressions.conjunction(*checks) if checks else None), expressions.Address(
            lo, hi - lo + 1, index
        )

    def _point(self, key: str, statement: syntax.Statement, after: str) -> ir.FencePoint | None:
        """Instances of one process text share a point; so do all processes for what a macro's body says."""
        if self.locked_depth:
            return None
        template = f"macro {statement.macro}" if statement.macro else self.text.template
        return ir.FencePoint(template, key, statement.span, after)

    def _point_after(self, statement: syntax.Statement) -> ir.FencePoint | None:
        how = "after" if statement.listed else "wrap"
        words = " ".join(statement.span.text.split())
        return self._point(f"{how} {statement.start} {statement.end}", statement, words)

    def _point_before(self, statement: syntax.Statement, before: syntax.Statement | None) -> ir.FencePoint | None:
        """Where several ways join: after a compound statement, in front of the next."""
        if before is None or not isinstance(before.body, syntax.If | syntax.While | syntax.Either | syntax.Block):
            return None
        between = self.reader.expansion.source.text[before.end : statement.start]
        if before.macro != statement.macro or not before.end < statement.start or "macro" in between:
            return None
        return self._point(f"before {statement.start} {statement.end}", statement, "the statement before this one")


def _assume(condition: expressions.Expr | None) -> list[ir.Op]:
    return [] if condition is None else [ir.Assume(condition)]


def _every_statement(statements: Sequence[syntax.Statement]) -> Iterator[syntax.Statement]:
    for statement in statements:
        yield statement
        match statement.body:
            case syntax.If(_, then, otherwise):
                yield from _every_statement([then] if otherwise is None else [then, otherwise])
            case syntax.While(_, body):
                yield from _every_statement([body])
            case syntax.Either(alternatives) | syntax.Locked(alternatives):
                for alternative in alternatives:
                    yield from _every_statement(alternative)
            case syntax.Block(inner):
                yield from _every_statement(inner)
            case _:
                pass


def live_at_start(process: ir.Process) -> frozenset[int]:
    """The registers that may be read before they are written."""
    live: dict[int, frozenset[int]] = dict.fromkeys(range(len(process.locations)), frozenset())
    changed = True
    while changed:
        changed = False
        for transition in process.transitions:
            needed = live[transition.target]
            for op in reversed(transition.ops):
                written = register_written(op)
                needed = (needed - {written} if written is not None else needed) | registers_read(op)
            if not needed <= live[transition.source]:
                live[transition.source] |= needed
                changed = True
    return live[process.initial]
