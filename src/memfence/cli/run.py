"""`memfence run FILE... [-- ARGUMENTS]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from memfence.cli.choices import RelaxedModel
from memfence.cli.exit_codes import Exit, exit_of
from memfence.cli.option_groups import ClusterOption, HtmlOption, JsonOption, QuietOption
from memfence.cli.refusal import refusing
from memfence.cli.report_files import ReportFiles, make_folder, write_report
from memfence.cli.verb import verb

if TYPE_CHECKING:
    from memfence.questions.run_result import RunResult

ARGUMENTS = "memfence.run.arguments"
NOT_WITH_REPLAY = (
    "model",
    "preemptions",
    "random",
    "seed",
    "threads",
    "cluster",
    "depth",
    "first",
    "leaks",
    "save",
    "html",
    "sarif",
    "junit",
)


class RunCommand(TyperCommand):
    """Keeps what stands behind `--` for the program."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            split = args.index("--")
            args, ctx.meta[ARGUMENTS] = args[:split], tuple(args[split + 1 :])
        return super().parse_args(ctx, args)


@verb("Run a compiled program in every way that matters.", example="run examples/c/sober_lost_wakeup.c", cls=RunCommand)
def run(
    context: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="C and C++ files, or an executable of `memfence cc`. Behind --: its arguments.",
            show_default=False,
        ),
    ],
    macros: Annotated[
        list[str] | None, typer.Option("-D", metavar="NAME[=VALUE]", help="Define a macro.", show_default=False)
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option("-I", metavar="DIR", help="Look for headers there.", show_default=False)
    ] = None,
    std: Annotated[str | None, typer.Option(metavar="S", help="The language standard, as gcc knows it.")] = None,
    flag: Annotated[
        list[str] | None, typer.Option("--flag", metavar="F", help="Another flag for gcc.", show_default=False)
    ] = None,
    model: Annotated[
        RelaxedModel,
        typer.Option(help="pso: stores may also overtake stores; executions with store buffers are run, too."),
    ] = RelaxedModel.tso,
    preemptions: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Executions with at most N preemptions. Default: all.")
    ] = None,
    random: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="N executions at random (PCT) instead of all.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="What --random begins with.")] = 1,
    threads: Annotated[
        int, typer.Option(metavar="N", min=0, help="Share the work among N processes; 0: one per processor.")
    ] = 1,
    cluster: ClusterOption = None,
    depth: Annotated[int, typer.Option(metavar="D", min=1, help="Follow no execution beyond D steps.")] = 10_000,
    first: Annotated[bool, typer.Option("--first", help="Stop at the first finding.")] = False,
    leaks: Annotated[bool, typer.Option("--leaks", help="Memory that is never freed is an error.")] = False,
    timeout: Annotated[float | None, typer.Option(metavar="S", min=0, help="Give up after S seconds.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write each finding as a schedule for --replay.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(metavar="SCHEDULE", help="Explore nothing: run a saved schedule again.")
    ] = None,
    gdb: Annotated[bool, typer.Option("--gdb", help="With --replay: under gdb, which stops at a failure.")] = False,
    json: JsonOption = False,
    html: HtmlOption = None,
    sarif: Annotated[
        Path | None,
        typer.Option("--sarif", metavar="OUT", help="Also write SARIF 2.1.0, for code scanning and editors."),
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", metavar="OUT", help="Also write JUnit XML, for CI.")] = None,
    quiet: QuietOption = False,
) -> None:
    """Run a compiled program in every way that matters: does one fail, could one go wrong with store buffers?"""
    _refuse_together(context, preemptions, random, replay, gdb)
    reports = ReportFiles(html, sarif, junit)
    reports.require_places()
    if save is not None:
        make_folder(save, "--save")
    asked: dict[str, Any] = {
        "macros": tuple(macros or ()),
        "include": tuple(include or ()),
        "std": std,
        "flags": tuple(flag or ()),
        "arguments": context.meta.get(ARGUMENTS, ()),
        "timeout_seconds": timeout,
    }
    if replay is not None:
        raise typer.Exit(_replay(files, replay, asked, json=json, gdb=gdb))
    asked["reorders_stores"] = model is RelaxedModel.pso
    asked |= {
        "preemptions": preemptions,
        "random": random,
        "seed": seed,
        "threads": threads,
        "cluster": cluster,
        "depth": depth,
        "first": first,
        "leaks": leaks,
    }
    result = _ask(files, asked, json, quiet)
    if save is not None:
        _save(result, save)
    reports.write_run(result)
    _show(result, json, quiet)
    raise typer.Exit(exit_of(result.verdict))


def _refuse_together(
    context: typer.Context, preemptions: int | None, random: int | None, replay: Path | None, gdb: bool
) -> None:
    from memfence.cli.keywords import typed

    if preemptions is not None and random is not None:
        raise typer.BadParameter(
            "--preemptions and --random are two ways to leave executions out", param_hint="--random"
        )
    if gdb and replay is None:
        raise typer.BadParameter("--gdb needs a schedule: --replay SCHEDULE", param_hint="--gdb")
    for name in NOT_WITH_REPLAY if replay is not None else ():
        if name in typed(context):
            what = "--replay explores nothing: it runs a saved schedule again"
            raise typer.BadParameter(what, param_hint=f"--{name}")


def _ask(files: list[Path], asked: dict[str, Any], json: bool, quiet: bool) -> RunResult:
    from memfence.api.run import run as ask
    from memfence.cli.run_progress import RunProgressLine

    progress = RunProgressLine(quiet=quiet)
    try:
        with refusing(json):
            return ask(files, **asked, progress=progress if progress.active else None)
    finally:
        progress.close()


def _show(result: RunResult, json: bool, quiet: bool) -> None:
    from memfence.cli import terminal
    from memfence.reports.running import run_text

    if json:
        from memfence.reports.json import dump
        from memfence.reports.running_json import run_object

        sys.stdout.write(dump(run_object(result)))
    else:
        terminal.write(run_text(result, width=terminal.width(), quiet=quiet))


def _save(result: RunResult, folder: Path) -> None:
    from memfence.api.run import schedules

    for name, text in schedules(result):
        write_report(folder / name, text, "--save")


def _replay(files: list[Path], schedule: Path, asked: dict[str, Any], *, json: bool, gdb: bool) -> Exit:
    from memfence.api.run import replay, replay_in_gdb
    from memfence.cli import terminal
    from memfence.reports.running_replay import replay_object, replay_text

    with refusing(json):
        if gdb:
            return Exit.HOLDS if replay_in_gdb(files, schedule, **asked) == 0 else Exit.VIOLATED
        replayed = replay(files, schedule, **asked)
    if json:
        from memfence.reports.json import dump

        sys.stdout.write(dump(replay_object(replayed)))
    else:
        terminal.write(replay_text(replayed, width=terminal.width()))
    return Exit.VIOLATED
