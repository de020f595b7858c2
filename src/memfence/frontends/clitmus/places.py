"""The names of one thread: pointers to shared variables, and local variables."""

from __future__ import annotations

from collections.abc import Mapping

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label, did_you_mean
from memfence.frontends.clitmus import syntax
from memfence.frontends.parsing.syntax import Name
from memfence.program.builder import ProcessBuilder
from memfence.records import Record
from memfence.source import Span


class Pointee(Record):
    """What a parameter points to: `size` variables from number `base` on."""

    base: int
    size: int
    is_atomic: bool


class Names:
    """Local variables are registers, one a name: blocks that follow each other may declare the same name again."""

    def __init__(self, thread: syntax.ThreadText, places: Mapping[str, Pointee], errors: list[Diagnostic]) -> None:
        self.thread = thread
        self.places = places
        self.errors = errors
        self.builder = ProcessBuilder(thread.name.text, thread.name.text, thread.name.span)
        self.registers: dict[str, int] = {}
        self.truths: set[str] = set()
        self.open: list[dict[str, Span]] = [{}]
        self.temporaries = 0

    def declare(self, declaration: syntax.Declaration) -> int:
        """The register of a new local variable."""
        name = declaration.name
        before = next((scope[name.text] for scope in self.open if name.text in scope), None)
        if name.text in self.places:
            before = next(p.name.span for p in self.thread.parameters if p.name.text == name.text)
        if before is not None:
            first = Label(before, "first here")
            what = f"`{name.text}` is declared twice in {self.thread.name.text}"
            self.report(Code.DUPLICATE, what, name.span, "the condition knows local variables by their names", first)
        self.open[-1][name.text] = name.span
        (self.truths.add if declaration.is_truth else self.truths.discard)(name.text)
        if name.text not in self.registers:
            self.registers[name.text] = self.builder.register(name.text, span=name.span)
        return self.registers[name.text]

    def local(self, name: Name) -> int:
        """The register of a local variable; 0, and an error, if there is none of this name."""
        if any(name.text in scope for scope in self.open):
            return self.registers[name.text]
        if name.text in self.places:
            what = f"`{name.text}` is a pointer: using it as a value is not supported"
            self.report(Code.UNSUPPORTED, what, name.span, f"write `*{name.text}` for what it points to")
            return 0
        known = [*(text for scope in self.open for text in scope), *self.places]
        hint = did_you_mean(name.text, known, f"declare it with `int {name.text};`, or as a parameter")
        self.report(Code.UNKNOWN_REGISTER, f"`{name.text}` is not declared", name.span, hint)
        return 0

    def temporary(self) -> int:
        """A register for a value on its way."""
        self.temporaries += 1
        return self.builder.register(f"%{self.temporaries}")

    def report(self, code: Code, message: str, span: Span, hint: str | None = None, *related: Label) -> None:
        self.errors.append(Diagnostic(code, message, Label(span), related, hint=hint))
