"""Code of libraries that is in no header, read where it is called: the wheel has libc++'s sources, and text is ours."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from memfence.frontends.c.llvm.instructions import Module
from memfence.program.load_options import COptions
from memfence.reading import confined_to

SOURCES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("string.cpp", ("NSt3__112basic_string", "NKSt3__112basic_string", "NSt3__1plI", "NSt3__19to_string")),
    ("memory.cpp", ("NSt3__119__shared_weak_count", "NKSt3__119__shared_weak_count", "NSt3__114__shared_count")),
    ("hash.cpp", ("NSt3__112__next_prime",)),
)
"""Files of libc++, and how the names begin, behind `_Z`, whose code they have."""
TEXT, OF_TEXT = (
    Path(__file__).parent / "include" / "text.c",
    frozenset({"memcmp", "bcmp", "memchr", "strlen", "strcmp"}),
)
BUILDING = ("_LIBCPP_BUILDING_LIBRARY",)


def files_called(modules: Sequence[Module]) -> list[Path]:
    """The sources of code that the modules call and do not have."""
    missing, folder = set(_undefined(modules)), _folder()
    found = [] if folder is None else [folder / file for file, names in SOURCES if any(map(_begins(names), missing))]
    return [*found, TEXT] if found or OF_TEXT & missing else []


def _begins(names: tuple[str, ...]) -> Callable[[str], bool]:
    beginnings = tuple(f"_Z{name}" for name in names)
    return lambda name: name.startswith(beginnings)


def options_for(file: Path, options: COptions) -> COptions:
    """How such a file is compiled: as the library is, whatever the user's macros are."""
    if file == TEXT:
        return replace(options, macros=(), include=(), std=None, also=(), forced_include=())
    return replace(options, macros=BUILDING, include=(str(file.parent),), std="c++23", also=(), forced_include=())


def _folder() -> Path | None:
    found = None if confined_to() is not None else importlib.util.find_spec("ziglang")
    places = [] if found is None else found.submodule_search_locations or []
    return next((path for place in places if (path := Path(place) / "lib" / "libcxx" / "src").is_dir()), None)


def _undefined(modules: Iterable[Module]) -> Iterator[str]:
    known = {name for module in modules for name, function in module.functions.items() if function.blocks}
    for module in modules:
        yield from (name for name, function in module.functions.items() if not function.blocks and name not in known)
