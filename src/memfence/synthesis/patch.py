"""The patched text in its own language, and the unified diff that turns the old one into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import PurePosixPath

from memfence.frontends.registry import EditKind, EditStyle, language_named
from memfence.program.ir import FencePoint, Program
from memfence.source import NOWHERE, SourceText


def patched_text(
    program: Program, edits: Iterable[tuple[FencePoint, EditKind]], style: EditStyle = "fence"
) -> str | None:
    """The text of `program` with the edits; None for a program that was not read from a text."""
    language = language_named(program.language)
    if language is None or program.source is NOWHERE.source:
        return None
    if language.name == "c":
        from memfence.frontends.c.edits import insert_fences

        return insert_fences(program.source, list(edits), style)
    return language.frontend().insert_fences(program.source, list(edits))


def style_of(program: Program, point: FencePoint, kind: EditKind, style: EditStyle) -> EditStyle:
    """How the edit is written where `style` is asked for: not every statement is a store that could be stronger."""
    if style != "store":
        return style
    from memfence.frontends.c.edits import stronger_store

    return "fence" if stronger_store(program.source, point, kind, style) is None else "store"


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
