"""The part of the C preprocessor that Promela models use: `#define`, `#include`, `#ifdef`, with places kept.

Works on tokens, so that everything which comes out still knows where it was written. `MEMFENCE` is always defined:
`memfence.h` uses it to keep its definitions, meant for Spin, to itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.promela.tokens import END_OF_LINE, NAME, STRING, Token, tokenise
from memfence.reading import read_bytes
from memfence.records import Record
from memfence.source import SourceText, Span

MOST_TOKENS = 200_000
HEADER = "memfence.h"
OUR_HEADER = Path(__file__).with_name(HEADER)
_WORDS = frozenset(["define", "undef", "include", "ifdef", "ifndef", "if", "else", "endif"])


class Macro(Record):
    """`parameters` is None for a macro that is used without parentheses."""

    name: Token
    parameters: tuple[str, ...] | None
    body: tuple[Token, ...]


def preprocess(source: SourceText, definitions: Sequence[str] = ()) -> list[Token]:
    """The tokens of `source` after all directives; InputError with every mistake found.

    `definitions`: macros as `-D` takes them, `N=3` or `N`, which is 1.
    """
    run = _Preprocessor()
    lines = (f"#define {name} {value or 1}\n" for name, _, value in (one.partition("=") for one in definitions))
    run.read(SourceText("-D", "".join(lines)), ())
    run.read(source, ())
    if run.errors:
        raise InputError(run.errors)
    return run.output


class _Preprocessor:
    def __init__(self) -> None:
        self.macros: dict[str, Macro] = {}
        self.output: list[Token] = []
        self.errors: list[Diagnostic] = []

    def read(self, source: SourceText, inside: tuple[str, ...]) -> None:
        """Append the tokens of one file; `inside` are the files that include it."""
        conditions: list[tuple[Token, bool]] = []  # the open #if... and whether their text counts
        pending: list[Token] = []
        for line in _lines(source):
            if line and line[0].kind == "HASH":
                self.expand_text(pending)
                pending = []
                self.directive(line, conditions, source, inside)
            elif all(active for _, active in conditions):
                pending += line
        self.expand_text(pending)
        for opening, _ in conditions:
            self.error(Code.SYNTAX, f"`#{opening.text}` has no `#endif`", opening.span, "add `#endif`")

    def expand_text(self, tokens: Sequence[Token]) -> None:
        """Macros reach over line ends (an argument list may), but never over a directive."""
        self.output += self.expand(list(tokens), frozenset())
        if len(self.output) > MOST_TOKENS:
            self.error(Code.TOO_LARGE, "the text is too large after macro expansion", self.output[-1].place)
            raise InputError(self.errors)

    def error(self, code: Code, message: str, span: Span, hint: str | None = None) -> None:
        self.errors.append(Diagnostic(code, message, Label(span), hint=hint))

    # Directives

    def directive(
        self, line: list[Token], conditions: list[tuple[Token, bool]], source: SourceText, inside: tuple[str, ...]
    ) -> None:
        if len(line) == 1:
            return  # a lone `#` is allowed
        word, rest = line[1], line[2:]
        active = all(on for _, on in conditions)
        match word.text:
            case "ifdef" | "ifndef" | "if":
                conditions.append((word, active and self.condition(word, rest)))
            case "else" | "endif" if not conditions:
                self.error(Code.SYNTAX, f"`#{word.text}` without `#if`", word.span)
            case "else":
                opening, on = conditions.pop()
                conditions.append((opening, not on))
            case "endif":
                conditions.pop()
            case _ if not active:
                pass
            case "define":
                self.define(word, rest)
            case "undef":
                self.macros.pop(rest[0].text if rest else "", None)
            case "include":
                self.include(word, rest, source, inside)
            case _:
                known = ", ".join(f"`#{known}`" for known in sorted(_WORDS))
                self.error(Code.UNSUPPORTED, f"`#{word.text}` is not supported", word.span, f"known are {known}")

    def condition(self, word: Token, rest: Sequence[Token]) -> bool:
        """Whether the text behind `#if`, `#ifdef`, `#ifndef` counts."""
        if word.text != "if":
            if len(rest) != 1 or not rest[0].text.isidentifier():
                self.error(Code.SYNTAX, f"`#{word.text}` needs one name", word.span)
                return True
            return (rest[0].text == "MEMFENCE" or rest[0].text in self.macros) == (word.text == "ifdef")
        value = [token.text for token in self.expand(list(rest), frozenset())]
        match value:
            case [number] if number.isdecimal():
                return int(number) != 0
            case ["defined", "(", name, ")"] | ["defined", name]:
                return name == "MEMFENCE" or name in self.macros
            case ["!", "defined", "(", name, ")"] | ["!", "defined", name]:
                return not (name == "MEMFENCE" or name in self.macros)
        self.error(
            Code.UNSUPPORTED, "this condition of `#if` is not supported", word.span,
            "use `#ifdef NAME`, `#if defined(NAME)` or a number",
        )  # fmt: skip
        return True

    def define(self, word: Token, rest: list[Token]) -> None:
        if not rest or not rest[0].text.isidentifier():
            self.error(Code.SYNTAX, "`#define` needs a name", word.span, "write `#define NAME text`")
            return
        name, body = rest[0], rest[1:]
        for token in body:
            if token.kind == "HASH":
                self.error(Code.UNSUPPORTED, "`#` in a macro is not supported", token.span)
        parameters = None
        if body and body[0].kind == "LPAR" and body[0].span.start == name.span.end:
            closing = next((i for i, token in enumerate(body) if token.kind == "RPAR"), None)
            names = body[1:closing]
            if closing is None or any(
                (token.kind == "COMMA") != bool(i % 2) for i, token in enumerate(names)
            ) or (names and names[-1].kind == "COMMA"):  # fmt: skip
                self.error(Code.SYNTAX, f"the parameters of macro `{name.text}` cannot be read", name.span)
                return
            parameters = tuple(token.text for token in names[::2])
            body = body[closing + 1 :]
        self.macros[name.text] = Macro(name, parameters, tuple(body))

    def include(self, word: Token, rest: Sequence[Token], source: SourceText, inside: tuple[str, ...]) -> None:
        if len(rest) != 1 or rest[0].kind != STRING:
            self.error(
                Code.UNSUPPORTED, "only `#include \"file\"` is supported", word.span, 'write `#include "file.pml"`'
            )  # fmt: skip
            return
        name = rest[0].text[1:-1]
        path = Path(source.path).parent / name
        files = (*inside, str(Path(source.path)))
        if str(path) in files:
            self.error(Code.RECURSION, f"`{name}` includes itself", rest[0].span)
            return
        if len(files) > 50:
            self.error(Code.TOO_DEEP, "files are included too deeply", rest[0].span)
            return
        try:
            text = read_bytes(path).decode("utf-8")
        except (OSError, ValueError) as problem:
            if Path(name).name != HEADER:  # ours may be missing: it is known
                reason = getattr(problem, "strerror", None) or "it is not UTF-8 text"
                self.error(Code.UNREADABLE, f"cannot read `{name}`: {reason}", rest[0].span)
                return
            text = OUR_HEADER.read_text(encoding="utf-8")
        self.read(SourceText(str(path), text), files)

    # Expansion

    def expand(self, tokens: list[Token], hidden: frozenset[str]) -> list[Token]:
        """`tokens` with every macro replaced, but those `hidden`: a macro is not expanded within itself."""
        result: list[Token] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            macro = self.macros.get(token.text) if token.text not in hidden else None
            at += 1
            if macro is None:
                result.append(token)
                continue
            arguments: list[list[Token]] = []
            place = token.place
            if macro.parameters is not None:
                if at >= len(tokens) or tokens[at].kind != "LPAR":
                    result.append(token)
                    continue
                arguments, at = self.arguments(token, tokens, at)
                place = _join(token.place, tokens[at - 1].place)
            body = self.substitute(macro, token, arguments, place, hidden)
            result += self.expand(body, hidden | {token.text})
            if len(result) > MOST_TOKENS:
                self.error(Code.TOO_LARGE, f"macro `{token.text}` expands to too much", place)
                raise InputError(self.errors)
        return result

    def arguments(self, macro: Token, tokens: list[Token], at: int) -> tuple[list[list[Token]], int]:
        """The arguments of the use of `macro` whose parenthesis stands at `at`, and the position behind them."""
        end = closing_parenthesis(tokens, at)
        if end is None:
            self.error(Code.SYNTAX, f"the arguments of macro `{macro.text}` never end", macro.span, "add `)`")
            raise InputError(self.errors)
        return split_at_commas(tokens[at + 1 : end]), end + 1

    def substitute(
        self, macro: Macro, use: Token, arguments: list[list[Token]], place: Span, hidden: frozenset[str]
    ) -> list[Token]:
        names = macro.parameters or ()
        if len(names) != len(arguments) and not (len(names) == 1 and not arguments):
            message = wrong_count(f"macro `{use.text}`", len(names), len(arguments))
            related = (Label(macro.name.span, "defined here"),)
            self.errors.append(Diagnostic(Code.ARGUMENT_COUNT, message, Label(use.span), related))
            return []
        values = {
            name: self.expand(value, hidden) for name, value in zip(names, arguments or [[]] * len(names), strict=True)
        }
        body: list[Token] = []
        for token in macro.body:
            body += values.get(token.text, [token]) if token.kind == NAME else [token]
        return [replace(token, place=place) for token in body]


def wrong_count(what: str, needed: int, given: int) -> str:
    """The message for a call with the wrong number of arguments."""
    return f"{what} takes {needed} argument{'' if needed == 1 else 's'}, but is given {given}"


def closing_parenthesis(tokens: Sequence[Token], at: int) -> int | None:
    """Position of the `)` that closes the `(` at `at`."""
    depth = 0
    for position in range(at, len(tokens)):
        depth += {"LPAR": 1, "RPAR": -1}.get(tokens[position].kind, 0)
        if depth == 0:
            return position
    return None


def split_at_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """The parts between commas that stand in no parentheses or brackets; none for no tokens."""
    parts: list[list[Token]] = [[]] if tokens else []
    depth = 0
    for token in tokens:
        depth += {"LPAR": 1, "LSQB": 1, "RPAR": -1, "RSQB": -1}.get(token.kind, 0)
        if token.kind == "COMMA" and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _join(start: Span, end: Span) -> Span:
    same = start.source is end.source and start.start <= end.end
    return start.source.span(start.start, end.end) if same else start


def _lines(source: SourceText) -> Iterator[list[Token]]:
    line: list[Token] = []
    for token in tokenise(source):
        if token.kind == END_OF_LINE:
            yield line
            line = []
        else:
            line.append(token)
    yield line
