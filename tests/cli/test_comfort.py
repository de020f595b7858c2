"""Small things that save time: several files, the examples, colours, completion, a man page, pages of `why`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from memfence.cli import terminal
from memfence.cli.exit_codes import Exit
from memfence.cli.man import man_page
from support.command_line import ROOT, memfence

GOOD = "byte x; active proctype A() { x = 1; assert(x == 1) }\n"
BAD = "byte x; active proctype A() { x = 1; assert(x == 2) }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("good.pml", GOOD), ("bad.pml", BAD), ("broken.pml", "byte\n")):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_several_files_end_with_a_table_and_the_worst_exit_code(folder: Path) -> None:
    done = memfence("check", "good.pml", "bad.pml", folder=folder)
    assert done.returncode == Exit.VIOLATED
    assert "good.pml: HOLDS under tso" in done.stdout and "bad.pml: VIOLATED under tso" in done.stdout
    assert "2 files: 1 holds, 1 violated" in done.stdout
    done = memfence("check", "good.pml", "broken.pml", "missing.pml", folder=folder)
    assert done.returncode == Exit.BAD_INPUT
    assert "3 files: 1 holds, 2 bad input" in done.stdout
    assert "error[MF001]" in done.stderr and "error[MF002]" in done.stderr
    assert memfence("check", "good.pml", "good.pml", folder=folder).returncode == Exit.HOLDS


def test_several_files_as_json_are_a_list(folder: Path) -> None:
    done = memfence("check", "good.pml", "bad.pml", "broken.pml", "--json", folder=folder)
    shown = json.loads(done.stdout)["files"]
    assert [one.get("verdict") for one in shown] == ["holds", "violated", None]
    assert shown[2]["diagnostics"][0]["code"] == "MF001"


@pytest.mark.parametrize(
    ("verb", "summary", "code"),
    [
        ("fix", "3 files: 1 already holds, 1 impossible, 1 bad input", Exit.BAD_INPUT),
        ("compare", "3 files: 2 decided, 1 bad input", Exit.BAD_INPUT),
    ],
)
def test_fix_and_compare_take_several_files(verb: str, summary: str, code: Exit, folder: Path) -> None:
    done = memfence(verb, "good.pml", "broken.pml", "bad.pml", folder=folder)
    assert done.returncode == code
    assert summary in done.stdout and "error[MF001]" in done.stderr
    shown = json.loads(memfence(verb, "good.pml", "bad.pml", "--json", folder=folder).stdout)["files"]
    assert [one["file"] for one in shown] == ["good.pml", "bad.pml"]
    html = memfence(verb, "good.pml", "bad.pml", "--html", "r.html", folder=folder)
    assert html.returncode == Exit.USAGE and not (folder / "r.html").exists()


def test_fix_of_several_files_writes_nothing(folder: Path) -> None:
    done = memfence("fix", "good.pml", "bad.pml", "--in-place", folder=folder)
    assert done.returncode == Exit.USAGE and "one file" in done.stderr
    assert (folder / "good.pml").read_text() == GOOD


def test_a_report_file_is_about_one_program(folder: Path) -> None:
    done = memfence("check", "good.pml", "bad.pml", "--html", "r.html", folder=folder)
    assert done.returncode == Exit.USAGE and "one file" in done.stderr


def test_the_examples_are_listed_and_written(tmp_path: Path) -> None:
    listed = memfence("examples", folder=tmp_path).stdout
    assert "lost_wakeup.pml" in listed and "store_buffering.litmus" in listed and "c/spsc_ring.c" in listed
    done = memfence("examples", "lost_wakeup", folder=tmp_path)
    assert done.returncode == 0 and "memfence check lost_wakeup.pml" in done.stdout
    assert (tmp_path / "lost_wakeup.pml").read_text() == (ROOT / "examples/lost_wakeup.pml").read_text()
    again = memfence("examples", "lost_wakeup.pml", folder=tmp_path)
    assert again.returncode == Exit.USAGE and "is there already" in again.stderr
    unknown = memfence("examples", "lost_wakup", folder=tmp_path)
    assert unknown.returncode == Exit.USAGE and "did you mean `lost_wakeup.pml`" in unknown.stderr


@pytest.mark.parametrize(("choice", "painted"), [("always", True), ("never", False), ("auto", False)])
def test_colours_can_be_asked_for(choice: str, painted: bool, folder: Path) -> None:
    done = memfence("--color", choice, "check", "bad.pml", folder=folder)
    terminal.COLOUR = "auto"
    assert ("\x1b[1;31mVIOLATED" in done.stdout) == painted
    assert memfence("--color", "sometimes", "check", "bad.pml", folder=folder).returncode == Exit.USAGE


def test_codes_and_languages_are_completed() -> None:
    from memfence.cli.completion import codes, languages

    assert "MF101" in codes("MF1") and "MF201" not in codes("mf1")
    assert languages("pro") == ["promela"]


def test_the_man_page_is_up_to_date_and_names_every_verb() -> None:
    page = ROOT / "contrib" / "man" / "memfence.1"
    text = man_page()
    assert page.read_text() == text, "write it again: python -m memfence.cli.man > contrib/man/memfence.1"
    for word in (".TH MEMFENCE 1", "check", "explain", "EXIT STATUS"):
        assert word in text


def test_why_knows_deadlocks_formulas_and_pages(tmp_path: Path) -> None:
    fixed = tmp_path / "fixed.pml"
    shutil.copy(ROOT / "examples/lost_wakeup.pml", fixed)
    assert memfence("fix", fixed, "--in-place").returncode == 0
    done = memfence("why", fixed, "--html", tmp_path / "why.html")
    assert done.returncode == 0
    page = (tmp_path / "why.html").read_text()
    assert "EVERY FENCE IS NEEDED" in page and "A run without the mfence" in page
    assert memfence("why", fixed, "--deadlock", "-q").returncode == 0  # without them the waiter sleeps for ever
    assert memfence("why", fixed, "--ltl", "[] !(waiter@asleep && producer@unaware)", "-q").returncode == 0


def test_c_without_a_compiler_gets_the_advice_of_its_front_end(tmp_path: Path) -> None:
    source = tmp_path / "m.c"
    source.write_text("int main(void) { return 0; }\n")
    done = memfence("check", source, "--clang", tmp_path / "no-such-clang")
    assert done.returncode == Exit.BAD_INPUT
    assert "error[MF007]" in done.stderr and "pip install" in done.stderr
