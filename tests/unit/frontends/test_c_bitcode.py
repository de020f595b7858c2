"""Bitcode is read by way of clang, like its source; the same name elsewhere is another file."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from memfence import pipeline
from memfence.frontends.c import clang
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang
from support.command_line import memfence

pytestmark = needs_clang
TEXT = """
#include <assert.h>
#include <pthread.h>
static volatile int x;
static void *one(void *u) { x = 1; return 0; }
static void *two(void *u) { x = 2; return 0; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, one, 0); pthread_create(&b, 0, two, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(x != 2);
    return 0;
}
"""


def compile_to_bitcode(text: Path, bitcode: Path) -> None:
    command = [*clang.find_clang(None, False, SourceText(str(text), "")), *clang.COMMON, *clang.AS_WRITTEN]
    compiled = [part for part in command if part != "-S"]
    subprocess.run([*compiled, "-c", str(text), "-o", str(bitcode)], check=True, capture_output=True)


def test_bitcode_is_read_like_its_source(tmp_path: Path) -> None:
    text, bitcode = tmp_path / "test.c", tmp_path / "test.bc"
    text.write_text(TEXT)
    compile_to_bitcode(text, bitcode)
    assert bitcode.read_bytes().startswith(b"BC")
    result = check(pipeline.load(bitcode), CheckOptions(model="sc", criterion="safety"))
    assert result.verdict is Verdict.VIOLATED


def test_a_relative_path_means_another_file_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places of the program are in its own text, whatever was read before under the same name."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "test.c").write_text(TEXT)
        monkeypatch.chdir(tmp_path / folder)
        program = pipeline.load("test.c")
        spans = [transition.span for process in program.processes for transition in process.transitions]
        assert all(span.source is program.source for span in spans if span.source.path != "<generated>")


def test_several_files_of_bitcode_are_one_program(tmp_path: Path) -> None:
    """As the same texts are: `main` is in one, what it starts in the other."""
    main = TEXT.replace("static volatile int x;", "extern volatile int x;")
    main = re.sub(r"static (void \*\w+\(void \*u\)) \{.*", r"\1;", main)
    other = "volatile int x; void *one(void *u) { x = 1; return 0; } void *two(void *u) { x = 2; return 0; }\n"
    (tmp_path / "main.c").write_text(main)
    (tmp_path / "other.c").write_text(other)
    for name in ("main", "other"):
        compile_to_bitcode(tmp_path / f"{name}.c", tmp_path / f"{name}.bc")
    options = ("--model", "sc", "--quiet", "--criterion", "safety")
    of_texts = memfence("check", "main.c", "other.c", *options, folder=tmp_path)
    of_bitcode = memfence("check", "main.bc", "other.bc", *options, folder=tmp_path)
    assert of_bitcode.returncode == of_texts.returncode == 1
    assert memfence("check", "main.bc", *options, folder=tmp_path).returncode == 3
