"""From the parse tree of an expanded RMM text to its syntax tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.parsing.grammar import load_grammar, parse_text
from memfence.frontends.parsing.separators import explain_syntax_error
from memfence.frontends.parsing.syntax import FenceHere, Goto, Name
from memfence.frontends.parsing.trees import TreeReader, tokens, trees
from memfence.frontends.rmm import syntax
from memfence.frontends.rmm.macros import Expansion
from memfence.program.parameterised import REPRESENTATIVES
from memfence.source import SourceText, Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree
    from memfence.frontends.parsing.syntax import Node

READABLE = {
    "ID": "a name", "REG": "a register such as `$r`", "NAT": "a number", "ANY": "`*`", "COMPARISON": "a comparison",
    "COLON": "`:`", "SEMICOLON": "`;`", "COMMA": "`,`", "AT": "`@`", "EQUAL": "`=`", "__ANON_0": "`:=`", "PLUS": "`+`",
    "MINUS": "`-`", "AND": "`&&`", "OR": "`||`", "LBRACE": "`{`", "RBRACE": "`}`", "LSQB": "`[`", "RSQB": "`]`",
    "LPAR": "`(`", "RPAR": "`)`",
}  # fmt: skip


class Reader(TreeReader):
    """Turns the parse tree of an expanded text into dataclasses; collects what is wrong with numbers and names."""

    def __init__(self, expansion: Expansion) -> None:
        super().__init__()
        self.expansion = expansion
        self._templates: dict[str, int] = {}

    def read(self) -> syntax.ProgramText:
        tree = self._parse()
        self.require_shallow(tree)
        forbidden: list[tuple[tuple[Name | None, ...], Span]] = []
        data: tuple[syntax.Declaration, ...] = ()
        processes: list[syntax.ProcessText] = []
        for part in trees(tree):
            if part.data == "forbidden":
                forbidden += [(tuple(self._label(c) for c in tokens(t)), self.span(t)) for t in trees(part)]
            elif part.data == "data":
                data = self._declarations(part)
            elif part.data == "process":
                processes.append(self._process(part))
        return syntax.ProgramText(tuple(forbidden), data, tuple(processes))

    def _parse(self) -> Tree:
        expanded = SourceText(self.expansion.source.path, self.expansion.text)
        try:
            return parse_text(load_grammar("rmm"), expanded, READABLE)
        except InputError as error:
            (found,) = explain_syntax_error(error, self.expansion.text, _usual_mistake).diagnostics
            places = [Label(self._place(label.span), label.text) for label in (found.at, *found.related)]
            explained = Diagnostic(found.code, found.message, places[0], tuple(places[1:]), found.hint)
            raise InputError([explained]) from None

    def _place(self, expanded: Span) -> Span:
        return self.expansion.span(expanded.start, expanded.end)

    def span(self, node: Node) -> Span:
        start, end = _offsets(node)
        return self.expansion.span(start, end)

    def _label(self, token: Token) -> Name | None:
        return None if token.type == "ANY" else self.name(token)

    def _signed(self, tree: Tree) -> int:
        minus, digits = tree.children
        value = self.number(cast("Token", digits))
        return -value if minus else value

    def _declarations(self, tree: Tree | None) -> tuple[syntax.Declaration, ...]:
        return tuple(self._declaration(part) for part in trees(tree)) if tree is not None else ()

    def _declaration(self, tree: Tree) -> syntax.Declaration:
        token, initial, domain = tree.children
        name = self.name(cast("Token", token))
        value = None if getattr(initial, "type", "") == "ANY" else self._signed(cast("Tree", initial))
        bounds = [self._signed(t) for t in trees(cast("Tree", domain))] if domain is not None else []
        if not bounds:
            return syntax.Declaration(name, value, None)
        lo, hi = bounds
        if lo > hi:
            span = self.span(domain)
            self.report(Code.EMPTY_RANGE, f"the domain of `{name.text}` is empty", span, f"write `: [{hi}:{lo}]`")
            lo, hi = hi, lo
        if value is not None and not lo <= value <= hi:
            what = f"the initial value {value} of `{name.text}` lies outside its domain [{lo}:{hi}]"
            self.report(Code.OUT_OF_RANGE, what, self.span(tree))
            value = lo
        return syntax.Declaration(name, value, (lo, hi))

    def _process(self, tree: Tree) -> syntax.ProcessText:
        word, count, data, registers, statements = tree.children
        start, _ = _offsets(word)
        base = self.expansion.place(start, start + 1)[2] or "process"
        if base == "process" or base not in self._templates:
            self._templates[base] = self._templates.get(base, 0) + 1
        template = base if base != "process" else f"process{self._templates[base]}"
        how_many = None if count is None else tokens(cast("Tree", count))[0]
        any_number = how_many is not None and how_many.type == "ANY"
        copies = REPRESENTATIVES if any_number else 1 if how_many is None else self.number(how_many)
        if not 1 <= copies <= 64:
            what = f"`process({copies})`: there can be 1 to 64 copies"
            self.report(Code.TOO_LARGE, what, self.span(count))
            copies = 1
        return syntax.ProcessText(
            self.span(word), template, copies, self._declarations(cast("Tree | None", data)),
            self._declarations(cast("Tree | None", registers)), self._list(cast("Tree", statements)),
            any_number,
        )  # fmt: skip

    def _list(self, tree: Tree) -> tuple[syntax.Statement, ...]:
        return tuple(self._statement(part, True) for part in trees(tree))

    def _statement(self, tree: Tree, listed: bool) -> syntax.Statement:
        *labels, body = trees(tree)
        start, end = _offsets(body)
        names = tuple(self.name(tokens(label)[0]) for label in labels)
        first, last, macro = self.expansion.place(start, end)
        return syntax.Statement(names, self._body(body), self.span(body), first, last, listed, macro)

    def _body(self, tree: Tree) -> syntax.Body:
        children = tree.children
        match str(tree.data):
            case "nop":
                return syntax.Nop()
            case "read_check":
                return syntax.ReadCheck(self._location(children[0]), children[1])
            case "read_into":
                return syntax.ReadInto(self.name(cast("Token", children[0])), self._location(children[1]))
            case "write" | "locked_write":
                return syntax.Write(self._location(children[0]), children[1], tree.data == "locked_write")
            case "cas":
                return syntax.Cas(self._location(children[0]), children[1], children[2])
            case "fence":
                return _fence(str(children[0]))
            case "set_register":
                return syntax.SetRegister(self.name(cast("Token", children[0])), children[1])
            case "assume":
                return syntax.AssumeHere(children[0])
            case "if_":
                then, otherwise = cast("list[Tree | None]", children[1:])
                assert then is not None
                other = self._statement(otherwise, False) if otherwise is not None else None
                return syntax.If(children[0], self._statement(then, False), other)
            case "while_":
                return syntax.While(children[0], self._statement(cast("Tree", children[1]), False))
            case "goto":
                return Goto(self.name(cast("Token", children[0])))
            case "either":
                return syntax.Either(tuple(self._list(part) for part in trees(tree)))
            case "locked":
                return syntax.Locked(tuple(self._list(part) for part in trees(tree)))
            case "block":
                return syntax.Block(self._list(cast("Tree", children[0])))
            case other:
                raise AssertionError(other)

    def _location(self, node: Node) -> syntax.MemoryCell:
        tree = cast("Tree", node)
        if tree.data == "pointer":
            return syntax.MemoryCell("pointer", Name("", self.span(tree)), address=tree.children[0])
        words = tokens(tree)
        name = Name(str(words[0]), self.span(tree))
        match str(tree.data):
            case "own":
                return syntax.MemoryCell("own", name)
            case "other":
                return syntax.MemoryCell("other", name, self.number(words[1]))
            case _:
                return syntax.MemoryCell("global", name)


def _usual_mistake(text: str, offset: int) -> str | None:
    """What was probably meant by the text at the offset."""
    if text.startswith("==", offset) or text.startswith("==", offset - 1):
        return "compare with `=`"
    if text.startswith("!", offset):
        return "negate with `not`"
    return None


def _offsets(node: Node) -> tuple[int, int]:
    start = max(0, node.start_pos)
    return start, max(start, node.end_pos)


def _fence(word: str) -> FenceHere | syntax.Nop:
    """`ssfence` keeps stores in order. Loads are in order under every model here: `llfence` changes nothing."""
    match word:
        case "llfence":
            return syntax.Nop()
        case "sfence" | "ssfence":
            return FenceHere("sfence")
        case _:
            return FenceHere("mfence")
