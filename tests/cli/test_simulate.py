"""`memfence simulate`: commands on standard input and in scripts, schedules that other commands read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.c_compiler import HAS_CLANG
from support.command_line import memfence

SB = "examples/store_buffering.litmus"
RELAXED = "1\n2\n2\n3\n"
"""P0 stores and loads, then P1 does: both read 0 while both stores wait."""


def test_choices_on_standard_input_lead_to_the_relaxed_outcome() -> None:
    done = memfence("simulate", SB, given=RELAXED)
    assert done.returncode == 0
    last = done.stdout[done.stdout.index("step 4:") :]
    assert last.splitlines() == [
        "step 4: P1  5: MOV EAX,[x] [EAX=0]",
        "  memory  x=0  y=0",
        "  P0      ended  EAX=0  buffer: x=1",
        "  P1      ended  EAX=0  buffer: y=1",
        "   1  P0  commit x=1",
        "   2  P1  commit y=1",
    ]


def test_under_sc_there_is_nothing_to_commit() -> None:
    done = memfence("simulate", SB, "--model", "sc", given="1\n1\n1\n1\n")
    assert "commit" not in done.stdout
    assert "Every process has ended." in done.stdout


def test_undo_and_jump_go_back_and_forward() -> None:
    done = memfence("simulate", SB, "--json", given="1 2 2\nundo 2\njump 3\njump 1\n2\n")
    value = json.loads(done.stdout)
    assert value["steps"] == 2
    assert value["state"]["P0"] == "ended  EAX=0  buffer: x=1"


def test_random_steps_stop_at_a_breakpoint() -> None:
    done = memfence("simulate", "examples/peterson.pml", given="break P_0@cs\nrandom 1000\n")
    assert "stopped: P_0@cs holds" in done.stdout


def test_until_takes_the_shortest_way_or_says_that_there_is_none() -> None:
    assert "2 steps to x == 1" in memfence("simulate", SB, given="until x == 1\n").stdout
    refused = memfence("simulate", SB, given="until x == 5\n")
    assert refused.returncode == 3
    assert "error[MF305]: no run from here leads to x == 5" in refused.stderr


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("9", "there is no choice 9"),
        ("udno", "= help: did you mean `undo`?"),
        ("undo 5", "only 0 choices were made"),
        ("jump x", "`jump` takes a number"),
        ("until", "= help: write `until EXPR`"),
        ("until P0@nowhere", "`P0` has no label `nowhere`"),
        ("table now", "`table` stands alone"),
        ("jump 999999999999999999999", "takes a number up to"),
    ],
)
def test_a_command_that_makes_no_sense_ends_a_script(line: str, problem: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"# a comment\n\n{line}\n1\n")
    done = memfence("simulate", SB, "--script", script)
    assert done.returncode == 3
    assert "error[MF305]" in done.stderr
    assert problem in done.stderr
    assert f"--> {script}:3:1" in done.stderr


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_a_saved_walk_is_replayed_by_explore_and_by_simulate(model: str, tmp_path: Path) -> None:
    out = tmp_path / "walk.json"
    path = "examples/message_passing.pml"
    walked = memfence("simulate", path, "--model", model, "--random", "5", "--steps", "4", "--save-schedule", out)
    assert walked.returncode == 0, walked.stderr
    replayed = memfence("explore", path, "--replay", out)
    assert replayed.returncode == 0, replayed.stderr
    assert f"REPLAYED under {model}: a walk of 4 steps" in replayed.stdout
    assert walked.stdout.strip() in replayed.stdout
    again = memfence("simulate", path, "--replay", out, "--json")
    assert json.loads(again.stdout)["schedule"] == json.loads(out.read_text())["findings"][0]


def test_a_saved_walk_does_not_fit_another_program(tmp_path: Path) -> None:
    out = tmp_path / "walk.json"
    memfence("simulate", SB, given=f"{RELAXED}save {out}\n")
    assert memfence("simulate", "examples/peterson.pml", "--replay", out).returncode == 3


def test_the_page_of_a_walk_has_the_run(tmp_path: Path) -> None:
    page = tmp_path / "walk.html"
    memfence("simulate", SB, given=f"{RELAXED}html {page}\n")
    assert "MOV EAX,[y]" in page.read_text()
    assert "overtook" in page.read_text()


def test_why_names_the_load_that_overtook() -> None:
    assert "the load overtook the store" in memfence("simulate", SB, given=f"{RELAXED}why\n").stdout.replace(
        "\n  ", " "
    )


def test_a_random_walk_is_the_same_for_the_same_seed() -> None:
    first = memfence("simulate", "examples/dekker.pml", "--random", "3", "--steps", "20")
    assert first.stdout == memfence("simulate", "examples/dekker.pml", "--random", "3", "--steps", "20").stdout
    assert first.stdout != memfence("simulate", "examples/dekker.pml", "--random", "4", "--steps", "20").stdout


@pytest.mark.skipif(not HAS_CLANG, reason="neither ziglang nor clang is installed")
def test_c_is_walked_from_access_to_access() -> None:
    done = memfence("simulate", "examples/c/musl_unlock.c", given="until lock == 0 && waiters == 1\ntable\n")
    assert done.returncode == 0, done.stderr
    assert "34: lock = 0" in done.stdout


def test_the_last_of_the_input_and_quit_both_end_it() -> None:
    assert memfence("simulate", SB, given="quit\n9\n").returncode == 0
    assert memfence("simulate", SB, given=b"\xff\xfe").returncode == 0


def test_start_and_model_are_refused_where_they_make_no_sense(tmp_path: Path) -> None:
    assert memfence("simulate", SB, "--start", "5").returncode == 2
    out = tmp_path / "walk.json"
    memfence("simulate", SB, given=f"1\nsave {out}\n")
    assert memfence("simulate", SB, "--replay", out, "--model", "sc").returncode == 2
