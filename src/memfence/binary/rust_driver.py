"""A compiler for existing builds of Rust: the same command line as rustc's, with instrumentation and the runtime added.

Executables are put together as whole programs (rust_build.py), libraries are instrumented, everything else is rustc's
own business: questions about itself, and what runs while the program is built (macros, build scripts).
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from memfence.binary.rust_build import INSTRUMENT, compile_whole, run_rustc
from memfence.binary.rust_toolchain import RustToolchain, find_rust
from memfence.frontends.endings import is_rust

EXECUTABLE, LIBRARIES = "bin", ("lib", "rlib")
DROPPED = ("incremental", "lto", "linker-plugin-lto", "embed-bitcode")
"""Of -C: they contradict the program being put together as a whole."""


def drive_rust(words: Sequence[str]) -> int:
    """Do what rustc would; returns its exit status. InputError as for `memfence run`."""
    rust = find_rust()
    if not _compiles(words):
        return _as_it_is(rust, words)
    kept = list(_without_dropped(words))
    kinds = {kind for told in _values(words, "--crate-type") for kind in told.split(",")}
    emitted = [kind for told in _values(words, "--emit") for kind in told.split(",")]
    links = not emitted or any(kind.partition("=")[0] == "link" for kind in emitted)
    if links and ("--test" in words or kinds <= {EXECUTABLE}):
        with tempfile.TemporaryDirectory(prefix="memfence-") as folder:
            return compile_whole(rust, kept, Path(folder), shows=True).returncode
    if kinds <= {EXECUTABLE, *LIBRARIES}:
        return run_rustc(rust, [*kept, *INSTRUMENT], shows=True).returncode
    return _as_it_is(rust, words)


def _compiles(words: Sequence[str]) -> bool:
    """Whether a crate of the user is compiled, for the program itself."""
    named = _values(words, "--crate-name")
    runs_in_build = any(name.startswith("build_script_") for name in named)
    asks = _values(words, "--print")
    return any(map(is_rust, words)) and not runs_in_build and not asks


def _as_it_is(rust: RustToolchain, words: Sequence[str]) -> int:
    return subprocess.run([rust.rustc, *words], check=False).returncode


def _values(words: Sequence[str], name: str) -> list[str]:
    """What was said with the option: behind it or after `=`."""
    found = [after for word, after in zip(words, [*words[1:], ""], strict=True) if word == name]
    return found + [word.partition("=")[2] for word in words if word.startswith(f"{name}=")]


def _without_dropped(words: Sequence[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if word in ("-C", "--codegen"):
            value = next(rest, "")
            if value.partition("=")[0] not in DROPPED:
                yield from (word, value)
        elif not (word.startswith("-C") and word[2:].partition("=")[0] in DROPPED):
            yield word
