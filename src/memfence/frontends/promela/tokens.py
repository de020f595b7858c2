"""Tokens of Promela and of its preprocessor: each knows its text and where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.records import Record
from memfence.source import SourceText, Span


class Token(Record):
    """One token after preprocessing.

    `span` is where its characters are written. `place` is where it takes effect: for what a macro expands to, the use
    of the macro; for an argument of an `inline`, the parameter in the body. Edits go by `place`, messages by `span`.
    `frame` tells the expansions of one `inline` apart (0: not in any) and `owner` is the name of that `inline`,
    called in line `call`.
    """

    kind: str
    text: str
    span: Span
    place: Span
    frame: int = 0
    owner: str = ""
    call: int = 0


NAME, NUMBER, STRING, END_OF_LINE = "NAME", "NUMBER", "STRING", "END_OF_LINE"

KEYWORDS = {
    word: word.upper()
    for word in (
        "active", "assert", "atomic", "break", "d_step", "do", "else", "fi", "for", "goto", "if", "in", "init",
        "inline", "ltl", "mtype", "never", "od", "printf", "printm", "proctype", "run", "select", "skip", "timeout",
        "typedef",
    )
}  # fmt: skip
KEYWORDS |= dict.fromkeys(("bit", "bool", "byte", "short", "int", "unsigned", "pid"), "TYPE")
KEYWORDS |= {"true": "TRUE", "false": "FALSE", "_pid": "PID", "_nr_pr": "NR_PR", "np_": "NP"}

PUNCTUATION = {
    "{": "LBRACE", "}": "RBRACE", "(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", ";": "SEMI", "->": "ARROW",
    "::": "OPTION", ":": "COLON", ",": "COMMA", "..": "DOTS", ".": "DOT", "=": "ASSIGN", "++": "INCDEC",
    "--": "INCDEC", "@": "AT", "!": "NOT", "~": "TILDE", "-": "MINUS", "#": "HASH", "?": "RECEIVE", "<->": "IFF",
    "*": "STAR",
}  # fmt: skip
PUNCTUATION |= dict.fromkeys(
    ("+", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"), "BINOP"
)

# What a message calls a kind of token, where it is not the keyword itself.
READABLE = {kind: f"`{text}`" for text, kind in PUNCTUATION.items()} | {
    "NAME": "a name", "NUMBER": "a number", "STRING": "a string", "BINOP": "an operator", "TYPE": "a type",
    "STAR": "an operator", "INCDEC": "`++`", "PID": "`_pid`", "NR_PR": "`_nr_pr`", "NP": "`np_`", "EMPTY": "`empty`",
}  # fmt: skip

_SYMBOLS = "|".join(re.escape(symbol) for symbol in sorted(PUNCTUATION, key=len, reverse=True))
_TOKEN = re.compile(
    r"(?P<space>(?:[^\S\n]|\\\r?\n)+)|(?P<newline>\n)|(?P<comment>/\*(?s:.*?)\*/|//[^\n]*)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<number>\d+)|(?P<string>\"(?:\\.|[^\"\\\n])*\")|(?P<char>'(?:\\.|[^'\\\n])')"
    rf"|(?P<symbol>{_SYMBOLS})"
)
_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0}


def tokenise(source: SourceText) -> Iterator[Token]:
    """The tokens of `source`, with an END_OF_LINE for every line end outside comments; MF001 at a character of none."""
    text, at = source.text, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise InputError([_unreadable(source, at)])
        found, at, start = match.group(), match.end(), at
        span = source.span(start, at)
        match match.lastgroup:
            case "newline":
                yield Token(END_OF_LINE, found, span, span)
            case "name":
                yield Token(KEYWORDS.get(found, NAME), found, span, span)
            case "number":
                yield Token(NUMBER, found, span, span)
            case "string":
                yield Token(STRING, found, span, span)
            case "char":
                yield Token(NUMBER, str(_character_code(found)), span, span)
            case "symbol" if text.startswith("/*", start):
                raise InputError([_unreadable(source, start)])
            case "symbol":
                yield Token(PUNCTUATION[found], found, span, span)
            case _:
                pass  # white space and comments


def _character_code(text: str) -> int:
    return _ESCAPES.get(text[2], ord(text[2])) if text[1] == "\\" else ord(text[1])


def _unreadable(source: SourceText, at: int) -> Diagnostic:
    what = source.text[at]
    if source.text.startswith("/*", at):
        return Diagnostic(
            Code.SYNTAX, "the comment `/*` is never closed", Label(source.span(at, at + 2)), hint="end it with `*/`"
        )
    if what == '"':
        message = 'the string `"` is never closed on its line'
        return Diagnostic(Code.SYNTAX, message, Label(source.span(at, at + 1)), hint='end it with `"`')
    shown = what if what.isprintable() else f"\\x{ord(what):02x}"
    return Diagnostic(
        Code.SYNTAX, f"unexpected character `{shown}`", Label(source.span(at, at + 1), "not expected here")
    )
