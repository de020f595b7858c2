"""Running clang: find one, compile C, C++ or bitcode to textual IR, and turn its errors into ours."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.c.confinement import Overlay, dependencies, folders_of_compiler
from memfence.frontends.endings import MAY_BE_INCLUDED, is_cpp, is_llvm_text, is_part_of_program
from memfence.program.load_options import COptions
from memfence.reading import MOST_FILES, TooManyFiles, confined_to, files_of, read_text, require_allowed
from memfence.source import SourceText

HEADERS = Path(__file__).parent / "include"
COMMON = (
    "-UNDEBUG", "-g", "-O1", "-S", "-emit-llvm", "-fno-discard-value-names", "-U_FORTIFY_SOURCE",
    "-fno-stack-protector", "-fno-color-diagnostics", "-Wno-everything",
)  # fmt: skip
POISONED = (" phi ", " insertvalue ", " insertelement ", " shufflevector ")
"""Instructions that have `poison` for other reasons than that."""
FOLDED = ("-Winteger-overflow", "-Wshift-count-overflow", "-Wshift-count-negative", "-Wdivision-by-zero")
"""What clang says of constants that it computes itself although C does not define the result."""
SHIFTS = ("-fsanitize=shift-base", "-fsanitize-trap=shift-base")
"""The IR does not say whether an integer that is shifted to the left has a sign. This makes the test part of the code,
by the rule of the standard: C++20 has none."""
BOUNDS = ("-fsanitize=array-bounds", "-fsanitize-trap=array-bounds")
"""Nor does it say which array an index is of, once a struct has one beside other members. The last member may be longer
than it is declared, as compilers have it."""
CONSTANTS = (
    "-fsanitize=shift,signed-integer-overflow,integer-divide-by-zero",
    "-fsanitize-trap=shift,signed-integer-overflow,integer-divide-by-zero",
)
"""For texts with such constants: all arithmetic is left in the code, with its tests."""
AS_WRITTEN = ("-Xclang", "-disable-llvm-passes")
AS_COMPILED = ("-O2", "-fno-vectorize", "-fno-slp-vectorize")
OLD_C = (
    "-Wno-implicit-function-declaration", "-Wno-implicit-int", "-Wno-int-conversion", "-Wno-incompatible-pointer-types",
    "-Wno-return-type", "-Wno-return-mismatch", "-Wno-incompatible-function-pointer-types",
)  # fmt: skip
ZIG_TARGET = ("-target", "x86_64-linux-gnu", "-mcpu=x86_64+cx16")
CLANG_TARGET = ("--target=x86_64-linux-gnu",)
SYSTEM_HEADERS = ("/usr/local/include", "/usr/include/x86_64-linux-gnu", "/usr/include")
"""Where libraries are installed. The wheel's clang looks into its own folders only."""
NEWEST, OLDEST = 30, 13
MESSAGE = re.compile(r"^(?P<path>.+?):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<text>.*)$")
ZIGS_OWN = re.compile(r"error: failed to (read|parse) 'tmp/[^']*\.d': ")
ZIGS_REASONS = {
    "read": "a file that `#embed` names cannot be read",
    "parse": "the path of the file, or of a header, has quotes or backslashes that the compiler cannot read",
}
INSTALL = "pip install ziglang tree-sitter tree-sitter-c tree-sitter-cpp"
SECONDS = 300
OVERLAY, LISTED = "overlay.yaml", "read.d"
HINTS = {
    "file not found": "name the folder of the header with -I",
    "<command line>": "write -D NAME or -D NAME=VALUE",
    "exceptions disabled": "memfence follows no exceptions: return an error code instead, in the code under test",
    "undeclared identifier": "declare it, or define it with -D",
    "too large": "use a smaller one for the check, set by a macro and -D",
}
BITCODE_HINT = "write it with: clang -g -O1 -Xclang -disable-llvm-passes -c -emit-llvm FILE.c"
OF_CPP = re.compile(r"`[a-z_]+` file not found")
"""Headers of C++'s library have no ending."""
HINT = "correct the line, or say what your build says: -D, -I, --std"
"""The help for what clang refuses."""


def compile_text(
    source: SourceText, options: COptions, instead: Sequence[SourceText] = (), files: list[Path] | None = None
) -> str:
    """The IR of one text. InputError with clang's own messages where it refuses.

    `instead`: texts that clang gets in place of what is in the files of their paths. `files`: where those that clang
    read are listed, the text among them.
    """
    if is_llvm_text(source.path):
        return source.text
    in_cpp = is_cpp(source.path)
    clang = find_clang(options.clang, in_cpp, source)
    command = [*clang, *flags(in_cpp, options)]
    with tempfile.TemporaryDirectory(prefix="memfence-") as folder:
        given, around = _file_for(source, Path(folder))
        around = [*around, *_changed([text for text in instead if text.path != source.path], Path(folder))]
        out = Path(folder) / "out.ll"
        text = named(given, in_cpp=in_cpp)
        overlay = _overlay(clang, given, source)
        if overlay is not None:
            around += _within(overlay, Path(folder))
            _require_only(overlay, [*command, *around, *text], Path(folder), source)
        done = _run([*command, *around, "-o", str(out), *text], source)
        if options.overflow and not options.as_compiled and _folds_undefined(done.stderr, out):
            command += CONSTANTS
            done = _run([*command, *around, "-o", str(out), *text], source)
        if done.returncode != 0 and "exceptions disabled" in done.stderr:  # legal, as long as nothing is thrown
            done = _run([*command, "-fexceptions", *around, "-o", str(out), *text], source)
        if done.returncode != 0 or not out.exists():
            raise InputError(_diagnostics(done.stderr, source))
        if files is not None:
            files += _files_read([*command, *around, *text], Path(folder), source)
        return out.read_text(encoding="utf-8", errors="replace")


def _files_read(command: Sequence[str], folder: Path, source: SourceText) -> list[Path]:
    """What clang reads for the text; nothing where it does not say."""
    listed = folder / LISTED
    _run([*command, "-M", "-MF", str(listed)], source)
    return dependencies(listed.read_text(encoding="utf-8", errors="replace")) if listed.exists() else []


def named(path: Path, *, in_cpp: bool) -> list[str]:
    """How a compiler is given the file: a dash would begin an option, and endings tell the language."""
    typed = f"{os.curdir}{os.sep}{path}" if str(path).startswith("-") else str(path)
    return [typed] if is_part_of_program(path) or path.suffix == ".C" else ["-x", "c++" if in_cpp else "c", typed]


def _overlay(clang: Sequence[str], given: Path, source: SourceText) -> Overlay | None:
    """What clang may read; None: everything."""
    root = confined_to()
    if root is None:
        return None
    try:
        return Overlay((given, *files_of(root, MAY_BE_INCLUDED)), (HEADERS, *folders_of_compiler(clang)))
    except TooManyFiles:
        message = f"the folder `{root.name}` has too many files for a page to read C in it"
        hint = f"give the page a folder with at most {MOST_FILES:,} of them: memfence ui --folder DIR"
        at = Label(source.span(0, min(1, len(source.text))))
        raise InputError([Diagnostic(Code.TOO_LARGE, message, at, hint=hint)]) from None


def _within(overlay: Overlay, folder: Path) -> list[str]:
    """The flags that give clang this file system."""
    (folder / OVERLAY).write_text(overlay.text(), encoding="utf-8")
    return ["-ivfsoverlay", str(folder / OVERLAY)]


def _require_only(overlay: Overlay, command: Sequence[str], folder: Path, source: SourceText) -> None:
    """Refuse a text for which clang would read another file, however it does that, before anything of it is shown."""
    read = _files_read(command, folder, source)
    here = Path.cwd()
    if not all(overlay.has(Path(os.path.normpath(here / path))) for path in read):
        at = Label(source.span(0, min(1, len(source.text))))
        raise InputError([Diagnostic(Code.UNREADABLE, "the text reads files outside of the folder", at)])


def _folds_undefined(output: str, made: Path) -> bool:
    """Whether clang computed a constant that C does not define: it says so, or leaves `poison` in its place."""
    if any(f"[{name}]" in output for name in FOLDED):
        return True
    text = made.read_text(encoding="utf-8", errors="replace") if made.exists() else ""
    lines = text.splitlines() if "poison" in text else []
    return any("poison" in line and not any(word in line for word in POISONED) for line in lines)


def disassemble(path: Path, source: SourceText, options: COptions) -> str:
    """The IR in a file of bitcode, as text."""
    try:
        require_allowed(path)
    except OSError as problem:
        at = Label(source.span(0, 0))
        raise InputError([Diagnostic(Code.UNREADABLE, f"cannot read `{path}`: {problem.strerror}", at)]) from None
    command = [*find_clang(options.clang, False, source), "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"]
    with tempfile.TemporaryDirectory(prefix="memfence-") as folder:
        out = Path(folder) / "out.ll"
        done = _run([*command, "-o", str(out), str(path)], source)
        if done.returncode != 0 or not out.exists():
            found = re.search(r"error: (.*)", done.stderr)
            message = f"this is no LLVM bitcode: {found[1] if found else 'no message'}"
            raise InputError([Diagnostic(Code.COMPILER, message, Label(source.span(0, 0)), hint=BITCODE_HINT)])
        return out.read_text(encoding="utf-8", errors="replace")


def flags(is_cpp: bool, options: COptions) -> list[str]:
    """What clang is told, whatever the file."""
    found = [*COMMON, *FOLDED, *(AS_COMPILED if options.as_compiled else AS_WRITTEN), f"-I{HEADERS}"]
    found += SHIFTS if options.overflow and not options.as_compiled else ()
    found += () if options.as_compiled else BOUNDS
    found += ["-fno-exceptions"] if is_cpp else OLD_C
    found += [f"-D{name}" for name in options.macros] + [f"-I{folder}" for folder in options.include]
    found += [part for name in options.forced_include for part in ("-include", name)]
    return [*found, f"-std={options.std}"] if options.std else found


def _file_for(source: SourceText, folder: Path) -> tuple[Path, list[str]]:
    """A file with the text: the user's own where it has just this text, so that clang names it as the user does."""
    path = Path(source.path)
    try:
        if confined_to() is None and path.read_bytes() == source.marked(source.text).encode():
            return path, []
    except (OSError, ValueError):
        pass
    copy = folder / f"text{path.suffix or '.c'}"
    name = str(path).replace("\\", "\\\\").replace('"', '\\"')
    copy.write_text(f'#line 1 "{name}"\n{source.text}', encoding="utf-8")
    return copy, ["-iquote", str(path.parent)]


def _changed(texts: Sequence[SourceText], folder: Path) -> list[str]:
    """The options by which clang finds these texts at their paths. Places in them keep the names of the files."""
    if not texts:
        return []
    files = []
    for number, text in enumerate(texts):
        copy = folder / f"changed{number}"
        copy.write_bytes(text.marked(text.text).encode())
        names = dict.fromkeys((str(Path.cwd() / text.path), str(Path(text.path).resolve())))
        files += [{"type": "file", "name": name, "external-contents": str(copy)} for name in names]
    layout = folder / "changed.yaml"
    whole = {"version": 0, "use-external-names": False, "case-sensitive": True, "roots": files}
    layout.write_text(json.dumps(whole), encoding="utf-8")
    return ["-ivfsoverlay", str(layout)]


def _run(command: Sequence[str], source: SourceText) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=SECONDS, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        raise _no_clang(source, f"`{command[0]}` cannot be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise _no_clang(source, f"`{command[0]}` did not end within {SECONDS} seconds") from None


def find_clang(given: str | None, is_cpp: bool, source: SourceText) -> list[str]:
    """The compiler to run, with what makes it compile for x86-64: the one given, the wheel's, or one on the PATH."""
    if given:
        found = shutil.which(given)
        if found is None:
            what = f"`{given}` is no program that can be run" if Path(given).exists() else f"there is no `{given}`"
            raise _no_clang(source, what)
        return [found, *CLANG_TARGET]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "c++" if is_cpp else "cc", *ZIG_TARGET, *_system_headers()]
    name = "clang++" if is_cpp else "clang"
    for candidate in (name, *(f"{name}-{number}" for number in range(NEWEST, OLDEST, -1))):
        found = shutil.which(candidate)
        if found:
            return [found, *CLANG_TARGET]
    raise _no_clang(source, "reading C needs clang, and there is none")


def _system_headers() -> list[str]:
    """The flags by which headers of installed libraries are found, after all others; not where a page reads C."""
    if confined_to() is not None:
        return []
    return [part for folder in SYSTEM_HEADERS if Path(folder).is_dir() for part in ("-idirafter", folder)]


def _no_clang(source: SourceText, message: str) -> InputError:
    at = Label(source.span(0, min(1, len(source.text))))
    return InputError([Diagnostic(Code.NO_COMPILER, message, at, hint=INSTALL)])


def _diagnostics(output: str, source: SourceText) -> list[Diagnostic]:
    """Clang's errors, each at its place."""
    own = ZIGS_OWN.search(output)  # what zig says where clang is silent, with a name that is another one each time
    if own is not None:
        at = Label(source.span(0, min(1, len(source.text))))
        return [Diagnostic(Code.COMPILER, ZIGS_REASONS[own[1]], at, hint=HINT)]
    texts = {_same(source.path): source}
    found = [_diagnostic(match, texts) for line in output.splitlines() if (match := MESSAGE.match(line))]
    if found:
        return found
    lines = [line for line in output.splitlines() if line.strip()]
    reason = next((line for line in lines if "error:" in line), lines[0] if lines else "no message")
    at = Label(source.span(0, min(1, len(source.text))))
    return [Diagnostic(Code.COMPILER, f"clang failed: {reason[:200]}", at, hint=_failed_hint(reason))]


def _failed_hint(reason: str) -> str:
    if "-std=" in reason:
        return "use a standard that clang knows: --std c11, --std gnu17, --std c++20"
    return "is the program of --clang a clang? Leave the option out to use that of the ziglang package"


def _diagnostic(match: re.Match[str], texts: dict[str, SourceText]) -> Diagnostic:
    path = match["path"]
    source = texts.get(_same(path)) or _read(path)
    texts[_same(path)] = source
    line, column = int(match["line"]), int(match["column"])
    start = min(source.start_of_line(line) + column - 1, len(source.text))
    rest = re.match(r"\w+|.", source.text[start:])
    span = source.span(start, start + (len(rest[0]) if rest else 0))
    message = re.sub(r"(?<!\w)'([^']+)'(?!\w)", r"`\1`", match["text"])
    hint = next((hint for part, hint in HINTS.items() if part in message or part in path), HINT)
    if "file not found" in message and confined_to() is not None:
        hint = "only files of the folder can be included, and the headers of the compiler"
    elif OF_CPP.match(message) and not is_cpp(path):
        hint = f"{message.split()[0]} is a header of C++: give a file that ends in .cpp or .hpp"
    return Diagnostic(Code.COMPILER, message, Label(span), hint=hint)


def _same(path: str) -> str:
    return str(Path(path).resolve())


def _read(path: str) -> SourceText:
    try:
        return SourceText(path, read_text(Path(path)))
    except (OSError, ValueError):
        return SourceText(path, "")
