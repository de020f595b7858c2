"""Where a reader of C stands among the words, and how it complains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.clitmus.tokens import Token
from memfence.frontends.herd.layout import fail
from memfence.source import Span

DEEPEST = 60


class Cursor:
    """A place in a list of words, the last of which is of kind `end`."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.position = 0
        self.depth = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.position]

    def look(self, ahead: int) -> Token:
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.next
        self.position = min(self.position + 1, len(self.tokens) - 1)
        return token

    def accept(self, *texts: str) -> Token | None:
        return self.take() if self.next.kind != "end" and self.next.text in texts else None

    def expect(self, text: str, hint: str | None = None) -> Token:
        return self.accept(text) or self.unexpected(f"`{text}`", hint)

    def unexpected(self, expected: str, hint: str | None = None) -> NoReturn:
        token = self.next
        if token.kind == "end":
            fail(token.span, "the thread ends too early", hint or f"expected {expected}")
        fail(token.span, f"unexpected `{token.text}`", hint or f"expected {expected}")

    def enter(self) -> None:
        """Go one level deeper; whoever does so leaves by `depth -= 1`."""
        self.depth += 1
        if self.depth > DEEPEST:
            too_deep(self.next.span)

    def since(self, first: Span) -> Span:
        """From `first` up to what was taken last."""
        return first.source.span(first.start, self.tokens[max(0, self.position - 1)].span.end)


def too_deep(span: Span) -> NoReturn:
    what = f"this is nested more than {DEEPEST} deep"
    raise InputError([Diagnostic(Code.TOO_DEEP, what, Label(span))])


def unsupported(span: Span, message: str, hint: str | None = None) -> NoReturn:
    raise InputError([Diagnostic(Code.UNSUPPORTED, message, Label(span), hint=hint)])
