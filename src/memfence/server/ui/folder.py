"""What the page may open: the files of one folder. What a program may include is for its child to know (`reading`)."""

from __future__ import annotations

from pathlib import Path

from memfence.frontends.catalogue import LANGUAGES
from memfence.frontends.endings import BITCODE

LARGEST_CHARACTERS = 200_000


class Outside(ValueError):
    """A path that is not in the folder."""


class Folder:
    """The files of `root` that memfence can read, by their names; nothing else, whatever links point to."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def path(self, name: str) -> Path:
        """Where the file is. Outside if that is not in the folder."""
        if "\0" in name or not name:
            raise Outside("this is no name of a file")
        found = (self.root / name).resolve()
        if not found.is_relative_to(self.root) or found == self.root:
            raise Outside(f"`{name}` is not in the folder")
        return found

    def read(self, name: str) -> str:
        """The text of the file. Outside, or OSError, where it cannot be read; ValueError where it is no short text."""
        found = self.path(name)
        if found.exists() and not found.is_file():
            raise Outside(f"`{name}` is no file")
        with found.open(encoding="utf-8") as file:
            text = file.read(LARGEST_CHARACTERS + 1)
        if len(text) > LARGEST_CHARACTERS:
            raise ValueError(f"`{name}` is longer than {LARGEST_CHARACTERS:,} characters")
        return text

    def files(self, most: int = 200) -> list[str]:
        """The programs in the folder itself, by name."""
        suffixes = {suffix for language in LANGUAGES for suffix in language.suffixes} - {BITCODE}
        found = (path for path in sorted(self.root.iterdir()) if path.suffix in suffixes and path.is_file())
        return [path.name for path in found if path.resolve().is_relative_to(self.root)][:most]
