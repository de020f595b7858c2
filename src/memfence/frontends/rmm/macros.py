"""Textual macros: `macro name(a, b) ... endmacro`, used as `name(x, y)`, with the way back to the user's text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label, did_you_mean
from memfence.records import Record
from memfence.source import SourceText, Span

LARGEST_TEXT = 2_000_000
DEEPEST = 50

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_DEFINITION = re.compile(r"(?<![\w$])(macro\s+([A-Za-z_]\w*)\s*\(([^()]*)\))|(?<![\w$])(macro|endmacro)\b")
_WORD = re.compile(r"\$?\w+")
_CALL = re.compile(r"\s*\(")
_NOT_A_CALL = frozenset(
    {"process", "cas", "if", "then", "while", "do", "else", "not", "or", "either", "locked", "assume"}
)


class Frame(Record):
    """One text being expanded: the program itself, or one use of a macro. No two are the same."""

    number: int
    macro: str


class Occurrence(Record):
    """Where something that was put into `frame` stands in its text: a parameter or a call."""

    frame: Frame
    start: int
    end: int


class Stretch(Record):
    """`length` characters of the user's text from offset `origin`, which were written in `frame`.

    `put_into`: the parameters and calls that it came through, innermost first.
    """

    origin: int
    length: int
    frame: Frame
    put_into: tuple[Occurrence, ...] = ()

    def placed(self, frame: Frame, start: int, end: int) -> Stretch:
        return Stretch(self.origin, self.length, self.frame, (*self.put_into, Occurrence(frame, start, end)))


class Macro(Record):
    name: str
    parameters: tuple[str, ...]
    start: int
    end: int
    span: Span


class Expansion:
    """The text without comments and macros; every place in it leads back to the source."""

    def __init__(self, source: SourceText, masked: str, stretches: Sequence[Stretch]) -> None:
        self.source = source
        self.stretches = [s for s in stretches if s.length]
        self.text = "".join(masked[s.origin : s.origin + s.length] for s in self.stretches)
        self.starts = [0]
        for stretch in self.stretches:
            self.starts.append(self.starts[-1] + stretch.length)

    def place(self, start: int, end: int) -> tuple[int, int, str]:
        """Where the characters from `start` to `end` stand in one text of the source, and of which macro's body.

        A parameter at either end counts as a whole, and so does a call.
        """
        first, last = self._path(start), self._path(max(start, end - 1))
        if not first or not last:
            return len(self.source.text), len(self.source.text), ""
        for one, other in zip(first, last, strict=False):
            if one != other:
                break
        return one.start, max(one.start, other.end), one.frame.macro

    def span(self, start: int, end: int) -> Span:
        """The place in the source of the characters from `start` to `end`."""
        first, last, _ = self.place(start, end)
        return self.source.span(first, last)

    def _path(self, offset: int) -> list[Occurrence]:
        """How the character at `offset` came here: from the program's own text inwards to where it was written."""
        number = bisect_right(self.starts, offset) - 1
        if not 0 <= number < len(self.stretches):
            return []
        stretch = self.stretches[number]
        origin = stretch.origin + offset - self.starts[number]
        return [*reversed(stretch.put_into), Occurrence(stretch.frame, origin, origin + 1)]


def mask_comments(source: SourceText) -> str:
    """The text with every comment blanked out; line ends stay."""
    text = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source.text)
    opened = text.find("/*")
    if opened >= 0:
        _fail(Code.SYNTAX, "this comment is never closed", source.span(opened, opened + 2), "end it with `*/`")
    return text


def expand_macros(source: SourceText) -> Expansion:
    """The program with every macro call replaced by the body; InputError for calls that cannot be."""
    masked = mask_comments(source)
    macros, outside = _definitions(source, masked)
    expander = _Expander(source, masked, macros)
    top = Frame(0, "")
    stretches = [s for start, end in outside for s in expander.expand(start, end, {}, (top,))]
    return Expansion(source, masked, stretches)


def _definitions(source: SourceText, masked: str) -> tuple[dict[str, Macro], list[tuple[int, int]]]:
    """The macros, and the parts of the text outside their definitions."""
    macros: dict[str, Macro] = {}
    outside: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    done = 0
    for found in _DEFINITION.finditer(masked):
        span = source.span(found.start(), found.end())
        if found[1] and opened is None:
            opened = found
            outside.append((done, found.start()))
        elif found[0] == "endmacro" and opened is not None:
            parameters = tuple(p.strip() for p in opened[3].split(",")) if opened[3].strip() else ()
            place = source.span(opened.start(2), opened.end(2))
            if opened[2] in macros:
                before = (Label(macros[opened[2]].span, "first here"),)
                what = f"the macro `{opened[2]}` is defined twice"
                raise InputError([Diagnostic(Code.DUPLICATE, what, Label(place), before)])
            macros[opened[2]] = Macro(opened[2], parameters, opened.end(), found.start(), place)
            done, opened = found.end(), None
        elif found[0] == "endmacro":
            _fail(Code.SYNTAX, "`endmacro` without `macro`", span, "remove it")
        elif opened is not None:
            _fail(Code.SYNTAX, "a macro is defined inside another one", span, "write `endmacro` before it")
        else:
            _fail(Code.SYNTAX, "this macro has no name or no parentheses", span, "write `macro name(a, b)`")
    if opened is not None:
        span = source.span(opened.start(), opened.end())
        _fail(Code.SYNTAX, f"the macro `{opened[2]}` is never closed", span, "end it with `endmacro`")
    return macros, [*outside, (done, len(masked))]


@dataclass(slots=True)
class _Expander:
    source: SourceText
    masked: str
    macros: Mapping[str, Macro]
    size: int = 0
    calls: int = 0

    def expand(
        self, start: int, end: int, arguments: Mapping[str, Sequence[Stretch]], inside: tuple[Frame, ...]
    ) -> list[Stretch]:
        """The text from `start` to `end` with parameters and calls replaced; `inside` are the macros being expanded."""
        result: list[Stretch] = []
        frame = inside[-1]
        done = start
        position = start
        while found := _WORD.search(self.masked, position, end):
            position = found.end()
            word = found[0]
            if word in arguments:
                replacement = list(arguments[word])
            elif _CALL.match(self.masked, position, end) and word not in _NOT_A_CALL and not word.startswith("$"):
                replacement, position = self._call(found, end, arguments, inside)
            else:
                continue
            placed = [stretch.placed(frame, found.start(), position) for stretch in replacement]
            result += [Stretch(done, found.start() - done, frame), *placed]
            done = position
        result.append(Stretch(done, end - done, frame))
        self.size += end - start
        if self.size > LARGEST_TEXT:
            what = f"with all macros expanded the text has more than {LARGEST_TEXT} characters"
            _fail(Code.TOO_LARGE, what, self.source.span(start, min(end, start + 1)), None)
        return result

    def _call(
        self, found: re.Match[str], end: int, arguments: Mapping[str, Sequence[Stretch]], inside: tuple[Frame, ...]
    ) -> tuple[list[Stretch], int]:
        name = found[0]
        span = self.source.span(found.start(), found.end())
        macro = self.macros.get(name)
        if macro is None:
            hint = did_you_mean(name, list(self.macros), f"define it with `macro {name}(...) ... endmacro`")
            _fail(Code.SYNTAX, f"there is no macro `{name}`", span, hint)
        if any(frame.macro == name for frame in inside):
            _fail(Code.RECURSION, f"the macro `{name}` uses itself", span, None)
        if len(inside) > DEEPEST:
            _fail(Code.TOO_DEEP, f"macros are nested more than {DEEPEST} deep", span, None)
        pieces, after = self._arguments(found.end(), end, span)
        values = [self.expand(a, b, arguments, inside) for a, b in pieces]
        if len(values) != len(macro.parameters):
            what = f"the macro `{name}` takes {_count(macro.parameters, 'argument')}, not {len(values)}"
            raise InputError([Diagnostic(Code.ARGUMENT_COUNT, what, Label(span), (Label(macro.span, "defined here"),))])
        bound = dict(zip(macro.parameters, values, strict=True))
        self.calls += 1
        return self.expand(macro.start, macro.end, bound, (*inside, Frame(self.calls, name))), after

    def _arguments(self, start: int, end: int, span: Span) -> tuple[list[tuple[int, int]], int]:
        """The arguments between the parentheses that open after `start`, and the offset after them."""
        begin = self.masked.index("(", start) + 1
        pieces: list[tuple[int, int]] = []
        depth, done, position = 0, begin, begin
        for position in range(begin, end):
            char = self.masked[position]
            if char in "([":
                depth += 1
            elif char == ")" and depth == 0:
                last = [(done, position)] if pieces or self.masked[begin:position].strip() else []
                pieces += last
                break
            elif char in ")]":
                depth -= 1
            elif char == "," and depth == 0:
                pieces.append((done, position))
                done = position + 1
        else:
            _fail(Code.SYNTAX, "the arguments of this macro call are never closed", span, "write `)`")
        return pieces, position + 1


def _fail(code: Code, message: str, span: Span, hint: str | None) -> NoReturn:
    raise InputError([Diagnostic(code, message, Label(span), hint=hint)])


def _count(things: Sequence[object], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"
