"""From a cat text to a `Cat`: functions put in place, includes read, names bound, and kinds of expressions known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from importlib.resources import files
from typing import Literal, assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label, did_you_mean
from memfence.models.cat.parser import parse_statements
from memfence.models.cat.polarity import occurrences
from memfence.models.cat.pruning import pruned
from memfence.models.cat.syntax import Axiom, Base, Binary, Cat, CatExpr, Definition, Kind, Named, Unary, extent
from memfence.models.cat.vocabulary import RELATIONS, SETS
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
from memfence.records import Record
from memfence.source import SourceText, Span

NAME_PARTS = "name parts of it with `let`"
PRELUDE = "stdlib.cat"
"""Read before every text: relations that all models know."""

MOST_NODES = 20_000
DEEPEST = 120


class _Function(Record):
    """`known`: what names mean where it was defined."""

    binding: Binding
    parameters: tuple[Name, ...]
    known: Mapping[str, _Meaning] = field(compare=False)


_Meaning = CatExpr | _Function


def parse(source: SourceText) -> Cat:
    """The model that the text describes; InputError with everything that is wrong with it."""
    reader = _Reader()
    reader.read(parse_statements(library_text(PRELUDE))[1])
    title, statements = parse_statements(source)
    reader.read(statements)
    if not reader.errors and not reader.axioms:
        reader.report(Code.SYNTAX, "a model without a check allows everything", source.span(0, 1), "checks nothing")
    if reader.errors:
        raise InputError(reader.errors)
    return pruned(Cat(title, tuple(reader.definitions), tuple(reader.axioms), source))


def library_names() -> list[str]:
    """The files that a text may include."""
    found = files("memfence.models.cat").joinpath("library").iterdir()
    return sorted(entry.name for entry in found if entry.name.endswith(".cat"))


def library_text(name: str) -> SourceText:
    """The text of one file of the library."""
    path = files("memfence.models.cat").joinpath("library", name)
    return SourceText(name, path.read_text(encoding="utf-8"))


class _Reader:
    def __init__(self) -> None:
        self.definitions: list[Definition] = []
        self.axioms: list[Axiom] = []
        self.errors: list[Diagnostic] = []
        self.known: dict[str, _Meaning] = {
            **{name: Base(name, "set") for name in SETS},
            **{name: Base(name, "relation") for name in RELATIONS},
        }
        self.groups = 0
        self.level = 0

    def report(self, code: Code, message: str, span: Span, label: str = "", hint: str | None = None) -> None:
        self.errors.append(Diagnostic(code, message, Label(span, label), hint=hint))

    # Statements.

    def read(self, statements: list[Statement]) -> None:
        for statement in statements:
            match statement:
                case Let(recursive=False):
                    self.let(statement)
                case Let():
                    self.let_recursive(statement)
                case Test():
                    self.test(statement)
                case Include():
                    self.include(statement)
                case _:
                    assert_never(statement)

    def include(self, statement: Include) -> None:
        if statement.path in library_names():
            self.read(parse_statements(library_text(statement.path))[1])
            return
        message = f"`{statement.path}` is not a file of memfence's library"
        hint = did_you_mean(statement.path, library_names(), f"there are {', '.join(library_names())}")
        self.report(Code.UNSUPPORTED, message, statement.span, "cannot be included", hint)

    def let(self, statement: Let) -> None:
        """All names of one `let` mean something only behind it."""
        found = {binding.name.text: self.bound(binding) for binding in statement.bindings}
        self.known |= found

    def bound(self, binding: Binding) -> _Meaning:
        if binding.parameters is not None:
            return _Function(binding, binding.parameters, dict(self.known))
        body = self.resolve(binding.body, self.known)
        self.definitions.append(Definition(binding.name.text, body, span=binding.name.span))
        return Named(len(self.definitions) - 1, body.kind)

    def let_recursive(self, statement: Let) -> None:
        bindings = statement.bindings
        if any(binding.parameters is not None for binding in bindings):
            self.report(Code.UNSUPPORTED, "memfence does not read recursive functions", statement.span, "a function")
            return
        first, kinds = len(self.definitions), self.recursive_kinds(bindings)
        self.known |= self.recursive_names(bindings, kinds)
        for binding in bindings:
            body = self.resolve(binding.body, self.known)
            self.definitions.append(Definition(binding.name.text, body, self.groups, binding.name.span))
        self.groups += 1
        self.require_growing(first)

    def recursive_names(self, bindings: tuple[Binding, ...], kinds: list[Kind]) -> dict[str, _Meaning]:
        first = len(self.definitions)
        return {b.name.text: Named(first + n, kind) for n, (b, kind) in enumerate(zip(bindings, kinds, strict=True))}

    def recursive_kinds(self, bindings: tuple[Binding, ...]) -> list[Kind]:
        """Relations, but for those whose body is a set whatever the others are."""
        kinds: list[Kind] = ["relation"] * len(bindings)
        kept = list(self.errors)
        for _ in bindings:
            known = self.known | self.recursive_names(bindings, kinds)
            kinds = [self.resolve(binding.body, known).kind for binding in bindings]
        self.errors = kept
        return kinds

    def require_growing(self, first: int) -> None:
        """A definition that is not monotone has no least fixpoint."""
        group = range(first, len(self.definitions))
        for number in group:
            for found in occurrences(self.definitions[number].body):
                if found.negative and isinstance(found.node, Named) and found.node.definition in group:
                    name = self.definitions[found.node.definition].name
                    message = f"`{name}` is taken away from its own recursive definition"
                    hint = "use it on the left of `\\` only, and not below `~`"
                    self.report(Code.NOT_MONOTONE, message, found.node.span, "here", hint)

    def test(self, statement: Test) -> None:
        wanted: Kind | None = None if statement.kind == "empty" else "relation"
        body = self.resolve(statement.body, self.known, wanted)
        self.axioms.append(
            Axiom(statement.kind, body, statement.name, statement.negated, statement.is_flag, statement.span)
        )

    # Expressions.

    def resolve(self, expr: Written, known: Mapping[str, _Meaning], wanted: Kind | None = None) -> CatExpr:
        """The expression with its names bound; what is not of the `wanted` kind is reported."""
        self.level += 1
        if self.level > DEEPEST:
            raise too_deep(expr.span)
        found = self.meaning(expr, known, wanted)
        self.level -= 1
        if wanted is not None and found.kind != wanted:
            message = f"`{shortened(expr.span.text)}` is a {found.kind}, where a {wanted} is needed"
            hint = "`[S]` is the identity on a set" if wanted == "relation" else "`domain(r)` and `range(r)` are sets"
            self.report(Code.TYPE_MISMATCH, message, expr.span, f"a {found.kind}", hint)
            return Base("emptyset", wanted, expr.span)
        return found

    def meaning(self, expr: Written, known: Mapping[str, _Meaning], wanted: Kind | None) -> CatExpr:
        match expr:
            case Nothing(span):
                return Base("emptyset", wanted or "relation", span)
            case Name():
                return self.name(expr, known, wanted)
            case Call():
                return self.call(expr, known, wanted)
            case Prefixed("~", operand, span):
                inner = self.resolve(operand, known, wanted)
                return Unary("~", inner, inner.kind, span)
            case Prefixed("[]", operand, span):
                return Unary("[]", self.resolve(operand, known, "set"), "relation", span)
            case Prefixed(op, operand, span):
                kind: Kind = "set" if op in ("domain", "range") else "relation"
                return Unary(op, self.resolve(operand, known, "relation"), kind, span)
            case Infix(";" | "*" as op, left, right, span):
                parts: Kind = "relation" if op == ";" else "set"
                operands = (self.resolve(left, known, parts), self.resolve(right, known, parts))
                return Binary(op, *operands, "relation", span)
            case Infix(op, left, right, span):
                return self.alike(op, left, right, known, wanted, span)
            case _:
                assert_never(expr)

    def alike(
        self,
        op: Literal["|", "&", "\\", ";", "*"],
        left: Written,
        right: Written,
        known: Mapping[str, _Meaning],
        wanted: Kind | None,
        span: Span,
    ) -> CatExpr:
        """An operator between two sets or two relations."""
        if isinstance(left, Nothing):
            second = self.resolve(right, known, wanted)
            return Binary(op, self.resolve(left, known, second.kind), second, second.kind, span)
        first = self.resolve(left, known, wanted)
        return Binary(op, first, self.resolve(right, known, first.kind), first.kind, span)

    def name(self, name: Name, known: Mapping[str, _Meaning], wanted: Kind | None) -> CatExpr:
        found = known.get(name.text)
        if found is None:
            self.unknown(name, [text for text, meaning in known.items() if not isinstance(meaning, _Function)])
        elif isinstance(found, _Function):
            message = f"`{name.text}` is a function"
            hint = f"write `{name.text}({', '.join(p.text for p in found.parameters)})`"
            self.report(Code.TYPE_MISMATCH, message, name.span, "without its arguments", hint)
        else:
            return replace(found, span=name.span)
        return Base("emptyset", wanted or "relation", name.span)

    def unknown(self, name: Name, there_are: list[str]) -> None:
        message = f"`{name.text}` is neither defined above nor known to every model"
        self.report(Code.UNKNOWN_RELATION, message, name.span, "not known", did_you_mean(name.text, there_are))

    def call(self, call: Call, known: Mapping[str, _Meaning], wanted: Kind | None) -> CatExpr:
        function = known.get(call.function.text)
        nothing = Base("emptyset", wanted or "relation", call.span)
        if function is None:
            self.unknown(call.function, [name for name, f in known.items() if isinstance(f, _Function)])
            return nothing
        if not isinstance(function, _Function):
            message = f"`{call.function.text}` is a {function.kind}, not a function"
            self.report(Code.TYPE_MISMATCH, message, call.function.span, "not a function")
            return nothing
        if len(call.arguments) != len(function.parameters):
            count = len(function.parameters)
            message = f"`{call.function.text}` takes {count} argument{'s' * (count != 1)}, not {len(call.arguments)}"
            self.report(Code.ARGUMENT_COUNT, message, call.span)
            return nothing
        return self.put_in_place(function, call, known, wanted)

    def put_in_place(
        self, function: _Function, call: Call, known: Mapping[str, _Meaning], wanted: Kind | None
    ) -> CatExpr:
        """The body of the function, its parameters meaning the arguments."""
        arguments = [self.resolve(argument, known) for argument in call.arguments]
        names = (parameter.text for parameter in function.parameters)
        meanings = {**function.known, **dict(zip(names, arguments, strict=True))}
        return replace(require_small(self.resolve(function.binding.body, meanings), call.span), span=call.span)


def require_small(expr: CatExpr, span: Span) -> CatExpr:
    """`expr`; InputError if it is too large or deep, now that arguments stand where parameters stood."""
    size, depth = extent(expr)
    if size > MOST_NODES:
        message = f"an expression has more than {MOST_NODES} parts once functions are put in place"
        raise InputError([Diagnostic(Code.TOO_LARGE, message, Label(span, "too large"), hint=NAME_PARTS)])
    if depth > DEEPEST:
        raise too_deep(span)
    return expr


def too_deep(span: Span) -> InputError:
    message = "an expression is nested too deeply"
    return InputError([Diagnostic(Code.TOO_DEEP, message, Label(span, "from here on"), hint=NAME_PARTS)])


def shortened(text: str) -> str:
    """`text` in one line that is not too long for a message."""
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:37]}..."
