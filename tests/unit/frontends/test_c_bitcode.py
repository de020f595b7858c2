"""Bitcode: read by way of clang, like its source."""

from __future__ import annotations

import subprocess
from pathlib import Path

from memfence import pipeline
from memfence.frontends.c import clang
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

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


def test_bitcode_is_read_like_its_source(tmp_path: Path) -> None:
    text, bitcode = tmp_path / "test.c", tmp_path / "test.bc"
    text.write_text(TEXT)
    command = [*clang.find_clang(None, False, SourceText(str(text), "")), *clang.COMMON, *clang.AS_WRITTEN]
    compiled = [part for part in command if part != "-S"]
    subprocess.run([*compiled, "-c", str(text), "-o", str(bitcode)], check=True, capture_output=True)
    assert bitcode.read_bytes().startswith(b"BC")
    result = check(pipeline.load(bitcode), CheckOptions(model="sc", criterion="safety"))
    assert result.verdict is Verdict.VIOLATED
