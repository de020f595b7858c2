"""Fences written into Promela text: the original plus one line, and exactly the program with that fence."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from memfence.diagnostics import InputError
from memfence.frontends.frontend import EditKind
from memfence.frontends.promela import insert_fences, parse
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.ir import FencePoint, Program
from memfence.source import SourceText
from memfence.synthesis.apply_edits import insert
from support.canonical import canonical

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.pml"))


def read(text: str) -> Program:
    return parse(SourceText("model.pml", text))


def fence_points(program: Program) -> list[FencePoint]:
    places = (place for p in program.processes for place in (*p.locations, *p.transitions))
    return list(dict.fromkeys(place.point for place in places if place.point is not None))


def patched(text: str, after: str, kind: EditKind = "mfence") -> str:
    """`text` with a fence behind the statement that reads `after`."""
    program = read(text)
    (point,) = (p for p in fence_points(program) if p.after == after and p.key.startswith("after"))
    return insert_fences(SourceText("model.pml", text), [(point, kind)])


def is_subsequence(shorter: list[str], longer: list[str]) -> bool:
    rest = iter(longer)
    return all(line in rest for line in shorter)


HEADER = "byte x, y;\nactive proctype P() {\n"


@pytest.mark.parametrize(
    ("body", "after", "expected"),
    [
        pytest.param("    x = 1;\n    y = 2\n", "x = 1", "    x = 1;\n    mfence();\n    y = 2\n", id="own line"),
        pytest.param("    x = 1;  // why\n    y = 2\n", "x = 1",
                     "    x = 1;  // why\n    mfence();\n    y = 2\n", id="comment"),
        pytest.param("    x = 1;\n    y = 2\n", "y = 2", "    x = 1;\n    y = 2;\n    mfence();\n", id="last one"),
        pytest.param("    x = 1; y = 2\n", "x = 1", "    x = 1;\n    mfence();\n    y = 2\n", id="line goes on"),
        pytest.param("\tx = 1;\n\ty = 2\n", "x = 1", "\tx = 1;\n\tmfence();\n\ty = 2\n", id="tabs"),
        pytest.param("    x = 1;\r\n    y = 2\r\n", "x = 1", "    x = 1;\r\n    mfence();\r\n    y = 2\r\n", id="CRLF"),
        pytest.param("    do\n    :: x == 1 -> y = 2\n    od\n", "x == 1",
                     "    do\n    :: x == 1 ->\n       mfence();\n       y = 2\n    od\n", id="guard"),
        pytest.param("    do\n    :: x == 1\n    :: y = 2\n    od\n", "x == 1",
                     "    do\n    :: x == 1 ->\n       mfence();\n    :: y = 2\n    od\n", id="guard alone"),
        pytest.param("    if :: x == 1 -> y = 2 fi\n", "y = 2",
                     "    if :: x == 1 -> y = 2;\n    mfence();\n    fi\n", id="all in one line"),
        pytest.param("l:  x = 1;\n    y = 2\n", "x = 1", "l:  x = 1;\n    mfence();\n    y = 2\n", id="label"),
        pytest.param("    x = /* one;\n    */ 1 /* ; */ ; y = 2\n", "x = /* one;",
                     "    x = /* one;\n    */ 1 /* ; */ ;\n    mfence();\n    y = 2\n", id="comments inside"),
    ],
)  # fmt: skip
def test_a_fence_stands_on_a_line_of_its_own_behind_the_statement(body: str, after: str, expected: str) -> None:
    assert patched(f"{HEADER}{body}}}\n", after) == f"{HEADER}{expected}}}\n"


def test_a_fence_after_a_choice_is_one_line_before_what_follows() -> None:
    text = HEADER + "    if\n    :: x == 1 -> skip\n    :: else -> skip\n    fi;\n    y = 2\n}\n"
    program = read(text)
    (point,) = (p for p in fence_points(program) if p.after == "y = 2" and p.key.startswith("before"))
    fenced = insert_fences(SourceText("model.pml", text), [(point, "sfence")])
    assert fenced == text.replace("    y = 2", "    sfence();\n    y = 2")


def test_no_fence_is_proposed_before_a_loop_since_the_way_back_would_miss_it() -> None:
    program = read(HEADER + "    skip;\n    do\n    :: x == 1 -> break\n    :: x = y\n    od\n}\n")
    assert not any(point.key.startswith("before") for point in fence_points(program))


def test_a_fence_before_a_label_catches_all_but_those_who_jump_to_it() -> None:
    choice = "    if :: x == 1 -> skip :: else -> skip fi;\n"
    (point,) = (p for p in fence_points(read(f"{HEADER}{choice}cs: x = 1\n}}")) if p.key.startswith("before"))
    assert point.after == "x = 1"
    jumped = fence_points(read(f"{HEADER}{choice}cs: x = 1; goto cs\n}}"))
    assert not any(p.key.startswith("before") for p in jumped)


def test_a_locked_write_is_put_into_an_atomic() -> None:
    text = HEADER + "    x = y;\n    y = 1\n}\n"
    fenced = patched(text, "x = y", "locked")
    assert fenced == text.replace("x = y;", "atomic { x = y };")
    (point,) = (p for p in fence_points(read(text)) if p.after == "x = y")
    assert canonical(fuse_lock_regions(read(fenced))) == canonical(insert(read(text), [(point, "locked")]))


def test_a_declaration_cannot_be_locked_since_its_name_would_be_lost() -> None:
    with pytest.raises(InputError):
        patched(HEADER + "    x = 1;\n    byte r = x;\n    y = r\n}\n", "byte r = x", "locked")


def test_two_fences_at_one_place_stay_in_their_order() -> None:
    text = HEADER + "    x = 1;\n    y = 2\n}\n"
    point = next(p for p in fence_points(read(text)) if p.after == "x = 1")
    fenced = insert_fences(SourceText("model.pml", text), [(point, "sfence"), (point, "mfence")])
    assert fenced == text.replace("x = 1;", "x = 1;\n    sfence();\n    mfence();")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_fence_at_any_point_of_an_example_means_the_program_with_that_fence(path: Path) -> None:
    text = path.read_bytes().decode()
    program = read(text)
    points = fence_points(program)
    assert points
    for chosen in [*([point] for point in points), points]:
        fences: list[tuple[FencePoint, EditKind]] = [(point, "mfence") for point in chosen]
        fenced = insert_fences(SourceText("model.pml", text), fences)
        assert canonical(read(fenced)) == canonical(insert(program, fences)), chosen
        added = fenced.count("mfence();")
        assert added == len(chosen)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_fence_behind_a_statement_with_its_own_line_changes_no_other_line(path: Path) -> None:
    text = path.read_bytes().decode()
    lines = text.splitlines()
    checked = 0
    for point in fence_points(read(text)):
        line = lines[point.span.line - 1].strip()
        behind = point.key.startswith("after") and line.endswith((f"{point.after};", f"{point.after} ->"))
        if behind or (point.key.startswith("before") and line.startswith(point.after)):
            fenced = insert_fences(SourceText("model.pml", text), [(point, "mfence")]).splitlines()
            assert len(fenced) == len(lines) + 1 and is_subsequence(lines, fenced), point
            checked += 1
    assert checked


def shuffled_layout(text: str, seed: int) -> str:
    """`text` with white space and line ends moved about, directives and comments left whole."""
    chance = random.Random(seed)
    pieces = re.findall(r"/\*.*?\*/|#[^\n]*\n|\s+|\w+|[^\w\s]", text, re.DOTALL)
    blanks = (" ", "  ", "\n", "\n  ", "\r\n", "\t", " /* c */ ", " // d\n")
    return "".join(
        chance.choice(blanks) if piece.isspace() and not before.startswith("#") else piece
        for before, piece in zip(["", *pieces], pieces, strict=False)
    )


@pytest.mark.parametrize("seed", range(40))
def test_fences_in_a_text_of_any_layout_mean_the_program_with_these_fences(seed: int) -> None:
    chance = random.Random(seed)
    text = shuffled_layout(chance.choice(EXAMPLES).read_text(), seed)
    program = read(text)
    kinds: tuple[EditKind, ...] = ("mfence", "sfence")
    fences = [(point, chance.choice(kinds)) for point in fence_points(program) if chance.random() < 0.7]
    fenced = insert_fences(SourceText("model.pml", text), fences)
    assert canonical(read(fenced)) == canonical(insert(program, fences)), fenced
