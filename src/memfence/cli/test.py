"""`memfence test FILE`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memfence.cli.exit_codes import exit_of
from memfence.cli.keywords import keywords_of, understood, without
from memfence.cli.output import Output
from memfence.cli.progress import Line
from memfence.cli.verb import verb

if TYPE_CHECKING:
    from memfence.clients.result import ObjectsResult


@verb("Does an object work for every small client of it?", example="test examples/objects/spsc_ring.c")
def test(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The object, described in a comment.", show_default=False, readable=False),
    ],
    model: str,
    objects: list[str] | None,
    criterion: str,
    shape: list[str] | None,
    clients: int,
    every: bool,
    output: Path | None,
    unroll: int,
    macros: list[str] | None,
    include: list[str] | None,
    std: str | None,
    clang: str | None,
    threads_bound: int,
    heap_bound: int,
    recursion_bound: int,
    assertions_only: bool,
    allow: str | None,
    timeout: float | None,
    memory: int | None,
    out: Output,
) -> None:
    """Does an object work for every small client of it, under each memory model?

    Name the object and its operations in a comment of its source, say what calls return, and memfence writes the
    clients: threads that make some calls each. Every outcome must be one of the same calls one after the other. No
    property is written: the object, called by one thread at a time, is its own specification.

    \b
        /* memfence-test spsc
         * object    struct spsc q;
         * producer  push(v: unique) = push(&q, v)
         * consumer  pop()           = pop(&q)
         * finally   length(&q)
         * at-most   1 producer, 1 consumer
         */
    """
    from memfence.api.test import test as ask
    from memfence.report.described import report_of

    usage = understood(context, models=model, files=[file])
    out.require_places([("FILE", file)], [("--output", output)])
    line = Line(quiet=out.quiet)
    keywords = without(keywords_of(usage), "models")
    if line.active:
        line.begin()
        keywords["progress"] = lambda number, count: line.say(f"client {number:,} of {count:,}")
    with line, out.refusing(file):
        result = ask(file, usage.models, given=usage.said, **keywords)
    out.publish(report_of(result))
    if output is not None:
        _write_client(output, result)
    raise typer.Exit(exit_of(result.verdict))


def _write_client(path: Path, result: ObjectsResult) -> None:
    """The smallest client that fails; where there is none, a line says so."""
    import sys

    from memfence.cli import terminal
    from memfence.cli.report_files import nothing_written, write_report
    from memfence.clients.program import for_file

    failing = next((one for one in result.objects if one.failing is not None), None)
    if failing is None or failing.failing is None:
        terminal.write(nothing_written(path, "no client fails"), sys.stderr)
    else:
        write_report(path, for_file(failing.failing.program, failing.specification, path), "--output")
