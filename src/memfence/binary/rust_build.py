"""From a Rust crate to a program that the runtime can explore.

Four steps: rustc instruments and merges all crates (rust_toolchain.py), its LLVM's linker instruments what is left and
writes assembler text, rust_assembler.py makes that ready, gcc assembles it and links it with the runtime.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memfence.binary.rust_assembler import with_rust_hooks
from memfence.binary.rust_toolchain import RustToolchain, find_rust
from memfence.binary.toolchain import find_toolchain, runtime_library
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.source import SourceText

READS_BEFORE_WRITES = "-tsan-instrument-read-before-write=1"
"""Otherwise the load of `x += 1` has no hook of its own."""
VOLATILE = "-tsan-distinguish-volatile=1"
INSTRUMENT = (
    "-Zsanitizer=thread", "-Zexternal-clangrt", "-Cunsafe-allow-abi-mismatch=sanitizer", "-Cembed-bitcode=yes",
    "-Ccodegen-units=1", "-Copt-level=0", "-Cdebuginfo=2", "-Cforce-frame-pointers=yes", "-Cno-redzone=yes",
    f"-Cllvm-args={READS_BEFORE_WRITES} {VOLATILE}",
)  # fmt: skip
"""For every crate; RUSTC_BOOTSTRAP lets a stable compiler take them."""
WHOLE = ("-Clto=fat", "-Ccodegen-units=1")
INSTRUMENT_THE_REST = (
    "-flavor", "gnu", "-r", "--lto-O0", "--lto-emit-asm", "--lto-newpm-passes=forceattrs,function(tsan)",
    "-mllvm", "-force-remove-attribute=sanitize_thread", "-mllvm", "-force-attribute=noredzone",
)  # fmt: skip
"""Loads and stores that are not atomic have their hooks by now, where they are the user's; the pass skips functions
without the attribute, but for atomic operations."""
SEEN_IN_LIBC = ("memcmp", "bcmp", "strlen")
NOT_LINKED = ("-pie", "-static-pie", "-Wl,--gc-sections", "-Wl,--as-needed")
SECONDS = 600


def build_rust(path: str, flags: Sequence[str], folder: Path) -> Path:
    """Compile the crate whose root is the file. InputError with rustc's messages where it refuses."""
    program = folder / "program"
    typed = f"./{path}" if path.startswith("-") else path
    words = ["-Cpanic=abort", "--error-format=json", "--crate-type=bin", *flags, typed, "-o", str(program)]
    done = compile_whole(find_rust(), words, folder, shows=False)
    if done.returncode != 0:
        raise InputError(list(rustc_messages(done.stderr, path)))
    return program


def compile_whole(
    rust: RustToolchain, words: Sequence[str], folder: Path, *, shows: bool
) -> subprocess.CompletedProcess[str]:
    """Do what rustc would do with these words, which ask for an executable; it stands where `-o` or rustc says."""
    recorder, recorded, bitcode = folder / "recorder", folder / "linked", folder / "whole.bc"
    recorder.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {shlex.quote(str(recorded))}\n')
    recorder.chmod(0o700)
    emitted = [*words, *INSTRUMENT, *WHOLE, f"-Clinker={recorder}", "-Clinker-flavor=gcc", f"--emit=llvm-bc={bitcode}"]
    done = run_rustc(rust, [*emitted, "--emit=link"], shows=shows)
    if done.returncode == 0:
        linked = recorded.read_text().splitlines()
        _link(rust, bitcode, linked, folder)
    return done


def run_rustc(rust: RustToolchain, words: Sequence[str], *, shows: bool) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}
    try:
        return subprocess.run(
            [rust.rustc, *words], env=environment, capture_output=not shows, text=True, errors="replace",
            timeout=SECONDS, check=False, close_fds=False,  # cargo says by open files how much may run at once
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise InputError([_unplaced(rust.rustc, f"`{rust.rustc}` failed: {problem}")]) from None


def _link(rust: RustToolchain, bitcode: Path, linked: Sequence[str], folder: Path) -> None:
    """What rustc's linker was asked to do, with the instrumented program instead of rustc's."""
    output = linked[linked.index("-o") + 1]
    written, ready, made = folder / "whole.s", folder / "ready.s", folder / "whole.o"
    _call([rust.linker, *INSTRUMENT_THE_REST, str(bitcode), "-o", str(written)], output)
    text = written.with_name("whole.s.lto.s").read_text(encoding="utf-8", errors="surrogateescape")
    text, refused = with_rust_hooks(text)
    if refused:
        raise InputError(refused)
    ready.write_text(text, encoding="utf-8", errors="surrogateescape")
    compiler = find_toolchain().c
    _call([compiler, "-c", str(ready), "-o", str(made)], output)
    library = runtime_library()
    found = [f"-L{library.parent}", "-lmemfence_runtime", f"-Wl,-rpath,{library.parent}"]
    wrapped = [f"-Wl,--wrap={name}" for name in SEEN_IN_LIBC]
    others = list(_kept(linked))
    _call(
        [compiler, "-no-pie", str(made), "-Wl,--no-as-needed", *found, *wrapped, *others, "-Wl,-z,now", "-pthread",
         "-o", output], output,
    )  # fmt: skip


def _kept(linked: Sequence[str]) -> Iterator[str]:
    """The words of rustc's linking that still mean something: libraries, and objects that are not in the bitcode."""
    words = iter(linked)
    for word in words:
        if word == "-o":
            next(words)
        elif word in NOT_LINKED or word.startswith(("-B", "-fuse-ld")) or word.endswith((".rcgu.o", "symbols.o")):
            continue
        else:
            yield word


def _call(command: Sequence[str], path: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise InputError([_unplaced(path, f"`{command[0]}` failed: {problem}")]) from None
    if done.returncode != 0:
        lines = done.stderr.splitlines()
        reason = next((line for line in lines if "undefined reference" in line or "error" in line), "no message")
        raise InputError([_unplaced(path, reason.strip())])


def rustc_messages(output: str, path: str) -> Iterator[Diagnostic]:
    """rustc's errors, at their places."""
    found = False
    for line in output.splitlines():
        told = _json(line)
        if told.get("level") != "error" or not told.get("spans"):
            continue
        found = True
        yield _placed(told)
    if not found:
        errors = [t["message"] for line in output.splitlines() if (t := _json(line)).get("level") == "error"]
        yield _unplaced(path, next(iter(errors), output.strip() or "rustc says nothing"))


def _json(line: str) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _placed(told: dict[str, Any]) -> Diagnostic:
    spans = told["spans"]
    span = next((one for one in spans if one["is_primary"]), spans[0])
    while span.get("expansion") and span["file_name"].startswith("/rustc/"):
        span = span["expansion"]["span"]
    source = _read(span["file_name"])
    start = min(source.start_of_line(span["line_start"]) + span["column_start"] - 1, len(source.text))
    end = min(source.start_of_line(span["line_end"]) + span["column_end"] - 1, len(source.text))
    return Diagnostic(Code.COMPILER, told["message"], Label(source.span(start, max(start, end)), span["label"] or ""))


def _unplaced(path: str, message: str) -> Diagnostic:
    source = _read(path)
    return Diagnostic(Code.COMPILER, message[:300], Label(source.span(0, min(1, len(source.text)))))


def _read(path: str) -> SourceText:
    try:
        return SourceText(path, Path(path).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return SourceText(path, "")
