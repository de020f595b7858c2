"""Running clang: find one, compile C, C++ or bitcode to textual IR, and turn its errors into ours."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from memfence.frontends.c.options import LoadOptions

HEADERS = Path(__file__).parent / "include"
CPP = frozenset((".cc", ".cpp", ".cxx", ".c++", ".C"))
FLAGS = (
    "-UNDEBUG", "-g", "-O1", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-fno-discard-value-names",
    "-U_FORTIFY_SOURCE", "-fno-stack-protector", "-fno-exceptions", "-w", "-fno-color-diagnostics",
    "-Wno-implicit-function-declaration", "-Wno-implicit-int", "-Wno-int-conversion", "-Wno-incompatible-pointer-types",
    "-Wno-return-type", "-Wno-return-mismatch", "-Wno-incompatible-function-pointer-types",
)  # fmt: skip
TARGET = ("-target", "x86_64-linux-gnu", "-mcpu=x86_64+cx16")


def compile_files(paths: Sequence[str | Path], options: LoadOptions) -> Iterator[tuple[Path, str]]:
    """Each file with its IR."""
    with tempfile.TemporaryDirectory(prefix="memfence-") as folder:
        for number, path in enumerate(map(Path, paths)):
            if path.suffix == ".ll":
                yield path, path.read_text(encoding="utf-8", errors="replace")
                continue
            out = Path(folder) / f"{number}.ll"
            _compile(path, out, options)
            yield path, out.read_text(encoding="utf-8", errors="replace")


def _compile(path: Path, out: Path, options: LoadOptions) -> None:
    is_cpp = path.suffix in CPP
    command = [*find_clang(options.clang, is_cpp), *FLAGS, f"-I{HEADERS}"]
    command += [f"-D{name}" for name in options.define] + [f"-I{folder}" for folder in options.include]
    command += [part for name in options.forced_include for part in ("-include", name)]
    if options.std:
        command.append(f"-std={options.std}")
    done = subprocess.run([*command, "-o", str(out), str(path)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[:2000])


def find_clang(given: str | None, is_cpp: bool) -> list[str]:
    if given:
        return [given]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "c++" if is_cpp else "cc", *TARGET]
    for name in ("clang++" if is_cpp else "clang", *(f"clang-{n}" for n in range(30, 13, -1))):
        found = shutil.which(name)
        if found:
            return [found]
    raise RuntimeError("no clang")
