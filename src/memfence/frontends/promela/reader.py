"""From tokens to syntax: runs the grammar and builds the tree; operator precedence is decided here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar, cast

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label, did_you_mean
from memfence.frontends.parsing.grammar import UnexpectedAt, load_grammar, syntax_error
from memfence.frontends.parsing.nodes import Token as Leaf
from memfence.frontends.parsing.nodes import Tree as Node
from memfence.frontends.parsing.precedence import climb
from memfence.frontends.promela import syntax
from memfence.frontends.promela.syntax import Sequence as Steps
from memfence.frontends.promela.tokens import KEYWORDS, NAME, READABLE, Token
from memfence.program.expressions import BinaryOp, UnaryOp
from memfence.source import SourceText, Span

T = TypeVar("T")
MOST_OPERANDS = 100
LARGEST = 2**31 - 1
_LEVELS = (
    ("<->",), ("->",), ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"),
    ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
PRECEDENCE = {op: level for level, ops in enumerate(_LEVELS) for op in ops}


def read_units(source: SourceText, tokens: Sequence[Token]) -> list[syntax.Unit]:
    """The declarations of a whole model."""
    reader = _Reader(source, tokens)
    return reader.finish([reader.unit(child) for child in _nodes(reader.parse("start"))])


def read_expression(source: SourceText, tokens: Sequence[Token]) -> syntax.Expression:
    """One expression, such as the body of a property."""
    reader = _Reader(source, tokens)
    return reader.finish(reader.expression(reader.parse("expr")))


class _Reader:
    def __init__(self, source: SourceText, tokens: Sequence[Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.errors: list[Diagnostic] = []

    def parse(self, start: str) -> Node:
        try:
            return load_grammar("promela").tree_of(self.tokens, start)
        except UnexpectedAt as error:
            raise self.syntax_error(error.number, error.expected) from None

    def syntax_error(self, number: int | None, expected: set[str]) -> InputError:
        if number is None:
            last = self.tokens[-1].span if self.tokens else self.source.span(0, 1)
            return syntax_error(last.source, last.start, 1, "the text ends too early", expected, READABLE)
        token = self.tokens[number]
        message = f"unexpected `{token.text}`"
        near = did_you_mean(token.text, sorted(kind.lower() for kind in expected & set(KEYWORDS.values())))
        if token.kind == NAME and near is not None:
            return InputError([Diagnostic(Code.SYNTAX, message, Label(token.span, "not expected here"), hint=near)])
        return syntax_error(token.span.source, token.span.start, len(token.span.text), message, expected, READABLE)

    def finish(self, result: T) -> T:
        if self.errors:
            raise InputError(self.errors)
        return result

    # Places

    def range(self, node: Node) -> tuple[int, int]:
        return node.start_pos, node.end_pos

    def span(self, node: Node) -> Span:
        """Where the node takes effect; in an `inline` it is called what stands there with the arguments put in."""
        first, last = self.range(node)
        place = _from_to(self.tokens[first].place, self.tokens[last - 1].place)
        start = self.tokens[first]
        if not start.frame or node.data not in _SHOWN_IN_INLINES:
            return place
        return replace(place, shown=f"{joined(self.tokens[first:last])} ({start.owner}, line {start.call})")

    def exact_span(self, node: Node) -> Span:
        """Where the node is written, for messages."""
        first, last = self.range(node)
        return _from_to(self.tokens[first].span, self.tokens[last - 1].span)

    def name(self, token: Leaf) -> syntax.Name:
        original = self.tokens[token.start_pos]
        return syntax.Name(original.text, original.span, original.frame)

    def text_place(self, labelled: Node, node: Node) -> syntax.TextPlace | None:
        """Where text around a statement could be written; None in a file that is not the one to edit."""
        start, end = self.range(labelled)
        outer, first, last = self.tokens[start], self.tokens[self.range(node)[0]], self.tokens[end - 1]
        if any(token.place.source is not self.source for token in (outer, first, last)):
            return None
        following = self.tokens[end] if end < len(self.tokens) else None
        before = start > 0 and not _overlap(self.tokens[start - 1].place, outer.place)
        after = following is not None and not _overlap(last.place, following.place)
        behind, separator = last.place.end, ";"
        if following is not None and following.kind in ("SEMI", "ARROW"):
            behind, separator = following.place.end, ""
            after = after and following.place.source is self.source and following.place.start >= last.place.end
        return syntax.TextPlace(
            outer.place.start, first.place.start, behind, separator, before, after, first.owner
        )  # fmt: skip

    # Declarations

    def unit(self, node: Node) -> syntax.Unit:
        match node.data:
            case "mtype":
                return syntax.Mtype(tuple(self.name(token) for token in _tokens(node, "NAME")))
            case "declaration":
                return self.declaration(node)
            case "typedef":
                fields = _nodes(_child(node, "parameters"))
                return syntax.Typedef(
                    self.name(_tokens(node, "NAME")[0]), tuple(self.declaration(field) for field in fields)
                )
            case "init":
                return syntax.Init(self.body(_child(node, "body")), self.exact_span(node))
            case "never":
                named = [self.name(token) for token in _tokens(node, "NAME")]
                keyword = syntax.Name("never", self.exact_span(node))
                return syntax.Never(named[0] if named else keyword, self.body(_child(node, "body")))
            case _:
                return self.proctype(node)

    def proctype(self, node: Node) -> syntax.Proctype:
        parts = {str(child.data): child for child in _nodes(node)}
        declarations = tuple(self.declaration(child) for child in _nodes(parts.get("parameters")))
        sizes = _nodes(parts.get("active"))
        any_number = bool(sizes) and sizes[0].data == "any_number"
        count: syntax.Expression | int | None = 1 if "active" in parts else None
        if sizes and not any_number:
            count = self.expression(sizes[0])
        return syntax.Proctype(
            self.name(_tokens(node, "NAME")[0]), declarations, self.body(parts["body"]), count, any_number
        )

    def declaration(self, node: Node) -> syntax.Declaration:
        kind = cast(Leaf, node.children[0])
        return syntax.Declaration(str(kind), tuple(self.item(child) for child in _nodes(node)))

    def item(self, node: Node) -> syntax.Declared:
        parts = {str(child.data): child for child in _nodes(node)}
        width = self.integer(_tokens(parts["width"], "NUMBER")[0]) if "width" in parts else None
        size = self.expression(_nodes(parts["size"])[0]) if "size" in parts else None
        values: tuple[syntax.Expression, ...] | None = None
        if "initial" in parts:
            values = tuple(self.expression(child) for child in _nodes(parts["initial"]))
        return syntax.Declared(self.name(_tokens(node, "NAME")[0]), width, size, values)

    def integer(self, token: Leaf, most: int = LARGEST) -> int:
        digits = str(token)
        value = int(digits) if len(digits) <= 10 else most + 1
        if value > most:
            self.too_large(token, "the number does not fit into 32 bits")
            return 0
        return value

    def too_large(self, token: Leaf, message: str) -> None:
        self.errors.append(Diagnostic(Code.TOO_LARGE, message, Label(self.tokens[token.start_pos].span)))

    # Statements

    def body(self, node: Node) -> Steps:
        return Steps(self.steps(_child(node, "sequence")))

    def steps(self, node: Node) -> tuple[syntax.Step, ...]:
        return tuple(self.step(child) for child in _nodes(node))

    def step(self, node: Node) -> syntax.Step:
        *labels, inner = _nodes(node)
        names = tuple(self.name(_tokens(label, "NAME")[0]) for label in labels)
        return syntax.Step(self.statement(inner), self.span(inner), names, self.text_place(node, inner))

    def options(self, node: Node) -> tuple[tuple[syntax.Step, ...], ...]:
        options = []
        for child in _nodes(node):
            steps = self.steps(_child(child, "sequence"))
            if not steps:
                label = Label(self.exact_span(child), "no statement follows")
                self.errors.append(Diagnostic(Code.SYNTAX, "the option `::` is empty", label, hint="write `:: skip`"))
            options.append(steps)
        return tuple(options)

    def statement(self, node: Node) -> syntax.Statement:
        match node.data:
            case "declaration":
                return self.declaration(node)
            case "assignment":
                target, value = _nodes(node)
                return syntax.Assignment(self.reference(target), self.expression(value))
            case "step":
                counter = self.reference(_nodes(node)[0])
                op: BinaryOp = "+" if _tokens(node, "INCDEC")[0] == "++" else "-"
                return syntax.Assignment(
                    counter, syntax.BinaryOperation(op, counter, syntax.Number(1, counter.span), counter.span)
                )
            case "condition":
                return syntax.Condition(self.expression(_nodes(node)[0]))
            case "assert":
                return syntax.Assertion(self.expression(_nodes(node)[0]))
            case "goto":
                return syntax.Goto(self.name(_tokens(node, "NAME")[0]))
            case "break":
                return syntax.Break()
            case "else":
                return syntax.Else()
            case "skip" | "print":
                return syntax.Skip()
            case "call":
                arguments = len(self.arguments(node))
                return syntax.Call(self.name(_tokens(node, "NAME")[0]), arguments)
            case "select":
                target, low, high = _nodes(node)
                return syntax.Select(self.reference(target), self.expression(low), self.expression(high))
            case _:
                return self.compound(node)

    def compound(self, node: Node) -> syntax.Statement:
        match node.data:
            case "atomic":
                keyword = self.tokens[self.range(node)[0]]
                return syntax.Atomic(self.body(_child(node, "body")), keyword.place, keyword.kind == "D_STEP")
            case "block":
                return self.body(_child(node, "body"))
            case "if":
                return syntax.If(self.options(node))
            case "do":
                return syntax.Do(self.options(node))
            case _:
                target, bounds, body = _nodes(node)
                if bounds.data == "within":
                    return syntax.ForIn(self.reference(target), self.name(_tokens(bounds, "NAME")[0]), self.body(body))
                low, high = (self.bound(child) for child in _nodes(bounds))
                return syntax.For(self.reference(target), low, high, self.body(body))

    def bound(self, node: Node) -> syntax.Expression:
        """A bound of `for`, which runs show in the words of the loop, not of the macros in it."""
        value, (first, last) = self.expression(node), self.range(node)
        written = " ".join(self.span(node).text.split())
        words = joined(self.tokens[first:last]) if self.tokens[first].frame else written
        return replace(value, span=replace(value.span, shown=words))

    # Expressions

    def arguments(self, node: Node) -> tuple[syntax.Expression, ...]:
        return tuple(self.expression(expr) for child in _nodes(node) for expr in _nodes(child))

    def reference(self, node: Node) -> syntax.Reference:
        parts = _nodes(node)
        names = [self.name(_tokens(part, "NAME")[0]) for part in parts]
        path = replace(names[0], text=".".join(name.text for name in names))
        indices = (self.expression(index[0]) if (index := _nodes(part)) else None for part in parts)
        return syntax.Reference(path, tuple(indices), self.exact_span(node))

    def expression(self, node: Node) -> syntax.Expression:
        """Precedence climbing over the flat list of operands and operators."""
        operands = node.children[::2]
        operators = cast(list[Leaf], node.children[1::2])
        if len(operands) > MOST_OPERANDS:
            label = Label(self.exact_span(node))
            message = f"more than {MOST_OPERANDS} operands in one expression"
            self.errors.append(Diagnostic(Code.TOO_DEEP, message, label, hint="split it with parentheses"))
            return syntax.Number(0, label.span)
        signs = [str(operator) for operator in operators]

        def join(left: syntax.Expression, number: int, right: syntax.Expression) -> syntax.Expression:
            return _joined_by(signs[number], left, right)

        read = [self.operand(cast(Node, operand)) for operand in operands]
        return climb(read, signs, PRECEDENCE, join, right_associative=frozenset({"->"}))

    def operand(self, node: Node) -> syntax.Expression:
        prefixes: list[Node] = []
        while node.data == "unary":  # not recursive, since `!!!!...` may be long
            prefixes.append(node)
            node = _nodes(node)[0]
        value = self.atom(node, negated=bool(prefixes) and prefixes[-1].children[0] == "-")
        if len(prefixes) > MOST_OPERANDS:
            self.errors.append(Diagnostic(Code.TOO_DEEP, "too many prefix operators", Label(self.exact_span(node))))
            return value
        for prefix in reversed(prefixes):
            op = cast(UnaryOp, str(prefix.children[0]))
            value = syntax.UnaryOperation(op, value, self.exact_span(prefix))
        return value

    def atom(self, node: Node, *, negated: bool = False) -> syntax.Expression:
        span = self.exact_span(node)
        match node.data:
            case "number":
                # There is one more negative number than positive ones.
                return syntax.Number(self.integer(_tokens(node, "NUMBER")[0], LARGEST + negated), span)
            case "true" | "false":
                return syntax.Number(int(node.data == "true"), span)
            case "pid":
                return syntax.Pid(span)
            case "running":
                return syntax.RunningCount(span)
            case "np":
                return syntax.NoProgress(span)
            case "timeout":
                return syntax.Timeout(span)
            case "empty":
                index = _nodes(node)
                owner = self.name(_tokens(node, "NAME")[0])
                return syntax.EmptyBuffer(owner, self.expression(index[0]) if index else None, span)
            case "varref":
                return self.reference(node)
            case "group":
                return self.expression(_nodes(node)[0])
            case "conditional":
                condition, then, otherwise = (self.expression(child) for child in _nodes(node))
                return syntax.Choice(condition, then, otherwise, span)
            case "run":
                return syntax.Run(self.name(_tokens(node, "NAME")[0]), self.arguments(node), span)
            case "at":
                proctype, label = _tokens(node, "NAME")
                index = _nodes(node)
                pid = self.expression(index[0]) if index else None
                return syntax.LabelReference(self.name(proctype), pid, self.name(label), span)
            case _:
                *index, variable = _nodes(node)
                pid = self.expression(index[0]) if index else None
                return syntax.LocalReference(self.name(_tokens(node, "NAME")[0]), pid, self.reference(variable), span)


_SHOWN_IN_INLINES = frozenset({"assignment", "step", "condition", "assert", "call", "select", "print", "atomic"})


def joined(tokens: Sequence[Token]) -> str:
    """The tokens as a person would write them on one line."""
    text = ""
    for before, token in pairwise([None, *tokens]):
        assert token is not None
        is_tight = token.text in _NO_SPACE_BEFORE or before is None or before.text in _NO_SPACE_AFTER
        is_call = token.text in ("(", "[") and before is not None and before.kind in (NAME, "ASSERT", "PRINTF")
        text += token.text if is_tight or is_call else f" {token.text}"
    return text


_NO_SPACE_BEFORE = frozenset({";", ",", ")", "]", "++", "--", "[", ":", "."})
_NO_SPACE_AFTER = frozenset({"(", "[", "!", "~", "."})


def _joined_by(operator: str, left: syntax.Expression, right: syntax.Expression) -> syntax.Expression:
    span = _from_to(left.span, right.span)
    match operator:
        case "->":
            return syntax.BinaryOperation("||", _negated(left), right, span)
        case "<->":
            return syntax.BinaryOperation("==", _negated(left), _negated(right), span)
        case _:
            return syntax.BinaryOperation(cast(BinaryOp, operator), left, right, span)


def _negated(value: syntax.Expression) -> syntax.Expression:
    return syntax.UnaryOperation("!", value, value.span)


def _nodes(node: Node | None) -> list[Node]:
    return [child for child in node.children if isinstance(child, Node)] if node is not None else []


def _tokens(node: Node, kind: str) -> list[Leaf]:
    return [child for child in node.children if isinstance(child, Leaf) and child.type == kind]


def _child(node: Node, data: str) -> Node:
    return next(child for child in _nodes(node) if child.data == data)


def _from_to(first: Span, last: Span) -> Span:
    same = first.source is last.source and first.start <= last.end
    return first.source.span(first.start, last.end) if same else first


def _overlap(a: Span, b: Span) -> bool:
    return a.source is b.source and a.start < b.end and b.start < a.end
