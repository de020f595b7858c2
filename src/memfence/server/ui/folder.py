"""What the page may read: the files of one folder, and headers that stand there or belong to the compiler."""

from __future__ import annotations

import re
from pathlib import Path

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.registry import LANGUAGES
from memfence.source import SourceText

LARGEST_CHARACTERS = 200_000
DIRECTIVE = re.compile(
    r"(?:#|%:|\?\?=)(?:\s|/\*.*?\*/)*(include_next|include|import|embed)\b(?:[^\S\n]|/\*.*?\*/)*([^\n]*)", re.DOTALL
)
OTHER_READS = re.compile(r"\b__has_include\b|\b__has_embed\b|\.incbin\b|\.include\b|_Pragma|#\s*pragma")
NAME = re.compile(r"""[<"]([A-Za-z0-9_./+-]+)[>"]""")


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
        """The text of the file. Outside, or OSError, where it cannot be read; ValueError if it is no text."""
        with self.path(name).open(encoding="utf-8") as file:
            return file.read(LARGEST_CHARACTERS)

    def files(self, most: int = 200) -> list[str]:
        """The programs in the folder itself, by name."""
        suffixes = {suffix for language in LANGUAGES for suffix in language.suffixes if suffix != ".bc"}
        found = (path for path in sorted(self.root.iterdir()) if path.suffix in suffixes and path.is_file())
        return [path.name for path in found if path.resolve().is_relative_to(self.root)][:most]

    def require_inside(self, source: SourceText) -> None:
        """InputError where the text would make a front end read a file from elsewhere.

        Headers by their plain names are the compiler's (`<pthread.h>`) or stand in the folder; whatever
        begins with `/`, leaves the folder by `..`, or is no plain name is refused. Spliced lines hide nothing.
        """
        text = source.text.replace("\\\r\n", "").replace("\\\n", "").replace("??/\n", "")
        home = self.path(source.path).parent
        problems = [operand for _, operand in DIRECTIVE.findall(text) if not self._is_inside(home, operand)]
        problems += OTHER_READS.findall(text)
        if len(source.text) > LARGEST_CHARACTERS:
            raise _refusal(source, f"the program is longer than {LARGEST_CHARACTERS:,} characters")
        if problems:
            raise _refusal(source, f"`{problems[0].strip()[:60]}` may read files outside of the folder")

    def _is_inside(self, home: Path, operand: str) -> bool:
        """Whether the header cannot be another file than the compiler's own, or one of the folder."""
        found = NAME.match(operand.strip())
        if found is None or found[1].startswith("/"):
            return False
        there = (home / found[1]).resolve()
        if ".." in found[1].split("/"):  # must be the file of the folder: nothing else may be looked for
            return operand.strip().startswith('"') and there.is_relative_to(self.root) and there.is_file()
        return there.is_relative_to(self.root)


def _refusal(source: SourceText, message: str) -> InputError:
    return InputError([Diagnostic(Code.UNREADABLE, message, Label(source.span(0, min(1, len(source.text)))))])
