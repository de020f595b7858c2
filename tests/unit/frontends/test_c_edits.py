"""Fences written into C: where they go, and that everything else stays byte for byte."""

from __future__ import annotations

import pytest

from memfence.frontends.c.edits import insert_fences, point_key
from memfence.frontends.c.statements import Statements
from memfence.program.ir import FencePoint
from memfence.source import SourceText
from support.c_compiler import needs_clang

pytestmark = needs_clang

FENCE = "atomic_thread_fence(memory_order_seq_cst);"


def fenced(text: str, marked: str, *, path: str = "a.c", style: str = "fence", kind: str = "mfence") -> str:
    """`text` with a fence behind the statement that contains `marked`."""
    source = SourceText(path, text)
    offset = text.index(marked)
    line = source.line_of(offset)
    column = len(text[source.start_of_line(line) : offset].encode()) + 1  # clang counts bytes
    statement = Statements(source).at(line, column)
    assert statement is not None
    key = point_key(statement.start, statement.end, statement.is_lone)
    point = FencePoint("f", key, source.span(statement.start, statement.end))
    return insert_fences(source, [(point, kind)], style)  # type: ignore[list-item,arg-type]


HEAD = "#include <stdatomic.h>\nint x, y;\n"


def test_a_fence_is_a_line_of_its_own_with_the_same_indent() -> None:
    text = HEAD + "void f(void)\n{\n\tx = 1; /* announce */\n\ty = 2;\n}\n"
    assert fenced(text, "x = 1") == text.replace("announce */\n", f"announce */\n\t{FENCE}\n")


def test_a_lone_body_gets_braces() -> None:
    text = HEAD + "void f(int c)\n{\n    if (c)\n        x = 1;\n    else\n        y = 1;\n}\n"
    assert fenced(text, "x = 1") == text.replace("x = 1;", f"{{ x = 1; {FENCE} }}")


def test_several_statements_on_a_line_stay_on_it() -> None:
    text = HEAD + "void f(void) { x = 1; y = 2; }\n"
    assert fenced(text, "x = 1") == text.replace("x = 1;", f"x = 1; {FENCE}")


def test_the_header_is_included_once() -> None:
    body = "int x;\nvoid f(void)\n{\n    x = 1;\n}\n"
    assert fenced(body, "x = 1").startswith("#include <stdatomic.h>\n")
    with_other = "/* about */\n#include <stdio.h>\n" + body
    assert "#include <stdio.h>\n#include <stdatomic.h>\nint x" in fenced(with_other, "x = 1")
    assert fenced(HEAD + body, "x = 1").count("stdatomic") == 1


def test_line_ends_stay_as_they_are() -> None:
    text = (HEAD + "void f(void)\n{\n    x = 1;\n}\n").replace("\n", "\r\n")
    assert fenced(text, "x = 1") == text.replace("x = 1;\r\n", f"x = 1;\r\n    {FENCE}\r\n")


def test_cpp_has_its_own_spelling() -> None:
    text = "#include <atomic>\nstd::atomic<int> x;\nvoid f()\n{\n    x.store(1);\n}\n"
    assert "    std::atomic_thread_fence(std::memory_order_seq_cst);\n" in fenced(text, "x.store", path="a.cpp")


def test_assembly_needs_no_header() -> None:
    text = "int x;\nvoid f(void)\n{\n    x = 1;\n}\n"
    patched = fenced(text, "x = 1", style="asm")
    assert "include" not in patched
    assert '    __asm__ __volatile__("mfence" ::: "memory");\n' in patched


def test_a_store_fence_releases() -> None:
    text = HEAD + "void f(void)\n{\n    x = 1;\n}\n"
    assert "atomic_thread_fence(memory_order_release);" in fenced(text, "x = 1", kind="sfence")


@pytest.mark.parametrize(
    "text",
    [
        "void f(void) { while (x = 1) ; }",
        "void f(void) { for (x = 1; ; ) ; }",
        "int f(void) { return x = 1; }",
        "int x = 1;",
    ],
)
def test_what_is_no_statement_of_its_own_has_no_place_behind_it(text: str) -> None:
    source = SourceText("a.c", text)
    assert Statements(source).at(1, text.index("x = 1") + 1) is None


def test_text_that_is_not_ascii_is_counted_in_characters() -> None:
    text = HEAD + "/* für */ void f(void)\n{\n    /* ä */ x = 1;\n    y = 2;\n}\n"
    assert fenced(text, "x = 1") == text.replace("x = 1;", f"x = 1; {FENCE}")
