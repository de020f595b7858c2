"""Litmus tests have one reading: a condition names an outcome, and what is wanted is that it is impossible."""

from __future__ import annotations

import json
from pathlib import Path

from support.command_line import ROOT, memfence

SB = ROOT / "examples/store_buffering.litmus"


def test_an_outcome_that_is_possible_is_shown_with_its_run() -> None:
    done = memfence("check", SB)
    assert done.returncode == 1
    assert ": VIOLATED under tso (safety): ~exists (0:EAX=0 /\\ 1:EAX=0)" in done.stdout
    assert "Counterexample of " in done.stdout and "the load overtook the store" in " ".join(done.stdout.split())
    assert "Observation SB Sometimes 1 3" in done.stdout  # herd's words stay herd's


def test_an_outcome_that_is_impossible_holds() -> None:
    done = memfence("check", SB, "--model", "sc")
    assert done.returncode == 0
    assert ": HOLDS under sc (safety): ~exists" in done.stdout


def test_check_agrees_with_what_fix_wrote(tmp_path: Path) -> None:
    fixed = tmp_path / "fixed.litmus"
    assert memfence("fix", SB, "-o", fixed).returncode == 0
    done = memfence("check", fixed)
    assert done.returncode == 0 and ": HOLDS under tso" in done.stdout
    assert memfence("why", fixed).returncode == 0


def test_the_note_says_how_the_condition_is_read() -> None:
    shown = json.loads(memfence("check", SB, "--json").stdout)
    assert shown["verdict"] == "violated"
    assert shown["notes"] == ["an `exists` condition names an outcome: HOLDS says that it is impossible"]
    assert [state["count"] for state in shown["states"]] and len(shown["trace"]) > 0


def test_the_page_lists_the_final_states_each_with_a_run(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    memfence("check", SB, "--html", page)
    text = page.read_text()
    for state in ("0:EAX=0; 1:EAX=0;", "0:EAX=0; 1:EAX=1;", "0:EAX=1; 1:EAX=0;", "0:EAX=1; 1:EAX=1;"):
        assert f"{state} by P" in text, state
        assert f">{state}</button>" in text
    runs = json.loads(text.split('id="outcomes">')[1].split("</script>")[0])
    assert len(runs) == 4 and all(len(one["run"]["steps"]) > 4 for one in runs)
