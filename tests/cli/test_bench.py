"""`memfence bench` measures the papers' tables and writes them down as people and as programs read them."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from paper_tables.command import CommandFailed, ask
from paper_tables.linden_wolper import PUBLISHED_2010
from paper_tables.table import Sources, csv_text, markdown_row
from paper_tables.tables import TABLES

from memfence.cli.bench import _of_the_sources

ROOT = Path(__file__).resolve().parents[2]


def bench(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memfence", "bench", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def test_a_table_is_printed_and_written_with_the_papers_numbers_beside(tmp_path):
    done = bench("tables", "linden-wolper-2010", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    rows = list(csv.reader((tmp_path / "linden-wolper-2010.csv").read_text().splitlines()))
    assert tuple(rows[0]) == TABLES["linden-wolper-2010"].columns
    assert len(rows) == 1 + len(PUBLISHED_2010)
    for row, published in zip(rows[1:], PUBLISHED_2010, strict=True):
        there, here, verdict = row[2:5]
        assert int(there) == published[-1]
        assert verdict == ("holds" if there == "0" else "violated")
        assert (there == "0") == (here == "0")
    page = (tmp_path / "linden-wolper-2010.md").read_text()
    assert page.startswith("# Linden and Wolper 2010")
    assert all(markdown_row(tuple(row)) in page and markdown_row(tuple(row)) in done.stdout for row in rows)
    assert "`memfence bench tables linden-wolper-2010" in page


@pytest.mark.parametrize("name", list(TABLES))
def test_a_table_says_where_its_models_come_from_and_which_do_not_ship(name, tmp_path):
    table, sources = TABLES[name], Sources(ROOT / "examples", None, 10.0)
    said = table.introduction(sources)
    assert f"Models: {table.models}" in said
    for row, file in table.elsewhere:
        assert f"{row} (`{file}`)" in said
    with_corpus = len(list(table.rows(replace(sources, corpus=tmp_path))))
    assert with_corpus == len(list(table.rows(sources))) + len(table.elsewhere)


def test_what_there_is_can_be_listed():
    assert [line.split()[0] for line in bench("tables", "--list").stdout.splitlines()] == list(TABLES)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("tables", "nothing"), "no table is called nothing"),
        (("tables", "--examples", "docs"), "is not the folder `examples`"),
        (("tables", "--corpus", "nowhere"), "is not a folder"),
    ],
)
def test_wrong_use_is_said(arguments, complaint):
    done = bench(*arguments)
    assert done.returncode == 2
    assert complaint in " ".join(done.stderr.split()).replace("│ ", "")


def test_without_the_sources_bench_says_where_the_tables_are(tmp_path, monkeypatch):
    monkeypatch.setattr("memfence.cli.bench.SOURCES", tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(typer.BadParameter, match="in the sources of memfence, which are not here"):
        _of_the_sources("tables")


def test_a_command_that_fails_is_not_a_row(tmp_path):
    broken = tmp_path / "broken.pml"
    broken.write_text("active proctype P( {")
    with pytest.raises(CommandFailed, match="exit code 3"):
        ask("check", broken, timeout_seconds=10)


def test_bars_in_cells_do_not_break_the_table():
    assert markdown_row(("a || b", "c")) == r"| a \|\| b | c |"
    assert csv_text(("one", "two"), [("a, b", 'say "c"')]) == 'one,two\n"a, b","say ""c"""\n'


def test_families_grow_and_are_drawn(tmp_path):
    picture = tmp_path / "growth.svg"
    done = bench("families", "--most", "3", "-o", picture)
    assert done.returncode == 0, done.stderr
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")][2:]
    assert {(row[0], row[1]) for row in rows} == {
        (family.stem, str(n)) for family in (ROOT / "examples" / "families").glob("*.pml") for n in (2, 3)
    }
    for row in rows:
        assert row[2] == row[5] == "holds"
    states = {(row[0], row[1]): int(row[3]) for row in rows}
    assert all(states[family, "3"] > states[family, "2"] for family, _ in states)
    drawn = picture.read_text()
    assert drawn.startswith("<svg") and "filter_lock" in drawn
