"""What all lark grammars share: loading with a cache, and syntax errors as diagnostics."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.source import SourceText, Span

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

_LOADED: dict[str, Lark] = {}


def load_grammar(name: str, **options: Any) -> Lark:
    """The LALR parser of `frontends/NAME/grammar.lark`, built once a process and cached on disk between them."""
    if name not in _LOADED:
        from lark import Lark

        text = files("memfence.frontends").joinpath(name, "grammar.lark").read_text(encoding="utf-8")
        settings: dict[str, Any] = {"parser": "lalr", "propagate_positions": True, "maybe_placeholders": True}
        try:
            _LOADED[name] = Lark(text, cache=True, **(settings | options))
        except OSError:  # no place to write the cache
            _LOADED[name] = Lark(text, **(settings | options))
    return _LOADED[name]


def parse_text(
    grammar: Lark, source: SourceText, readable: dict[str, str] | None = None, start: str | None = None
) -> Tree[Token]:
    """The parse tree of `source`; InputError at the first place where the grammar does not allow to go on.

    `readable` says how to call terminals in messages, where their name is not clear; `start` which rule the whole text
    is, for a grammar with several.
    """
    from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedToken

    try:
        return grammar.parse(source.text, start=start)
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


def span_of(source: SourceText, item: Tree[Token] | Token) -> Span:
    """The place of a tree or token; the whole text's start for an empty tree."""
    meta: Any = getattr(item, "meta", item)
    start, end = getattr(meta, "start_pos", None), getattr(meta, "end_pos", None)
    return source.span(start or 0, end or start or 0)
