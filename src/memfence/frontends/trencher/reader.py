"""From a transition list to its syntax, checked as far as the text alone allows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.parsing.grammar import load_grammar, span_of
from memfence.frontends.parsing.limits import LARGEST, SMALLEST, first_too_deep, read_integer
from memfence.frontends.parsing.nodes import tokens_below
from memfence.frontends.parsing.recovery import LineStyle, parse_lines
from memfence.frontends.trencher.syntax import Item, Thread
from memfence.source import SourceText

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree

    Node = Token | Tree

READABLE = {"INT": "a number", "NAME": "a name", "REGISTER": "a register", "OPERATOR": "an operator", "NOT": "`!`"}
OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "&&", "||", "+", "-", "*", "&")
STYLE = LineStyle(
    statement=re.compile(r"\s*(transition|initial)\b"),
    comment=re.compile(r"#.*"),
    after_statement="END",
    hints={operator: f"operators come first: `{operator} a b`" for operator in OPERATORS}
    | {
        "=": "write `local r 1` to set a register, `== r 1` to compare",
        "//": "comments start with `#`",
        "fence": "write `mfence`",
        "cas": "write `lock`, `read`, `check`, `write` and `unlock`, each as one transition",
    },
)

MOST_MEMORY = 4096
MOST_COPIES = 64


class Reader:
    """Turns the parse tree into threads; collects what is wrong with them."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.errors: list[Diagnostic] = []
        self.memory_size: int | None = None
        self.threads: list[Thread] = []

    def report(self, code: Code, message: str, at: Node, label: str = "", hint: str | None = None) -> None:
        self.errors.append(Diagnostic(code, message, Label(span_of(self.source, at), label), (), hint))

    def read(self) -> None:
        tree = parse_lines(load_grammar("trencher"), self.source, READABLE, STYLE)
        sizes: list[Tree] = []
        names: dict[str, Token] = {}
        for part in cast("list[Tree]", tree.children):
            if part.data == "memory_size":
                sizes.append(part)
            else:
                self.read_thread(part, names)
        for again in sizes[1:]:
            self.report_twice("memory_size", again, sizes[0], "keep one of the two")
        if sizes:
            token = cast("Token", sizes[0].children[0])
            self.memory_size = self.number(token, 1, MOST_MEMORY, "the size of the memory")
        if not self.threads and not self.errors:
            hint = "write `thread NAME`, `initial STATE`, transitions and `end`"
            end = len(self.source.text.rstrip())
            at = Label(self.source.span(max(0, end - 1), end), "the text ends here")
            self.errors.append(Diagnostic(Code.NO_PROCESS, "the program has no `thread`", at, (), hint))

    def read_thread(self, tree: Tree, names: dict[str, Token]) -> None:
        name, copies, *parts = tree.children
        name = cast("Token", name)
        initials, transitions = _trees(parts, "initial"), _trees(parts, "transition")
        for again in initials[1:]:
            self.report_twice("initial", again, initials[0], "a thread starts in one state")
        if not initials:
            hint = "add `initial STATE` below it"
            self.report(Code.NO_INITIAL, f"thread `{name}` has no `initial` state", name, "where does it start?", hint)
        items = tuple(self.read_item(part) for part in transitions)
        initial = cast("Token", initials[0].children[0]) if initials else name
        number = 1
        if copies is not None:
            number = self.number(cast("Token", copies), 1, MOST_COPIES, "the number of copies")
        thread = Thread(name, number, initial, items, span_of(self.source, tree))
        for instance in thread.instances:
            if instance in names:
                self.report_twice(instance, name, names[instance], "give every thread its own name")
                break
            names[instance] = name
        self.threads.append(thread)

    def read_item(self, tree: Tree) -> Item:
        source, target, verb, *operands = tree.children
        for operand in operands:
            self.check_expression(operand)
        return Item(
            cast("Token", source), cast("Token", target), str(verb), tuple(operands), span_of(self.source, tree)
        )

    def check_expression(self, root: Node) -> None:
        """Report numbers that are too large and nesting that is too deep."""
        deep = first_too_deep(root)
        if deep is not None:
            hint = "compute parts of it with `local`"
            self.report(Code.TOO_DEEP, "an expression is nested too deeply", deep, "from here on", hint)
            return
        for token in tokens_below(root):
            if token.type == "INT":
                self.number(token, SMALLEST, LARGEST, "a number")

    def number(self, token: Token, least: int, most: int, what: str) -> int:
        """The value of `token`; reported, and replaced by `least`, if it is outside `least` .. `most`."""
        value = read_integer(token)
        if value > most:
            self.report(Code.TOO_LARGE, f"{what} must be at most {most}", token, "too large")
        elif value < least:
            self.report(Code.OUT_OF_RANGE, f"{what} must be at least {least}, not `{token}`", token, "too small")
        else:
            return value
        return least

    def raise_errors(self) -> None:
        """InputError with what was reported so far, in the order of the text; nothing if that is nothing."""
        if self.errors:
            raise InputError(sorted(dict.fromkeys(self.errors), key=lambda d: d.at.span.start))

    def report_twice(self, name: str, again: Node, first: Node, hint: str) -> None:
        places = Label(span_of(self.source, again), "again"), Label(span_of(self.source, first), "first")
        self.errors.append(Diagnostic(Code.DUPLICATE, f"`{name}` is given twice", places[0], places[1:], hint))


def _trees(parts: Sequence[Node | None], rule: str) -> list[Tree]:
    return [cast("Tree", part) for part in parts if getattr(part, "data", None) == rule]


def read(source: SourceText) -> Reader:
    """The threads of `source`; InputError with everything that is wrong with them."""
    reader = Reader(source)
    reader.read()
    reader.raise_errors()
    return reader
