"""rustc, and the linker of its LLVM.

rustc instruments the crates of the user (and those that they depend on) and puts them together with the standard
library, which comes as bitcode beside its machine code (fat LTO). The linker of the same LLVM then instruments the
atomic operations of the standard library as well, so that its locks, its reference counts and what it parks on are
steps like those of the user.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.records import Record
from memfence.source import SourceText

HINT = "install Rust from https://rustup.rs (1.90 or later), or name rustc in MEMFENCE_RUSTC"
OLDEST = (1, 90)
HOST = "x86_64-unknown-linux-gnu"


class RustToolchain(Record):
    """`linker`: lld, of the LLVM that rustc has in it."""

    rustc: str
    linker: str
    version: str


@cache
def find_rust() -> RustToolchain:
    """rustc of the PATH, or the one that MEMFENCE_RUSTC names. InputError where there is none that will do."""
    name = os.environ.get("MEMFENCE_RUSTC", "rustc")
    rustc = shutil.which(name)
    if rustc is None:
        raise missing(f"Rust programs need rustc, and there is no `{name}`")
    told = _output([rustc, "--version", "--verbose"])
    release = re.search(r"^release: (\d+)\.(\d+)\S*", told, re.MULTILINE)
    host = re.search(r"^host: (\S+)", told, re.MULTILINE)
    if release is None or host is None:
        raise missing(f"`{rustc}` does not say which rustc it is")
    if (int(release[1]), int(release[2])) < OLDEST:
        raise missing(f"rustc {release[1]}.{release[2]} is too old: {OLDEST[0]}.{OLDEST[1]} is needed")
    if host[1] != HOST:
        raise missing(f"Rust programs are run on {HOST}, not on {host[1]}")
    beside = Path(_output([rustc, "--print", "sysroot"]).strip()) / "lib" / "rustlib" / HOST / "bin" / "rust-lld"
    if not beside.is_file():
        raise missing(f"`{rustc}` comes without `rust-lld`, which instruments the standard library")
    return RustToolchain(rustc, str(beside), release[0].removeprefix("release: "))


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise missing(f"`{command[0]}` failed: {problem}") from None


def missing(message: str) -> InputError:
    at = Label(SourceText("<command line>", "").span(0, 0))
    return InputError([Diagnostic(Code.NO_COMPILER, message, at, hint=HINT)])
