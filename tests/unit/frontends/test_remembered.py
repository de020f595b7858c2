"""Programs in C that are remembered: the same program, and never an old one."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memfence import cache_folder, pipeline
from memfence.frontends import remembered
from memfence.program.ir import Program
from memfence.program.load_options import COptions, LoadOptions

pytest.importorskip("ziglang")

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "c"
PROGRAM = """#include <pthread.h>
#include "number.h"
static int x;
static void *other(void *unused) { x = NUMBER; return 0; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    pthread_join(thread, 0);
    return x != NUMBER;
}
"""


@pytest.fixture
def kept(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the cache, which is on."""
    folder = tmp_path_factory.mktemp("remembered")
    monkeypatch.setenv("MEMFENCE_CACHE", str(folder))
    cache_folder.switch(on=True)
    yield folder / "programs"
    cache_folder.switch(on=False)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "number.h").write_text("#define NUMBER 7\n")
    (tmp_path / "early").mkdir()
    (tmp_path / "program.c").write_text(PROGRAM)
    return tmp_path / "program.c"


def options(program: Path, **changes: object) -> LoadOptions:
    folders = tuple(str(program.parent / name) for name in ("early", "late"))
    return LoadOptions(c=replace(COptions(include=folders), **changes))  # type: ignore[arg-type]


def load(program: Path, **changes: object) -> Program:
    return pipeline.load(program, options(program, **changes))


def is_read(program: Path, monkeypatch: pytest.MonkeyPatch, **changes: object) -> bool:
    """Whether the text is compiled, and not remembered."""
    from memfence.frontends.c import load as reading

    asked: list[str] = []
    compile_text = reading.compile_text
    with monkeypatch.context() as patched:
        patched.setattr(reading, "compile_text", lambda *given: asked.append("") or compile_text(*given))
        load(program, **changes)
    return bool(asked)


@pytest.mark.parametrize("name", ["message_passing.c", "ticket_lock.c", "treiber_tagged.c"])
def test_what_is_remembered_is_what_was_read(kept: Path, name: str) -> None:
    cache_folder.switch(on=False)
    read = pipeline.load(EXAMPLES / name)
    cache_folder.switch(on=True)
    assert pipeline.load(EXAMPLES / name) == read
    assert len(list(kept.iterdir())) == 1
    found = pipeline.load(EXAMPLES / name)
    assert found == read
    assert repr(found) == repr(read)


def test_a_second_reading_asks_no_compiler(kept: Path, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_read(program, monkeypatch)
    assert not is_read(program, monkeypatch)


def test_every_option_counts(kept: Path, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(program)
    for changes in ({"macros": ("X=1",)}, {"overflow": False}, {"std": "c17"}, {"threads_bound": 3}):
        assert is_read(program, monkeypatch, **changes)


def test_a_changed_header_counts(kept: Path, program: Path) -> None:
    before = load(program)
    (program.parent / "late" / "number.h").write_text("#define NUMBER 8\n")
    assert load(program) != before


def test_a_header_that_is_found_earlier_counts(kept: Path, program: Path) -> None:
    before = load(program)
    (program.parent / "early" / "number.h").write_text("#define NUMBER 9\n")
    assert load(program) != before


def test_a_header_that_stands_in_front_of_a_header_of_the_system_counts(
    kept: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(program)
    (program.parent / "early" / "bits").mkdir()
    (program.parent / "early" / "bits" / "types.h").write_text("#include_next <bits/types.h>\n")
    assert is_read(program, monkeypatch)


def test_a_text_that_asks_for_files_is_not_kept(kept: Path, program: Path) -> None:
    program.write_text('#if __has_include("more.h")\n#endif\n' + PROGRAM)
    load(program)
    assert not kept.exists()


def test_a_changed_memfence_counts(kept: Path, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(program)
    monkeypatch.setattr(remembered, "_code", lambda: "another one")
    assert is_read(program, monkeypatch)


def test_files_that_are_broken_or_hostile_are_read_anew(kept: Path, program: Path, tmp_path: Path) -> None:
    before = load(program)
    (file,) = kept.iterdir()
    mark = tmp_path / "mark"
    for content in (b"", pickle.dumps(3), pickle.dumps(_Touch(str(mark))), b"\x80\x05."):
        cache_folder.keep(file.name, content)
        assert load(program) == before
    assert not mark.exists()


class _Touch:
    """Makes a file where it is unpickled by somebody who believes it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return os.mkdir, (self.path,)


def test_another_compiler_is_asked_each_time(kept: Path, program: Path) -> None:
    asked = options(program, clang="clang")
    assert remembered._key(pipeline.read_source(program), asked) is None
