"""The patched text in its own language, and the unified diff that turns the old one into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff
from pathlib import PurePosixPath

from memfence.diagnostics import InputError
from memfence.frontends.catalogue import language_named
from memfence.frontends.frontend import EditKind, EditStyle
from memfence.pipeline import load_text
from memfence.program.ir import FencePoint, Program
from memfence.records import Record
from memfence.source import NOWHERE, SourceText


class PatchedFile(Record):
    """A file that is changed: its text as it is, and as it becomes."""

    source: SourceText
    text: str

    @property
    def content(self) -> str:
        """What is written into the file."""
        return self.source.marked(self.text)

    @property
    def changed(self) -> SourceText:
        """The new text, at the same path."""
        return SourceText(self.source.path, self.text, has_mark=self.source.has_mark)


def patched_files(
    program: Program,
    edits: Sequence[tuple[FencePoint, EditKind]],
    style: EditStyle = "fence",
    *,
    needs_header: bool = True,
) -> tuple[PatchedFile, ...] | None:
    """The files of `program` that the edits change, the first one of the program first; None for a program that was not
    read from a text. `needs_header`: fences of C are spelled as its library does, else as the compiler knows them.
    """
    language = language_named(program.language)
    if language is None or program.source is NOWHERE.source:
        return None
    if language.name != "c":
        return (PatchedFile(program.source, language.frontend().insert_fences(program.source, list(edits))),)
    from memfence.frontends.c.editable import is_cpp
    from memfence.frontends.c.edits import insert_fences

    def spelling(source: SourceText) -> str:
        return ("cpp" if is_cpp(source, program.source.path) else "c") if needs_header else "builtin"

    return tuple(
        PatchedFile(
            source,
            insert_fences(source, [e for e in edits if e[0].span.source is source], style, language=spelling(source)),
        )
        for source in in_order(program, (point.span.source for point, _ in edits))
    )


class DoesNotCompile(Exception):
    """No text with fences at these points is a program, in whichever way they are written."""

    def __init__(self, points: Sequence[FencePoint]) -> None:
        super().__init__(f"{len(points)} fences do not compile")
        self.points = tuple(points)


def compiled(
    program: Program, edits: Sequence[tuple[FencePoint, EditKind]], style: EditStyle
) -> tuple[tuple[PatchedFile, ...], Program] | None:
    """The files with the edits, and the program that they are; None for a program that was not read from a text.

    DoesNotCompile, with the points that are to blame, where a compiler refuses what was written: with another spelling
    of fences, which needs no header, too.
    """
    for needs_header in (True, False):
        files = patched_files(program, edits, style, needs_header=needs_header)
        if files is None:
            return None
        try:
            return files, reread(program, files)
        except InputError:
            if program.language != "c":
                raise
    alone = [edit for edit in edits if len(edits) > 1 and not _compiles(program, edit, style)]
    raise DoesNotCompile([point for point, _ in alone or edits])


def _compiles(program: Program, edit: tuple[FencePoint, EditKind], style: EditStyle) -> bool:
    try:
        compiled(program, [edit], style)
    except DoesNotCompile:
        return False
    return True


def without_points(program: Program, points: Iterable[FencePoint]) -> Program:
    """`program` without these places for fences."""
    gone = frozenset(points)
    if not gone:
        return program
    processes = []
    for process in program.processes:
        steps = tuple(replace(t, point=None) if t.point in gone else t for t in process.transitions)
        locations = tuple(replace(at, point=None) if at.point in gone else at for at in process.locations)
        processes.append(replace(process, transitions=steps, locations=locations))
    return replace(program, processes=tuple(processes))


def in_order(program: Program, sources: Iterable[SourceText]) -> list[SourceText]:
    """Each text once: the program's own first, the others by their paths."""
    return sorted(dict.fromkeys(sources), key=lambda source: (source is not program.source, source.path))


def text_of(program: Program, files: Iterable[PatchedFile]) -> str:
    """The text of the program's first file, changed or not."""
    return next((one.text for one in files if one.source is program.source), program.source.text)


def reread(program: Program, files: Sequence[PatchedFile]) -> Program:
    """The program with these files changed, read as it was before. InputError where a change is no program."""
    first = SourceText(program.source.path, text_of(program, files), has_mark=program.source.has_mark)
    others = [one.changed for one in files if one.source is not program.source]
    return load_text(first, program.options, others)


def diff_of(files: Iterable[PatchedFile]) -> str:
    """One diff for all files."""
    return "".join(unified(one.source, one.text) for one in files)


def style_of(program: Program, point: FencePoint, kind: EditKind, style: EditStyle) -> EditStyle:
    """How the edit is written where `style` is asked for: not every statement is a store that could be stronger."""
    if style != "store":
        return style
    from memfence.frontends.c.edits import stronger_store

    return "fence" if stronger_store(point.span.source, point, kind, style) is None else "store"


def unified(source: SourceText, patched: str) -> str:
    """A diff that `git apply` takes, from the folder in which the path of the source makes sense."""
    if source.text == patched:
        return ""
    path = diff_path(source.path)
    before, after = _lines(source.marked(source.text)), _lines(source.marked(patched))
    lines = unified_diff(before, after, f"a/{path}", f"b/{path}")
    return "".join(_ended(lines))


def diff_path(path: str) -> str:
    """The path without anything that `git apply` would refuse: it knows neither a root nor `..`."""
    parts = [part for part in PurePosixPath(path).parts if part not in ("/", "..", ".")]
    return "/".join(parts)


def _lines(text: str) -> list[str]:
    """Lines as diff counts them: ended by a line feed, and by nothing else."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _ended(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
