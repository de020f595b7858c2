"""A compiler for existing builds: the same command line as gcc's, with instrumentation and the runtime added.

What compiles a source goes by way of the assembler text, so that fences in it are seen; what links gets the runtime;
everything else (`-E`, `-M`, `--version`) is gcc's own business.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memfence.binary.build import compile_instrumented, link_flags
from memfence.binary.toolchain import find_toolchain
from memfence.frontends.endings import is_source
from memfence.records import Record

WITH_VALUE = frozenset((
    "-o", "-x", "-include", "-isystem", "-iquote", "-idirafter", "-I", "-D", "-U", "-L", "-l", "-MF", "-MT", "-MQ",
    "-Xlinker", "-T", "-z", "-u", "--param",
))  # fmt: skip
NO_OBJECT = frozenset((
    "-E", "-M", "-MM", "-S", "-fsyntax-only", "--version", "-v", "-dumpversion", "-dumpmachine", "-###",
))  # fmt: skip
FOR_LINKER = ("-l", "-L", "-Wl,")
LINKED = (".o", ".a", ".so")


class CommandLine(Record):
    """What gcc was asked for. `others`: all words but sources and the output."""

    sources: tuple[str, ...]
    output: str | None
    others: tuple[str, ...]
    compiles_only: bool
    is_foreign: bool


def understand(words: Sequence[str]) -> CommandLine:
    """Split a command line of gcc."""
    sources, others, output = [], [], None
    rest = iter(words)
    for word in rest:
        if word == "-o":
            output = next(rest, None)
        elif word in WITH_VALUE:
            others += [word, next(rest, "")]
        elif not word.startswith("-") and is_source(word):
            sources.append(word)
        else:
            others.append(word)
    plain = [word for word in others if word != "-c"]
    foreign = any(word in NO_OBJECT or word.startswith("-print-") for word in others) or "-x" in others
    return CommandLine(tuple(sources), output, tuple(plain), "-c" in words, foreign or not (sources or output))


def drive(words: Sequence[str], *, is_cpp: bool) -> int:
    """Do what gcc would; returns its exit status. InputError as for `memfence run`."""
    toolchain = find_toolchain()
    compiler = toolchain.cpp if is_cpp else toolchain.c
    asked = understand(words)
    if asked.is_foreign:
        return subprocess.run([compiler, *words], check=False).returncode
    with tempfile.TemporaryDirectory(prefix="memfence-") as folder:
        objects = [_compile(compiler, source, asked, Path(folder)) for source in asked.sources]
        if asked.compiles_only:
            return 0
        output = ["-o", asked.output] if asked.output else []
        shared = [] if "-shared" in asked.others else link_flags()
        linked = [compiler, *map(str, objects), *asked.others, *output, *shared]
        return subprocess.run(linked, check=False).returncode


def _compile(compiler: str, source: str, asked: CommandLine, folder: Path) -> Path:
    made = folder / f"{len(list(folder.iterdir()))}-{Path(source).stem}.o"
    if asked.compiles_only:
        made = Path(asked.output) if asked.output else Path(Path(source).stem + ".o")
    depends = _dependency_flags(asked, made) if asked.compiles_only else []
    flags = [word for word in asked.others if not word.startswith(FOR_LINKER) and not word.endswith(LINKED)]
    compile_instrumented([compiler, *flags, *depends, source], made, source)
    return made


def _dependency_flags(asked: CommandLine, made: Path) -> list[str]:
    """`-MD` names its file after the output, which is the assembler text here."""
    if not any(word in ("-MD", "-MMD") for word in asked.others):
        return []
    flags = [] if "-MF" in asked.others else ["-MF", str(made.with_suffix(".d"))]
    return [*flags, *([] if "-MT" in asked.others or "-MQ" in asked.others else ["-MT", str(made)])]
