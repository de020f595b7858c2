"""From source files to a program that the runtime can explore."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memfence.binary.assembler import with_visible_fences
from memfence.binary.rust_build import build_rust
from memfence.binary.toolchain import Toolchain, find_toolchain, runtime_library
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.endings import is_cpp, is_rust
from memfence.records import Record
from memfence.source import SourceText

SEEN_IN_LIBC = (
    "memcpy", "memmove", "memset", "mempcpy", "memcmp", "memchr", "strlen", "strnlen", "strcmp", "strncmp", "strcpy",
    "strncpy", "stpcpy", "strcat", "strchr", "strrchr", "strdup",
)  # fmt: skip
"""Functions whose loads and stores are steps, though libc is not instrumented."""
UNDEFINED = ("unreachable", "signed-integer-overflow", "shift", "integer-divide-by-zero", "bounds")
"""What gcc tests beside accesses; runtime/take_over_undefined.cpp has what it calls then. -fwrapv and the like still
mean what they mean."""
INSTRUMENT = (
    "-g", "-fsanitize=thread", f"-fsanitize={','.join(UNDEFINED)}",
    "--param", "tsan-distinguish-volatile=1", "-mno-red-zone", "-fno-omit-frame-pointer",
    "-mno-tls-direct-seg-refs", "-ftls-model=initial-exec", *(f"-fno-builtin-{name}" for name in SEEN_IN_LIBC),
)  # fmt: skip
AS_WRITTEN = ("-O0", "-w", "-UNDEBUG", "-U_FORTIFY_SOURCE", "-fno-stack-protector")
MESSAGE = re.compile(r"^(?P<path>[^:\s][^:]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: (?P<text>.*)$")
SECONDS = 300


class Sources(Record, kw_only=True):
    """What to compile, and how. `flags`: for the compiler and the linker, as they are. `edition` and `cfg`: of Rust."""

    files: tuple[str, ...]
    macros: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    std: str | None = None
    flags: tuple[str, ...] = ()
    edition: str | None = None
    cfg: tuple[str, ...] = ()


def build_program(sources: Sources, folder: Path) -> Path:
    """Compile and link. InputError with the compiler's messages where it refuses."""
    if is_rust(sources.files[0]):
        edition = [] if sources.edition is None else [f"--edition={sources.edition}"]
        configured = [word for name in sources.cfg for word in ("--cfg", name)]
        return build_rust(sources.files[0], ["-Awarnings", *edition, *configured, *sources.flags], folder)
    toolchain = find_toolchain()
    objects = [_compile(toolchain, path, sources, folder) for path in sources.files]
    program = folder / "program"
    linker = toolchain.cpp if any(is_cpp(path) for path in sources.files) else toolchain.c
    flags = [flag for flag in sources.flags if flag.startswith(("-l", "-L", "-Wl,"))]
    _call([linker, "-no-pie", *map(str, objects), "-o", str(program), *flags, *link_flags()], sources.files[0])
    return program


def link_flags() -> list[str]:
    """What puts the runtime before libc."""
    library = runtime_library()
    wrapped = ",".join(f"--wrap={name}" for name in SEEN_IN_LIBC)
    found = [f"-L{library.parent}", "-lmemfence_runtime", f"-Wl,-rpath,{library.parent}"]
    return [*found, f"-Wl,{wrapped}", "-Wl,-z,now", "-pthread"]


def _compile(toolchain: Toolchain, path: str, sources: Sources, folder: Path) -> Path:
    flags = [f"-D{name}" for name in sources.macros] + [f"-I{name}" for name in sources.include]
    flags += [f"-std={sources.std}"] if sources.std else []
    flags += [flag for flag in sources.flags if not flag.startswith(("-l", "-L", "-Wl,"))]
    compiler = toolchain.for_file(path)
    name = hashlib.sha256(path.encode()).hexdigest()[:8]
    made = folder / f"{Path(path).stem}-{name}.o"
    typed = f"./{path}" if path.startswith("-") else path  # no option
    compile_instrumented([compiler, *AS_WRITTEN, *flags, typed], made, path)
    return made


def compile_instrumented(command: Sequence[str], made: Path, path: str) -> None:
    """Run the compiler, which names one source file, with instrumentation; leave the object in `made`."""
    with tempfile.TemporaryDirectory(prefix="memfence-") as folder:  # beside `made` there may be files of the user's
        assembler = Path(folder) / "instrumented.s"
        _call([command[0], *INSTRUMENT, *command[1:], "-S", "-o", str(assembler)], path)
        text, refused = with_visible_fences(assembler.read_text(encoding="utf-8", errors="surrogateescape"))
        if refused:
            raise InputError(refused)
        assembler.write_text(text, encoding="utf-8", errors="surrogateescape")
        _call([command[0], "-c", str(assembler), "-o", str(made)], path)


def _call(command: Sequence[str], path: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise InputError([_unplaced(path, f"`{command[0]}` failed: {problem}")]) from None
    if done.returncode != 0:
        raise InputError(_diagnostics(done.stderr, path))


def _diagnostics(output: str, path: str) -> list[Diagnostic]:
    texts: dict[str, SourceText] = {}
    found = [_placed(match, texts) for line in output.splitlines() if (match := MESSAGE.match(line))]
    if found:
        return found
    unresolved = [line for line in output.splitlines() if "undefined reference" in line or "error" in line]
    if free := re.search(r"undefined reference to `(__VERIFIER_nondet_\w+)'", output):
        message = f"`{free[1]}` may return any value, and a program that runs needs one"
        return [_unplaced(path, message, hint="ask `memfence check`, or define the function in a file of your own")]
    reason = next(iter(unresolved or output.splitlines()), "no message")
    return [_unplaced(path, reason.strip())]


def _placed(match: re.Match[str], texts: dict[str, SourceText]) -> Diagnostic:
    source = texts.setdefault(match["path"], _read(match["path"]))
    start = min(source.start_of_line(int(match["line"])) + int(match["column"] or 1) - 1, len(source.text))
    rest = re.match(r"\w+|.", source.text[start:])
    return Diagnostic(Code.COMPILER, match["text"], Label(source.span(start, start + (len(rest[0]) if rest else 0))))


def _unplaced(path: str, message: str, hint: str | None = None) -> Diagnostic:
    source = _read(path)
    return Diagnostic(Code.COMPILER, message[:300], Label(source.span(0, min(1, len(source.text)))), hint=hint)


def _read(path: str) -> SourceText:
    try:
        return SourceText(path, Path(path).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return SourceText(path, "")
