"""A file system for clang that has nothing but what a confined process may read.

LLVM can be given an overlay that stands for the whole file system: with `redirect-only`, a path that is not in it does
not exist. So no spelling of an `#include`, `#embed` or `__has_include` finds another file. The dependencies that clang
lists are compared with it all the same.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from memfence.records import Record

SEARCHED = re.compile(r"#include <\.\.\.> search starts here:\n(.*?)End of search list", re.DOTALL)
SECONDS = 60


class Overlay(Record):
    """The files and folders that exist for clang."""

    files: tuple[Path, ...]
    folders: tuple[Path, ...]

    def text(self) -> str:
        """As LLVM reads it. JSON is YAML."""
        roots = [_entry("directory-remap", path) for path in self.folders]
        roots += [_entry("file", path) for path in self.files]
        settings = {"version": 0, "case-sensitive": "true", "use-external-names": "false"}
        return json.dumps({**settings, "redirecting-with": "redirect-only", "roots": roots}, ensure_ascii=False)

    def has(self, path: Path) -> bool:
        """Whether the file is one of them."""
        return path in self.files or any(path.is_relative_to(folder) for folder in self.folders)


def _entry(kind: str, path: Path) -> dict[str, Any]:
    return {"type": kind, "name": str(path), "external-contents": str(path)}


def folders_of_compiler(command: Sequence[str]) -> tuple[Path, ...]:
    """Where the compiler has its own headers, and those of the C and C++ libraries."""
    if "ziglang" in command:
        found = importlib.util.find_spec("ziglang")
        places = [] if found is None else found.submodule_search_locations or []
        return tuple(Path(place).resolve() / "lib" for place in places)
    return _searched(tuple(command))


@cache
def _searched(command: tuple[str, ...]) -> tuple[Path, ...]:
    language = "c++" if Path(command[0]).name.startswith("clang++") else "c"
    try:
        done = subprocess.run(
            [*command, "-E", "-v", "-x", language, "-"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ()
    listed = SEARCHED.search(done.stderr)
    return tuple(Path(line.strip()) for line in listed[1].splitlines()) if listed else ()


def dependencies(text: str) -> list[Path]:
    """The files in a rule of make, as clang writes it."""
    _, _, listed = text.replace("\\\n", " ").partition(": ")
    words = re.findall(r"(?:\\[ #]|[^\s])+", listed)
    return [Path(re.sub(r"\\([ #])", r"\1", word).replace("$$", "$")) for word in words]
