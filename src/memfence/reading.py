"""The user's files, as front ends read them: all of them, or in a confined process those of one folder.

A page in a browser may be given any text. So the process that answers it confines itself first: whatever a text names,
by an `#include`, a `#line` or a link, is read only if it is a file of the folder. What is elsewhere looks the same
whether it exists or not.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path

MOST_FILES = 5_000
OUTSIDE = "it is not in the folder"

_folder: list[Path] = []


class OutsideFolder(PermissionError):
    """A confined process was asked for a file that is not in its folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(1, OUTSIDE, str(path))


def confine(folder: Path) -> None:
    """From now on this process reads no file of the user but those of the folder. It cannot be taken back."""
    if not _folder:
        _folder.append(folder.resolve())


def confined_to() -> Path | None:
    """The folder, if this process is confined."""
    return _folder[0] if _folder else None


def require_allowed(path: Path) -> None:
    """OutsideFolder where this process may not read the file, whatever links it goes by."""
    root = confined_to()
    if root is None:
        return
    try:
        is_inside = path.resolve().is_relative_to(root)
    except (OSError, ValueError, RuntimeError):
        is_inside = False
    if not is_inside:
        raise OutsideFolder(path)


def read_bytes(path: Path, most: int = -1) -> bytes:
    """The content, or its first `most` bytes. OSError where there is none that may be read."""
    require_allowed(path)
    with path.open("rb") as file:
        return file.read(most)


def read_text(path: Path) -> str:
    """The text, to be shown: what is no UTF-8 is replaced. OSError where there is none that may be read."""
    require_allowed(path)
    return path.read_text(encoding="utf-8", errors="replace")


def files_of(folder: Path, endings: Collection[str]) -> list[Path]:
    """The regular files in the folder and below that are not links to elsewhere; of many, those with the endings."""
    found = list(_walk(folder.resolve(), endings if _has_many(folder) else None))
    if len(found) > MOST_FILES:
        raise TooManyFiles
    return sorted(found)


class TooManyFiles(Exception):
    """There is no telling which of so many files a text may want."""


def _has_many(folder: Path) -> bool:
    return sum(1 for _, _ in zip(_walk(folder.resolve(), None), range(MOST_FILES + 1), strict=False)) > MOST_FILES


def _walk(root: Path, endings: Collection[str] | None) -> Iterator[Path]:
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder) / name
            if (endings is None or path.suffix in endings) and _is_own(path, root):
                yield path


def _is_own(path: Path, root: Path) -> bool:
    try:
        path.name.encode()
        return stat.S_ISREG(path.stat().st_mode) and path.resolve().is_relative_to(root)
    except (OSError, ValueError, RuntimeError):
        return False
