"""`memfence run FILE... [-- ARGUMENTS]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memfence.cli.exit_codes import Exit, exit_of
from memfence.cli.help import Command
from memfence.cli.keywords import keywords_of, understood
from memfence.cli.output import Output
from memfence.cli.report_files import make_folder, write_report
from memfence.cli.verb import verb

if TYPE_CHECKING:
    from memfence.questions.run_result import RunResult

ARGUMENTS = "memfence.run.arguments"


class RunCommand(Command):
    """Keeps what stands behind `--` for the program."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            split = args.index("--")
            args, ctx.meta[ARGUMENTS] = args[:split], tuple(args[split + 1 :])
        return super().parse_args(ctx, args)


@verb(
    "Explore every inequivalent interleaving of a compiled program.",
    example="run examples/c/sober_lost_wakeup.c",
    cls=RunCommand,
)
def run(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="C and C++ files, one in Rust, or an executable of `memfence cc`. Behind --: its arguments.",
            show_default=False,
        ),
    ],
    macros: list[str] | None,
    include: list[str] | None,
    std: str | None,
    flag: list[str] | None,
    edition: str | None,
    cfg: list[str] | None,
    model: str,
    preemptions: int | None,
    random: int | None,
    seed: int,
    threads: int,
    cluster: str | None,
    depth: int,
    first: bool,
    leaks: bool,
    allow: str | None,
    spurious: int,
    timeout: float | None,
    save: Path | None,
    replay: Path | None,
    gdb: bool,
    out: Output,
) -> None:
    """Explore every inequivalent interleaving of a compiled program: does one fail, could one with store buffers?"""
    from memfence.report.described import report_of

    usage = understood(context, files=files)
    out.require_places()
    if save is not None:
        make_folder(save, "--save")
    asked = keywords_of(usage) | {"arguments": context.meta.get(ARGUMENTS, ())}
    if replay is not None:
        raise typer.Exit(_replay(files, replay, asked, out, gdb=gdb))
    result = _ask(files, asked, out)
    if save is not None:
        _save(result, save)
    out.publish(report_of(result))
    raise typer.Exit(exit_of(result.verdict))


def _ask(files: list[Path], asked: dict[str, Any], out: Output) -> RunResult:
    from memfence.api.run import run as ask
    from memfence.cli.run_progress import RunProgressLine

    with RunProgressLine(quiet=out.quiet) as progress, out.refusing(files[0]):
        return ask(files, **asked, progress=progress if progress.active else None)


def _save(result: RunResult, folder: Path) -> None:
    from memfence.api.run import schedules

    for name, text in schedules(result):
        write_report(folder / name, text, "--save")


def _replay(files: list[Path], schedule: Path, asked: dict[str, Any], out: Output, *, gdb: bool) -> Exit:
    from memfence.api.run import replay, replay_in_gdb
    from memfence.report.described import report_of

    with out.refusing(files[0]):
        if gdb:
            replay_in_gdb(files, schedule, **asked)
            return Exit.UNKNOWN  # a debugger gives no verdict
        replayed = replay(files, schedule, **asked)
    out.publish(report_of(replayed))
    return exit_of(replayed.verdict)
