"""Files that a command writes: places where nothing can be written are found before anything runs."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from memfence.output_files import CannotWrite, make_folders, write_file

Places = Sequence[tuple[str, Path | None]]
"""Files of a command, each with the name that users know it by; None: not given."""


def require_place(path: Path | None, option: str) -> None:
    """Refuse a file that cannot be written (exit code 2); what is there already stays as it is."""
    obstacle = None if path is None else _obstacle(path)
    if obstacle is not None:
        raise typer.BadParameter(f"cannot write `{path}`: {os.strerror(obstacle)}", param_hint=option)
    if path is not None and path.is_file() and path.suffix.lower() in _kept(option):
        raise typer.BadParameter(f"`{path}` is there already: take another name", param_hint=option)


def _kept(option: str) -> frozenset[str]:
    """Endings of files that the option does not write over: a program may include them. Programs are for --output."""
    from memfence.api.endings import HEADERS_OF_PROGRAMS, PARTS_OF_PROGRAMS

    return HEADERS_OF_PROGRAMS if option == "--output" else PARTS_OF_PROGRAMS


def require_apart(inputs: Places, outputs: Places) -> None:
    """Refuse an output that is an input or another output (exit code 2)."""
    wanted = [(option, path) for option, path in outputs if path is not None]
    for number, (option, path) in enumerate(wanted):
        for name, read in inputs:
            if read is not None and _is_same(path, read):
                other = "; use --in-place" if (option, name) == ("--output", "FILE") else ""
                raise typer.BadParameter(f"`{path}` would overwrite {name}{other}", param_hint=option)
        for before, there in wanted[:number]:
            if _is_same(path, there):
                raise typer.BadParameter(f"both {before} and {option} are `{path}`", param_hint=option)


def _is_same(written: Path, other: Path) -> bool:
    """Whether both are one file, by whatever name; a device or pipe may be written to by several."""
    try:
        if str(other) == "-":
            return written.is_file() and os.path.samestat(written.stat(), os.fstat(sys.stdin.fileno()))
        if written.exists() and not written.is_file():
            return False
        return written.resolve() == other.resolve() or (written.exists() and written.samefile(other))
    except (OSError, ValueError, RuntimeError, AttributeError):  # not there, no number, a loop of links
        return False


def _obstacle(path: Path) -> int | None:
    """The number of the error that writing would end with, as far as can be told beforehand."""
    try:
        if path.is_dir():
            return errno.EISDIR
        if not path.parent.is_dir():
            return errno.ENOTDIR if path.parent.exists() else errno.ENOENT
        return None if os.access(path if path.exists() else path.parent, os.W_OK) else errno.EACCES
    except OSError as problem:  # a name that is too long
        return problem.errno


def write_report(path: Path, text: str, option: str) -> None:
    """Write the file; where that is impossible, the option was wrong (exit code 2)."""
    with writing(option):
        write_file(path, text.encode("utf-8"))


def nothing_written(path: Path, why: str) -> str:
    """The line about a file that was asked for."""
    return f"`{path}` was not written: {why}\n"


def make_folder(path: Path, option: str) -> None:
    """Make the folder, and those above it, unless it exists."""
    with writing(option, "make the folder"):
        make_folders(path)


@contextmanager
def writing(option: str, deed: str = "write") -> Iterator[None]:
    """What cannot be written inside is wrong usage of the option (exit code 2)."""
    try:
        yield
    except CannotWrite as problem:
        message = f"cannot {deed} `{problem.filename}`: {problem.strerror}"
        raise typer.BadParameter(message, param_hint=option) from None
