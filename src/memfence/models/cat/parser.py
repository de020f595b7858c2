"""The grammar of cat texts, by recursive descent: statements and expressions as they are written, no name looked up.

Operators bind as in herd, from weak to strong: `|`, `;`, `\\`, `&`, then `A * B`, `~`, and those behind their operand.
A `*` is the product of two sets where an operand follows, and else a closure.
"""

from __future__ import annotations

from typing import Literal, NoReturn

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.models.cat.lexer import Token, tokens
from memfence.models.cat.syntax import BinaryOp, CheckKind, UnaryOp
from memfence.models.cat.written import (
    Binding,
    Call,
    Include,
    Infix,
    Let,
    Name,
    Nothing,
    Prefixed,
    Statement,
    Test,
    Written,
)
from memfence.source import SourceText, Span

MOST_NESTED = 40
"""Brackets within brackets."""

LONGEST_CHAIN = 100
"""Operators in a row."""


KINDS: dict[str, CheckKind] = {"acyclic": "acyclic", "irreflexive": "irreflexive", "empty": "empty"}
IN_PLACE: tuple[Literal["domain", "range"], ...] = ("domain", "range")
UNSUPPORTED = (
    "procedure", "call", "forall", "match", "enum", "instructions", "default", "requires", "debug", "try", "with",
    "if", "fun", "in", "withco", "withoutco", "withinit", "withoutinit", "withsc", "withoutsc", "undefined_unless",
    "assert", "from", "then", "else", "end", "yield", "variant",
)  # fmt: skip
KEYWORDS = {"let", "rec", "and", "as", "flag", "show", "unshow", "include", *KINDS, *UNSUPPORTED}
LEVELS: tuple[tuple[BinaryOp, ...], ...] = (("|",), (";",), ("\\",), ("&",))


def parse_statements(source: SourceText) -> tuple[str, list[Statement]]:
    """The title and the statements of a cat text; InputError where it does not follow the grammar."""
    return _Parser(tokens(source)).text()


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.at = 0
        self.depth = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.next
        self.at += token.kind != "end"
        return token

    def sees(self, *texts: str) -> bool:
        return self.next.kind in ("symbol", "name") and self.next.text in texts

    def takes(self, text: str) -> bool:
        """Whether this comes next; if so, it is taken."""
        return self.sees(text) and bool(self.take())

    def expect(self, text: str) -> Token:
        return self.take() if self.sees(text) else self.refuse(f"`{text}`")

    def span_from(self, start: Span) -> Span:
        """From `start` to the last token taken."""
        return start.source.span(start.start, max(start.end, self.tokens[self.at - 1].span.end))

    def refuse(self, expected: str) -> NoReturn:
        token = self.next
        if token.kind == "name" and token.text in UNSUPPORTED:
            self.refuse_construct(token.text, token.span)
        message = "the text ends too early" if token.kind == "end" else f"unexpected `{token.span.text}`"
        found = Diagnostic(Code.SYNTAX, message, Label(token.span, "not expected here"), hint=f"expected {expected}")
        raise InputError([found])

    def refuse_construct(self, name: str, span: Span) -> NoReturn:
        message = f"memfence does not read `{name}` in models"
        hint = "write the model with `let`, `let rec`, functions and checks"
        raise InputError([Diagnostic(Code.UNSUPPORTED, message, Label(span, "not supported"), hint=hint)])

    # Statements.

    def text(self) -> tuple[str, list[Statement]]:
        title = self.title()
        statements: list[Statement] = []
        while self.next.kind != "end":
            statement = self.statement()
            statements += [] if statement is None else [statement]
        return title, statements

    def title(self) -> str:
        """Herd's texts begin with the name of an architecture, a title, or both."""
        found = ""
        if self.next.kind == "name" and self.next.text not in KEYWORDS:
            found = self.take().text
        return self.take().text if self.next.kind == "string" else found

    def statement(self) -> Statement | None:
        token = self.next
        match token.text if token.kind == "name" else "":
            case "let":
                return self.let()
            case "include":
                self.take()
                path = self.take() if self.next.kind == "string" else self.refuse("the name of a file")
                return Include(path.text, path.span)
            case "show" | "unshow":
                self.shown()
            case "flag" | "acyclic" | "irreflexive" | "empty":
                return self.test()
            case _ if self.sees("~"):
                return self.test()
            case _:
                self.refuse("`let`, `acyclic`, `irreflexive`, `empty`, `flag` or `include`")
        return None

    def let(self) -> Let:
        start = self.take().span
        recursive = self.takes("rec")
        bindings = [self.binding()]
        while self.takes("and"):
            bindings.append(self.binding())
        return Let(tuple(bindings), recursive, self.span_from(start))

    def binding(self) -> Binding:
        name = self.name()
        parameters: tuple[Name, ...] | None = None
        if self.takes("("):
            parameters = self.names() if not self.sees(")") else ()
            self.expect(")")
        elif not self.sees("="):
            parameters = (self.name(),)
        self.expect("=")
        return Binding(name, parameters, self.expression())

    def names(self) -> tuple[Name, ...]:
        found = [self.name()]
        while self.takes(","):
            found.append(self.name())
        return tuple(found)

    def name(self) -> Name:
        if self.next.kind != "name" or self.next.text in KEYWORDS:
            self.refuse("a name")
        token = self.take()
        return Name(token.text, token.span)

    def test(self) -> Test:
        start = self.next.span
        is_flag = self.takes("flag")
        negated = self.takes("~")
        if not self.sees(*KINDS):
            self.refuse("`acyclic`, `irreflexive` or `empty`")
        kind = KINDS[self.take().text]
        body = self.expression()
        name = self.name().text if self.takes("as") else body.span.text
        return Test(kind, body, name, negated, is_flag, self.span_from(start))

    def shown(self) -> None:
        """What herd draws is read, and means nothing here."""
        self.take()
        while True:
            self.expression()
            if self.takes("as"):
                self.name()
            if not self.takes(","):
                return

    # Expressions.

    def expression(self) -> Written:
        self.depth += 1
        if self.depth > MOST_NESTED:
            self.refuse_depth(self.next.span)
        found = self.infix(0)
        self.depth -= 1
        return found

    def refuse_depth(self, span: Span) -> NoReturn:
        message = "an expression is nested too deeply"
        hint = "name parts of it with `let`"
        raise InputError([Diagnostic(Code.TOO_DEEP, message, Label(span, "from here on"), hint=hint)])

    def infix(self, level: int) -> Written:
        """Operands of operators that bind at least as strongly as those of `level`; all of them group to the left."""
        if level == len(LEVELS):
            return self.product()
        left = self.infix(level + 1)
        count = 0
        while self.sees(*LEVELS[level]):
            op = LEVELS[level][0]
            self.take()
            right = self.infix(level + 1)
            left = Infix(op, left, right, self.span_from(left.span))
            count += 1
            if count > LONGEST_CHAIN:
                self.refuse_depth(right.span)
        if self.sees("++"):
            self.refuse_construct("++", self.next.span)
        return left

    def product(self) -> Written:
        left = self.complement()
        if self.sees("*"):  # a closure would have taken it
            self.take()
            right = self.complement()
            return Infix("*", left, right, self.span_from(left.span))
        return left

    def complement(self) -> Written:
        start = self.next.span
        if not self.takes("~"):
            return self.closed()
        self.depth += 1
        if self.depth > MOST_NESTED:
            self.refuse_depth(start)
        operand = self.complement()
        self.depth -= 1
        return Prefixed("~", operand, self.span_from(start))

    def closed(self) -> Written:
        found = self.primary()
        count = 0
        while (op := self.closing()) is not None:
            self.take()
            found = Prefixed(op, found, self.span_from(found.span))
            count += 1
            if count > LONGEST_CHAIN:
                self.refuse_depth(found.span)
        return found

    def closing(self) -> UnaryOp | None:
        """The operator that stands behind an operand, if one comes next."""
        if self.sees("*") and self.begins_operand(self.tokens[self.at + 1]):
            return None
        ops: dict[str, UnaryOp] = {"*": "*", "+": "+", "?": "?", "^-1": "^-1"}
        return ops.get(self.next.text) if self.next.kind == "symbol" else None

    def begins_operand(self, token: Token) -> bool:
        if token.kind == "name":
            return token.text not in KEYWORDS
        return token.kind == "symbol" and token.text in ("(", "[", "~", "0", "{")

    def primary(self) -> Written:
        start = self.next.span
        if self.takes("("):
            found = self.expression()
            self.expect(")")
            return found
        if self.takes("["):
            inner = self.expression()
            self.expect("]")
            return Prefixed("[]", inner, self.span_from(start))
        if self.takes("0") or (self.takes("{") and self.expect("}")):
            return Nothing(self.span_from(start))
        if self.next.kind != "name" or self.next.text in KEYWORDS:
            self.refuse("a name, `(`, `[`, `~` or `0`")
        name = self.name()
        return self.application(name)

    def application(self, name: Name) -> Written:
        """A name by itself, or a function with arguments in brackets or one name behind it."""
        arguments: list[Written] = []
        if self.takes("("):
            arguments = [self.expression()] if not self.sees(")") else []
            while self.takes(","):
                arguments.append(self.expression())
            self.expect(")")
        elif self.next.kind == "name" and self.next.text not in KEYWORDS:
            arguments = [self.name()]
        else:
            return name
        span = self.span_from(name.span)
        for op in IN_PLACE:
            if name.text == op and len(arguments) == 1:
                return Prefixed(op, arguments[0], span)
        return Call(name, tuple(arguments), span)
