"""From the statements of one proctype to the IR, built backwards: every statement knows where control goes next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.frontends.parsing.labels import Labels
from memfence.frontends.parsing.syntax import FenceHere, Goto
from memfence.frontends.remmex import syntax
from memfence.frontends.remmex.expressions import SharedName, Translator
from memfence.frontends.remmex.reader import Reader
from memfence.program import ir
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Const

DOMAINS = {
    "int": ir.UNDECLARED,
    "short": ir.Domain(-(2**15), 2**15 - 1, "wrap"),
    "byte": ir.Domain(0, 255, "wrap"),
    "bit": ir.BIT,
    "bool": ir.BIT,
}


class ProcessLowering:
    """One process, called `name`; mistakes go to the reader's errors."""

    def __init__(self, reader: Reader, text: syntax.ProcessText, name: str, shared: Mapping[str, SharedName]) -> None:
        self.reader = reader
        self.text = text
        self.builder = ProcessBuilder(name, name, text.name.span)
        self.translator = Translator(reader, self.builder, shared)
        self.labels = Labels(reader, self.builder)
        self.exits: list[int] = []

    def lower(self) -> ir.Process:
        for declaration in self.text.locals:
            self._declare(declaration)
        self.labels.place([*(s.labels for s in _every_statement(self.text.statements)), self.text.trailing])
        trailing = [label.text for label in self.text.trailing]
        end = self.labels.locations[trailing[0]] if trailing else self.builder.location("end")
        return self.builder.build(self._sequence(self.text.statements, end))

    def _declare(self, declaration: syntax.Declaration) -> None:
        name = declaration.name
        if name.text in self.translator.locals:
            before = Label(self.builder.registers[self.translator.locals[name.text]].span, "first here")
            what = f"the local variable `{name.text}` is declared twice"
            self.reader.errors.append(Diagnostic(Code.DUPLICATE, what, Label(name.span), (before,)))
        elif declaration.size is not None:
            what = f"`{name.text}` is a local array"
            self.reader.report(Code.UNSUPPORTED, what, name.span, "declare one local variable per element")
        domain = DOMAINS[declaration.kind]
        check_initial(self.reader, declaration, domain)
        init = tuple(domain.fit(value) for value in declaration.initial[:1])
        self.translator.locals[name.text] = self.builder.register(name.text, domain, init, name.span)

    def _sequence(self, statements: Sequence[syntax.Statement], target: int) -> int:
        """Lower a sequence that ends at `target`; return where it starts."""
        for position in range(len(statements) - 1, -1, -1):
            before = statements[position - 1] if position else None
            target = self._statement(statements[position], target, before)
        return target

    def _statement(self, statement: syntax.Statement, target: int, before: syntax.Statement | None = None) -> int:
        """Lower one statement; return the location before it. Jumps without label need none of their own."""
        body = statement.body
        if statement.labels and statement.labels[0].text in self.labels.locations:
            here = self.labels.locations[statement.labels[0].text]
            if isinstance(body, syntax.Do):
                self._loop(body, here, target)
            else:
                self._start(statement, here, target)
            return here
        if isinstance(body, syntax.Break | Goto):
            return self._jump(statement)
        if isinstance(body, syntax.Block):
            return self._sequence(body.statements, target)
        joins = (
            before is not None
            and isinstance(before.body, syntax.If | syntax.Do | syntax.Block)
            and not isinstance(body, syntax.Do)
        )
        point = self._point_before(statement) if joins else None
        here = self.builder.location(span=statement.span, point=point)
        if isinstance(body, syntax.Do):
            self._loop(body, here, target)
        else:
            self._start(statement, here, target)
        return here

    def _start(self, statement: syntax.Statement, here: int, target: int) -> None:
        """Let the statement start at `here`, which other options may share."""
        body, span = statement.body, statement.span
        match body:
            case syntax.If(options):
                self._options(options, here, target)
            case syntax.Do():
                head = self.builder.location(span=span)
                self._loop(body, head, target)
                self.builder.emit(here, head, span=span)
            case syntax.Break() | Goto():
                self.builder.emit(here, self._jump(statement), span=span)
            case syntax.Block(statements):
                if statements:
                    self._option(statements, here, target, ())
                else:
                    self.builder.emit(here, target, span=span)
            case _:
                self.builder.emit(here, target, *self._ops(body), span=span, point=self._point_after(statement))

    def _loop(self, loop: syntax.Do, head: int, target: int) -> None:
        self.exits.append(target)
        self._options(loop.options, head, head)
        self.exits.pop()

    def _options(self, options: Sequence[Sequence[syntax.Statement]], here: int, target: int) -> None:
        for number, option in enumerate(options):
            others = [other[0] for position, other in enumerate(options) if position != number]
            self._option(option, here, target, others)

    def _option(
        self, statements: Sequence[syntax.Statement], here: int, target: int, others: Sequence[syntax.Statement]
    ) -> None:
        first, rest = statements[0], self._sequence(statements[1:], target)
        if isinstance(first.body, syntax.Else):
            ops = self._otherwise(first, others)
            self.builder.emit(here, rest, *ops, span=first.span, point=self._point_after(first))
        elif first.labels:
            self.builder.emit(here, self._statement(first, rest), span=first.span)
        else:
            self._start(first, here, rest)

    def _otherwise(self, statement: syntax.Statement, others: Sequence[syntax.Statement]) -> list[ir.Op]:
        """`else`: none of the other options can start."""
        guards = [other.body.condition for other in others if isinstance(other.body, syntax.Guard)]
        if len(guards) != len(others) or not guards:
            what = "this `else` can never start: another option always can" if others else "`else` is the only option"
            self.reader.report(Code.SYNTAX, what, statement.span, "begin the other options with a condition")
            return [ir.Assume(Const(0))]
        return self.translator.none_of(guards)

    def _jump(self, statement: syntax.Statement) -> int:
        body = statement.body
        if isinstance(body, syntax.Break):
            if self.exits:
                return self.exits[-1]
            self.reader.report(Code.SYNTAX, "`break` outside a `do` loop", statement.span)
            return 0
        assert isinstance(body, Goto)
        return self.labels.target(body.label)

    def _ops(self, body: syntax.Simple) -> list[ir.Op]:
        match body:
            case syntax.StoreTo(place, value):
                loads, expr = self.translator.value(value)
                if loads:
                    what = "a statement either loads or stores"
                    self.reader.report(Code.UNSUPPORTED, what, self.reader.span(value), "load into a local first")
                return [ir.Store(self.translator.address(place), expr)]
            case syntax.SetLocal(name, value):
                loads, expr = self.translator.value(value)
                return [*loads, ir.Assign(self.translator.local(name), expr)]
            case syntax.Guard(condition):
                return self.translator.condition(condition)
            case syntax.Check(condition):
                loads, expr = self.translator.value(condition)
                return [*loads, ir.Assert(expr)]
            case syntax.Skip():
                return []
            case FenceHere(kind):
                return [ir.Fence(kind)]
            case syntax.TakeLock():
                return [ir.Lock()]
            case syntax.ReleaseLock():
                return [ir.Unlock()]
            case syntax.Else():
                return []
            case _:
                assert_never(body)

    def _point_after(self, statement: syntax.Statement) -> ir.FencePoint | None:
        """A fence after a statement; not after LOCK, which waits for the buffer anyway."""
        if isinstance(statement.body, syntax.TakeLock):
            return None
        span = statement.span
        words = " ".join(span.text.split())
        return ir.FencePoint(self.builder.template, f"after {span.start} {span.end}", span, words)

    def _point_before(self, statement: syntax.Statement) -> ir.FencePoint:
        """Where several ways join: after a compound statement, in front of the next."""
        span = statement.span
        key = f"before {span.start} {span.end}"
        return ir.FencePoint(self.builder.template, key, span, "the statement before this one")


def check_initial(reader: Reader, declaration: syntax.Declaration, domain: ir.Domain) -> None:
    """Report initial values that the type cannot hold."""
    for value in declaration.initial:
        if not domain.lo <= value <= domain.hi:
            what = f"the initial value {value} of `{declaration.name.text}` does not fit into `{declaration.kind}`"
            reader.report(Code.OUT_OF_RANGE, what, declaration.name.span)


def _every_statement(statements: Sequence[syntax.Statement]) -> Iterator[syntax.Statement]:
    for statement in statements:
        yield statement
        match statement.body:
            case syntax.If(options) | syntax.Do(options):
                for option in options:
                    yield from _every_statement(option)
            case syntax.Block(inner):
                yield from _every_statement(inner)
            case _:
                pass
