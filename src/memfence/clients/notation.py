"""The few lines that name an object, in a comment of its source or in a file of their own.

memfence-test spsc
object    struct ring q;
producer  push(v: 1..2) = push(&q, v)
consumer  pop()         = pop(&q)
finally   length(&q)
at-most   1 producer, 1 consumer
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import PurePath

from memfence.clients.specification import Operation, Parameter, Share, Specification
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.endings import HEADERS, SOURCES, is_cpp
from memfence.records import Record
from memfence.source import SourceText, Span

MARK = re.compile(r"memfence-test(?:[ \t]+(?P<name>\w+))?[ \t]*$", re.MULTILINE)
WORDS = (
    "object", "thread", "before", "after", "finally", "at-most", "clients", "may-fail", "sequential", "include",
    "language",
)  # fmt: skip
OPERATION = re.compile(r"(?P<role>\w+)\s+(?P<name>[A-Za-z_]\w*)\s*\((?P<parameters>[^()]*)\)\s*(?P<kind>[=:])(?!=)\s*")
PARAMETER = re.compile(r"(?:(?P<kind>[\w\s*]+?[\s*])?(?P<name>[A-Za-z_]\w*)\s*:\s*(?P<values>\S.*)$)")
RANGE = re.compile(r"(?P<least>-?\d+)\s*\.\.\s*(?P<most>-?\d+)$")
NUMBER = re.compile(r"-?\d+$")
SHARE = re.compile(r"(?P<threads>\d+)\s*(?P<role>[A-Za-z_]\w*)?\s*x\s*(?P<calls>\d+)$")
LIMIT = re.compile(r"(?P<threads>\d+)\s+(?P<role>\w+)$")
FAILS = re.compile(r"(?P<name>\w+)\s*=\s*(?P<value>-?\d+)$")
MOST_VALUES = 64
MOST_THREADS, MOST_CALLS = 4, 6
EXAMPLE = "write it as in: producer push(v: 1..2) = push(&q, v)"


class Line(Record):
    """A line of the description without what belongs to the comment."""

    text: str
    span: Span


def specifications_in(source: SourceText) -> tuple[Specification, ...]:
    """Every object that the text describes. InputError with all mistakes, or where there is none."""
    blocks = list(_blocks(source))
    if not blocks:
        hint = "describe it in a comment that begins with: memfence-test NAME; `memfence help test` shows one"
        at = Label(source.span(0, min(1, len(source.text))))
        raise InputError([Diagnostic(Code.BAD_OBJECT, f"`{source.path}` describes no object", at, hint=hint)])
    mistakes: list[Diagnostic] = []
    found = [_Reader(source, name, mark, lines, mistakes).specification() for name, mark, lines in blocks]
    if mistakes:
        raise InputError(mistakes)
    return tuple(found)


def shape_of(text: str, specification: Specification) -> tuple[Share, ...]:
    """A shape as it is typed: `2x2`, or `1 producer x 2, 1 consumer x 2`. InputError for what is none."""
    source = SourceText("--shape", text)
    mistakes: list[Diagnostic] = []
    reader = _Reader(source, specification.name, source.span(0, len(text)), [], mistakes)
    reader.operations = list(specification.operations)
    found = [reader.share(part) for part in _split(Line(text, source.span(0, len(text))), source)]
    if not found:
        reader.wrong(source.span(0, 0), "a shape says how many threads make how many calls", "write: --shape 2x2")
    if mistakes:
        raise InputError(mistakes)
    return tuple(share for share in found if share is not None)


def is_program(path: str) -> bool:
    """Whether the file has code beside the description."""
    return PurePath(path).suffix in (*SOURCES, *HEADERS, ".C")


def _blocks(source: SourceText) -> Iterator[tuple[str, Span, list[Line]]]:
    for mark in MARK.finditer(source.text):
        name = mark["name"] or PurePath(source.path).stem
        start = source.text.rfind("\n", 0, mark.start()) + 1
        before = source.text[start : mark.start()].strip()
        if before not in ("/*", "/**", "//", "*", ""):
            continue  # it is mentioned, not begun
        yield name, source.span(mark.start(), mark.end()), list(_lines(source, mark.end(), before))


def _lines(source: SourceText, position: int, begun: str) -> Iterator[Line]:
    """The lines from here to an empty one, to the end of the comment, or, where there is none, of the file."""
    position = source.text.find("\n", position) + 1
    while 0 < position < len(source.text):
        end = source.text.find("\n", position)
        end = len(source.text) if end < 0 else end
        whole = source.text[position:end]
        if begun == "//" and not whole.lstrip().startswith("//"):
            return
        text, closing, _ = whole.partition("*/") if begun not in ("//", "") else (whole, "", "")
        lead = re.match(r"\s*(?://+|\*(?!/))?\s*" if begun else r"\s*", text)
        skipped = lead.end() if lead is not None else 0
        said = text[skipped:].rstrip()
        if said and MARK.search(said) is None:
            at = position + skipped
            yield Line(said, source.span(at, at + len(said)))
        elif said or begun:
            return
        if closing:
            return
        position = end + 1


class _Reader:
    """One block, line by line."""

    def __init__(
        self, source: SourceText, name: str, mark: Span, lines: list[Line], mistakes: list[Diagnostic]
    ) -> None:
        self.source, self.name, self.mark, self.mistakes = source, name, mark, mistakes
        self.said: dict[str, list[Line]] = {word: [] for word in WORDS}
        self.operations: list[Operation] = []
        for line in lines:
            word, _, rest = line.text.partition(" ")
            if word in self.said:
                lead = len(word) + 1 + len(rest) - len(rest.lstrip())
                start = min(line.span.start + lead, line.span.end)
                self.said[word].append(Line(rest.strip(), source.span(start, line.span.end)))
            else:
                self._add_operation(line)

    def specification(self) -> Specification:
        """What was said; mistakes are added to the list."""
        if not self.operations:
            self.wrong(self.mark, "no operation is named", EXAMPLE)
        language = self._language()
        includes = tuple(line.text for line in self.said["include"])
        if is_program(self.source.path):
            includes = (*includes, f'"{PurePath(self.source.path).name}"')
        elif not includes:
            self.wrong(self.mark, "it is not said where the object is declared", 'add a line: include "queue.h"')
        return Specification(
            name=self.name,
            source=self.source,
            language=language,
            includes=includes,
            declaration=self._joined("object"),
            operations=tuple(map(self._with_failure, self.operations)),
            per_thread=self._joined("thread"),
            before=self._joined("before"),
            after=self._joined("after"),
            observed=self._once("finally"),
            at_most=tuple(self._limits()),
            shapes=tuple(self._shapes()),
            sequential=self._once("sequential").strip('"'),
        )

    def wrong(self, span: Span, message: str, hint: str | None = None) -> None:
        self.mistakes.append(Diagnostic(Code.BAD_OBJECT, message, Label(span), hint=hint))

    def _joined(self, word: str) -> str:
        return " ".join(line.text for line in self.said[word])

    def _once(self, word: str) -> str:
        for line in self.said[word][1:]:
            self.wrong(line.span, f"`{word}` is said twice")
        return self.said[word][0].text if self.said[word] else ""

    def _language(self) -> str:
        said = self._once("language").lower()
        if said not in ("", "c", "c++"):
            self.wrong(self.said["language"][0].span, f"`{said}` is neither c nor c++")
        files = [self.source.path, *(line.text.strip('"<>') for line in self.said["include"])]
        is_header_of_cpp = any(line.text.startswith("<") and "." not in line.text for line in self.said["include"])
        return said or ("c++" if is_header_of_cpp or any(map(is_cpp, files)) else "c")

    def _add_operation(self, line: Line) -> None:
        found = OPERATION.match(line.text)
        code = "" if found is None else line.text[found.end() :].strip()
        if found is None or not code:
            word = line.text.split()[0]
            near = get_close_matches(word, WORDS, n=1)
            hint = f"did you mean `{near[0]}`? Operations: {EXAMPLE}" if near and not found else EXAMPLE
            return self.wrong(line.span, f"`{line.text}` names no operation", hint)
        if any(one.name == found["name"] for one in self.operations):
            return self.wrong(line.span, f"the operation `{found['name']}` is named twice")
        parameters = tuple(self._parameters(found["parameters"], line))
        returns = found["kind"] == "="
        self.operations.append(Operation(found["role"], found["name"], parameters, code, returns, line.span))
        return None

    def _parameters(self, text: str, line: Line) -> Iterator[Parameter]:
        for part in filter(None, map(str.strip, text.split(","))):
            found = PARAMETER.match(part)
            values = None if found is None else _values(found["values"].strip())
            if found is None or values is None:
                hint = "write NAME: 1..3, NAME: 0|5|7 or NAME: unique"
                self.wrong(line.span, f"`{part}` does not say which values are tried", hint)
                continue
            yield Parameter((found["kind"] or "int").strip(), found["name"], *values)

    def _with_failure(self, operation: Operation) -> Operation:
        for line in self.said["may-fail"]:
            found = FAILS.match(line.text)
            if found is not None and found["name"] == operation.name:
                if not operation.returns:
                    hint = "let it return whether it worked"
                    self.wrong(line.span, f"`{operation.name}` returns nothing, so it has no value for a failure", hint)
                return Operation(
                    operation.role, operation.name, operation.parameters, operation.code, operation.returns,
                    operation.span, int(found["value"]),
                )  # fmt: skip
            known = {one.name for one in self.operations}
            if operation is self.operations[0] and (found is None or found["name"] not in known):
                self.wrong(line.span, f"`{line.text}` names no operation and its value", "write: may-fail pop = 0")
        return operation

    def _limits(self) -> Iterator[tuple[str, int]]:
        roles = {operation.role for operation in self.operations}
        for part in self._parts("at-most"):
            found = LIMIT.match(part.text)
            if found is None or found["role"] not in roles:
                self.wrong(part.span, f"`{part.text}` is no number of threads of a role", "write: at-most 1 producer")
            else:
                yield found["role"], int(found["threads"])

    def _shapes(self) -> Iterator[tuple[Share, ...]]:
        for line in self.said["clients"]:
            shares = [self.share(part) for part in _split(line, self.source)]
            yield tuple(share for share in shares if share is not None)

    def share(self, part: Line) -> Share | None:
        found = SHARE.match(part.text)
        roles = {operation.role for operation in self.operations}
        if found is None or (found["role"] and found["role"] not in roles):
            hint = "write: clients 2 x 2, or: clients 1 producer x 2, 1 consumer x 2"
            self.wrong(part.span, f"`{part.text}` does not say how many threads make how many calls", hint)
            return None
        share = Share(found["role"] or "", int(found["threads"]), int(found["calls"]))
        if not (1 <= share.threads <= MOST_THREADS and 1 <= share.calls <= MOST_CALLS):
            self.wrong(part.span, f"there can be up to {MOST_THREADS} threads with up to {MOST_CALLS} calls each")
            return None
        return share

    def _parts(self, word: str) -> Iterator[Line]:
        for line in self.said[word]:
            yield from _split(line, self.source)


def _split(line: Line, source: SourceText) -> Iterator[Line]:
    for found in re.finditer(r"[^,\s][^,]*", line.text):
        text = found[0].rstrip()
        start = line.span.start + found.start()
        yield Line(text, source.span(start, start + len(text)))


def _values(text: str) -> tuple[tuple[int, ...], bool] | None:
    """The values that are tried, and whether each call has its own; None for a text that names none."""
    if text == "unique":
        return (), True
    found = RANGE.match(text)
    if found is not None:
        least, most = int(found["least"]), int(found["most"])
        return (tuple(range(least, most + 1)), False) if 0 <= most - least < MOST_VALUES else None
    parts = [part.strip() for part in text.split("|")]
    read: Callable[[str], int] = int
    return (tuple(dict.fromkeys(map(read, parts))), False) if all(map(NUMBER.match, parts)) else None
