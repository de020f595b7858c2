"""`memfence explore FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memfence.cli.commands import File, IntBits, LanguageOption, _load, _refuse
from memfence.cli.exit_codes import Exit, exit_of
from memfence.cli.outputs import HtmlOption, Outputs, make_folder, write_report

if TYPE_CHECKING:
    from memfence.analyses.explore import ExploreResult
    from memfence.engines.schedule import Replayable


def explore(
    file: File,
    preemptions: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Try all executions with 0, 1, ... up to N preemptions. Default: no bound."
        ),
    ] = None,
    depth: Annotated[int, typer.Option(metavar="D", min=1, help="Follow no execution beyond D steps.")] = 1_000,
    first: Annotated[bool, typer.Option("--first", help="Stop at the first finding.")] = False,
    no_monitor: Annotated[bool, typer.Option("--no-monitor", help="Look for assertion failures only.")] = False,
    timing: Annotated[bool, typer.Option("--timing", help="Explore again without the monitor, to compare.")] = False,
    save_trace: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write executions as traces for `memfence monitor`.")
    ] = None,
    most_traces: Annotated[int, typer.Option(metavar="N", min=1, help="Write at most N traces.")] = 1_000,
    save_schedule: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Write what was found as schedules for --replay.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(metavar="SCHEDULE", help="Explore nothing: replay a saved schedule.")
    ] = None,
    timeout: Annotated[float | None, typer.Option(metavar="S", min=0, help="Give up after S seconds.")] = None,
    int_bits: IntBits = None,
    language: LanguageOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    html: HtmlOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print the verdict only.")] = False,
) -> None:
    """Run SC executions one by one: does an assertion fail, is one borderline for store buffers?"""
    from memfence.analyses.explore import ExploreOptions
    from memfence.analyses.explore import explore as run_explore
    from memfence.cli.progress import ProgressLine
    from memfence.diagnostics import InputError

    progress = ProgressLine(quiet=quiet)
    try:
        program = _load(file, language, int_bits)
        if replay is not None:
            from memfence.engines.schedule import read_schedules
            from memfence.pipeline import read_source

            raise typer.Exit(_print_replay(read_schedules(program, read_source(replay)), json, quiet))
        options = ExploreOptions(
            preemptions=preemptions,
            depth=depth,
            monitor=not no_monitor,
            first=first,
            timing=timing,
            save=most_traces if save_trace is not None else 0,
            timeout_seconds=timeout,
            progress=progress if progress.active else None,
        )
        result = run_explore(program, options)
    except InputError as error:
        raise typer.Exit(_refuse(error, json)) from None
    finally:
        progress.close()
    if save_trace is not None:
        _save_traces(result, save_trace)
    if save_schedule is not None:
        _save_schedules(result, save_schedule)
    _print(result, json, quiet)
    Outputs(html).write_explore(result)
    raise typer.Exit(exit_of(result.verdict))


def _print(result: ExploreResult, json: bool, quiet: bool) -> None:
    from memfence.cli import terminal
    from memfence.reports.exploration import explore_object, explore_text

    if json:
        from memfence.reports.json import dump

        sys.stdout.write(dump(explore_object(result)))
    else:
        terminal.write(explore_text(result, width=terminal.width(), quiet=quiet))


def _save_traces(result: ExploreResult, folder: Path) -> None:
    """One file an execution, numbered; what does not fit under --most-traces is said, not hidden."""
    from memfence.reports.memory_trace import render_trace

    make_folder(folder, "--save-trace")
    for number, (_, events) in enumerate(result.executions, 1):
        write_report(folder / f"execution-{number:06d}.jsonl", render_trace(events), "--save-trace")
    left = result.counts.interleavings - len(result.executions)
    if left > 0:
        sys.stderr.write(f"{len(result.executions)} traces written, {left} executions not: see --most-traces\n")


def _save_schedules(result: ExploreResult, path: Path) -> None:
    from memfence.engines.schedule import schedule_object
    from memfence.reports.json import dump

    text = dump({"findings": [schedule_object(f.replayable) for f in result.findings]})
    write_report(path, text, "--save-schedule")


def _print_replay(replayed: tuple[Replayable, ...], json: bool, quiet: bool) -> Exit:
    from memfence.cli import terminal
    from memfence.reports.exploration import replay_object, replay_text

    if json:
        from memfence.reports.json import dump

        sys.stdout.write(dump(replay_object(replayed)))
    else:
        terminal.write(replay_text(replayed, width=terminal.width(), quiet=quiet))
    return Exit.VIOLATED
