"""From the parse tree of a Remmex program to its syntax tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.parsing.grammar import load_grammar, parse_text, span_of
from memfence.frontends.parsing.separators import explain_syntax_error
from memfence.frontends.parsing.syntax import FenceHere, Goto, Name
from memfence.frontends.parsing.trees import TreeReader, trees
from memfence.frontends.remmex import syntax
from memfence.source import SourceText, Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Tree
    from memfence.frontends.parsing.syntax import Node

READABLE = {
    "NAME": "a name", "NUMBER": "a number", "COMPARISON": "a comparison", "EQUALITY": "`==`", "COLON": "`:`",
    "SEMICOLON": "`;`", "ARROW": "`->`", "COMMA": "`,`", "EQUAL": "`=`", "PLUS": "`+`", "MINUS": "`-`", "TIMES": "`*`",
    "DIVIDE": "`/`", "MODULO": "`%`", "AND": "`&&`", "OR": "`||`", "BANG": "`!`", "LBRACE": "`{`", "RBRACE": "`}`",
    "LSQB": "`[`", "RSQB": "`]`", "LPAR": "`(`", "RPAR": "`)`", "__ANON_0": "`::`", "LOCK": "`LOCK`",
    "UNLOCK": "`UNLOCK`",
}  # fmt: skip

MOST_ELEMENTS = 4096

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Reader(TreeReader):
    """Builds the syntax tree; collects what is wrong with numbers and declarations."""

    def __init__(self, source: SourceText) -> None:
        super().__init__()
        self.source = source
        self._locals: list[syntax.Declaration] = []

    def read(self) -> syntax.ProgramText:
        tree = self._parse()
        self.require_shallow(tree)
        declarations: list[syntax.Declaration] = []
        processes: list[syntax.ProcessText] = []
        for part in trees(tree):
            if part.data == "declaration":
                declarations += self._declaration(part)
            else:
                processes.append(self._process(part))
        return syntax.ProgramText(tuple(declarations), tuple(processes))

    def _parse(self) -> Tree:
        try:
            return parse_text(load_grammar("remmex"), self.source, READABLE)
        except InputError as error:
            masked = mask_comments(self.source.text)
            opened = masked.find("/*")
            if opened >= 0:
                at = Label(self.source.span(opened, opened + 2))
                unclosed = Diagnostic(Code.SYNTAX, "this comment is never closed", at, hint="end it with `*/`")
                raise InputError([unclosed]) from None
            raise explain_syntax_error(error, masked, _usual_mistake) from None

    def span(self, node: Node) -> Span:
        return span_of(self.source, node)

    def _declaration(self, tree: Tree) -> list[syntax.Declaration]:
        kind, *declarators = trees(tree)
        return [self._declarator(str(kind.children[0]), declarator) for declarator in declarators]

    def _declarator(self, kind: str, tree: Tree) -> syntax.Declaration:
        token, size, initial = tree.children
        name = self.name(token)
        length = None if size is None else self.number(size)
        values: tuple[int, ...] = (0,)
        if initial is not None:
            parts = trees(initial) if cast("Tree", initial).data == "list" else [cast("Tree", initial)]
            values = tuple(self._signed(part) for part in parts)
            if length is not None and len(values) not in (1, length):
                what = f"`{name.text}` has {length} elements, but {len(values)} initial values"
                self.report(Code.ARGUMENT_COUNT, what, self.span(initial))
            if length is None and len(values) > 1:
                what = f"`{name.text}` is not an array, but has {len(values)} initial values"
                self.report(Code.TYPE_MISMATCH, what, self.span(initial), f"write `{name.text}[{len(values)}]`")
        if length is not None and not 1 <= length <= MOST_ELEMENTS:
            what = f"an array can have 1 to {MOST_ELEMENTS} elements, not {length}"
            self.report(Code.EMPTY_RANGE if length == 0 else Code.TOO_LARGE, what, self.span(tree))
            length = 1
        return syntax.Declaration(kind, name, length, values)

    def _signed(self, tree: Tree) -> int:
        *sign, value = tree.children
        if getattr(value, "type", "") in ("TRUE", "FALSE"):
            return int(str(value) == "true")
        number = self.number(value)
        return -number if any(sign) else number

    def _process(self, tree: Tree) -> syntax.ProcessText:
        name, sequence = tree.children[0], trees(tree)[-1]
        self._locals = []
        statements, trailing = self._sequence(sequence)
        return syntax.ProcessText(self.name(name), tuple(self._locals), statements, trailing)

    def _sequence(self, tree: Tree) -> tuple[tuple[syntax.Statement, ...], tuple[Name, ...]]:
        """The statements, and labels after the last one."""
        statements: list[syntax.Statement] = []
        labels: list[Name] = []
        for part in trees(tree):
            if part.data == "declaration":
                self._locals += self._declaration(part)
            elif part.data == "label":
                labels.append(self.name(part.children[0]))
            else:
                statements.append(syntax.Statement(tuple(labels), self._body(part), self.span(part)))
                labels = []
        return tuple(statements), tuple(labels)

    def _options(self, tree: Tree) -> tuple[tuple[syntax.Statement, ...], ...]:
        options = []
        for option in trees(tree):
            statements = self._inner(trees(option)[0])
            if statements:
                options.append(statements)
            else:
                self.report(Code.SYNTAX, "this option has no statement", self.span(option), "write `:: skip`")
        return tuple(options)

    def _inner(self, tree: Tree) -> tuple[syntax.Statement, ...]:
        statements, trailing = self._sequence(tree)
        for label in trailing:
            self.report(Code.SYNTAX, f"no statement follows the label `{label.text}`", label.span, "write `skip`")
        return statements

    def _body(self, tree: Tree) -> syntax.Body:
        children = tree.children
        match str(tree.data):
            case "store":
                return syntax.StoreTo(self.place(cast("Tree", children[0])), children[1])
            case "assign":
                return syntax.SetLocal(self.name(children[0]), children[1])
            case "guard":
                return syntax.Guard(children[0])
            case "skip":
                return syntax.Skip()
            case "break_":
                return syntax.Break()
            case "goto":
                return Goto(self.name(children[0]))
            case "fence":
                return FenceHere("sfence" if str(children[0]) == "sfence" else "mfence")
            case "assert_":
                return syntax.Check(children[0])
            case "else_":
                return syntax.Else()
            case "lock":
                return syntax.TakeLock()
            case "unlock":
                return syntax.ReleaseLock()
            case "if_":
                return syntax.If(self._options(tree))
            case "do":
                return syntax.Do(self._options(tree))
            case "block":
                return syntax.Block(self._inner(trees(tree)[0]))
            case other:
                raise AssertionError(other)

    def place(self, tree: Tree) -> syntax.PlaceOf:
        name, index = tree.children
        return syntax.PlaceOf(self.name(name), index, self.span(tree))


def mask_comments(text: str) -> str:
    """The text with every comment blanked out; line ends stay."""
    return _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _usual_mistake(text: str, offset: int) -> str | None:
    """What was probably meant by the text at the offset."""
    if text.startswith("=", offset) and text[:offset].endswith(":"):
        return "assign with `=`"
    called = re.search(r"([A-Za-z_]\w*)\s*\Z", text[:offset])
    if text.startswith("(", offset) and called is not None:
        return f"there is no `{called[1]}`: memory is accessed with `load`, `loadval`, `store`, between LOCK and UNLOCK"
    if text.startswith("chan", offset):
        return "channels are not part of this language"
    return None
