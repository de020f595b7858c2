"""The compiler, and the runtime compiled by it.

The runtime is shipped as source, and is compiled on first use by the compiler that compiles the programs, so that both
agree about the C++ library. The result is kept in the user's cache, under the digest of all that it depends on.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.endings import is_cpp
from memfence.records import Record
from memfence.source import SourceText

LIBRARY = "libmemfence_runtime.so"
CORE_FOLDERS = ("machine", "search", "execution", "stateless", "graphs")
CORE_SOURCES = (
    "stateless/dpor.cpp", "stateless/races.cpp", "execution/monitor.cpp", "execution/clocks.cpp",
    "execution/step_events.cpp", "search/limits.cpp", "graphs/execution_graph.cpp", "graphs/models.cpp",
    "graphs/seq_cst.cpp", "search/resident_memory.cpp",
)  # fmt: skip
FLAGS = (
    "-std=c++20", "-O2", "-g1", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-fno-threadsafe-statics", "-w",
)  # fmt: skip
SECONDS = 600


class Toolchain(Record):
    """Where the compilers are."""

    c: str
    cpp: str

    def for_file(self, path: str) -> str:
        return self.cpp if is_cpp(path) else self.c


@cache
def find_toolchain() -> Toolchain:
    """gcc and g++ of the PATH. InputError where there are none, or the machine is not one that the runtime knows."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise _missing(f"programs are run on Linux, x86-64, not on {platform.system()}, {platform.machine()}")
    c, cpp = shutil.which(os.environ.get("MEMFENCE_CC", "gcc")), shutil.which(os.environ.get("MEMFENCE_CXX", "g++"))
    if c is None or cpp is None:
        raise _missing(f"running programs needs gcc and g++, and there is no `{'gcc' if c is None else 'g++'}`")
    return Toolchain(c, cpp)


def _missing(message: str) -> InputError:
    hint = "install gcc and g++, or name them in MEMFENCE_CC and MEMFENCE_CXX"
    return InputError(
        [Diagnostic(Code.NO_COMPILER, message, Label(SourceText("<command line>", "").span(0, 0)), hint=hint)]
    )


def runtime_sources() -> Path:
    """The folder that has `runtime` and `core`: where the package is installed, else beside its sources."""
    package = Path(__file__).resolve().parents[1]
    places = (package / "native", package.parents[1])
    return next((place for place in places if (place / "runtime" / "world.cpp").is_file()), places[0])


def runtime_library() -> Path:
    """The shared library to link programs with; compiled now if this version of it never was."""
    return _library(find_toolchain(), runtime_sources())


@cache
def _library(toolchain: Toolchain, sources: Path) -> Path:
    folder = _cache_folder() / f"runtime-{_digest(toolchain, sources)}"
    library = folder / LIBRARY
    if not library.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix="build-") as build:
            made = _compile(toolchain, sources, Path(build))
            made.replace(library)  # another process may have been as quick: one whole file wins
    return library


def _cache_folder() -> Path:
    given = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(given) if given else Path.home() / ".cache") / "memfence"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    return Path(tempfile.gettempdir()) / f"memfence-{os.getuid()}"


def _digest(toolchain: Toolchain, sources: Path) -> str:
    digest = hashlib.sha256(_version(toolchain.cpp).encode())
    digest.update(repr((FLAGS, CORE_SOURCES)).encode())
    for path in sorted(_files(sources)):
        digest.update(path.relative_to(sources).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _files(sources: Path) -> list[Path]:
    folders = [sources / "runtime", *(sources / "core" / name for name in CORE_FOLDERS)]
    return [path for folder in folders for path in folder.glob("*.?pp")]


def _version(compiler: str) -> str:
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout


def _compile(toolchain: Toolchain, sources: Path, build: Path) -> Path:
    """Two pieces, each one text: a file costs most for the headers that it reads."""
    around = [f"-I{sources / 'core'}", f"-I{sources / 'runtime'}"]
    pieces = {
        "runtime": sorted((sources / "runtime").glob("*.cpp")),
        "core": [sources / "core" / name for name in CORE_SOURCES],
    }

    def compile_piece(name: str) -> str:
        whole, made = build / f"{name}.cpp", build / f"{name}.o"
        whole.write_text("".join(f'#include "{path}"\n' for path in pieces[name]))
        _call([toolchain.cpp, *FLAGS, *around, "-c", str(whole), "-o", str(made)])
        return str(made)

    with ThreadPoolExecutor() as pool:
        objects = list(pool.map(compile_piece, pieces))
    library = build / LIBRARY
    _call([toolchain.cpp, "-shared", "-o", str(library), *objects, "-ldl"])
    return library


def _call(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    if done.returncode != 0:
        reason = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:200])
        raise _missing(f"`{command[0]}` cannot compile the runtime of memfence: {reason}")
