"""The words of property expressions, taken one by one; the first syntax error ends that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.program import expressions
from memfence.records import Record
from memfence.source import SourceText, Span

_TOKEN = re.compile(
    r"""(?P<number>\d\w*)|(?P<name>[A-Za-z_$][\w$]*)|(?P<quoted>"[^"\n]*")|(?P<space>\s+)"""
    r"""|(?P<op>->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^<>!~?:()\[\]@.\#])"""
)
_USUAL_MISTAKES = {"=": "==", "and": "&&", "or": "||", "not": "!", "\\": "&& or ||", ";": "&&", ",": "&&"}


class Token(Record):
    kind: str
    text: str
    span: Span

    @property
    def name(self) -> str:
        return self.text[1:-1] if self.kind == "quoted" else self.text


class Tokens:
    """What is still to be read of `source`, and the mistakes found so far."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.errors: list[Diagnostic] = []
        self.tokens = list(self.tokenize())
        self.position = 0

    def tokenize(self) -> Iterator[Token]:
        offset, text = 0, self.source.text
        while offset < len(text):
            match = _TOKEN.match(text, offset)
            if match is None:
                self.fail(f"unexpected character `{text[offset]}`", self.source.span(offset, offset + 1))
            if match.lastgroup != "space":
                yield Token(match.lastgroup or "", match[0], self.source.span(match.start(), match.end()))
            offset = match.end()
        yield Token("end", "", self.source.span(max(0, len(text) - 1), len(text)))

    # Tokens

    @property
    def next(self) -> Token:
        return self.tokens[self.position]

    def take(self) -> Token:
        token = self.next
        self.position += token.kind != "end"
        return token

    def accept(self, *texts: str) -> Token | None:
        return self.take() if self.next.kind == "op" and self.next.text in texts else None

    def expect(self, text: str) -> Token:
        return self.accept(text) or self.unexpected(f"`{text}`")

    def unexpected(self, wanted: str) -> NoReturn:
        token = self.next
        what = "the expression ends too early" if token.kind == "end" else f"unexpected `{token.text}`"
        near = _USUAL_MISTAKES.get(token.text)
        self.fail(what, token.span, f"did you mean `{near}`?" if near else f"expected {wanted}")

    def fail(self, message: str, span: Span, hint: str | None = None, code: Code = Code.BAD_PROPERTY) -> NoReturn:
        near = _USUAL_MISTAKES.get(span.text)
        hint = hint or (f"did you mean `{near}`?" if near else None)
        raise InputError([*self.errors, Diagnostic(code, message, Label(span), hint=hint)])

    def report(self, code: Code, message: str, span: Span, hint: str | None = None) -> expressions.Expr:
        self.errors.append(Diagnostic(code, message, Label(span), hint=hint))
        return expressions.FALSE
