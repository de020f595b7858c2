"""Macros of the user's own files: where a `#define` stands, and what it stands for.

Only what is plain to see: a name that is defined once, in a file that may be edited. Whether a change there means what
it should is found out by reading the changed program again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from memfence.frontends.c.editable import given_paths, is_editable
from memfence.program.ir import Program
from memfence.records import Record
from memfence.source import SourceText, Span, text_of

DEFINE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?P<parameters>\([^)\n]*\))?[ \t]+(?P<body>(?:[^\n\\]|\\\r?\n|\\.)*)",
    re.MULTILINE,
)
QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
MOST_FILES = 200


class Macro(Record):
    """A `#define`: its name, and the place of what it stands for."""

    name: str
    body: Span


class Macros:
    """The macros of some texts, by name."""

    def __init__(self, texts: Iterable[SourceText]) -> None:
        self._found: dict[str, list[Macro]] = {}
        for source in texts:
            for match in DEFINE.finditer(source.text):
                body = source.span(match.start("body"), match.end("body"))
                self._found.setdefault(match["name"], []).append(Macro(match["name"], body))

    def named(self, name: str) -> Macro | None:
        """The macro of that name, where there is just one."""
        found = self._found.get(name, ())
        return found[0] if len(found) == 1 else None


NO_MACROS = Macros(())


def own_texts(program: Program) -> tuple[SourceText, ...]:
    """The texts of the program that may be edited: those that its steps come from, and the headers that they include by
    name in quotes, beside them or in the folders of `-I`."""
    given = given_paths(program)
    known = {program.source.path: program.source}
    for process in program.processes:
        for step in process.transitions:
            known.setdefault(step.span.source.path, step.span.source)
    waiting = [source for source in known.values() if is_editable(source, given)]
    waiting += [source for path in given if path not in known and (source := _read(path)) is not None]
    seen = {str(Path(source.path).resolve()): source for source in waiting}
    while waiting and len(seen) < MOST_FILES:
        for path in _included(waiting.pop(), program.options.c.include):
            key = str(path.resolve())
            source = None if key in seen else _read(str(path))
            if source is not None and is_editable(source, given):
                seen[key] = source
                waiting.append(source)
    return tuple(seen.values())


def _included(source: SourceText, folders: Iterable[str]) -> Iterator[Path]:
    for name in QUOTED.findall(source.text):
        places = (Path(folder) / name for folder in (str(Path(source.path).parent), *folders))
        found = next((place for place in places if place.is_file()), None)
        if found is not None:
            yield found


def _read(path: str) -> SourceText | None:
    try:
        return text_of(path, Path(path).read_bytes())
    except OSError:
        return None
