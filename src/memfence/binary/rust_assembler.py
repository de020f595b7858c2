"""The assembler text of a whole Rust program, as LLVM writes it, made ready for gcc's assembler and the runtime.

Thread-local variables are found by way of `memfence_variables`, frames begin empty (clean_frames.py), and a panic calls
the runtime once its message was printed. Inline assembler that reads or writes memory is refused: its effect would go
unseen. What only touches registers, as `cpuid` in the standard library, stays.

Of the standard library, what synchronises threads of the user is explored: `std::sync`, `Arc`, `park`, `scope`. Its own
book-keeping (names, panic counts, stdout) runs undivided with the step before it. Waiting for a lock is one step of the
runtime (take_over_rust.cpp); system calls that wait in a loop are not woken for no reason, those of `Condvar` are.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from memfence.binary.assembler import FULL_FENCE, HARMLESS, THREAD_BASE, bare, moved_base
from memfence.binary.clean_frames import with_clean_frames
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.source import SourceText

FILE = re.compile(r'^(\t\.file\t\d+ ")([^"]*)" "([^"]*)".*$', re.MULTILINE)
ONLY_LLVM = re.compile(r"^\t\.addrsig.*\n", re.MULTILINE)
DEBUG_SECTIONS = re.compile(r"^\t\.section\t\.debug_(?!gdb)", re.MULTILINE)
FUNCTION = re.compile(r"^(?P<name>[\w.$]+):")
PANIC = re.compile(r"(?:_R\w*7___rustc10rust_panic|_ZN\w*10rust_panic17h\w+E|rust_panic)")
THREAD_VARIABLE = re.compile(r"(?P<before>[^#]*?%fs:)(?P<offset>[\w.$@+-]+)(?P<after>[^#(]*)(?:#.*)?")
SPARE = {"%rax": "%[re]?a[xl]|%ah", "%rcx": "%[re]?c[xl]|%ch", "%rdx": "%[re]?d[xl]|%dh"}
SYNCHRONISES = re.compile(
    r"3std4sync|3std3sys4sync|3std6thread6scoped|4park|6unpark|12park_timeout|5alloc4sync|4core4sync6atomic"
)
"""Parts of mangled names, legacy and v0."""
STANDARD, CONDVAR = "3std", "3sys4sync7condvar"
END_OF_NAME = r"(?:17h[0-9a-f]{16}E|Cs\w+)?"
MUTEX, RW_LOCK = r"\w*3sys4sync5mutex5futex\w*5Mutex", r"\w*3sys4sync6rwlock5futex\w*6RwLock"
TAKEN_OVER = (
    (re.compile(rf"{MUTEX}(?:4lock|14lock_contended){END_OF_NAME}"), "__memfence_lock"),
    (re.compile(rf"{RW_LOCK}(?:4read|14read_contended){END_OF_NAME}"), "__memfence_read_lock"),
    (re.compile(rf"{RW_LOCK}(?:5write|15write_contended){END_OF_NAME}"), "__memfence_write_lock"),
    (PANIC, "__memfence_panic"),
)
"""Functions that the runtime stands in front of."""
PLACE = re.compile(r"\s*\.loc\s+(?P<file>\d+) (?P<line>\d+)")
TOUCHES_MEMORY = re.compile(r"\(|%fs:|%gs:|\b(?:syscall|int|call\w*|jmp\w*|in|out)\b")


TESTS = re.compile(rf"_(?:R|ZN)\w*4test16test_main_static{END_OF_NAME}")
TESTS_BEGIN = """
\tpushq\t%rdi
\tpushq\t%rsi
\tpushq\t%rdx
\tcallq\t__memfence_test@PLT
\tpopq\t%rdx
\tpopq\t%rsi
\tpopq\t%rdi"""
"""The test harness tells the runtime that it is one."""
OWN_COUNT = re.compile(
    r"(?:core::ptr::drop_in_place::<|<)alloc::sync::(?:Arc|Weak)<std::thread::(?:thread::Inner|scoped::ScopeData)\b"
)
"""Demangled: functions that count references to what the library knows of a thread. Nobody sees these counts."""
COUNTING = re.compile(r"callq\t\S*4core4sync6atomic\w*?10atomic_(?P<name>add|sub)\S*")
SCOPE, LOAD_OF_SCOPE = re.compile(r"\w*3std6thread6scoped5scope\w*"), re.compile(r"callq\t\S*6atomic11atomic_loadj\S*")
"""`thread::scope` waits until a counter is 0: one step of the runtime."""


def with_rust_hooks(text: str) -> tuple[str, list[Diagnostic]]:
    """The text for gcc's assembler, and what in it cannot be explored."""
    text = ONLY_LLVM.sub("", FILE.sub(r'\1\2/\3"', text))
    match = DEBUG_SECTIONS.search(text)
    split = len(text) if match is None else match.start()  # what follows is half of it, and no code
    refused: list[Diagnostic] = []
    code = text[:split].split("\n")
    lines = with_clean_frames(_rewritten(code, _own_counts(code), refused))
    return "\n".join(lines) + text[split:], refused


def _own_counts(lines: Iterable[str]) -> frozenset[str]:
    """The functions that count the library's own references."""
    found = (function["name"] for line in lines if line.startswith("_") and (function := FUNCTION.match(line)))
    names = [name for name in found if "5alloc4sync" in name and "3std6thread" in name]
    plain = demangled(names)
    return frozenset(name for name, shown in zip(names, plain, strict=True) if OWN_COUNT.match(shown))


def demangled(names: Sequence[str]) -> list[str]:
    """As people write them; hashes of crates are left out."""
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=False)
    shown = re.sub(r"\[[0-9a-f]{8,16}\]", "", done.stdout).splitlines()
    return shown if len(shown) == len(names) else list(names)


def _rewritten(lines: Iterable[str], own_counts: frozenset[str], refused: list[Diagnostic]) -> Iterator[str]:
    files: dict[str, str] = {}
    place, inside, taken_by, name, counts = None, False, None, "", False
    for line in lines:
        if "%fs:" in line:
            yield _with_own_variables(line)
            continue
        yield _of_standard_library(line, name, counts) if STANDARD in name else line
        if line.startswith("\t.file\t"):
            number, _, path = line.removeprefix("\t.file\t").partition(" ")
            files[number] = path.strip('"')
        elif "\t.loc\t" in line or "#APP" in line or "#NO_APP" in line:
            place = PLACE.match(line) or place
            if "APP" in line:
                inside = "#APP" in line
        elif inside:
            refused.extend(_refusals(line, place, files))
        elif line[:1] not in ("\t", ".", "#", "") and (function := FUNCTION.match(line)):
            name = function["name"]
            counts = name in own_counts
            taken_by = next((entry for pattern, entry in TAKEN_OVER if pattern.fullmatch(name)), None)
        elif taken_by is not None and line.strip() == ".cfi_startproc":
            yield f"\tjmp\t{taken_by}@PLT"
            taken_by = None
        elif line.strip() == ".cfi_startproc" and TESTS.fullmatch(name):
            yield TESTS_BEGIN


def _of_standard_library(line: str, name: str, counts: bool) -> str:
    if "\tcall" not in line and "syscall@" not in line:
        return line
    if "syscall@" in line and CONDVAR not in name:
        return line.replace("syscall@", "__memfence_patient_syscall@")
    if "__tsan_atomic" in line and (counts or not SYNCHRONISES.search(name)):
        return line.replace("__tsan_atomic", "__memfence_plain_atomic")
    if counts:
        return COUNTING.sub(r"callq\t__memfence_plain_atomic64_fetch_\g<name>@PLT", line)
    return LOAD_OF_SCOPE.sub("callq\t__memfence_scope@PLT", line) if SCOPE.fullmatch(name) else line


def _with_own_variables(line: str) -> str:
    """The instruction, with the offset of the thread's own copy added. No red zone is in use, and no flag changes."""
    if base := THREAD_BASE.fullmatch(bare(line)):
        return moved_base(base["how"], base["register"])
    match = THREAD_VARIABLE.fullmatch(line)
    spare = next((name for name, forms in SPARE.items() if not re.search(rf"(?:{forms})\b", line)), None)
    if match is None or spare is None or match["offset"] == "40":
        return line
    moved = f"{match['before']}{match['offset']}({spare}){match['after']}".strip()
    steps = (
        f"pushq {spare}", f"movq memfence_variables@GOTPCREL(%rip), {spare}", f"movq ({spare}), {spare}", moved,
        f"popq {spare}",
    )  # fmt: skip
    return "\n".join(f"\t{step}" for step in steps)


def _refusals(line: str, place: re.Match[str] | None, files: dict[str, str]) -> Iterator[Diagnostic]:
    instruction = bare(line)
    if not instruction or FULL_FENCE.fullmatch(instruction) or HARMLESS.fullmatch(instruction):
        return
    if not TOUCHES_MEMORY.search(instruction):
        return
    path = files.get(place["file"], "") if place else ""
    source = _read(path)
    start = source.start_of_line(int(place["line"])) if place else 0
    end = source.text.find("\n", start)
    yield Diagnostic(
        Code.UNSUPPORTED,
        f"inline assembler `{' '.join(instruction.split())}` cannot be explored: its effect on memory is not known",
        Label(source.span(start, len(source.text) if end < 0 else end)),
        hint="use the types of `std::sync::atomic` instead",
    )


def _read(path: str) -> SourceText:
    try:
        return SourceText(path, Path(path).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return SourceText(path or "<assembler>", "\n")
