"""The condition of a litmus test: `exists`, `~exists`, `forall` or `final ... with`, and `locations`.

Precedence, as in herd: `not`, `=>`, `/\\`, `\\/`; `=>` associates to the right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NoReturn, assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.herd.dialect import Dialect
from memfence.frontends.herd.layout import Piece, fail
from memfence.frontends.herd.numbers import read_number
from memfence.frontends.herd.syntax import Atom, Condition, Junction, Not, Observed, Proposition, Quantifier, Truth
from memfence.records import Record
from memfence.source import Span

DEEPEST = 100

_TOKEN = re.compile(
    r"\s+|(?P<block><<.*?>>)|(?P<op>/\\|\\/|=>|==|!=|<>|[=~()\[\];:])|(?P<number>-?(?:0[xX][0-9a-fA-F]+|\d+)(?!\w))"
    r"|(?P<word>[A-Za-z_%$.][\w.]*)|(?P<bad>.)",
    re.DOTALL,
)


class _Token(Record):
    kind: str
    text: str
    span: Span


def read_condition(piece: Piece, threads: int, dialect: Dialect) -> Condition:
    """The condition at the end of a test; InputError if it cannot be understood."""
    return _Reader(piece, threads, dialect).read()


class _Reader:
    def __init__(self, piece: Piece, threads: int, dialect: Dialect) -> None:
        source, start = piece.span.source, piece.span.start
        self.threads = threads
        self.dialect = dialect
        self.errors: list[Diagnostic] = []
        self.tokens = [
            _Token(found.lastgroup, found[0], source.span(start + found.start(), start + found.end()))
            for found in _TOKEN.finditer(piece.text)
            if found.lastgroup is not None and found.lastgroup != "block"
        ]
        end = source.span(max(0, piece.span.end - 1), max(1, piece.span.end))
        self.tokens.append(_Token("end", "", end))
        self.position = 0
        self.depth = 0

    @property
    def next(self) -> _Token:
        return self.tokens[self.position]

    def accept(self, *texts: str) -> _Token | None:
        token = self.next
        if token.kind != "end" and token.text in texts:
            self.position += 1
            return token
        return None

    def expect(self, text: str, hint: str | None = None) -> _Token:
        return self.accept(text) or self.unexpected(f"`{text}`", hint)

    def unexpected(self, expected: str, hint: str | None = None) -> NoReturn:
        token = self.next
        if token.kind == "end":
            fail(token.span, "the condition ends too early", hint or f"expected {expected}")
        usual = {"&": "write `/\\` for and", "|": "write `\\/` for or"}.get(token.text)
        fail(token.span, f"unexpected `{token.text}` in the condition", usual or hint or f"expected {expected}")

    def read(self) -> Condition:
        locations: list[Observed] = []
        while self.accept("locations"):
            self.expect("[")
            while not self.accept("]"):
                locations.append(self.observed())
                if not self.accept(";") and self.next.text != "]":
                    self.unexpected("`;` or `]`")
        if self.next.text == "filter":
            what, hint = "a `filter` on final states is not supported", "add it to the condition"
            raise InputError([Diagnostic(Code.UNSUPPORTED, what, Label(self.next.span), hint=hint)])
        quantifier, is_final = self.quantifier()
        proposition = self.disjunction()
        while self.accept(";"):
            pass
        if is_final and self.accept("with"):
            quantifier = self.branches()
        if self.next.kind != "end":
            self.unexpected("the end of the test")
        if self.errors:
            raise InputError(self.errors)
        return Condition(quantifier, proposition, tuple(locations))

    def quantifier(self) -> tuple[Quantifier, bool]:
        if self.accept("forall"):
            return "forall", False
        if self.accept("final"):
            return "exists", True
        if self.accept("~"):
            self.expect("exists")
            return "not exists", False
        if not self.accept("exists"):
            self.unexpected("`exists`, `~exists` or `forall`", "end the test with `exists (...)`")
        return "exists", False

    def branches(self) -> Quantifier:
        """What `with` says for `tso`, else by `default`, else `exists`."""
        chosen: dict[str, Quantifier] = {}
        while self.next.kind == "word":
            model = self.next.text
            self.position += 1
            self.expect(":")
            chosen[model], _ = self.quantifier()
            while self.accept(";"):
                pass
        return chosen.get("tso", chosen.get("default", "exists"))

    def disjunction(self) -> Proposition:
        return self.joined("\\/", lambda: self.joined("/\\", self.implication))

    def joined(self, op: Literal["/\\", "\\/"], operand: Callable[[], Proposition]) -> Proposition:
        operands = [operand()]
        while self.accept(op):
            operands.append(operand())
        return operands[0] if len(operands) == 1 else Junction(op, tuple(operands))

    def implication(self) -> Proposition:
        left = self.unary()
        return Junction("=>", (left, self.nested(self.implication))) if self.accept("=>") else left

    def unary(self) -> Proposition:
        if self.accept("not", "~"):
            return Not(self.nested(self.unary))
        if self.accept("true", "false"):
            return Truth(self.tokens[self.position - 1].text == "true")
        if opened := self.accept("("):
            inner = self.nested(self.disjunction)
            if not self.accept(")"):
                if self.next.kind == "end":
                    fail(opened.span, "this `(` is never closed", "write `)`")
                self.unexpected("`)`")
            return inner
        return self.atom()

    def nested(self, operand: Callable[[], Proposition]) -> Proposition:
        self.depth += 1
        if self.depth > DEEPEST:
            what = f"the condition is nested more than {DEEPEST} deep"
            raise InputError([Diagnostic(Code.TOO_DEEP, what, Label(self.next.span))])
        result = operand()
        self.depth -= 1
        return result

    def atom(self) -> Proposition:
        what = self.observed()
        relation = self.accept("=", "==", "!=", "<>") or self.unexpected("`=`")
        token = self.next
        if token.kind == "word":
            message = f"comparing with the address `{token.text}` is not supported"
            raise InputError([Diagnostic(Code.UNSUPPORTED, message, Label(token.span), hint="compare with a number")])
        value = read_number(token.text, token.span, self.errors) if token.kind == "number" else None
        if value is None:
            self.unexpected("a number")
        self.position += 1
        return Atom(what, relation.text in ("=", "=="), value)

    def observed(self) -> Observed:
        first = self.next
        if self.accept("["):
            name = self.word("the name of a memory location")
            self.expect("]")
            return Observed(None, name.text, None, name.span)
        if first.kind == "number" or (first.kind == "word" and self.tokens[self.position + 1].text == ":"):
            return self.register()
        name = self.word(f"a register such as `{self.dialect.register_example}` or a memory location")
        return Observed(None, name.text, None, name.span)

    def word(self, expected: str) -> _Token:
        token = self.next
        if token.kind != "word" or not re.match(r"[A-Za-z_]\w*\Z", token.text):
            self.unexpected(expected)
        self.position += 1
        return token

    def register(self) -> Observed:
        owner = self.next
        digits = owner.text.removeprefix("P")
        if not digits.isascii() or not digits.isdigit() or len(digits) > 6:
            self.unexpected("the number of a thread")
        self.position += 1
        self.expect(":")
        name = self.next
        number = self.dialect.register_number(name.text)
        if number is None:
            self.unexpected("a register", f"registers are {self.dialect.register_list}")
        self.position += 1
        span = owner.span.source.span(owner.span.start, name.span.end)
        if int(digits) >= self.threads:
            hint = f"the threads are P0 to P{self.threads - 1}"
            what = f"there is no thread `{owner.text}`"
            self.errors.append(Diagnostic(Code.UNKNOWN_PROCESS, what, Label(owner.span), hint=hint))
        return Observed(int(digits), name.text, number, span)


def atoms_of(proposition: Proposition) -> list[Observed]:
    """The registers and locations in the proposition, in the order of the text."""
    match proposition:
        case Atom(what):
            return [what]
        case Truth():
            return []
        case Not(operand):
            return atoms_of(operand)
        case Junction(_, operands):
            return [what for operand in operands for what in atoms_of(operand)]
        case _:
            assert_never(proposition)
