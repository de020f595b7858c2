"""From a DVE text to its syntax nodes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.dve import syntax
from memfence.frontends.parsing.grammar import load_grammar, parse_text, span_of
from memfence.frontends.parsing.precedence import climb
from memfence.frontends.parsing.syntax import Name
from memfence.records import Record
from memfence.source import SourceText, Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree

LARGEST_NUMBER = 2**31 - 1
DEEPEST_NESTING = 150

_READABLE = {
    "ID": "a name", "NAT": "a number", "TYPE": "`byte` or `int`", "COMPOSITION": "`async`", "CONST": "`const`",
    "DIRECTION": "`!` or `?`", "ATOMIC": "`/*@atomic*/`", "OTHER_ACCEPTANCE": "`rabin`", "EQUALITY": "`==`",
    "RELATION": "`<`", "SHIFT": "`<<`", "PRODUCT": "`*`", "PLUS": "`+`", "MINUS": "`-`", "TILDE": "`~`",
    "BITOR": "`|`", "BITXOR": "`^`", "BITAND": "`&`", "LBRACE": "`{`", "RBRACE": "`}`", "LSQB": "`[`", "RSQB": "`]`",
    "LPAR": "`(`", "RPAR": "`)`", "SEMICOLON": "`;`", "COMMA": "`,`", "COLON": "`:`", "EQUAL": "`=`", "DOT": "`.`",
    "__ANON_0": "`->`", "__ANON_1": "`=>`",
}  # fmt: skip

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|/\*", re.DOTALL)
_USUAL_MISTAKES = {
    "!": "negation is `not`; `!` sends to a channel",
    "=": "to compare write `==`, to assign use `effect`",
    "guard": "the order is `guard`, `sync`, `effect`",
    "sync": "the order is `guard`, `sync`, `effect`",
}
_SPELLINGS = {"||": "or", "&&": "and"}
_LEVELS = (
    ("imply",), ("or",), ("and",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"),
    ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_PRECEDENCE = {operator: level for level, operators in enumerate(_LEVELS) for operator in operators}


def read_model(source: SourceText) -> syntax.Model:
    """The syntax of `source`; InputError if it does not follow the grammar or uses what memfence does not support."""
    return _Reader(source).model(_parse(source, "start"))


def read_expression(source: SourceText) -> syntax.Expression:
    """The syntax of a text that is a single expression, as properties of DVE models are written."""
    reader = _Reader(source)
    expression = reader.checked_expression(_parse(source, "expr"))
    if reader.errors:
        raise InputError(reader.errors)
    return expression


def _parse(source: SourceText, start: str) -> Tree:
    for comment in _COMMENT.finditer(source.text):
        if comment[0] == "/*":
            at = Label(source.span(comment.start(), comment.end()), "opened here")
            raise InputError([Diagnostic(Code.SYNTAX, "the comment is never closed", at, hint="add `*/`")])
    try:
        return parse_text(load_grammar("dve"), source, _READABLE, start=start)
    except InputError as error:
        (found,) = error.diagnostics
        raise InputError([replace(found, hint=_USUAL_MISTAKES.get(found.at.span.text, found.hint))]) from None


class _Reader:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.errors: list[Diagnostic] = []
        self.notes: list[str] = []

    def refuse(self, code: Code, span: Span, message: str, label: str = "", hint: str | None = None) -> None:
        self.errors.append(Diagnostic(code, message, Label(span, label), hint=hint))

    def span(self, item: Any) -> Span:
        return span_of(self.source, item)

    def name(self, token: Token) -> Name:
        return Name(str(token), Span(self.source, token.start_pos, token.end_pos))

    def names(self, tokens: list[Any]) -> tuple[Name, ...]:
        return tuple(self.name(token) for token in tokens if token is not None)

    def number(self, token: Token) -> int:
        digits = str(token).lstrip("0") or "0"
        if len(digits) <= len(str(LARGEST_NUMBER)) and int(digits) <= LARGEST_NUMBER:
            return int(digits)
        shown = digits if len(digits) <= 24 else f"{digits[:20]}..."
        self.refuse(Code.TOO_LARGE, self.span(token), f"the number `{shown}` is too large", "more than 31 bits")
        return 0

    # Whole text

    def model(self, tree: Tree) -> syntax.Model:
        declarations: list[syntax.Declaration] = []
        channels: list[syntax.Channel] = []
        processes: list[syntax.ProcessText] = []
        of: Name | None = None
        for part in cast("list[Tree]", tree.children):
            match part.data:
                case "variables":
                    declarations += self.variables(part)
                case "untyped_channels" | "typed_channels":
                    channels += self.channels(part)
                case "process":
                    processes.append(self.process(part))
                case _:
                    of = self.system(part)
        if self.errors:
            raise InputError(sorted(self.errors, key=lambda d: d.at.span.start))
        return syntax.Model(tuple(declarations), tuple(channels), tuple(processes), of, tuple(self.notes))

    def system(self, tree: Tree) -> Name | None:
        composition, of = cast("list[Token]", tree.children)
        if composition == "sync":
            hint = "write `system async;` if the processes may take turns"
            what = "`system sync` lets all processes step together, which memfence does not support"
            self.refuse(Code.UNSUPPORTED, self.span(composition), what, "not supported", hint)
        return None if of is None else self.name(of)

    def variables(self, tree: Tree) -> list[syntax.Declaration]:
        constant, kind, *declared = cast("list[Any]", tree.children)
        return [self.declaration(part, cast(syntax.ValueType, str(kind)), constant is not None) for part in declared]

    def declaration(self, tree: Tree, kind: syntax.ValueType, constant: bool) -> syntax.Declaration:
        name, size, initial = cast("list[Any]", tree.children)
        if initial is None:
            values: list[Any] = []
        else:
            values = initial.children if initial.data == "elements" else [initial]
        count = None if size is None else self.number(size.children[0])
        read = tuple(self.checked_expression(value) for value in values)
        return syntax.Declaration(self.name(name), kind, count, read, constant, self.span(tree))

    def channels(self, tree: Tree) -> list[syntax.Channel]:
        if tree.data == "untyped_channels":
            return [syntax.Channel(name, None, 0) for name in self.names(tree.children)]
        types, *declared = cast("list[Tree]", tree.children)
        carried = cast("tuple[syntax.ValueType, ...]", tuple(str(kind) for kind in types.children))
        pairs = [cast("list[Token]", part.children) for part in declared]
        return [syntax.Channel(self.name(name), carried, self.number(capacity)) for name, capacity in pairs]

    # Processes

    def process(self, tree: Tree) -> syntax.ProcessText:
        name, *sections = cast("list[Any]", tree.children)
        by_kind: dict[str, list[Tree]] = {}
        for section in sections:
            by_kind.setdefault(section.data, []).append(section)
        for kind in ("states", "init", "commit", "accept_states", "accept_sets", "assertions", "transitions"):
            for again in by_kind.get(kind, [])[1:]:
                keyword = self.span(again).text.split()[0]
                what = f"process `{name}` has a second `{keyword}` section"
                self.refuse(Code.DUPLICATE, self.span(again), what, hint="put both into one section")

        def children(kind: str) -> list[Any]:
            return [child for section in by_kind.get(kind, ()) for child in section.children]

        for section in by_kind.get("accept_other", []):
            what = f"`{section.children[0]}` acceptance is not supported"
            self.refuse(Code.UNSUPPORTED, self.span(section), what, "", "use `accept` or `accept genbuchi`")
        initial = children("init")
        accepting = [self.names(section.children) for section in by_kind.get("accept_states", [])]
        accepting += [self.names(group.children) for group in children("accept_sets")]
        return syntax.ProcessText(
            self.name(name),
            tuple(d for section in by_kind.get("variables", ()) for d in self.variables(section)),
            self.names(children("states")),
            self.name(initial[0]) if initial else None,
            self.names(children("commit")),
            tuple(accepting),
            tuple(self.assertion(part) for part in children("assertions")),
            tuple(step for part in children("transitions") if (step := self.step(part)) is not None),
            self.span(name),
        )

    def assertion(self, tree: Tree) -> syntax.Assertion:
        state, condition = cast("list[Any]", tree.children)
        return syntax.Assertion(self.name(state), self.checked_expression(condition))

    def step(self, tree: Tree) -> syntax.Step | None:
        if tree.data == "probabilistic":
            hint = "write one `->` transition for each outcome"
            what = "probabilistic transitions are not supported"
            self.refuse(Code.UNSUPPORTED, self.span(tree), what, "not supported", hint)
            return None
        source, target, guard, sync, effect = cast("list[Any]", tree.children)
        return syntax.Step(
            None if source is None else self.name(source),
            self.name(target),
            None if guard is None else self.checked_expression(guard.children[0]),
            None if sync is None else self.synchronisation(sync),
            () if effect is None else tuple(self.assignment(part) for part in effect.children),
            self.span(tree),
        )

    def synchronisation(self, tree: Tree) -> syntax.Synchronisation:
        channel, direction, atomic, message = cast("list[Any]", tree.children)
        values = () if message is None else tuple(self.checked_expression(value) for value in message.children)
        return syntax.Synchronisation(self.name(channel), direction == "!", values, atomic is not None, self.span(tree))

    def assignment(self, tree: Tree) -> syntax.Assignment:
        atomic, name, index, value = cast("list[Any]", tree.children)
        end = self.span(name).end if index is None else self.source.text.index("]", self.span(index).end) + 1
        span = self.source.span(self.span(name).start, end)
        at = None if index is None else self.checked_expression(index)
        target = syntax.Variable(self.name(name), at, None, span)
        return syntax.Assignment(target, self.checked_expression(value), atomic is not None, self.span(tree))

    # Expressions

    def checked_expression(self, tree: Tree) -> syntax.Expression:
        """The expression; every later stage may recurse over it, so its depth is limited here."""
        return self.expression(tree, 0)

    def expression(self, tree: Tree, depth: int) -> syntax.Expression:
        span = self.span(tree)
        if depth > DEEPEST_NESTING:
            what = f"the expression is nested more than {DEEPEST_NESTING} levels deep"
            error = Diagnostic(Code.TOO_DEEP, what, Label(span, "too deep"), hint="split the expression")
            raise InputError([*self.errors, error])
        children: list[Any] = tree.children
        match tree.data:
            case "number":
                return syntax.Number(self.number(children[0]), span)
            case "truth":
                return syntax.Number(int(children[0] == "true"), span)
            case "variable":
                return syntax.Variable(self.name(children[0]), None, None, span)
            case "element":
                return syntax.Variable(self.name(children[0]), self.expression(children[1], depth + 1), None, span)
            case "foreign":
                index = None if children[2] is None else self.expression(children[2], depth + 1)
                return syntax.Variable(self.name(children[1]), index, self.name(children[0]), span)
            case "in_state":
                return syntax.InState(self.name(children[0]), self.name(children[1]), span)
            case "group":
                return self.expression(children[0], depth + 1)
            case "prefix":
                return syntax.Prefix(
                    cast(syntax.PrefixOperator, str(children[0])), self.expression(children[1], depth + 1), span
                )
            case _:
                return self.chain(children, depth)

    def chain(self, children: list[Any], depth: int) -> syntax.Expression:
        """Operands with operators between them."""
        signs = children[1::2]
        operators = [_SPELLINGS.get(sign, str(sign)) for sign in signs]
        operands = [_Operand(self.expression(tree, depth + len(signs)), self.span(tree)) for tree in children[::2]]

        def join(left: _Operand, number: int, right: _Operand) -> _Operand:
            span = self.source.span(left.span.start, right.span.end)
            if right.sign is not None and (operators[number], _SPELLINGS.get(right.sign, right.sign)) in _DOUBTFUL:
                what = f"`{right.sign}` is taken to bind tighter than `{signs[number]}`, as in C"
                self.notes.append(f"line {span.line}: {what}")
            operator = cast(syntax.InfixOperator, operators[number])
            return _Operand(syntax.Infix(operator, left.value, right.value, span), span, str(signs[number]))

        return climb(operands, operators, _PRECEDENCE, join).value


class _Operand(Record):
    """A part of a chain, with its parentheses; `sign`: the operator that joined it, if it is not one operand."""

    value: syntax.Expression
    span: Span
    sign: str | None = None


# DiVinE 2 gives these the same precedence, so that `a or b and c` is `(a or b) and c` there.
_DOUBTFUL = {("or", "and"), ("|", "&"), ("|", "^"), ("^", "&")}
