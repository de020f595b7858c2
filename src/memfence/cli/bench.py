"""`memfence bench tables` and `memfence bench families`."""

from __future__ import annotations

import shlex
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from memfence.cli.app import app
from memfence.cli.exit_codes import Exit
from memfence.cli.refusal import refusing
from memfence.cli.report_files import make_folder, write_report
from memfence.cli.verb import verb
from memfence.version import VERSION

SOURCES = Path(__file__).resolve().parents[3]
"""Where `benchmarks` is, if memfence is installed as `pip install -e .` does it."""

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
    tables_of_papers = _of_the_sources("tables").TABLES
    if listed:
        for table in tables_of_papers.values():
            sys.stdout.write(f"{table.name:<20} {table.title}\n")
        return
    unknown = [name for name in names or () if name not in tables_of_papers]
    if unknown:
        raise typer.BadParameter(f"no table is called {', '.join(unknown)}; there are {', '.join(tables_of_papers)}")
    sources = _sources(examples, corpus, timeout)
    for name in names or tables_of_papers:
        try:
            with refusing(json=False):
                _measure(tables_of_papers[name], sources, out, cluster)
        except _of_the_sources("command").CommandFailed as failure:
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
    growth, table, command = _of_the_sources("families"), _of_the_sources("table"), _of_the_sources("command")
    sources = _sources(examples, corpus, timeout)
    sys.stdout.write(table.markdown_head(growth.COLUMNS))
    measured = []
    try:
        with refusing(json=False):
            for one in growth.measure_families(sources, most, cluster):
                measured.append(one)
                sys.stdout.write(f"{table.markdown_row(one.cells())}\n")
                sys.stdout.flush()
    except command.CommandFailed as failure:
        sys.stderr.write(f"memfence bench: {failure}\n")
        raise typer.Exit(Exit.INTERNAL) from None
    sys.stdout.write(f"\nmemfence {VERSION}, `{_command()}`; {command.machine()}.\n")
    if out is not None:
        write_report(out, growth.draw(measured, timeout), "--out")


def _of_the_sources(name: str) -> ModuleType:
    """A module of `benchmarks/paper_tables`, which is not installed; wrong usage where it is not."""
    for folder in (SOURCES, Path.cwd()):
        if (folder / "benchmarks" / "paper_tables").is_dir() and (folder / "src" / "memfence").is_dir():
            if (path := str(folder / "benchmarks")) not in sys.path:
                sys.path.append(path)
            return import_module(f"paper_tables.{name}")
    raise typer.BadParameter(
        "the tables of the papers are in the sources of memfence, which are not here: "
        "ask in a copy of them (`git clone`), in its top folder"
    )


def _command() -> str:
    return shlex.join(["memfence", *sys.argv[1:]])


def _sources(examples: Path | None, corpus: Path | None, timeout: float) -> Any:
    table = _of_the_sources("table")
    examples = examples or table.shipped_examples()
    if not (examples / "linden_wolper").is_dir():
        raise typer.BadParameter(
            f"{examples} is not the folder `examples` of the memfence sources", param_hint="--examples"
        )
    if corpus is not None and not corpus.is_dir():
        raise typer.BadParameter(f"{corpus} is not a folder", param_hint="--corpus")
    # Other machines may work in another folder.
    return table.Sources(examples.resolve(), None if corpus is None else corpus.resolve(), timeout)


def _measure(table: Any, sources: Any, out: Path | None, cluster: str | None) -> None:
    """Print the table row by row, as it is measured; then write the files."""
    written = _of_the_sources("table")
    head = f"## {table.title}\n\n{table.introduction(sources)}"
    sys.stdout.write(head + written.markdown_head(table.columns))
    rows: list[tuple[str, ...]] = []
    jobs = list(table.rows(sources))
    measured = (
        (job() for job in jobs) if cluster is None else _of_the_sources("everywhere").each_measured(jobs, cluster)
    )
    for row in measured:
        rows.append(row)
        sys.stdout.write(f"{written.markdown_row(row)}\n")
        sys.stdout.flush()
    foot = f"\nmemfence {VERSION}, `{_command()}`; {_of_the_sources('command').machine()}.\n"
    sys.stdout.write(f"{foot}\n")
    if out is not None:
        make_folder(out, "--out")
        lines = "".join(f"{written.markdown_row(row)}\n" for row in rows)
        text = head.replace("## ", "# ", 1) + written.markdown_head(table.columns) + lines + foot
        write_report(out / f"{table.name}.md", text, "--out")
        write_report(out / f"{table.name}.csv", written.csv_text(table.columns, rows), "--out")
