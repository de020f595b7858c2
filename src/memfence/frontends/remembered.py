"""Programs that were read before: found again where nothing that reading depends on has changed.

What decides is content: of the texts, of every file that clang read for them, of memfence itself, and all options. Two
things could make clang read other files than before: a header that is now found earlier, and `__has_include`. So the
names in the user's folders are compared, too, and texts that ask for files are not remembered. Only the compiler of the
`ziglang` package is known well enough: with another one, everything is read anew.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from memfence import cache_folder
from memfence.frontends.endings import MAY_BE_INCLUDED, is_from_llvm
from memfence.program.ir import Program
from memfence.program.load_options import LoadOptions
from memfence.reading import confined_to
from memfence.records import Record
from memfence.source import SourceText

PACKAGE = Path(__file__).parents[1]
CODE = ("", "frontends", "passes", "program")
"""The folders of memfence that say which program a text is; the first one without those in it."""
HEARD = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "SDKROOT", "LANG", "LC_ALL", "HOME")
"""Variables of the environment that clang listens to, beside those that begin with ZIG."""
ASKING = re.compile(r"__has_include|__has_embed|#\s*embed|__DATE__|__TIME__|__TIMESTAMP__|include_next|\?\?=")
"""What makes a text another one, with the same files."""
DEEPEST = 4
Read = Callable[[list[Path] | None], Program]


class Kept(Record):
    """`files`: what clang read, and the digest of all of it. `around`: the digest of the names beside them."""

    files: tuple[str, ...]
    digest: str
    around: str
    program: bytes


def remembered(source: SourceText, options: LoadOptions, read: Read) -> Program:
    """The program that `read` makes, which lists the files that decide it; perhaps from an earlier command."""
    key = _key(source, options)
    if key is None:
        return read(None)
    kept = _kept(cache_folder.find(key))
    if kept is not None and _still_holds(kept, options):
        program = _unpacked(kept.program)
        if isinstance(program, Program):
            return program
    files: list[Path] = []
    program = read(files)
    kept = _to_keep(source, program, files, options)
    if kept is not None:
        cache_folder.keep(key, pickle.dumps(kept, pickle.HIGHEST_PROTOCOL))
    return program


def _key(source: SourceText, options: LoadOptions) -> str | None:
    """What is known before anything is read; None where nothing is to be remembered."""
    paths = (source.path, *options.c.also)
    if not cache_folder.is_on() or confined_to() is not None or options.c.clang or any(map(is_from_llvm, paths)):
        return None
    compiler = _compiler()
    if compiler is None or not _is_on_disk(source):
        return None
    heard = [(name, os.environ[name]) for name in sorted(os.environ) if name in HEARD or name.startswith("ZIG")]
    try:
        here = Path.cwd()
    except OSError:
        return None
    parts = (sys.version, _code(), compiler, heard, here, source.path, source.text, repr(options))
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()


def _is_on_disk(source: SourceText) -> bool:
    try:
        return Path(source.path).read_bytes() == source.marked(source.text).encode()
    except (OSError, ValueError):
        return False


@cache
def _compiler() -> str | None:
    """The compiler of the package, as it is installed."""
    found = importlib.util.find_spec("ziglang")
    for place in [] if found is None else found.submodule_search_locations or []:
        try:
            about = (Path(place) / "zig").stat()
        except OSError:
            continue
        return f"{place} {about.st_size} {about.st_mtime_ns} {about.st_ino}"
    return None


@cache
def _code() -> str:
    """What tells one memfence from another, and from itself after a change."""
    found: list[tuple[str, int, int]] = []
    for name in CODE:
        for folder, folders, files in os.walk(PACKAGE / name):
            folders[:] = sorted(one for one in folders if name and one != "__pycache__")
            for path in (f"{folder}/{file}" for file in sorted(files)):
                about = Path(path).stat()
                found.append((path, about.st_size, about.st_mtime_ns))
    return hashlib.sha256(repr(found).encode("utf-8", "surrogatepass")).hexdigest()


def _to_keep(source: SourceText, program: Program, files: Iterable[Path], options: LoadOptions) -> Kept | None:
    """What to keep; None where something decides that is in no listed file."""
    names = tuple(sorted({os.path.realpath(path) for path in files}))
    content, texts = _packed(program)
    known = set(names)
    if os.path.realpath(source.path) not in known or any(not _is_one_of(text, known) for text in texts):
        return None
    digest = _digest(names, asks_nothing=True)
    return None if digest is None else Kept(names, digest, _around(names, options), content)


def _is_one_of(text: SourceText, files: set[str]) -> bool:
    """Whether the text is what one of the files has; places that are nowhere are in an empty text."""
    return not text.text or (os.path.realpath(text.path) in files and _is_on_disk(text))


def _still_holds(kept: Kept, options: LoadOptions) -> bool:
    return _digest(kept.files) == kept.digest and _around(kept.files, options) == kept.around


def _digest(names: Iterable[str], *, asks_nothing: bool = False) -> str | None:
    """Of the content of all files. None where one cannot be read, or `asks_nothing` is wanted and one does."""
    found = hashlib.sha256()
    for name in names:
        try:
            content = Path(name).read_bytes()
        except OSError:
            return None
        if asks_nothing and not _is_of_compiler(name) and ASKING.search(content.decode("latin-1")):
            return None
        found.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogatepass"))
        found.update(content)
    return found.hexdigest()


def _is_of_compiler(name: str) -> bool:
    return "/ziglang/lib/" in name or Path(name).is_relative_to(PACKAGE)


def _around(names: Iterable[str], options: LoadOptions) -> str:
    """The names that clang could find a header by, before it comes to that of the compiler or of another folder."""
    own = {name.rpartition("/")[0] for name in names if not _is_of_compiler(name)}
    folders = [Path(folder) for folder in sorted(own | {os.path.realpath(folder) for folder in options.c.include})]
    ends = sorted({end for name in names for end in _ends(name)})
    found: list[object] = []
    for folder in folders:
        try:
            found.append((folder, sorted(path.name for path in folder.iterdir() if _may_be_included(path))))
        except OSError:
            found.append((folder, None))
        found += [end for end in ends if (folder / end).exists()]
    return hashlib.sha256(repr(found).encode("utf-8", "surrogatepass")).hexdigest()


def _may_be_included(path: Path) -> bool:
    """Headers of C++'s library have no ending."""
    return path.suffix in MAY_BE_INCLUDED or not path.suffix


def _ends(name: str) -> Iterator[str]:
    """Under which names the file may have been included."""
    parts = name.split("/")
    return ("/".join(parts[-count:]) for count in range(1, min(DEEPEST, len(parts)) + 1))


def _kept(content: bytes | None) -> Kept | None:
    found = None if content is None else _unpacked(content)
    return found if isinstance(found, Kept) else None


class _Unpickler(pickle.Unpickler):
    """Makes values of memfence, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        found = None
        if (module, name) in PLAIN or (module.startswith("memfence.") and "." not in name):
            found = super().find_class(module, name)
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return found


PLAIN = {("builtins", "frozenset"), ("builtins", "set")}


class _Pickler(pickle.Pickler):
    """Collects the texts that the value mentions."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.texts: list[SourceText] = []

    def reducer_override(self, value: Any) -> Any:
        if value.__class__ is SourceText:
            self.texts.append(value)
        return NotImplemented


def _packed(program: Program) -> tuple[bytes, list[SourceText]]:
    """The program as bytes, and the texts that its places are in."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(program)
    return file.getvalue(), pickler.texts


def _unpacked(content: bytes) -> Any:
    """The value; None where the bytes are those of another version of Python or of memfence."""
    try:
        return _Unpickler(io.BytesIO(content)).load()
    except Exception:  # whatever is wrong with it: it is computed again
        return None
