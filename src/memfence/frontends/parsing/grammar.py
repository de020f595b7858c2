"""What all grammars share: reading with the tables, lark where these do not go on, syntax errors as diagnostics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.parsing.driver import GivenToken, parse, parse_tokens
from memfence.frontends.parsing.nodes import Node, Tree, make_token
from memfence.frontends.parsing.tables import Tables, folder_of, load_tables
from memfence.source import SourceText, Span

if TYPE_CHECKING:
    import lark

STARTS = {
    "dve": ("start", "expr"), "persist": ("start",), "promela": ("start", "expr"), "remmex": ("start",),
    "rmm": ("start",), "trencher": ("start",),
}  # fmt: skip
"""The languages that have a grammar, and the rules that a whole text may be."""

_TOKENS_GIVEN = ("promela",)
_LOADED: dict[str, Grammar] = {}


class UnexpectedAt(Exception):
    """The token that cannot stand there, by its number (None: the end), and the terminals that can."""

    def __init__(self, number: int | None, expected: set[str]) -> None:
        super().__init__(number)
        self.number, self.expected = number, expected


class Grammar:
    """`frontends/LANGUAGE/grammar.lark`, as tables and as lark's parser; each is made when it is first needed."""

    def __init__(self, language: str) -> None:
        self.language = language

    @cached_property
    def tables(self) -> Tables:
        return load_tables(self.language)

    @cached_property
    def lark(self) -> lark.Lark:
        return make_lark(self.language)

    def tree_of(self, tokens: Sequence[GivenToken], start: str = "start") -> Tree:
        """The tree of tokens, whose numbers are the places in it; UnexpectedAt where the grammar does not go on."""
        found = parse_tokens(self.tables, tokens, start)
        if found is not None:
            return found
        from lark.exceptions import UnexpectedToken

        try:
            return from_lark(self.lark.parse(cast(str, tokens), start=start))
        except UnexpectedToken as error:
            number = None if error.token.type == "$END" else error.token.start_pos or 0
            raise UnexpectedAt(number, set(error.accepts or error.expected)) from None


def load_grammar(language: str) -> Grammar:
    """The grammar of a language, once per process."""
    return _LOADED.setdefault(language, Grammar(language))


def make_lark(language: str, *, cache: bool = True) -> lark.Lark:
    """lark's LALR parser of the grammar. `cache`: keep it on disk between processes."""
    from lark import Lark

    text = (folder_of(language) / "grammar.lark").read_text(encoding="utf-8")
    options: dict[str, Any] = {"parser": "lalr", "propagate_positions": True, "start": list(STARTS[language])}
    if language in _TOKENS_GIVEN:
        from memfence.frontends.parsing.given_tokens import GivenTokens

        options["lexer"] = GivenTokens
    try:
        return Lark(text, cache=cache, **options)
    except OSError:  # no place to write the cache
        return Lark(text, **options)


def from_lark(root: Any) -> Tree:
    """lark's tree as ours. Not recursive: it may be deep."""
    made = _without_children(root)
    waiting = [(root, made)]
    while waiting:
        given, tree = waiting.pop()
        for child in given.children:
            part = child if child is None else _without_children(child)
            tree.children.append(part)
            if isinstance(part, Tree):
                waiting.append((child, part))
    return cast(Tree, made)


def _without_children(item: Any) -> Any:
    if not hasattr(item, "children"):
        return make_token(item.type, str(item), item.start_pos, item.end_pos)
    return Tree(str(item.data), [], getattr(item.meta, "start_pos", -1), getattr(item.meta, "end_pos", -1))


def parse_text(
    grammar: Grammar, source: SourceText, readable: dict[str, str] | None = None, start: str = "start"
) -> Tree:
    """The parse tree of `source`; InputError at the first place where the grammar does not allow to go on.

    `readable` says how to call terminals in messages, where their name is not clear; `start` which rule the whole text
    is, for a grammar with several.
    """
    found = parse(grammar.tables, source.text, start)
    return found if found is not None else _judged_by_lark(grammar, source, readable, start)


def _judged_by_lark(grammar: Grammar, source: SourceText, readable: dict[str, str] | None, start: str) -> Tree:
    from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken

    try:
        return from_lark(grammar.lark.parse(source.text, start=start))
    except UnexpectedCharacters as error:
        at = error.pos_in_stream or 0
        raise syntax_error(source, at, 1, f"unexpected character `{source.text[at]}`", set(), readable) from None
    except UnexpectedToken as error:
        token = error.token
        expected = set(error.accepts or error.expected)
        if token.type == "$END":
            raise _ends_too_early(source, expected, readable) from None
        position = token.start_pos or 0
        raise syntax_error(source, position, len(token), f"unexpected `{token}`", expected, readable) from None
    except UnexpectedEOF as error:
        raise _ends_too_early(source, set(error.expected), readable) from None
    except RecursionError:
        place = Label(source.span(0, 1), "somewhere in this text")
        raise InputError([Diagnostic(Code.TOO_DEEP, "the text is nested too deeply to be read", place)]) from None


def syntax_error(
    source: SourceText, offset: int, length: int, message: str, expected: set[str], readable: dict[str, str] | None
) -> InputError:
    """An MF001 at `offset`, naming at most six of what was `expected`."""
    names = sorted({(readable or {}).get(name, _terminal_text(name)) for name in expected - {"$END"}})
    hint = f"expected {', '.join(names[:6])}{' ...' if len(names) > 6 else ''}" if names else None
    label = Label(source.span(offset, offset + max(1, length)), "not expected here")
    return InputError([Diagnostic(Code.SYNTAX, message, label, hint=hint)])


def _ends_too_early(source: SourceText, expected: set[str], readable: dict[str, str] | None) -> InputError:
    end = len(source.text.rstrip())
    return syntax_error(source, max(0, end - 1), 1, "the text ends too early", expected, readable)


def _terminal_text(name: str) -> str:
    return f"`{name.lower()}`"


def span_of(source: SourceText, item: Node) -> Span:
    """The place of a tree or token; the whole text's start for an empty tree."""
    start = item.start_pos
    return Span(source, start, item.end_pos) if start >= 0 else Span(source, 0, 0)
