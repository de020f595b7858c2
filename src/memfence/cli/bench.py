"""`memfence bench tables` and `memfence bench families`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memfence.cli.app import app
from memfence.cli.exit_codes import Exit
from memfence.cli.refusal import refusing
from memfence.cli.report_files import make_folder, write_report
from memfence.cli.verb import verb
from memfence.version import VERSION

if TYPE_CHECKING:
    from memfence.bench.table import Cells, Sources, Table

bench = typer.Typer(
    name="bench",
    help="The tables of the papers, measured again beside the published numbers.",
    epilog="Example: memfence bench tables linden-wolper-2010",
    no_args_is_help=True,
    rich_markup_mode=None,
)

app.add_typer(bench, name="bench", short_help="The tables of the papers, measured again.")


@verb(example="bench tables sober-2008 -o results", of=bench)
def tables(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TABLE]...", help="Which ones; all if none is named.", show_default=False),
    ] = None,
    *,
    examples: Path | None,
    corpus: Path | None,
    cluster: str | None,
    timeout: float,
    out: Path | None,
    listed: bool,
) -> None:
    """Measure tables of the papers again: states, time, memory, and the papers' numbers beside."""
    from memfence.bench.command import CommandFailed
    from memfence.bench.tables import TABLES

    if listed:
        for table in TABLES.values():
            sys.stdout.write(f"{table.name:<20} {table.title}\n")
        return
    unknown = [name for name in names or () if name not in TABLES]
    if unknown:
        raise typer.BadParameter(f"no table is called {', '.join(unknown)}; there are {', '.join(TABLES)}")
    sources = _sources(examples, corpus, timeout)
    for name in names or TABLES:
        try:
            with refusing(json=False):
                _measure(TABLES[name], sources, out, cluster)
        except CommandFailed as failure:
            sys.stderr.write(f"memfence bench: {failure}\n")
            raise typer.Exit(Exit.INTERNAL) from None


@verb(example="bench families --most 4 -o growth.svg", of=bench)
def families(
    examples: Path | None,
    corpus: Path | None,
    cluster: str | None,
    timeout: float,
    most: int,
    out: Path | None,
) -> None:
    """How the time for persistence grows with the number of processes, exact and with --abstract 2."""
    from memfence.bench.command import CommandFailed, machine
    from memfence.bench.families import COLUMNS, draw, measure_families
    from memfence.bench.table import markdown_head, markdown_row

    sources = _sources(examples, corpus, timeout)
    sys.stdout.write(markdown_head(COLUMNS))
    measured = []
    try:
        with refusing(json=False):
            for one in measure_families(sources, most, cluster):
                measured.append(one)
                sys.stdout.write(f"{markdown_row(one.cells())}\n")
                sys.stdout.flush()
    except CommandFailed as failure:
        sys.stderr.write(f"memfence bench: {failure}\n")
        raise typer.Exit(Exit.INTERNAL) from None
    sys.stdout.write(f"\nmemfence {VERSION}, `{_command()}`; {machine()}.\n")
    if out is not None:
        write_report(out, draw(measured, timeout), "--out")


def _command() -> str:
    return shlex.join(["memfence", *sys.argv[1:]])


def _sources(examples: Path | None, corpus: Path | None, timeout: float) -> Sources:
    from memfence.bench.table import Sources, shipped_examples

    examples = examples or shipped_examples()
    if not (examples / "linden_wolper").is_dir():
        raise typer.BadParameter(
            f"{examples} is not the folder `examples` of the memfence sources", param_hint="--examples"
        )
    if corpus is not None and not corpus.is_dir():
        raise typer.BadParameter(f"{corpus} is not a folder", param_hint="--corpus")
    # Other machines may work in another folder.
    return Sources(examples.resolve(), None if corpus is None else corpus.resolve(), timeout)


def _measure(table: Table, sources: Sources, out: Path | None, cluster: str | None) -> None:
    """Print the table row by row, as it is measured; then write the files."""
    from memfence.bench.command import machine
    from memfence.bench.everywhere import each_measured
    from memfence.bench.table import csv_text, markdown_head, markdown_row

    head = f"## {table.title}\n\n{table.about}\n\n"
    sys.stdout.write(head + markdown_head(table.columns))
    rows: list[Cells] = []
    jobs = list(table.rows(sources))
    for row in (job() for job in jobs) if cluster is None else each_measured(jobs, cluster):
        rows.append(row)
        sys.stdout.write(f"{markdown_row(row)}\n")
        sys.stdout.flush()
    foot = f"\nmemfence {VERSION}, `{_command()}`; {machine()}.\n"
    sys.stdout.write(f"{foot}\n")
    if out is not None:
        make_folder(out, "--out")
        lines = "".join(f"{markdown_row(row)}\n" for row in rows)
        text = head.replace("## ", "# ", 1) + markdown_head(table.columns) + lines + foot
        write_report(out / f"{table.name}.md", text, "--out")
        write_report(out / f"{table.name}.csv", csv_text(table.columns, rows), "--out")
