"""`memfence explore FILE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memfence.cli.commands import File, IntBits, LanguageOption, _load, _refuse, is_standard_input
from memfence.cli.conflicts import typed
from memfence.cli.exit_codes import Exit, exit_of
from memfence.cli.outputs import HtmlOption, Outputs, make_folder, require_place, write_report
from memfence.cli.time_limit import TimeLimit, TimeUp

if TYPE_CHECKING:
    from memfence.program.ir import Program
    from memfence.questions.explore import ExploreResult

NOT_WITH_REPLAY = (
    "preemptions", "depth", "first", "no_monitor", "timing", "save_trace", "most_traces", "save_schedule", "html",
)  # fmt: skip


def explore(
    context: typer.Context,
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
    from memfence.cli import terminal
    from memfence.cli.progress import ProgressLine
    from memfence.diagnostics import InputError
    from memfence.questions.explore import ExploreOptions
    from memfence.questions.explore import explore as run_explore

    if replay is not None:
        _refuse_with_replay(typed(context, *NOT_WITH_REPLAY))
    outputs = Outputs(html)
    outputs.require_places()
    require_place(save_schedule, "--save-schedule")
    if save_trace is not None:
        make_folder(save_trace, "--save-trace")
    limit, progress = TimeLimit(timeout), ProgressLine(quiet=quiet)
    result = None
    try:
        with limit.guard():
            program = _load(file, language, int_bits)
            if replay is not None:
                text, code = _replayed(program, replay, json, quiet), Exit.VIOLATED
            else:
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
                text, code = _report(result, json, quiet), exit_of(result.verdict)
    except TimeUp:
        text, code = _no_answer(file, str(limit), json, quiet), Exit.UNKNOWN
    except InputError as error:
        raise typer.Exit(_refuse(error, json)) from None
    finally:
        progress.close()
    if result is not None:
        _save(result, limit, save_trace, save_schedule, outputs)
    if json:
        sys.stdout.write(text)
    else:
        terminal.write(text)
    raise typer.Exit(code)


def _refuse_with_replay(options: list[str]) -> None:
    for option in options:
        raise typer.BadParameter("--replay explores nothing: it shows the runs of a saved schedule", param_hint=option)


def _report(result: ExploreResult, json: bool, quiet: bool) -> str:
    from memfence.cli import terminal
    from memfence.reports.exploration import explore_object, explore_text

    if json:
        from memfence.reports.json import dump

        return dump(explore_object(result))
    return explore_text(result, width=terminal.width(), quiet=quiet)


def _replayed(program: Program, schedule: Path, json: bool, quiet: bool) -> str:
    from memfence.cli import terminal
    from memfence.execution.schedule import read_schedules
    from memfence.pipeline import read_source
    from memfence.reports.exploration import replay_object, replay_text

    replayed = read_schedules(program, read_source(schedule))
    if json:
        from memfence.reports.json import dump

        return dump(replay_object(replayed))
    return replay_text(replayed, width=terminal.width(), quiet=quiet)


def _no_answer(file: Path, limit: str, json: bool, quiet: bool) -> str:
    """The time was up before a run that was found could be replayed: no verdict without that."""
    name = "<stdin>" if is_standard_input(file) else str(file)
    if json:
        from memfence.reports.exploration import no_answer_object
        from memfence.reports.json import dump

        return dump(no_answer_object(name, limit))
    what = f"  limit   {limit} was hit before the runs were replayed\n  try     a longer --timeout\n"
    return f"{name}: UNKNOWN (stateless exploration): {limit}\n{'' if quiet else what}"


def _save(
    result: ExploreResult, limit: TimeLimit, traces: Path | None, schedule: Path | None, outputs: Outputs
) -> None:
    """Every file that was asked for and that the time suffices for; what is missing is said, not hidden."""
    if traces is not None:
        _save_traces(result, limit, traces)
    try:
        with limit.guard():
            if schedule is not None:
                _save_schedules(result, schedule)
            outputs.write_explore(result)
    except TimeUp:
        sys.stderr.write(f"the files with the runs were not written: {limit}\n")


def _save_traces(result: ExploreResult, limit: TimeLimit, folder: Path) -> None:
    """One file an execution, numbered."""
    from memfence.execution.recording import render_trace

    written, why = 0, "see --most-traces"
    for execution in result.executions:
        try:
            with limit.guard():
                text = render_trace(result.events(execution))
        except TimeUp:
            why = str(limit)
            break
        written += 1
        write_report(folder / f"execution-{written:06d}.jsonl", text, "--save-trace")
    left = result.counts.interleavings - written
    if left > 0:
        sys.stderr.write(f"{written} traces written, {left} executions not: {why}\n")


def _save_schedules(result: ExploreResult, path: Path) -> None:
    from memfence.execution.schedule import schedule_object
    from memfence.reports.json import dump

    text = dump({"findings": [schedule_object(f.replayable) for f in result.findings]})
    write_report(path, text, "--save-schedule")
