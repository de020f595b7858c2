"""Counterexamples that a colleague understands at once: what failed, where, and what each step did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import memfence

INLINES = """\
byte x, y, z;
inline bump(v, by) { v = v + by; assert(v < 3) }
active proctype A() {
  byte i;
  for (i : 1 .. 2) { x = x + i }
  bump(y, 2);
  bump(z, 5)
}
"""
STUCK = """\
bool go, x;
active proctype A() { x = true; go }
active proctype B() { x; go; x = false }
active proctype C() { x = true }
"""
ATOMIC = """\
byte x, y;
active proctype A() { x = 1; atomic { x == 1 -> y = x + 1; x = 4 }; assert(y == 9) }
"""
LATE = """\
byte x, y;
active proctype P() { byte r; x = 1; r = y; assert(x == 7) }
active proctype Q() { y = 1 }
"""


def shown(text: str, tmp_path: Path, *options: str) -> str:
    path = tmp_path / "m.pml"
    path.write_text(text)
    return memfence("check", path, *options, folder=tmp_path, environment={"COLUMNS": "160"}).stdout


@pytest.mark.parametrize("options", [(), ("-q",)])
def test_the_assertion_that_failed_is_named_with_its_line(options: tuple[str, ...], tmp_path: Path) -> None:
    first = shown(INLINES, tmp_path, *options).splitlines()[0]
    assert first.endswith("m.pml: VIOLATED under tso (safety): assert(z < 3) (bump, line 7) fails (line 2)")
    first = shown(LATE, tmp_path, *options).splitlines()[0]
    assert first.endswith("assert(x == 7) fails (line 2)")


def test_a_run_time_error_is_named_with_its_line(tmp_path: Path) -> None:
    text = "byte a[2]; byte x = 1;\nactive proctype A() {\n  a[x + 1] = 1\n}\n"
    assert "index 2 outside 0..1: `a[x + 1] = 1` (line 3)" in shown(text, tmp_path, "-q", "--criterion", "safety")


def test_a_for_loop_shows_its_parts_as_they_are_written(tmp_path: Path) -> None:
    text = shown(INLINES, tmp_path)
    for part in ("5: i = 1 [i=1]", "5: i <= 2", "5: i++ [i=2]", "5: i > 2"):
        assert part in text, part


def test_the_bounds_of_a_for_loop_are_shown_in_the_words_of_the_loop(tmp_path: Path) -> None:
    text = "#define N 2\nbyte x; byte a[3];\nactive proctype A() { byte i;\n"
    text += "for (i : N-1 .. N) { x = i };\nfor (i in a) { x = i };\nassert(x == 9) }\n"
    run = shown(text, tmp_path, "--model", "sc")
    for part in ("4: i = N-1", "4: i <= N ", "4: i > N ", "5: i = 0", "5: i <= 2", "5: i > 2"):
        assert part in run, part
    assert "#define" not in run


def test_an_inline_shows_its_call_and_the_names_of_its_arguments(tmp_path: Path) -> None:
    text = shown(INLINES, tmp_path)
    assert "2: y = y + 2 (bump, line 6) [y=0]" in text
    assert "2: z = z + 5 (bump, line 7) [z=0]" in text


def test_an_atomic_step_shows_what_it_read_and_wrote(tmp_path: Path) -> None:
    text = shown(ATOMIC, tmp_path)
    assert "[atomic: read x=1; wrote y=2, x=4]" in text


def test_a_deadlock_says_where_each_process_stands_and_waits(tmp_path: Path) -> None:
    text = shown(STUCK, tmp_path, "--deadlock")
    assert "`A` waits at `go` (line 2)" in text
    assert "`C` has ended" in text
    found = json.loads(shown(STUCK, tmp_path, "--deadlock", "--json"))
    assert any("`B` waits at `" in line for line in found["details"])
    assert all(found["trace"][-1]["buffers"][name] == [] for name in "ABC")


def test_buffer_cells_that_do_not_change_are_blank(tmp_path: Path) -> None:
    rows = [line.split("│") for line in shown(LATE, tmp_path).splitlines() if "│" in line]
    column = [row[-1].strip() for row in rows[2:]]
    assert column.count("x=1") == 1


def test_what_happens_under_sc_too_says_that_no_fence_helps(tmp_path: Path) -> None:
    text = " ".join(shown(LATE, tmp_path).split())
    assert "Why: the program fails under sc, too: no fence can prevent it." in text
    assert "overtook" not in text


def test_a_run_without_a_fence_says_so_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "m.pml"
    path.write_text(
        "byte x, y, r = 9, s = 9;\nactive proctype A() { x = 1; mfence(); r = y }\n"
        "active proctype B() { y = 1; mfence(); s = x }\nltl p { finally r + s > 0 }\n"
    )
    assert "2: (without mfence())" in memfence("why", path, environment={"COLUMNS": "160"}).stdout
