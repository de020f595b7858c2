"""Colours of the source pane: the right parts have them, and the text is the same as without."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memfence
from memfence.report.views.colours import Part, coloured
from support.command_line import ROOT


def kinds(path: str, *lines: str) -> list[tuple[str, str]]:
    return [(part.text, part.kind) for row in coloured(path, lines) for part in row if part.kind]


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("m.pml", "byte x = 0x1f; // if", [("byte", "word"), ("0x1f", "number"), ("// if", "comment")]),
        ("m.c", '#include "do.h"', [("#include", "directive"), ('"do.h"', "string")]),
        ("m.txt", "thread initial transition 1 # if", [("thread", "word"), ("initial", "word"), ("transition", "word"),
                                                       ("1", "number"), ("# if", "comment")]),
        ("m.c", "int state; check(process);", [("int", "word")]),
        ("m.litmus", "(* if *) exists", [("(* if *)", "comment"), ("exists", "word")]),
    ],
)  # fmt: skip
def test_parts_have_their_kinds(path: str, line: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(path, line) == expected


def test_a_comment_goes_on_over_lines() -> None:
    assert coloured("m.c", ["/* if", "do */ int", ""]) == [
        (Part("/* if", "comment"),), (Part("do */", "comment"), Part(" "), Part("int", "word")), (),
    ]  # fmt: skip


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.sampled_from(["a.c", "a.pml", "a.txt", "a.litmus", "a.rmm"]), st.lists(st.text("a1/*\"#(-) \\'", max_size=9)))
def test_the_text_stays_what_it_is(path: str, lines: list[str]) -> None:
    assert ["".join(part.text for part in row) for row in coloured(path, lines)] == lines


def test_the_page_has_them() -> None:
    page = memfence.check(ROOT / "examples" / "peterson.pml").to_html()
    assert '<span class="tok-word">proctype</span>' in page and 'class="tok-comment"' in page
