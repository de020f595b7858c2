"""The example programs that come with memfence."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import shorten

_INCLUDED = re.compile(r'^\s*#\s*include\s+"([\w.]+)"', re.MULTILINE)


def examples_folder() -> Path:
    """Where the package is installed, else beside its sources."""
    package = Path(__file__).resolve().parents[1]
    places = (package / "examples", package.parents[1] / "examples")
    return next((place for place in places if place.is_dir()), places[0])


def example_files() -> list[Path]:
    """Every example: C, which most people write, then those for newcomers, then the rest."""
    from memfence.frontends.catalogue import LANGUAGES

    folder = examples_folder()
    suffixes = {suffix for language in LANGUAGES for suffix in language.suffixes}
    found = (path for path in folder.rglob("*") if path.suffix in suffixes)
    return sorted(found, key=lambda path: (path.parent != folder / "c", len(path.relative_to(folder).parts), str(path)))


def example_texts() -> list[tuple[str, str]]:
    """Each example by its name, with the first words of its first comment."""
    folder = examples_folder()
    return [(str(path.relative_to(folder)), _about(path.read_text(encoding="utf-8"))) for path in example_files()]


def example(name: str) -> Path | None:
    """The example of that name, with or without folder and suffix."""
    folder = examples_folder()
    for path in example_files():
        if name in (str(path.relative_to(folder)), path.name, path.stem):
            return path
    return None


def examples_like(part: str) -> list[str]:
    """The names of the examples that have this in them, those that begin with it first."""
    found = [path for path in example_files() if part.lower() in path.stem.lower()]
    found.sort(key=lambda path: not path.stem.lower().startswith(part.lower()))
    return [str(path.relative_to(examples_folder())) for path in found]


def needed_by(path: Path) -> list[Path]:
    """The files of its own folder that an example includes, and those that they include."""
    found: list[Path] = []
    waiting = [path]
    while waiting:
        text = waiting.pop().read_text(encoding="utf-8")
        for name in _INCLUDED.findall(text):
            beside = path.with_name(name)
            if beside.is_file() and beside != path and beside not in found:
                found.append(beside)
                waiting.append(beside)
    return found


def verb_for(path: Path) -> str:
    """What to ask about an example: programs to be compiled and run, and objects, are in folders of their own."""
    return {"run": "run", "objects": "test"}.get(path.parent.name, "check")


def _about(text: str) -> str:
    found = re.match(r"\s*/\*+\s*(.+?)(?:\.\s|\*/|\n\s*\*?\s*\n|\n)", text, re.DOTALL)
    return shorten(found[1], 90, placeholder=" ...") if found else ""
