"""`memfence fix` and `memfence why` as scripts see them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from support.command_line import memfence as in_process

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FIXED = """\
#include "memfence.h"
bool x, y;
active proctype P() { x = true; mfence(); if :: y -> skip :: else -> a: skip fi; mfence() }
active proctype Q() { y = true; mfence(); if :: x -> skip :: else -> b: skip fi }
ltl one_sees_the_other { [] !(P@a && Q@b) }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("memfence.h", "lost_wakeup.pml", "peterson.pml"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    (tmp_path / "fixed.pml").write_text(FIXED)
    return tmp_path


def memfence(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return in_process(*arguments, folder=folder)


def test_the_main_job_says_where_why_and_how(folder: Path) -> None:
    done = memfence(folder, "fix", "lost_wakeup.pml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("lost_wakeup.pml: FIXED under tso (safety) with 2 fences: always ")
    assert "proved: one alone would not be enough" in done.stdout
    assert "waiter: waiting = 1 (line 13) before the load of work (line 16)" in " ".join(done.stdout.split())
    assert "+    mfence();" in done.stdout
    assert done.stdout.count("this run is possible") == 2


def test_diff_prints_what_git_applies(folder: Path) -> None:
    done = memfence(folder, "fix", "lost_wakeup.pml", "--diff")
    assert done.stdout.startswith("--- a/lost_wakeup.pml\n+++ b/lost_wakeup.pml\n")
    subprocess.run(["git", "apply", "-"], input=done.stdout, text=True, cwd=folder, check=True)
    assert memfence(folder, "check", "lost_wakeup.pml", "-q").returncode == 0


def test_in_place_and_output_write_the_same_text(folder: Path) -> None:
    memfence(folder, "fix", "peterson.pml", "--model", "pso", "-o", "out.pml")
    memfence(folder, "fix", "peterson.pml", "--model", "pso", "--in-place")
    assert (folder / "out.pml").read_text() == (folder / "peterson.pml").read_text()
    assert (folder / "out.pml").read_text().count("fence();") == 2
    again = memfence(folder, "fix", "peterson.pml", "--model", "pso", "-q")
    assert again.returncode == 0
    assert ": HOLDS under pso (safety) without a new fence" in again.stdout


def test_json_has_the_keys_of_the_contract(folder: Path) -> None:
    found = json.loads(memfence(folder, "fix", "peterson.pml", "--model", "pso", "--all", "--json").stdout)
    assert found["verdict"] == "fixed"
    assert (found["count"], found["instances"], found["minimum"]) == (2, 4, True)
    assert [(f["kind"], f["line"], f["process"], f["after"]) for f in found["fences"]] == [
        ("sfence", 14, "P", "wants[me] = true"),
        ("mfence", 15, "P", "turn = other"),
    ]
    assert all(fence["file"] == "peterson.pml" and fence["trace"] for fence in found["fences"])
    assert found["sets_complete"] and found["fences"][0]["kind"] in {f["kind"] for f in found["sets"][0]["fences"]}
    assert found["stats"]["clauses"] > 0 and found["diff"].startswith("--- a/")


def test_what_fails_under_sc_is_not_fixable_and_the_run_is_shown(folder: Path) -> None:
    text = "byte x; active proctype P() { x = 1; assert(x == 2) }"
    (folder / "wrong.pml").write_text(text)
    done = memfence(folder, "fix", "wrong.pml")
    assert done.returncode == 1
    assert done.stdout.startswith("wrong.pml: NOT FIXABLE under tso (safety) by fences")
    assert "violated under sc already" in done.stdout
    assert "assert(x == 2)" in done.stdout
    assert json.loads(memfence(folder, "fix", "wrong.pml", "--json").stdout)["verdict"] == "impossible"


def test_a_limit_is_unknown_and_writes_nothing(folder: Path) -> None:
    done = memfence(folder, "fix", "peterson.pml", "--timeout", "0.000001", "-o", "out.pml")
    assert done.returncode == 4
    assert "UNKNOWN" in done.stdout and "timeout 1e-06 s was hit" in done.stdout
    assert not (folder / "out.pml").exists()


def test_costs_and_kinds_steer_the_choice(folder: Path) -> None:
    done = memfence(folder, "fix", "peterson.pml", "--model", "pso", "--kinds", "mfence", "--diff")
    assert "sfence" not in done.stdout and done.stdout.count("+       mfence();") == 2
    locked = memfence(folder, "fix", "lost_wakeup.pml", "--kinds", "locked", "--diff")
    assert locked.stdout.count("+    atomic { ") == 2
    dear = memfence(
        folder, "fix", "peterson.pml", "--model", "pso", "--minimise", "cost", "--cost", "sfence=1000", "--diff"
    )
    assert dear.returncode == 0 and "sfence" not in dear.stdout


@pytest.mark.parametrize(
    "arguments", [("--cost", "mfence=x"), ("--cost", "nofence=1"), ("--kinds", "both"), ("--model", "sc")]
)
def test_wrong_usage_exits_2(folder: Path, arguments: tuple[str, str]) -> None:
    by_cost = ("--minimise", "cost") if arguments[0] == "--cost" else ()
    done = memfence(folder, "fix", "peterson.pml", *by_cost, *arguments)
    assert done.returncode == 2
    assert arguments[1] in done.stderr


def test_in_place_and_output_exclude_each_other(folder: Path) -> None:
    assert memfence(folder, "fix", "peterson.pml", "--in-place", "-o", "x").returncode == 2


def test_first_keeps_no_fence_that_is_not_needed(folder: Path) -> None:
    done = memfence(folder, "fix", "peterson.pml", "--model", "pso", "--minimise", "first", "--json")
    found = json.loads(done.stdout)
    assert found["verdict"] == "fixed" and not found["minimum"]
    assert all(fence["trace"] for fence in found["fences"])


def test_why_tells_needed_fences_from_redundant_ones(folder: Path) -> None:
    done = memfence(folder, "why", "fixed.pml", "--json")
    assert done.returncode == 1
    (found,) = json.loads(done.stdout)["criteria"]
    assert [(f["line"], f["need"]) for f in found["fences"]] == [(3, "needed"), (3, "redundant"), (4, "needed")]
    assert found["fences"][0]["without"]["verdict"] == "violated"
    assert found["fences"][1]["without"]["verdict"] == "holds"


def test_why_of_one_line_shows_the_run_that_appears(folder: Path) -> None:
    done = memfence(folder, "why", "fixed.pml:4")
    assert done.returncode == 0
    assert "NEEDED" in done.stdout and "REDUNDANT" not in done.stdout
    assert "Without the mfence at fixed.pml:4, this run is possible" in done.stdout
    assert "mfence()" not in done.stdout.split("Without the mfence")[1].split("Why:")[0].split("4: ")[1]


def test_why_asks_about_each_criterion(folder: Path) -> None:
    done = memfence(folder, "why", "fixed.pml:4", "--criterion", "robust", "--criterion", "persistent", "-q")
    assert done.stdout.count("NEEDED") == 2


def test_why_names_the_lines_with_fences(folder: Path) -> None:
    done = memfence(folder, "why", "fixed.pml:1")
    assert done.returncode == 2
    assert "fences are in line 3, 4" in done.stderr


def test_why_without_fences_says_so(folder: Path) -> None:
    done = memfence(folder, "why", "lost_wakeup.pml")
    assert done.returncode == 0
    assert "there is no fence in it" in done.stdout


def test_why_of_a_program_that_fails_anyway(folder: Path) -> None:
    (folder / "half.pml").write_text(FIXED.replace("y = true; mfence();", "y = true;"))
    done = memfence(folder, "why", "half.pml:3")
    assert done.returncode == 1
    assert "VIOLATED" in done.stdout and done.stdout.count("The program fails as it is") == 1


FENCED_SB = """\
X86 SB
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MFENCE      | MFENCE      ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
"""


def test_why_of_a_litmus_test_forbids_its_outcome_and_names_the_process(folder: Path) -> None:
    (folder / "sb.litmus").write_text(FENCED_SB)
    done = memfence(folder, "why", "sb.litmus", "-q")
    assert done.returncode == 0
    assert [line.split("│")[0].strip() for line in done.stdout.splitlines() if "NEEDED" in line] == [
        "sb.litmus:5 (P0)",
        "sb.litmus:5 (P1)",
    ]
